//! Which numbered rows of each sender are in a dataset: the highest number per epoch and table.
//!
//! A journal contains the sender and number of its rows in the same batch, so that a kill leaves both or neither. When
//! a journal is sealed, its numbers go to a file next to it before the journal is removed. Journal and file together
//! always identify exactly the stored batches.

use crate::name::SegmentPaths;
use crate::{Error, durable};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Number of recent epochs kept for each sender. A sender has fewer batches in flight, so the epoch of a retransmitted
/// batch is always known.
const EPOCHS: usize = 64;
/// First line of the file; a later format would have another.
const HEADER: &str = "rocescope marks 2";
/// First line of a file without a checksum.
const UNCHECKED: &str = "rocescope marks 1";
/// Starts the last line: the CRC-32 of everything before it.
const CHECKSUM: &str = "crc32 ";

/// The highest number by sender and epoch.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Epoch and sequence, the most recently used epoch last.
    senders: HashMap<String, Vec<(i64, i64)>>,
}

impl Marks {
    /// Whether a batch with this number or a later one is stored.
    pub(crate) fn has(&self, sender: &str, epoch: i64, sequence: i64) -> bool {
        let epochs = self.senders.get(sender).into_iter().flatten();
        epochs.clone().any(|&(e, s)| e == epoch && sequence <= s)
    }

    /// Records that a batch with this number is stored.
    pub(crate) fn note(&mut self, sender: &str, epoch: i64, sequence: i64) {
        if !self.senders.contains_key(sender) {
            self.senders.insert(sender.to_owned(), Vec::new());
        }
        let Some(epochs) = self.senders.get_mut(sender) else {
            return;
        };
        let known = epochs.iter().position(|&(e, _)| e == epoch);
        let before = known.map(|at| epochs.remove(at).1);
        epochs.push((epoch, sequence.max(before.unwrap_or(i64::MIN))));
        if epochs.len() > EPOCHS {
            epochs.remove(0);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.senders.is_empty()
    }

    /// Adds later marks.
    pub(crate) fn join(&mut self, later: &Self) {
        for (sender, epochs) in &later.senders {
            for &(epoch, sequence) in epochs {
                self.note(sender, epoch, sequence);
            }
        }
    }

    /// Loads the marks of the table and observer of `place`; empty if there are none yet.
    ///
    /// # Errors
    /// The file cannot be read, or is damaged: continuing would duplicate rows.
    pub(crate) fn load(place: &SegmentPaths) -> Result<Self, Error> {
        let path = place.marks();
        let text = match fs::read(&path) {
            // Damage may leave no text.
            Ok(bytes) => String::from_utf8(bytes).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        Self::parse(&text).ok_or_else(|| {
            let reason = "the file is damaged, and without it rows would be stored twice: move it away, and the rows \
                          that agents send again may be stored twice";
            Error::content("read", &path, &reason)
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let mut marks = Self::default();
        let text = text.strip_suffix('\n')?;
        let lines = match text.strip_prefix(HEADER) {
            Some(_) => {
                let (before, last) = text.rsplit_once('\n')?;
                let same = last.strip_prefix(CHECKSUM)? == checksum(before);
                same.then(|| before.strip_prefix(HEADER))??
            }
            None => text.strip_prefix(UNCHECKED)?,
        };
        for line in lines.split('\n').skip(1) {
            let mut words = line.split(' ');
            let sender = words.next()?;
            let (epoch, sequence) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
            if sender.is_empty() || words.next().is_some() {
                return None;
            }
            marks.note(sender, epoch, sequence);
        }
        Some(marks)
    }

    /// Merges the marks into the file of `place`, durably.
    pub(crate) fn save(&self, place: &SegmentPaths) -> Result<(), Error> {
        if self.is_empty() {
            return Ok(());
        }
        let mut all = Self::load(place)?;
        all.join(self);
        let mut text = String::from(HEADER);
        for (sender, epochs) in &all.senders {
            for (epoch, sequence) in epochs {
                let _ = write!(text, "\n{sender} {epoch} {sequence}");
            }
        }
        let checksum = checksum(&text);
        let _ = writeln!(text, "\n{CHECKSUM}{checksum}");
        let path = place.marks();
        let unfinished = path.with_extension("marks.tmp");
        write_synced(&unfinished, text.as_bytes()).map_err(|source| Error::io("write", &unfinished, source))?;
        durable::publish(&unfinished, &path, &place.root)
    }
}

fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::{EPOCHS, Marks};
    use crate::name::{Observer, SegmentName, SegmentPaths};
    use rocescope_model::Time;

    #[test]
    fn a_number_covers_earlier_ones_of_its_epoch() {
        let mut marks = Marks::default();
        marks.note("h0", 7, 3);
        assert!(marks.has("h0", 7, 3) && marks.has("h0", 7, 1));
        assert!(!marks.has("h0", 7, 4) && !marks.has("h0", 6, 1) && !marks.has("h1", 7, 1));
        marks.note("h0", 7, 2);
        assert!(marks.has("h0", 7, 3), "a mark never decreases");
    }

    #[test]
    fn recent_epochs_are_kept() {
        let mut marks = Marks::default();
        marks.note("h0", 0, 1);
        marks.note("h0", 1, 1);
        marks.note("h0", 0, 2);
        for epoch in 2..=EPOCHS as i64 {
            marks.note("h0", epoch, 1);
        }
        assert!(marks.has("h0", 0, 2) && !marks.has("h0", 1, 1));
    }

    #[test]
    fn marks_are_saved_and_loaded() {
        let root = tempfile::tempdir().unwrap();
        let place = SegmentPaths {
            root: root.path().to_owned(),
            table: "probes".into(),
            name: SegmentName::new(&Observer::new("c"), Time(0), 0),
        };
        std::fs::create_dir_all(place.marks().parent().unwrap()).unwrap();
        assert_eq!(Marks::load(&place).unwrap(), Marks::default());
        let (mut one, mut two) = (Marks::default(), Marks::default());
        one.note("h0", 1, 9);
        one.save(&place).unwrap();
        two.note("h0", 1, 4);
        two.note("h1", 5, 1);
        two.save(&place).unwrap();
        let all = Marks::load(&place).unwrap();
        assert!(all.has("h0", 1, 9) && all.has("h1", 5, 1));
        for damage in [
            "",
            "rocescope marks 1\nh0 1",
            "rocescope marks 2\n",
            "rocescope marks 3\n",
            "x\n",
        ] {
            std::fs::write(place.marks(), damage).unwrap();
            assert!(Marks::load(&place).is_err(), "{damage:?}");
        }
        std::fs::write(place.marks(), "rocescope marks 1\nh0 1 9\n").unwrap();
        let old = Marks::load(&place).unwrap();
        assert!(old.has("h0", 1, 9), "written without a checksum");
    }

    /// A changed digit would accept a batch twice, or refuse one that was never stored.
    #[test]
    fn any_flipped_bit_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let place = SegmentPaths {
            root: root.path().to_owned(),
            table: "probes".into(),
            name: SegmentName::new(&Observer::new("c"), Time(0), 0),
        };
        std::fs::create_dir_all(place.marks().parent().unwrap()).unwrap();
        let mut marks = Marks::default();
        marks.note("h0", 1, 9);
        marks.note("h1", 7, 1_234);
        marks.save(&place).unwrap();
        let whole = std::fs::read(place.marks()).unwrap();
        for bit in 0..whole.len() * 8 {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(place.marks(), damaged).unwrap();
            assert!(Marks::load(&place).is_err(), "bit {bit}");
        }
    }
}
