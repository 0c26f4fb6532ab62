//! Probes by pair of NICs.

use super::order::natural;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::{PairRow, PathRow, ProbeRow, Text, Time};
use rocescope_sketches::Quantiles;

/// The maximum number of pairs: 8,192 hosts of 8 NICs have seven times as many, so a larger mesh needs several views.
/// Each takes at most 1.5 kB beside its paths.
pub const MAX_PAIRS: usize = 65_536;
/// The maximum number of 5-tuples per pair that are counted and whose paths are kept: eight pools of an agent's source
/// ports.
pub const MAX_TUPLES: usize = 64;

/// Accepts rows of `probes`, then rows of `paths`, and keeps sums and quantiles per pair of NICs of one host. Addresses
/// identify NICs.
#[derive(Debug, Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    numbers: HashMap<(IpAddr, IpAddr), usize>,
    /// Hops of traces, by pair and source port.
    traces: HashMap<(usize, u16), Trace>,
    unfollowed: u64,
    unreadable: u64,
}

#[derive(Debug, Default)]
struct Pair {
    row: PairRow,
    network: Quantiles,
    processing: Quantiles,
    /// Source ports that were probed, sorted.
    ports: Vec<u16>,
    /// When the probe that the clock offset comes from was due.
    offset_at_ns: i64,
}

#[derive(Debug)]
struct Trace {
    from_ns: i64,
    hops: Vec<Option<IpAddr>>,
    left: usize,
    /// The last trace that reached its destination.
    whole: Option<Vec<Option<IpAddr>>>,
}

impl Pairs {
    /// Adds a probe. One to another host is left out: it has no latency one way, a NIC has a few changing ones of very
    /// many pairs with other hosts, and two hosts report each.
    pub fn probe(&mut self, probe: &ProbeRow) {
        if probe.src_nic.is_empty() || probe.dst_nic.is_empty() {
            return;
        }
        let key = (probe.src, probe.dst);
        let number = match self.numbers.get(&key) {
            Some(number) => *number,
            None if self.pairs.len() == MAX_PAIRS => {
                self.unfollowed += 1;
                return;
            }
            None => {
                self.numbers.insert(key, self.pairs.len());
                self.pairs.push(Pair::new(probe));
                self.pairs.len() - 1
            }
        };
        if !self.pairs[number].count(probe) {
            self.unreadable += 1;
        }
    }

    /// Adds a hop of a path; only those of probed 5-tuples count.
    pub fn path(&mut self, hop: &PathRow) {
        let Some(&number) = self.numbers.get(&(hop.src, hop.dst)) else {
            return;
        };
        let (hops, at) = (usize::from(hop.hops), usize::from(hop.hop));
        if at == 0 || at > hops {
            self.unreadable += 1;
            return;
        }
        let port = hop.udp_src_port;
        if self.pairs[number].ports.binary_search(&port).is_err() {
            return;
        }
        let trace = self.traces.entry((number, port)).or_insert_with(|| Trace {
            from_ns: hop.time_ns,
            hops: vec![None; hops],
            left: hops,
            whole: None,
        });
        if (trace.from_ns, trace.hops.len()) != (hop.time_ns, hops) {
            trace.from_ns = hop.time_ns;
            trace.hops = vec![None; hops];
            trace.left = hops;
        }
        trace.hops[at - 1] = hop.address;
        trace.left = trace.left.saturating_sub(1);
        // A trace that does not reach its destination does not show the path (Hostmesh, section 3.3.2).
        if trace.left == 0 && trace.hops.last() == Some(&Some(hop.dst)) {
            trace.whole = Some(trace.hops.clone());
        }
    }

    /// The number of probes of pairs beyond [`MAX_PAIRS`]; no row includes them.
    #[must_use]
    pub const fn unfollowed(&self) -> u64 {
        self.unfollowed
    }

