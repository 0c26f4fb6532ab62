//! All devices of a host, and what came or went since the last read.

mod queue_pairs;

use super::device::Device;
use super::entry::{Moment, Owner, Wanted as Which};
use super::group::{Group, Identity, Origin};
use super::rdma::Rdma;
use crate::interface::Interface;
use crate::owner::{Owners, Places, Privacy};
use rocescope_model::catalogue::{self, Driver, Place};
use rocescope_model::filter::matches;
use rocescope_model::{CounterRow, Text};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where counters are read.
#[derive(Clone, Debug)]
pub struct Sources {
    /// Instead of `/sys`.
    pub sys: PathBuf,
    /// Instead of `/proc`; `None`: neither processors nor memory.
    pub proc: Option<PathBuf>,
    /// Where the statistics of network interfaces come from.
    pub ethtool: StatisticsFrom,
    /// Whether to ask the kernel by RDMA netlink.
    pub netlink: bool,
    /// Where the owners of queue pairs are read; `None`: nowhere.
    pub owners: Option<Places>,
}

/// Where the statistics of network interfaces come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatisticsFrom {
    /// The kernel.
    Kernel,
    /// `DIR/INTERFACE`, with what `ethtool -S INTERFACE` printed.
    Files(PathBuf),
    /// There are none.
    Nowhere,
}

impl Sources {
    /// This host.
    #[must_use]
    pub fn this_host() -> Self {
        Self {
            sys: "/sys".into(),
            proc: Some("/proc".into()),
            ethtool: StatisticsFrom::Kernel,
            netlink: true,
            owners: Some(Places::below(Path::new("/"))),
        }
    }

    /// A copy of `/sys`. What it does not contain is not read, for it would be that of another host.
    #[must_use]
    pub const fn copy(sys: PathBuf) -> Self {
        Self {
            sys,
            proc: None,
            ethtool: StatisticsFrom::Nowhere,
            netlink: false,
            owners: None,
        }
    }

    /// The directory of RDMA devices.
    #[must_use]
    pub fn class(&self) -> PathBuf {
        self.sys.join("class/infiniband")
    }
}

/// What is read of it.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Patterns of devices, with `*`; empty for all.
    pub devices: Vec<String>,
    /// Patterns of metrics, or of the names of drivers; empty for all.
    pub metrics: Vec<String>,
    /// Network interfaces whose statistics are read whole, with or without an RDMA device.
    pub interfaces: Vec<String>,
    /// What of the owners of queue pairs is private; `None` if no queue pairs are read.
    pub owners: Option<Privacy>,
}

/// Which rows a read yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// A row for each counter.
    All,
    /// Counters that changed, and each whose last row is at least this old.
    Changed(Duration),
}

/// What was read so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads of all counters.
    pub reads: u64,
    /// Values that were read.
    pub values: u64,
    /// Rows.
    pub rows: u64,
    /// Values that could not be read.
    pub unreadable: u64,
    /// One of them, and why.
    pub last_unreadable: Option<String>,
    /// Counters that passed their largest value.
    pub wraps: u64,
    /// Counters that were reset.
    pub resets: u64,
    /// Devices that vanished.
    pub vanished: u64,
    /// Devices that returned.
    pub returned: u64,
}

impl Counts {
    pub(super) fn unreadable(&mut self, what: impl Display, error: &io::Error) {
        self.unreadable += 1;
        // One is enough, and the first stays: the text is made once.
        if self.last_unreadable.is_none() {
            self.last_unreadable = Some(format!("{what}: {error}"));
        }
    }
}

/// Selects counters by metric or name.
#[derive(Debug)]
pub(super) struct Filter(Vec<String>);

impl Filter {
    /// Whether it selects this name of a driver.
    pub(super) fn takes(&self, driver: Option<Driver>, place: Place, name: &str) -> bool {
        let metric = || catalogue::find(driver, place, name).map_or("", |found| found.metric.name);
        self.0.is_empty() || is_any(&self.0, name) || is_any(&self.0, metric())
    }
}

fn is_any(patterns: &[String], text: &str) -> bool {
    patterns.iter().any(|pattern| matches(text, pattern))
}

