//! Counters that are read together: a directory, an `ethtool` query, a netlink message.

use super::entry::{Entry, Moment, Owner, Wanted};
use super::parse::{self, Sample};
use super::rdma::Rdma;
use super::reader::{Counts, Filter};
use crate::ethtool::Statistics;
use crate::interface::Interface;
use rocescope_model::CounterRow;
use rocescope_model::catalogue::{Driver, Place, find};
use rocescope_model::filter::matches;
use rocescope_model::human::visible;
use rustix::fs::OFlags;
use rustix::process::{Resource, getrlimit};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The largest file that is read: `/proc/stat` has its sums in the first line.
const FILE_BYTES: usize = 4096;
/// Reads of the other counters from one read of the addresses of a port to the next.
const ADDRESS_READS: u32 = 60;
/// Descriptors that are left for everything else.
const SPARE_FILES: u64 = 32;

/// A group of counters.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) owner: Owner,
    place: Place,
    entries: Vec<Entry>,
    origin: Origin,
}

/// Where a group is read.
#[derive(Debug)]
pub(super) enum Origin {
    /// Files of a directory, kept open: `None` for a file that is opened at every read.
    Directory {
        path: PathBuf,
        /// The only files that count; empty for all.
        names: &'static [&'static str],
        identity: Option<Identity>,
        files: Vec<Option<File>>,
    },
    /// The statistics of a network interface: those of the catalogue, or all.
    Statistics { statistics: Statistics, all: bool },
    /// The output of `ethtool -S` in a file.
    StatisticsFile(PathBuf),
    /// RDMA netlink statistics of a port, without those of `hw_counters`.
    Netlink { device: u32, port: u32, known: Vec<String> },
    /// RDMA netlink resources of a device.
    Resources { device: u32 },
    /// `/proc/stat`.
    Processors(PathBuf),
    /// `/proc/meminfo`.
    Memory(PathBuf),
    /// The addresses of a port, from the files of its GIDs. A driver has 256 of them, and they rarely change: they are
    /// read every [`ADDRESS_READS`] reads.
    Addresses {
        path: PathBuf,
        known: Option<Sample>,
        reads: u32,
    },
    /// Whether the device exists.
    Present(bool),
    /// How often the counters were read.
    Reads(u64),
}

/// What changes if a directory is replaced, or a file in it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Identity {
    /// Of a directory and its list of files.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            changed: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }

    /// Of a network interface.
    pub(super) const fn of_index(index: u32) -> Self {
        Self {
            device: 0,
            inode: index as u64,
            changed: (0, 0),
        }
    }

    /// Whether it is the same directory, whatever is in it.
    pub(super) const fn is_same_place(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }
}

impl Group {
    pub(super) const fn new(owner: Owner, place: Place, origin: Origin) -> Self {
        Self {
            owner,
            place,
            entries: Vec::new(),
            origin,
        }
    }

