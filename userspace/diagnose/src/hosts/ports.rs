//! The ports of all hosts: their names, addresses, and what is known of each as of the last window.

use super::watched::{ABSENT, ACTIVE, Set, Watched};
use super::window::{PortWindow, Reads, Window};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::Text;

/// Ports that are followed; a host has up to eight NICs, and a row for itself.
const PORTS: usize = 65_536;
/// Link failures within this time belong together.
const FLAPS_NS: i64 = 600_000_000_000;
/// Windows whose median latency is the baseline.
const BASELINE: usize = 12;

/// How long queue pairs that vanished are remembered: a sender gives up after eight timeouts of usually less than 5 s.
pub(crate) const LONG_AGO_NS: i64 = 60_000_000_000;

/// A port of a device, or a device for what its ports have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Port {
    pub(crate) host: u32,
    pub(crate) device: Text,
    pub(crate) port: Option<u16>,
    pub(crate) netdev: Option<Text>,
    pub(crate) driver: Text,
    /// Metrics that its driver has.
    pub(crate) known: Set,
    pub(crate) values: Vec<(Watched, f64)>,
    /// Counters that stay at their largest value: what happened since is unknown.
    pub(crate) stopped: Set,
    /// Whether the reader of its host never saw the device, which its configuration names.
    pub(crate) is_absent: bool,
    /// The last window in which the number of queue pairs fell, and the number before.
    pub(crate) fell: Option<(i64, f64)>,
    pub(crate) addresses: Vec<IpAddr>,
    /// Whether it was ACTIVE.
    pub(crate) was_up: bool,
    /// The window in which it went down: it was ACTIVE before, and is not now.
    pub(crate) down_ns: Option<i64>,
    /// The window in which it last came back.
    pub(crate) back_ns: Option<i64>,
    /// The window in which a reader first read its counters.
    pub(crate) new_ns: Option<i64>,
    /// When the device vanished; `None` from the window after its return on.
    pub(crate) gone_ns: Option<i64>,
    /// Times of windows with link failures, and how many.
    pub(crate) failures: Vec<(i64, u64)>,
    /// Earlier latencies of each operation in windows without congestion, and the last.
    pub(crate) latencies: BTreeMap<String, Latency>,
}

/// The latency of something, window by window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latency {
    calm: Vec<f64>,
    /// The last value, and the window it is from.
    pub(crate) last: Option<(i64, f64)>,
}

impl Latency {
    /// Sets the value of a window.
    pub(crate) const fn set(&mut self, start_ns: i64, value: f64) {
        self.last = Some((start_ns, value));
    }

    /// Adds the value of this window to the baseline, if it has one.
    pub(crate) fn calm(&mut self, start_ns: i64) {
        if let Some((at, value)) = self.last
            && at == start_ns
        {
            if self.calm.len() >= BASELINE {
                self.calm.remove(0);
            }
            self.calm.push(value);
        }
    }

    /// The value of this window relative to the baseline.
    pub(crate) fn ratio(&self, start_ns: i64) -> Option<f64> {
        let (_, value) = self.last.filter(|(at, _)| *at == start_ns)?;
        let mut calm = self.calm.clone();
        calm.sort_by(f64::total_cmp);
        let median = *calm.get(calm.len() / 2)?;
        (median > 0.0).then(|| value / median)
    }
}

/// A host that reads its counters.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    pub(crate) name: Text,
    /// Its ports: device, port, number.
    ports: Vec<u32>,
    /// Its last reads.
    pub(crate) reads: Reads,
}

impl Host {
    /// Whether it reads its counters as of an instant: what it read last holds until half an interval after the next
    /// read was due, and at least for a window.
    pub(crate) fn is_read(&self, at_ns: i64, window_ns: i64) -> bool {
        let holds_ns = window_ns.max(self.reads.interval_ns.saturating_mul(3) / 2);
        self.reads.last_ns > at_ns.saturating_sub(holds_ns)
    }
}

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Ports {
    pub(crate) all: Vec<Port>,
    hosts: Vec<Host>,
    by_name: HashMap<String, u32>,
    /// The ports that stated an address last.
    by_address: HashMap<IpAddr, Vec<u32>>,
    /// Hosts by address, from a file of names.
    named: BTreeMap<IpAddr, String>,
    /// Rows of further ports.
    pub(crate) crowded_out: u64,
}

impl Ports {
    /// The number of a host, and of a port of it; `None` if there are too many.
    pub(crate) fn number(&mut self, host: &Text, device: &Text, port: Option<u16>) -> Option<(u32, u32)> {
        if self.all.len() >= PORTS {
            let known = self.by_name.get(host.as_str()).copied();
            let found = known.and_then(|host| Some((host, self.find(host, device, port)?)));
            self.crowded_out += u64::from(found.is_none());
            return found;
        }
        let number = match self.by_name.get(host.as_str()) {
            Some(number) => *number,
            None => {
                let number = self.hosts.len() as u32;
                self.by_name.insert(host.to_string(), number);
                self.hosts.push(Host {
                    name: host.clone(),
                    ports: Vec::new(),
                    reads: Reads::default(),
                });
                number
            }
        };
        if let Some(found) = self.find(number, device, port) {
            return Some((number, found));
        }
        let added = self.all.len() as u32;
        self.all.push(Port {
            host: number,
            device: device.clone(),
            port,
            ..Port::default()
        });
        self.hosts[number as usize].ports.push(added);
        Some((number, added))
    }

