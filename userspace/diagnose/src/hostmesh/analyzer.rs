//! Rows in, one diagnosis per window out.

use super::baseline::Baseline;
use super::cores::{Both, in_turn};
use super::diagnosis::WindowDiagnosis;
use super::faint::Faint;
use super::history::History;
use super::names::Names;
use super::paper::Sticky;
use super::record::{ProbeOutcome, Record, Window};
use super::settings::{Settings, SettingsError};
use super::silence::Silence;
use super::tuples::{Key, Tuples};
use crate::incidents::convert::Addresses;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::{PathRow, ProbeRow, Text, Time};

/// Accepts rows of `probes` and `paths` in any order within the caller's lateness, and analyses each window when the
/// watermark passes it.
#[derive(Debug)]
pub struct Analyzer {
    pub(super) settings: Settings,
    observer: Text,
    pub(super) names: Names,
    pub(super) tuples: Tuples,
    /// Hops of traces that are still incomplete.
    traces: HashMap<u32, Trace>,
    open: BTreeMap<i64, Window>,
    /// Windows before this are closed.
    next: i64,
    /// The last window that was analyzed.
    closed: Option<i64>,
    pub(super) late: u64,
    /// Closed windows of which rows came since the caller asked.
    late_windows: BTreeSet<i64>,
    unreadable: u64,
    pub(super) sticky: Sticky,
    pub(super) network: Baseline,
    pub(super) processing: Baseline,
    pub(super) history: History,
    pub(super) faint: Faint,
    /// The last window in which each host sent probes.
    pub(super) seen: Vec<i64>,
    pub(super) silence: Silence,
    pub(super) both: Both,
}

#[derive(Debug)]
struct Trace {
    from_ns: i64,
    hops: Vec<Option<IpAddr>>,
    left: usize,
}