    /// The files of a directory; only those of these names unless the list is empty.
    pub(super) const fn directory(owner: Owner, place: Place, path: PathBuf, names: &'static [&'static str]) -> Self {
        let origin = Origin::Directory {
            path,
            names,
            identity: None,
            files: Vec::new(),
        };
        Self::new(owner, place, origin)
    }

    /// Reads its counters elsewhere from now on.
    pub(super) fn replace(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Reads every counter.
    pub(super) fn read(&mut self, filter: &Filter, rdma: Option<&mut Rdma>, counts: &mut Counts) {
        let mut origin = std::mem::replace(&mut self.origin, Origin::Present(false));
        if let Err(error) = self.read_from(&mut origin, filter, rdma, counts) {
            self.fail(&error, counts);
        }
        self.origin = origin;
    }

    fn read_from(
        &mut self,
        origin: &mut Origin,
        filter: &Filter,
        rdma: Option<&mut Rdma>,
        counts: &mut Counts,
    ) -> io::Result<()> {
        match origin {
            Origin::Directory {
                path,
                names,
                identity,
                files,
            } => self.read_directory((path, names), identity, files, (filter, counts)),
            Origin::Statistics { statistics, all } => self.read_statistics(statistics, *all, filter)?,
            Origin::StatisticsFile(path) => {
                let text = read_text(path)?;
                let values = parse::ethtool(&text).map(|(name, value)| (name.to_owned(), value));
                self.set_named(values, filter, true);
            }
            Origin::Netlink { device, port, known } => {
                let values = rdma.map_or_else(gone, |rdma| rdma.statistics(*device, *port))?;
                let values = values.into_iter().filter(|(name, _)| !known.contains(name));
                self.set_named(values, filter, false);
            }
            Origin::Resources { device } => {
                let values = rdma.map_or_else(gone, |rdma| rdma.resources(*device))?;
                self.set_named(values.into_iter(), filter, false);
            }
            Origin::Processors(path) => {
                let (busy, idle) = read_file(None, || path.clone(), parse::processors)?;
                let values = [("cpu_busy".to_owned(), busy), ("cpu_idle".to_owned(), idle)];
                self.set_named(values.into_iter(), filter, false);
            }
            Origin::Memory(path) => {
                let names = ["MemTotal", "MemAvailable"];
                let read = |text: &str| {
                    Some(names.map(|name| parse::memory(text, name).map(|value| (name.to_owned(), value))))
                };
                let values = read_file(None, || path.clone(), read)?;
                self.set_named(values.into_iter().flatten(), filter, false);
            }
            Origin::Addresses { path, known, reads } => self.read_addresses(path, known, reads, (filter, counts)),
            Origin::Present(is_present) => {
                let value = ("present".to_owned(), u64::from(*is_present));
                self.set_named([value].into_iter(), filter, false);
            }
            Origin::Reads(reads) => {
                let value = ("reads".to_owned(), *reads);
                self.set_named([value].into_iter(), filter, false);
            }
        }
        Ok(())
    }

    fn read_directory(
        &mut self,
        (path, names): (&Path, &[&str]),
        identity: &mut Option<Identity>,
        files: &mut Vec<Option<File>>,
        (filter, counts): (&Filter, &mut Counts),
    ) {
        let found = Identity::of(path);
        if found != *identity {
            *identity = found;
            let listed = list(path, names, |name| filter.takes(self.owner.driver, self.place, name));
            self.keep_entries(&listed);
            *files = listed.iter().map(|name| open(&path.join(name))).collect();
        }
        for (entry, file) in self.entries.iter_mut().zip(files) {
            let read = read_file(
                file.as_ref(),
                || path.join(&*entry.name),
                |text| parse::sample(self.place, &entry.name, text),
            );
            if let Err(error) = &read {
                counts.unreadable(path.join(&*entry.name).display(), error);
            }
            entry.set(read.ok());
        }
    }

    fn read_statistics(&mut self, statistics: &mut Statistics, all: bool, filter: &Filter) -> io::Result<()> {
        let values = statistics.read().or_else(|_| {
            // The driver has other counters now, or its interface is another.
            let name = self.owner.netdev.as_deref().unwrap_or_default();
            *statistics = open_statistics(name, self.owner.driver, filter, all)?;
            statistics.read()
        })?;
        let is_same = |(entry, name): (&Entry, &String)| *entry.name == **name;
        let names = statistics.names();
        if self.entries.len() != names.len() || !self.entries.iter().zip(names).all(is_same) {
            self.keep_entries(names);
        }
        for (entry, value) in self.entries.iter_mut().zip(values) {
            entry.set(Some(plain(value)));
        }
        Ok(())
    }

    fn read_addresses(
        &mut self,
        path: &Path,
        known: &mut Option<Sample>,
        reads: &mut u32,
        (filter, counts): (&Filter, &mut Counts),
    ) {
        if reads.is_multiple_of(ADDRESS_READS) {
            let files = fs::read_dir(path).into_iter().flatten().flatten();
            let mut gids: Vec<(u32, String)> = files
                .filter_map(|file| {
                    let number = file.file_name().to_str()?.parse().ok()?;
                    let gid = read_text(&file.path());
                    if let Err(error) = &gid {
                        counts.unreadable(file.path().display(), error);
                    }
                    Some((number, gid.ok()?))
                })
                .collect();
            gids.sort_unstable();
            *known = Some(parse::addresses(gids.iter().map(|(_, gid)| &**gid)));
        }
        *reads = reads.wrapping_add(1);
        if self.entries.is_empty() && filter.takes(self.owner.driver, self.place, "gids") {
            self.entries.push(Entry::new("gids", self.place, self.owner.driver));
        }
        if let Some(entry) = self.entries.first_mut() {
            entry.set(known.clone());
        }
    }

    /// Keeps the entries of these names, with what was read before, and adds the others.
    fn keep_entries(&mut self, names: &[String]) {
        let mut before = std::mem::take(&mut self.entries);
        let entry = |name: &String| match before.iter().position(|entry| *entry.name == **name) {
            Some(at) => before.swap_remove(at),
            None => Entry::new(name, self.place, self.owner.driver),
        };
        self.entries = names.iter().map(entry).collect();
    }

    /// Whether a counter of the catalogue was reset.
    pub(super) fn is_reset(&self) -> bool {
        self.entries.iter().any(Entry::is_reset)
    }

    /// Whether one of its counters has a name or a metric that matches a pattern.
    pub(super) fn has(&self, pattern: &str) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|entry| matches(&entry.name, pattern) || entry.metric().is_some_and(|name| matches(name, pattern)))
    }

    /// Names of its counters.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.name)
    }

    /// Ends the read: passes on the rows.
    pub(super) fn rows(
        &mut self,
        moment: Moment,
        was_reset: bool,
        wanted: Wanted,
        counts: &mut Counts,
        take: &mut dyn FnMut(CounterRow),
    ) {
        for entry in &mut self.entries {
            counts.values += u64::from(entry.is_read());
            if let Some(row) = entry.row(&self.owner, self.place, moment, was_reset, wanted) {
                match row.event.as_deref() {
                    Some("wrap") => counts.wraps += 1,
                    Some("reset") => counts.resets += 1,
                    _ => {}
                }
                counts.rows += 1;
                take(row);
            }
        }
    }

    /// Takes values by name. A name that is not among them can no longer be read.
    fn set_named<N: Into<i128>>(
        &mut self,
        values: impl Iterator<Item = (String, N)>,
        filter: &Filter,
        only_catalogue: bool,
    ) {
        let mut at = 0;
        for entry in &mut self.entries {
            entry.set(None);
        }
        for (name, value) in values {
            // The order is the same at every read.
            let is_here = |entry: &Entry| *entry.name == *name;
            let place = match self.entries.get(at).is_some_and(is_here) {
                true => Some(at),
                false => self.entries.iter().position(is_here),
            };
            let index = place.unwrap_or(self.entries.len());
            if place.is_none() {
                let entry = Entry::new(&name, self.place, self.owner.driver);
                let is_listed = !only_catalogue || entry.metric().is_some();
                if !is_listed || !filter.takes(self.owner.driver, self.place, &name) {
                    continue;
                }
                self.entries.push(entry);
            }
            if let Some(entry) = self.entries.get_mut(index) {
                entry.set(Some(plain(value)));
            }
            at = index + 1;
        }
    }

    fn fail(&mut self, error: &io::Error, counts: &mut Counts) {
        let name = format!("{}/{}", self.owner.device, self.place.name());
        counts.unreadable(name, error);
        for entry in &mut self.entries {
            entry.set(None);
        }
    }
}