/// Reads the counters of a host.
#[derive(Debug)]
pub struct Reader {
    sources: Sources,
    observer: Text,
    devices: Vec<String>,
    filter: Filter,
    rdma: Option<Rdma>,
    owners: Option<Owners>,
    found: Vec<Device>,
    interfaces: Vec<Device>,
    host: Vec<Group>,
    /// That the counters were read, whatever the filters leave.
    reads: Group,
    counts: Counts,
}

impl Reader {
    /// A reader. Nothing is read yet.
    #[must_use]
    pub fn new(sources: Sources, wanted: Wanted, observer: &str) -> Self {
        let observer: Text = String::from(observer).into();
        // A kernel without RDMA has no such protocol.
        let rdma = sources.netlink.then(Rdma::open).and_then(Result::ok);
        let interfaces = wanted
            .interfaces
            .iter()
            .map(|name| Device::new(name, &observer))
            .collect();
        let places = sources.owners.clone();
        let owners = places
            .zip(wanted.owners)
            .map(|(places, privacy)| Owners::new(places, privacy));
        let mut reader = Self {
            owners,
            devices: wanted.devices,
            filter: Filter(wanted.metrics),
            rdma,
            found: Vec::new(),
            interfaces,
            host: Vec::new(),
            reads: Group::new(host_owner(&observer), Place::Reader, Origin::Reads(0)),
            counts: Counts::default(),
            observer,
            sources,
        };
        reader.host = reader.host_groups();
        reader
    }

    /// Reads every counter, and passes rows to `take`, in the order of devices.
    pub fn read(&mut self, moment: Moment, rows: Rows, take: &mut dyn FnMut(CounterRow)) {
        let wanted = match rows {
            Rows::All => Which::All,
            Rows::Changed(refresh) => Which::Changed(refresh),
        };
        self.counts.reads += 1;
        if self.counts.reads == 1 {
            self.expect_devices();
        }
        self.find_devices();
        self.find_interfaces();
        if self.counts.reads == 1 {
            let all = self.found.iter_mut().chain(&mut self.interfaces);
            all.filter(|device| device.identity.is_none())
                .for_each(|device| device.event = Some("absent"));
        }
        for device in self.found.iter_mut().chain(&mut self.interfaces) {
            for group in std::iter::once(&mut device.present).chain(&mut device.groups) {
                group.read(&self.filter, self.rdma.as_mut(), &mut self.counts);
            }
            let was_reset = device.groups.iter().any(Group::is_reset);
            let event = device.event.take();
            let mut take_present = |row: CounterRow| {
                take(CounterRow {
                    event: event.map(Text::from_static).or(row.event),
                    ..row
                });
            };
            let of_device = if event.is_some() { Which::All } else { wanted };
            let present = &mut device.present;
            present.rows(moment, false, of_device, &mut self.counts, &mut take_present);
            for group in &mut device.groups {
                group.rows(moment, was_reset, wanted, &mut self.counts, take);
            }
        }
        for group in &mut self.host {
            group.read(&self.filter, None, &mut self.counts);
            group.rows(moment, false, wanted, &mut self.counts, take);
        }
        if matches!(rows, Rows::Changed(_)) {
            // Distinguishes a read in which nothing changed from none.
            self.reads.replace(Origin::Reads(self.counts.reads));
            self.reads.read(&Filter(Vec::new()), None, &mut self.counts);
            self.reads.rows(moment, false, wanted, &mut self.counts, take);
        }
    }