    fn find(&self, host: u32, device: &str, port: Option<u16>) -> Option<u32> {
        let ports = self.hosts.get(host as usize)?.ports.iter();
        let is_it = |number: &&u32| {
            let known = &self.all[**number as usize];
            known.port == port && &*known.device == device
        };
        ports.copied().find(|number| is_it(&number))
    }

    /// The host of an address, from a file of names.
    pub(crate) fn name(&mut self, address: IpAddr, host: &str) {
        self.named.insert(address, host.to_string());
    }

    /// Takes over what a window shows, and marks the devices that are gone in it.
    pub(crate) fn close(&mut self, window: &mut Window, start_ns: i64) {
        for (host, reads) in &window.hosts {
            let known = &mut self.hosts[*host as usize].reads;
            known.last_ns = known.last_ns.max(reads.last_ns);
            if reads.interval_ns > 0 {
                known.interval_ns = reads.interval_ns;
            }
        }
        for (number, seen) in &window.ports {
            self.all[*number as usize].update(seen, start_ns);
        }
        for (number, seen) in &window.ports {
            let Some(addresses) = &seen.addresses else { continue };
            let port = &mut self.all[*number as usize];
            for address in core::mem::replace(&mut port.addresses, addresses.clone()) {
                if let Some(owners) = self.by_address.get_mut(&address) {
                    owners.retain(|owner| owner != number);
                }
            }
            for address in addresses {
                let owners = self.by_address.entry(*address).or_default();
                if !owners.contains(number) {
                    owners.push(*number);
                }
            }
        }
        window.gone = self.gone(window);
    }

    fn is_gone(&self, port: u32) -> bool {
        self.device(port)
            .is_some_and(|device| self.get(device).value(Watched::Present) == Some(ABSENT))
    }

    /// When a device, or that of a port, vanished; `None` if it exists.
    pub(crate) fn gone_ns(&self, number: u32) -> Option<i64> {
        let device = self.device(number).unwrap_or(number);
        self.get(device).gone_ns
    }

    /// Devices that did not exist at a time in a window, and their ports.
    fn gone(&mut self, window: &Window) -> BTreeSet<u32> {
        let mut gone = BTreeSet::new();
        for (number, device) in (0..).zip(&mut self.all) {
            let seen_ns = window.ports.get(&number).and_then(|seen| seen.gone_ns);
            if seen_ns.is_none() && device.value(Watched::Present) != Some(ABSENT) {
                device.gone_ns = None;
                continue;
            }
            device.gone_ns = device.gone_ns.or(seen_ns);
            gone.insert(number);
        }
        let ports: Vec<u32> = gone.iter().flat_map(|device| self.ports_of(*device)).collect();
        gone.extend(ports);
        gone
    }