/// The statistics of a network interface: those of the catalogue, or `all`. A driver may have thousands, for each queue.
///
/// # Errors
/// There is no such interface, or its driver has none.
pub(super) fn open_statistics(
    name: &str,
    driver: Option<Driver>,
    filter: &Filter,
    all: bool,
) -> io::Result<Statistics> {
    let is_wanted = |name: &str| {
        let is_listed = all || find(driver, Place::Ethtool, name).is_some();
        is_listed && filter.takes(driver, Place::Ethtool, name)
    };
    Statistics::open(Interface::find(name)?, is_wanted)
}

/// Opens a regular file; anything else, such as a FIFO in a copy of `/sys`, could make a read wait forever.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Reads a text file as a whole.
///
/// # Errors
/// See [`open_regular`]; it is no UTF-8.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Opens a file for all reads, unless it would take one of the last descriptors of this process.
fn open(path: &Path) -> Option<File> {
    let file = open_regular(path).ok()?;
    let number = u64::from(file.as_raw_fd().unsigned_abs());
    let limit = getrlimit(Resource::Nofile).current;
    limit.is_none_or(|limit| number + SPARE_FILES < limit).then_some(file)
}

fn gone<T>() -> io::Result<T> {
    Err(io::ErrorKind::NotFound.into())
}

fn plain(number: impl Into<i128>) -> Sample {
    Sample {
        number: Some(number.into()),
        text: None,
    }
}

/// The names of the files in a directory, sorted. `lifespan` is a setting: for how long the driver answers from memory.
fn list(path: &Path, only: &[&str], wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    let mut names: Vec<String> = files.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name != "lifespan" && (only.is_empty() || only.contains(&&**name)) && wanted(name));
    names.sort();
    names
}

/// Reads a file from its start, through `file` if it is open.
///
/// # Errors
/// It cannot be read, or contains no value.
fn read_file<T>(file: Option<&File>, path: impl Fn() -> PathBuf, parse: impl Fn(&str) -> Option<T>) -> io::Result<T> {
    let mut buffer = [0; FILE_BYTES];
    let length = match file {
        Some(file) => file.read_at(&mut buffer, 0)?,
        None => open_regular(&path())?.read_at(&mut buffer, 0)?,
    };
    let text = String::from_utf8_lossy(buffer.get(..length).unwrap_or_default());
    parse(&text).ok_or_else(|| {
        let text = excerpt(&text);
        io::Error::new(io::ErrorKind::InvalidData, format!("no value in `{text}`"))
    })
}

/// Characters of a text that a message may have.
const EXCERPT: usize = 40;

/// The begin of the first line of a text, printable.
fn excerpt(text: &str) -> String {
    let line = visible(text.lines().next().unwrap_or_default());
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