    /// What was read so far.
    #[must_use]
    pub const fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Names of the RDMA devices that exist.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let existing = self.found.iter().filter(|device| device.identity.is_some());
        existing.map(|device| &*device.name)
    }

    /// Names of the RDMA devices of this host, whether they are read or not, and what else `devices` may name.
    #[must_use]
    pub fn device_names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.sources.class()).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names.extend(self.sources.proc.as_ref().map(|_| "host".to_owned()));
        names
    }

    /// Patterns of devices that no device matches.
    pub fn unknown_devices(&self) -> impl Iterator<Item = &str> {
        let names = self.device_names();
        let is_unknown = move |pattern: &&String| !names.iter().any(|name| matches(name, pattern));
        self.devices.iter().filter(is_unknown).map(String::as_str)
    }

    /// Names of network interfaces that do not exist.
    pub fn absent_interfaces(&self) -> impl Iterator<Item = &str> {
        let names = self.interfaces.iter().map(|device| &*device.name);
        names.filter(|name| Interface::find(name).is_err())
    }

    /// Patterns of metrics that no counter of the last read matches.
    pub fn unknown_metrics(&self) -> impl Iterator<Item = &str> {
        let is_unknown = |pattern: &&String| !self.groups().any(|group| group.has(pattern));
        self.filter.0.iter().filter(is_unknown).map(String::as_str)
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        let devices = self.found.iter().chain(&self.interfaces);
        let of_devices = devices.flat_map(|device| std::iter::once(&device.present).chain(&device.groups));
        of_devices.chain(&self.host)
    }

    /// Number of counters that a read reads.
    #[must_use]
    pub fn counters(&self) -> usize {
        let devices = self.found.iter().chain(&self.interfaces);
        let groups = devices.flat_map(|device| &device.groups).chain(&self.host);
        groups.map(|group| group.names().count()).sum()
    }

    /// A line on what of the owners of queue pairs may not be read here, once for each reason.
    pub fn owners_notice(&mut self) -> Option<&'static str> {
        self.owners.as_mut().and_then(Owners::notice)
    }

    /// The name of this host in every row.
    #[must_use]
    pub const fn observer(&self) -> &Text {
        &self.observer
    }

    /// Devices whose names are given whole have a row from the first read on, whether they exist or not.
    fn expect_devices(&mut self) {
        let names = self
            .devices
            .iter()
            .filter(|name| !name.contains('*') && *name != "host");
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        names.dedup();
        self.found = names.iter().map(|name| Device::new(name, &self.observer)).collect();
    }

    /// Finds devices that came, vanished, or were replaced by others of the same name.
    fn find_devices(&mut self) {
        let class = self.sources.class();
        let entries = fs::read_dir(&class).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.retain(|name| self.devices.is_empty() || is_any(&self.devices, name));
        names.sort();
        for name in &names {
            if self.found.iter().all(|device| device.name != *name) {
                let at = self.found.partition_point(|device| device.name < *name);
                self.found.insert(at, Device::new(name, &self.observer));
            }
        }
        let mut indexes = None;
        for device in &mut self.found {
            let is_listed = names.contains(&device.name);
            let identity = is_listed.then(|| Identity::of(&class.join(&device.name))).flatten();
            let is_known = device.was_known();
            match (&device.identity, &identity) {
                (Some(before), Some(now)) if before.is_same_place(now) => continue,
                (None, None) => continue,
                (Some(_), None) => {
                    device.vanish();
                    self.counts.vanished += 1;
                    continue;
                }
                (_, Some(_)) => {}
            }
            let indexes = indexes.get_or_insert_with(|| match &mut self.rdma {
                Some(rdma) => rdma.devices().unwrap_or_default(),
                None => Vec::new(),
            });
            let index = indexes.iter().find(|found| found.name == device.name);
            device.open(&self.sources, &self.filter, index.map(|found| found.index));
            if is_known {
                device.event = Some("returned");
                self.counts.returned += 1;
            }
            device.identity = identity;
        }
    }

    fn find_interfaces(&mut self) {
        for device in &mut self.interfaces {
            let index = Interface::find(&device.name).ok().map(|interface| interface.index);
            let identity = index.map(Identity::of_index);
            let is_known = device.was_known();
            match (&device.identity, &identity) {
                (before, now) if before == now => {}
                (Some(_), None) => {
                    device.vanish();
                    self.counts.vanished += 1;
                }
                _ => {
                    device.open_interface(&self.sources, &self.filter);
                    if is_known {
                        device.event = Some("returned");
                        self.counts.returned += 1;
                    }
                    device.identity = identity;
                }
            }
        }
    }

    fn host_groups(&self) -> Vec<Group> {
        let Some(proc) = &self.sources.proc else {
            return Vec::new();
        };
        if !self.devices.is_empty() && !is_any(&self.devices, "host") {
            return Vec::new();
        }
        let owner = host_owner(&self.observer);
        vec![
            Group::new(owner.clone(), Place::Proc, Origin::Processors(proc.join("stat"))),
            Group::new(owner, Place::Proc, Origin::Memory(proc.join("meminfo"))),
        ]
    }
}

/// What counters of the host itself have in common.
fn host_owner(observer: &Text) -> Owner {
    Owner {
        observer: observer.clone(),
        device: "host".into(),
        port: None,
        netdev: None,
        driver: None,
        driver_name: Text::default(),
    }
}
