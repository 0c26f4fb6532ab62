//! The files that jobs write: what was appended to each since the last turn.

use super::growing::{self, Growing};
use rocescope_collective::read::Imported;
use rocescope_collective::read::follow::{Appended, Follower, Format};
use rocescope_model::StepRow;
use rocescope_runtime::status;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

/// The files that jobs write.
#[derive(Debug)]
pub struct Following {
    paths: Vec<PathBuf>,
    format: Format,
    observer: String,
    files: BTreeMap<PathBuf, (Growing, Follower)>,
    /// The steps that go on, by file.
    open: BTreeMap<PathBuf, Vec<StepRow>>,
    /// Files that are there at the first read are not read again.
    is_first: bool,
    /// What was reported.
    reported: HashSet<String>,
}

impl Following {
    /// Follows these files, or the files of these folders.
    #[must_use]
    pub fn new(paths: &[PathBuf], format: Format, observer: &str) -> Self {
        Self {
            paths: paths.to_owned(),
            format,
            observer: observer.to_owned(),
            files: BTreeMap::new(),
            open: BTreeMap::new(),
            is_first: true,
            reported: HashSet::new(),
        }
    }

    /// What was appended to each file since the last turn. What is wrong with a file is reported once.
    pub fn turn(&mut self, now_ns: i64) -> Vec<Appended> {
        let is_first = std::mem::take(&mut self.is_first);
        let paths = growing::list(&self.paths);
        self.files.retain(|path, _| paths.contains(path));
        self.open.retain(|path, _| paths.contains(path));
        let mut all = Vec::new();
        for path in paths {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned();
            let (growing, reader) = self.files.entry(path.clone()).or_insert_with(|| {
                let follower = Follower::new(self.format, &name, &self.observer);
                (Growing::new(&path, is_first), follower)
            });
            let piece = match growing.read() {
                Ok(Some(piece)) => piece,
                Ok(None) => continue,
                Err(error) => {
                    self.report(&format!("cannot read {}: {error}", path.display()));
                    continue;
                }
            };
            if piece.is_another {
                *reader = Follower::new(self.format, &name, &self.observer);
            }
            let mut appended = reader.take(&piece.text, now_ns);
            if piece.is_old {
                // They were sent before, or are of no use any more; from whom ranks receive stays true.
                appended.ended = Imported {
                    receives: appended.ended.receives,
                    ..Imported::default()
                };
            }
            self.open.insert(path.clone(), appended.open.clone());
            all.push(appended);
        }
        for appended in &all {
            for (kind, first) in appended.ended.complaints.kinds() {
                if self.reported.insert(kind.to_owned()) {
                    status!("{first}: {kind}");
                }
            }
        }
        all
    }

    /// The steps that go on.
    #[must_use]
    pub fn open(&self) -> Vec<StepRow> {
        self.open.values().flatten().cloned().collect()
    }

    fn report(&mut self, line: &str) {
        if self.reported.insert(line.to_owned()) {
            status!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    fn object(number: u64) -> String {
        format!(
            "{{\"name\":\"a\",\"comm_hash\":\"1\",\"rank\":0,\"seq_num\":{number},\"proxyops\":[{{\"is_send\":true,\"peer\":1,\
             \"steps\":[{{\"step\":1,\"start_time\":{number},\"end_time\":{},\"size\":5}}]}}]}}",
            number + 1
        )
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn steps_are_read_once_as_files_grow_appear_and_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        append(&at("old"), &format!("[{}, ", object(1)));
        let mut following = Following::new(&[directory.path().into()], Format::Comma, "h0");
        let mut turn = || {
            let all = following.turn(9);
            let steps = all.into_iter().flat_map(|appended| appended.ended.steps);
            steps.map(|row| row.time_ns / 1_000).collect::<Vec<_>>()
        };
        assert!(turn().is_empty(), "what is there already is not read again");
        let second = object(2);
        let (half, rest) = second.split_at(30);
        append(&at("old"), half);
        assert!(turn().is_empty());
        append(&at("old"), rest);
        append(&at("new"), &object(3));
        assert_eq!(turn(), [3, 2], "in the order of the names");
        assert!(turn().is_empty());
        fs::remove_file(at("old")).unwrap();
        fs::write(at("new"), &object(4)[..40]).unwrap();
        assert!(turn().is_empty());
        fs::write(at("new"), object(4)).unwrap();
        assert_eq!(turn(), [4], "the file was replaced by one of another length");
    }
}