    /// The number of unusable rows: unknown outcome or impossible hop.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Whether there are no probes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Returns one row per pair, sorted by host and NICs, for this span.
    #[must_use]
    pub fn rows(&self, start_ns: i64, window_ns: i64) -> Vec<PairRow> {
        let pairs = self.pairs.iter().enumerate();
        let mut rows: Vec<PairRow> = pairs
            .map(|(number, pair)| PairRow {
                window_start: Time(start_ns),
                window_start_ns: start_ns,
                window_ns,
                path: Text::from(self.paths(number, &pair.ports)),
                ..pair.finished()
            })
            .collect();
        rows.sort_by(|a, b| {
            let host = natural(&a.observer, &b.observer);
            let from = || natural(&a.src_nic, &b.src_nic);
            let to = || natural(&a.dst_nic, &b.dst_nic);
            host.then_with(from).then_with(to)
        });
        rows
    }

    /// The paths of a pair, the one of most 5-tuples first.
    fn paths(&self, number: usize, ports: &[u16]) -> String {
        let mut paths: BTreeMap<&[Option<IpAddr>], usize> = BTreeMap::new();
        for port in ports {
            let trace = self.traces.get(&(number, *port));
            if let Some(hops) = trace.and_then(|trace| trace.whole.as_deref()) {
                *paths.entry(hops).or_default() += 1;
            }
        }
        let mut paths: Vec<_> = paths.into_iter().collect();
        paths.sort_by_key(|(_, tuples)| core::cmp::Reverse(*tuples));
        let name = |hop: &Option<IpAddr>| hop.map_or_else(|| "?".into(), |hop| hop.to_string());
        let path = |hops: &[Option<IpAddr>]| hops.iter().map(name).collect::<Vec<_>>().join(">");
        let paths = paths.iter().map(|(hops, _)| path(hops));
        paths.collect::<Vec<String>>().join(" ")
    }
}

impl Pair {
    fn new(probe: &ProbeRow) -> Self {
        Self {
            row: PairRow {
                observer: probe.observer.clone(),
                src_nic: probe.src_nic.clone(),
                dst_nic: probe.dst_nic.clone(),
                src: probe.src,
                dst: probe.dst,
                ..PairRow::default()
            },
            offset_at_ns: i64::MIN,
            ..Self::default()
        }
    }

    /// Counts a probe; returns whether its outcome is known.
    fn count(&mut self, probe: &ProbeRow) -> bool {
        let row = &mut self.row;
        match &*probe.outcome {
            "received" => row.probes += 1,
            "timeout" => (row.probes, row.timeouts) = (row.probes + 1, row.timeouts + 1),
            "corrupt" => (row.probes, row.corrupt) = (row.probes + 1, row.corrupt + 1),
            "unsent" => row.unsent += 1,
            _ => return false,
        }
        row.clock_error_ns = row.clock_error_ns.max(probe.clock_error_ns);
        if probe.clock_offset_ns.is_some() && probe.time_ns >= self.offset_at_ns {
            (row.clock_offset_ns, self.offset_at_ns) = (probe.clock_offset_ns, probe.time_ns);
        }
        let add = |quantiles: &mut Quantiles, ns: Option<i64>| {
            if let Some(ns) = ns {
                quantiles.add(u64::try_from(ns).unwrap_or(0));
            }
        };
        add(&mut self.network, probe.network_latency_ns);
        add(&mut self.processing, probe.processing_delay_ns);
        if let Err(at) = self.ports.binary_search(&probe.udp_src_port)
            && self.ports.len() < MAX_TUPLES
        {
            self.ports.insert(at, probe.udp_src_port);
        }
        true
    }

    fn finished(&self) -> PairRow {
        let of = |quantiles: &Quantiles, share| {
            let ns = quantiles.quantile(share)?;
            i64::try_from(ns).ok()
        };
        let row = &self.row;
        PairRow {
            drop_ratio: crate::hostmesh::ratio(row.timeouts + row.corrupt, row.probes),
            network_p50_ns: of(&self.network, 0.5),
            network_p99_ns: of(&self.network, 0.99),
            processing_p50_ns: of(&self.processing, 0.5),
            processing_p99_ns: of(&self.processing, 0.99),
            tuples: u64::try_from(self.ports.len()).unwrap_or(u64::MAX),
            ..row.clone()
        }
    }
}