    /// The ports of a device, or of the device of a port.
    pub(crate) fn ports_of(&self, number: u32) -> impl Iterator<Item = u32> + '_ {
        let known = self.get(number);
        let of_host = self.hosts[known.host as usize].ports.iter().copied();
        of_host.filter(|number| {
            let port = self.get(*number);
            port.port.is_some() && port.device == known.device
        })
    }

    /// The addresses of a port, or of all ports of a device.
    pub(crate) fn addresses(&self, number: u32) -> Vec<IpAddr> {
        let port = self.get(number);
        match port.port {
            Some(_) => port.addresses.clone(),
            None => {
                let ports = self.ports_of(number);
                ports
                    .flat_map(|port| self.get(port).addresses.iter().copied())
                    .collect()
            }
        }
    }

    /// The port that has an address; `None` if several have it.
    pub(crate) fn at(&self, address: IpAddr) -> Option<u32> {
        match self.by_address.get(&address).map_or(&[][..], Vec::as_slice) {
            [] => self.named_at(address),
            [owner] => Some(*owner),
            owners => {
                // An address moves to another port when its NIC is gone.
                let mut there = owners.iter().copied().filter(|owner| !self.is_gone(*owner));
                let owner = there.next()?;
                there.next().is_none().then_some(owner)
            }
        }
    }

    /// Whether an address that a port, or a port of a device, stated last is that of another device now.
    pub(crate) fn has_moved(&self, address: IpAddr, number: u32) -> bool {
        let is_here = |owner| self.ports_of(number).any(|port| port == owner);
        self.at(address).is_some_and(|owner| !is_here(owner))
    }

    /// By the file of names.
    fn named_at(&self, address: IpAddr) -> Option<u32> {
        // The port of a host is known if it has only one.
        let host = self.by_name.get(self.named.get(&address)?.as_str())?;
        let ports = self.hosts[*host as usize].ports.iter();
        let mut ports = ports.filter(|number| self.all[**number as usize].port.is_some());
        let only = ports.next()?;
        ports.next().is_none().then_some(*only)
    }

    pub(crate) fn get(&self, port: u32) -> &Port {
        &self.all[port as usize]
    }

    pub(crate) fn host(&self, port: u32) -> &Text {
        &self.host_of(port).name
    }

    pub(crate) fn host_of(&self, port: u32) -> &Host {
        &self.hosts[self.get(port).host as usize]
    }

    /// Hosts whose counters were read.
    pub(crate) fn read_hosts(&self) -> impl Iterator<Item = &Host> {
        self.hosts.iter().filter(|host| host.reads != Reads::default())
    }

    /// `gpu-1 mlx5_0/1`
    pub(crate) fn text(&self, port: u32) -> String {
        let host = self.host(port);
        let Port { device, port, .. } = self.get(port);
        match port {
            Some(port) => format!("{host} {device}/{port}"),
            None => format!("{host} {device}"),
        }
    }

    /// The row of the device, for what its ports have in common.
    fn device(&self, port: u32) -> Option<u32> {
        let Port { host, device, port, .. } = self.get(port);
        port.is_some().then(|| self.find(*host, device, None)).flatten()
    }

    /// The device's row, if this is its only port: then the counters of the device are those of the port.
    pub(crate) fn own_device(&self, port: u32) -> Option<u32> {
        (self.ports_of(port).count() == 1).then(|| self.device(port)).flatten()
    }

    /// The last value of a gauge or state, of the port or of its device.
    pub(crate) fn value(&self, port: u32, watched: Watched) -> Option<f64> {
        let own = self.get(port).value(watched);
        own.or_else(|| self.get(self.device(port)?).value(watched))
    }

    /// Ports, without devices and hosts.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (0..)
            .zip(&self.all)
            .filter(|(_, port)| port.port.is_some())
            .map(|(number, _)| number)
    }
}

impl Port {
    pub(crate) fn value(&self, watched: Watched) -> Option<f64> {
        let found = self.values.iter().find(|(known, _)| *known == watched);
        found.map(|(_, value)| *value)
    }

    fn update(&mut self, seen: &PortWindow, start_ns: i64) {
        self.known.subtract(seen.unreadable);
        self.known.add(seen.readable);
        self.stopped.subtract(seen.counting);
        self.stopped.add(seen.stopped);
        for (watched, value) in &seen.values {
            match self.values.iter_mut().find(|(known, _)| known == watched) {
                Some((_, known)) if known == value => {}
                Some((_, known)) => {
                    if *watched == Watched::QueuePairs && value < known {
                        let earlier = self.fell.filter(|(at, _)| start_ns.saturating_sub(*at) <= LONG_AGO_NS);
                        let before = earlier.map_or(*known, |(_, before)| before.max(*known));
                        self.fell = Some((start_ns, before));
                    }
                    *known = *value;
                }
                None => self.values.push((*watched, *value)),
            }
        }
        let (gone, back) = (seen.unreadable, seen.readable);
        self.values.retain(|(known, _)| !gone.has(*known) || back.has(*known));
        let is_present = self.value(Watched::Present).is_some_and(|value| value != ABSENT);
        self.is_absent = (self.is_absent || seen.is_absent) && !is_present;
        if let Some(netdev) = &seen.netdev {
            self.netdev = Some(netdev.clone());
        }
        if let Some(driver) = &seen.driver {
            self.driver = driver.clone();
        }
        // It may have failed in the window in which it was seen first.
        self.was_up |= seen.was_up || self.value(Watched::State) == Some(ACTIVE);
        match self.value(Watched::State) {
            Some(ACTIVE) => self.back_ns = self.down_ns.take().map(|_| start_ns).or(self.back_ns),
            Some(_) if self.was_up => self.down_ns = self.down_ns.or(Some(start_ns)),
            _ => {}
        }
        if seen.is_new {
            self.new_ns = Some(start_ns);
        }
        // Two names of one event: the driver's counter and that of its interface.
        let failures = [Watched::LinkDowned, Watched::LinkDownPhy];
        let failures = failures.into_iter().map(|watched| seen.at_least(watched)).max();
        self.failures.retain(|(at, _)| *at > start_ns - FLAPS_NS);
        if let Some(count) = failures.filter(|count| *count > 0) {
            self.failures.push((start_ns, count));
        }
        for (name, _) in &seen.latencies {
            let of_name = seen.latencies.iter().filter(|(other, _)| other == name);
            let (count, sum) = of_name.fold((0.0, 0.0), |(count, sum), (_, value)| (count + 1.0, sum + value));
            self.latencies
                .entry(name.to_string())
                .or_default()
                .set(start_ns, sum / count);
        }
    }
}