impl Analyzer {
    /// Creates an analyzer; `observer` is the name in its rows.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn new(settings: Settings, observer: impl Into<Text>) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            settings,
            observer: observer.into(),
            names: Names::default(),
            tuples: Tuples::default(),
            traces: HashMap::new(),
            open: BTreeMap::new(),
            next: i64::MIN,
            closed: None,
            late: 0,
            late_windows: BTreeSet::new(),
            unreadable: 0,
            sticky: Sticky::default(),
            network: Baseline::default(),
            processing: Baseline::default(),
            history: History::default(),
            faint: Faint::default(),
            seen: Vec::new(),
            silence: Silence::default(),
            both: in_turn,
        })
    }

    /// Runs the independent parts of an analysis with `both`, for example on two cores.
    #[must_use]
    pub const fn with(mut self, both: Both) -> Self {
        self.both = both;
        self
    }

    /// From now on, windows are those of a live mesh: one without any row is analyzed too, and a host is silent if no row
    /// of it has arrived by the end of a window. Windows that begin before a minute has passed give no verdict on that.
    pub fn set_live(&mut self, now: Time) {
        let begin = now.0.saturating_add(self.settings.sticky_ns);
        self.silence.live_from(begin);
    }

    /// Assigns an address to a node, as the topology file does. Call it before the first row.
    pub fn know(&mut self, address: IpAddr, node: &str) {
        self.names.know(address, node);
    }

    /// Joins ports of a node that fail together, such as those of a line card: they lead to these nodes, which no other port of
    /// it leads to. Call it before the first row.
    pub fn join_ports(&mut self, node: &str, ports: &str, neighbors: impl IntoIterator<Item = String>) {
        let name = format!("{ports} of {node}");
        self.names.port_sets.add(node, name, neighbors.into_iter().collect());
    }

    /// A host that probed before the first rows that the analyzer will get: its last probe, and how many it sends in a
    /// window.
    pub fn seed_host(&mut self, host: &Text, last: Time, probes: u64) {
        let number = self.names.host(host);
        let window = last.0.div_euclid(self.settings.window_ns);
        self.silence.seed_host(number, last.0, probes, window);
    }

    /// The length of a window.
    #[must_use]
    pub const fn window_ns(&self) -> i64 {
        self.settings.window_ns
    }

    /// The addresses of NICs, by `host/nic`.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let mut all = Addresses::new();
        for (number, nic) in (0..).zip(&self.names.nics) {
            all.entry(self.names.nic_name(number)).or_default().insert(nic.address);
        }
        all
    }

    /// The DSCPs of the 5-tuples that it knows.
    #[must_use]
    pub fn dscps(&self) -> BTreeSet<u8> {
        self.tuples.all.iter().map(|tuple| tuple.dscp).collect()
    }

    /// The windows, by their starts, that were closed before rows of them came, since the last call.
    pub fn late_windows(&mut self) -> impl Iterator<Item = Time> {
        let window_ns = self.settings.window_ns;
        let late = core::mem::take(&mut self.late_windows);
        late.into_iter()
            .map(move |window| Time(window.saturating_mul(window_ns)))
    }

    /// Adds a row of `probes`.
    pub fn probe(&mut self, row: &ProbeRow) {
        let Some(outcome) = ProbeOutcome::parse(&row.outcome, row.unsent_reason.as_deref()) else {
            self.unreadable += 1;
            return;
        };
        let window = row.time_ns.div_euclid(self.settings.window_ns);
        if window < self.next {
            self.late += 1;
            self.late_windows.insert(window);
            return;
        }
        let key = Key {
            src: self.nic(row.src, &row.observer, &row.src_nic),
            dst: self.nic(row.dst, &row.observer, &row.dst_nic),
            udp_src_port: row.udp_src_port,
            udp_dst_port: row.udp_dst_port,
        };
        let tuple = self.tuples.number(key, window);
        self.tuples.classify(tuple, row.dscp.unwrap_or(0));
        let record = Record::new(
            tuple,
            row.time_ns.rem_euclid(self.settings.window_ns),
            outcome,
            row.network_latency_ns,
            row.processing_delay_ns,
        );
        let open = self.open.entry(window).or_default();
        open.records.push(match row.src_nic.is_empty() {
            true => record.of_receiver(),
            false => record,
        });
        open.clock_error_ns = open.clock_error_ns.max(row.clock_error_ns);
    }

    /// Adds a row of `paths`; a path counts once all its rows have arrived.
    pub fn path(&mut self, row: &PathRow) {
        let hops = usize::from(row.hops);
        let hop = usize::from(row.hop);
        if hop == 0 || hop > hops {
            self.unreadable += 1;
            return;
        }
        let key = Key {
            src: self.nic(row.src, &row.observer, &row.src_nic),
            dst: self.nic(row.dst, &row.observer, &row.dst_nic),
            udp_src_port: row.udp_src_port,
            udp_dst_port: row.udp_dst_port,
        };
        let tuple = self.tuples.number(key, row.time_ns.div_euclid(self.settings.window_ns));
        let trace = self
            .traces
            .entry(tuple)
            .or_insert_with(|| Trace::new(row.time_ns, hops));
        if (trace.from_ns, trace.hops.len()) != (row.time_ns, hops) {
            *trace = Trace::new(row.time_ns, hops);
        }
        trace.hops[hop - 1] = row.address;
        trace.left -= 1;
        if trace.left == 0 {
            let hops = core::mem::take(&mut trace.hops);
            let is_refused = row.reason.as_str() == "unreachable";
            self.tuples
                .trace(tuple, row.time_ns, &hops, is_refused, &mut self.names);
            self.traces.remove(&tuple);
        }
    }

    /// The number of a NIC: rows of its own host name it, those of others do not.
    fn nic(&mut self, address: IpAddr, host: &Text, name: &Text) -> u32 {
        match name.is_empty() {
            true => self.names.nic_of_another(address),
            false => self.names.nic(address, host, name),
        }
    }

    /// The number of unusable rows: unknown outcome or impossible hop.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// The number of traces that ended before their destination.
    #[must_use]
    pub const fn traces_cut_short(&self) -> u64 {
        self.tuples.cut_short
    }

    /// Analyses every window that ends at the watermark or before; later rows of these windows only count as late.
    ///
    /// The watermark is the time, on the clock of (1), before which no more rows are expected: in a live mesh, the time
    /// up to which every agent has reported, minus the timeout of probes.
    pub fn advance(&mut self, watermark: Time) -> Vec<WindowDiagnosis> {
        core::iter::from_fn(|| self.advance_one(watermark)).collect()
    }

    /// Analyzes the earliest of the windows that [`advance`](Self::advance) would analyze. Until the next call, the
    /// analyzer answers questions as of that window.
    pub fn advance_one(&mut self, watermark: Time) -> Option<WindowDiagnosis> {
        self.next = self.next.max(watermark.0.div_euclid(self.settings.window_ns));
        self.close()
    }

    /// Analyses every window that has rows.
    pub fn finish(&mut self) -> Vec<WindowDiagnosis> {
        core::iter::from_fn(|| self.finish_one()).collect()
    }

    /// Analyzes the earliest window that has rows.
    pub fn finish_one(&mut self) -> Option<WindowDiagnosis> {
        let (earliest, _) = self.open.first_key_value()?;
        self.next = self.next.max(earliest + 1);
        self.close()
    }

    fn close(&mut self) -> Option<WindowDiagnosis> {
        let earliest = self.open.first_key_value().map(|(number, _)| *number);
        let number = self.empty().into_iter().chain(earliest).min()?;
        let number = Some(number).filter(|number| *number < self.next)?;
        // Before the analysis, not after: callers may then ask about any 5-tuple of the window.
        self.forget(number);
        let window = self.open.remove(&number).unwrap_or_default();
        self.closed = Some(number);
        Some(self.analyse(number, &window))
    }

    /// The window after the last one, if a live mesh is silent in it.
    fn empty(&self) -> Option<i64> {
        let number = self.closed.filter(|_| self.silence.is_live())? + 1;
        self.silence.misses_in(number).then_some(number)
    }

    /// Forgets 5-tuples that have been unused for too long to matter for a verdict.
    fn forget(&mut self, window: i64) {
        let kept = self.settings.sticky_ns.div_euclid(self.settings.window_ns) + KEPT_WINDOWS;
        if let Some(numbers) = self.tuples.forget_before(window - kept) {
            for open in self.open.values_mut() {
                for record in &mut open.records {
                    record.tuple = numbers[record.tuple as usize];
                }
            }
            self.traces.clear();
        }
    }

    /// The name that rows carry.
    pub(super) fn observer(&self) -> Text {
        self.observer.clone()
    }
}

/// 5-tuples are kept this many windows longer than NICs stay anomalous: agents probe and trace the same pool of source
/// ports repeatedly while it lasts.
const KEPT_WINDOWS: i64 = 3;

impl Trace {
    fn new(from_ns: i64, hops: usize) -> Self {
        Self {
            from_ns,
            hops: vec![None; hops],
            left: hops,
        }
    }
}
