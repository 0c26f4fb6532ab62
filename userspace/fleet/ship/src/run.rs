//! Ships one segment after the other, until all are there or a signal comes.

use crate::arguments::Arguments;
use crate::pace::{Backoff, Cap};
use crate::segments::{self, Segment};
use crate::upload::{Came, Failure, upload};
use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use object_store::path::Path as ObjectPath;
use rocescope_model::{Resolution, Row, SHIPPED, TABLES, WindowRow};
use rocescope_place::Place;
use rustix::fs::{FlockOperation, flock};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Instant, SystemTime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;

/// The file below `.shipped` that one process locks, and that names the place.
const OWNER: &str = "place";

/// Runs until everything is shipped, with `--once`, or until a signal.
///
/// # Errors
/// The dataset or the place cannot be opened, another process ships the dataset, or the disk fails.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let root = &arguments.dataset;
    ensure!(
        TABLES.iter().any(|table| root.join(table.name).is_dir()) || root.join(".open").is_dir(),
        "{} is no dataset",
        root.display()
    );
    let place = Place::open(&arguments.place)?;
    let _lock = own(root, &place)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut shipper = Shipper::new(arguments, &place);
        let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let ended = tokio::select! {
            ended = shipper.ship() => ended,
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        };
        eprintln!("{}", shipper.summary());
        ended?;
        Ok(match shipper.given_up.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        })
    })
}

/// Makes this process the only one that ships the dataset, to one place: markers state that a segment is there.
fn own(root: &Path, place: &Place) -> Result<File> {
    let folder = root.join(SHIPPED);
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(OWNER);
    let file = File::options().read(true).append(true).create(true).open(&path);
    let file = file.with_context(|| path.display().to_string())?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(io::Error::from)
        .with_context(|| format!("another process ships {}", root.display()))?;
    let known = fs::read_to_string(&path)?;
    let own = place.url.as_str();
    if known.is_empty() {
        fs::write(&path, own)?;
        file.sync_all()?;
    }
    ensure!(
        known.is_empty() || known == own,
        "{} is shipped to {known}; to ship all of it to {own} as well, remove {} first",
        root.display(),
        folder.display()
    );
    Ok(file)
}

/// Brings a file and its name to the disk: a store on disk does not.
fn sync(file: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()?;
    match file.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

struct Shipper<'a> {
    arguments: &'a Arguments,
    place: &'a Place,
    resolution: Resolution,
    cap: Cap,
    backoff: Backoff,
    copied: u64,
    copied_bytes: u64,
    were_there: u64,
    deleted: u64,
    /// Segments that no further try will bring there; reported once.
    given_up: BTreeSet<PathBuf>,
    /// The last failure that was printed.
    reported: Option<String>,
}

impl<'a> Shipper<'a> {
    fn new(arguments: &'a Arguments, place: &'a Place) -> Self {
        Self {
            arguments,
            place,
            resolution: segments::resolution(&arguments.dataset),
            cap: Cap::new(arguments.max_rate.map(|bits| bits / 8), Instant::now()),
            backoff: Backoff::default(),
            copied: 0,
            copied_bytes: 0,
            were_there: 0,
            deleted: 0,
            given_up: BTreeSet::new(),
            reported: None,
        }
    }

    async fn ship(&mut self) -> Result<()> {
        loop {
            let mut all = segments::all(&self.arguments.dataset)?;
            for segment in &all {
                if self.is_settled(segment)
                    && !segments::is_shipped(&self.arguments.dataset, segment)
                    && !self.given_up.contains(&segment.name)
                {
                    self.bring(segment).await?;
                }
            }
            // `windows` first: a window that is in it stays complete in every table.
            all.sort_by_key(|segment| !segment.name.starts_with(WindowRow::TABLE.name));
            for segment in &all {
                self.expire(segment)?;
            }
            if self.arguments.once {
                return Ok(());
            }
            sleep(self.arguments.interval).await;
        }
    }

    /// Whether the hour of the segment ended long enough ago.
    fn is_settled(&self, segment: &Segment) -> bool {
        let Some(settle) = self.arguments.settle else {
            return true;
        };
        let ended = segment.end(self.resolution).and_then(|end| end.checked_add(settle));
        ended.is_none_or(|ended| ended <= SystemTime::now())
    }

    /// Tries until the store has the segment; with `--once`, at most `--tries` times.
    async fn bring(&mut self, segment: &Segment) -> Result<()> {
        let root = &self.arguments.dataset;
        let to = segment
            .name
            .iter()
            .fold(self.place.prefix.clone(), |to, part| to.join(&*part.to_string_lossy()));
        let begun = segments::begin(root, segment).with_context(|| segment.name.display().to_string())?;
        let Some(mut begun) = begun else {
            return Ok(());
        };
        let bytes = Bytes::from(std::mem::take(&mut begun.bytes));
        let mut tries = 0;
        loop {
            sleep(self.cap.wait(bytes.len() as u64, Instant::now())).await;
            match self.put(&to, &bytes).await {
                Ok(came) => {
                    if let Some(directory) = &self.place.directory {
                        sync(&directory.join(&segment.name))
                            .with_context(|| format!("{}: {}", self.place, segment.name.display()))?;
                    }
                    segments::mark(root, segment, &begun).with_context(|| segment.name.display().to_string())?;
                    self.count(came, bytes.len() as u64);
                    return Ok(());
                }
                Err(failure) => {
                    tries += 1;
                    self.report(segment, &failure);
                    if !failure.may_pass() || (self.arguments.once && tries >= self.arguments.tries) {
                        self.given_up.insert(segment.name.clone());
                        return Ok(());
                    }
                    sleep(self.backoff.failed()).await;
                }
            }
        }
    }

    async fn put(&self, to: &ObjectPath, bytes: &Bytes) -> Result<Came, Failure> {
        // A rollup is written again under its name when its rows change.
        let may_replace = self.resolution != Resolution::Captured;
        upload(&*self.place.store, to, bytes, may_replace).await
    }

    fn count(&mut self, came: Came, bytes: u64) {
        self.backoff.succeeded();
        if self.reported.take().is_some() {
            eprintln!("{} takes segments again", self.place);
        }
        match came {
            Came::Copied => {
                self.copied += 1;
                self.copied_bytes += bytes;
            }
            Came::WasThere => self.were_there += 1,
        }
    }

    /// Prints a failure, unless it is the last one again.
    fn report(&mut self, segment: &Segment, failure: &Failure) {
        let text = failure.to_string();
        if self.reported.as_ref() != Some(&text) {
            eprintln!("{}: {text}", segment.name.display());
            self.reported = Some(text);
        }
    }

    /// Deletes the segment if it is old enough, and the store has it.
    fn expire(&mut self, segment: &Segment) -> Result<()> {
        let root = &self.arguments.dataset;
        let Some(keep) = self.arguments.keep else { return Ok(()) };
        let age = SystemTime::now().duration_since(segment.sealed).unwrap_or_default();
        if age >= keep && segments::is_shipped(root, segment) {
            segments::delete(root, segment).with_context(|| segment.name.display().to_string())?;
            self.deleted += 1;
        }
        Ok(())
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} segments copied to {}, {} bytes",
            self.copied, self.place, self.copied_bytes
        );
        if self.were_there > 0 {
            text += &format!("; {} were there", self.were_there);
        }
        if self.deleted > 0 {
            text += &format!("; {} deleted here", self.deleted);
        }
        if !self.given_up.is_empty() {
            text += &format!("; {} not shipped", self.given_up.len());
        }
        text
    }
}
