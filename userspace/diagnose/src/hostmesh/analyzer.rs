//! Rows in, a diagnosis a window out.

use super::cores::{Both, in_turn};
use super::diagnosis::WindowDiagnosis;
use super::history::History;
use super::names::Names;
use super::paper::Sticky;
use super::record::{Fate, Record, Window};
use super::settings::{Settings, SettingsError};
use super::tuples::{Key, Tuples};
use super::usual::Usual;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::{PathRow, ProbeRow, Text, Time};

/// Takes rows of `probes` and `paths` in any order within the caller's lateness, and analyses windows as the
/// watermark passes them.
#[derive(Debug)]
pub struct Analyzer {
    pub(super) settings: Settings,
    observer: Text,
    pub(super) names: Names,
    pub(super) tuples: Tuples,
    /// Hops of traces whose rows have not all come.
    traces: HashMap<u32, Trace>,
    open: BTreeMap<i64, Window>,
    /// Windows before this are closed.
    next: i64,
    pub(super) late: u64,
    unreadable: u64,
    pub(super) sticky: Sticky,
    pub(super) network: Usual,
    pub(super) processing: Usual,
    pub(super) history: History,
    /// The last window in which each host sent probes.
    pub(super) seen: Vec<i64>,
    pub(super) both: Both,
}

#[derive(Debug)]
struct Trace {
    from_ns: i64,
    hops: Vec<Option<IpAddr>>,
    left: usize,
}

impl Analyzer {
    /// An analyzer whose rows carry this name.
    ///
    /// # Errors
    /// No analysis can run with these settings.
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
            late: 0,
            unreadable: 0,
            sticky: Sticky::default(),
            network: Usual::default(),
            processing: Usual::default(),
            history: History::default(),
            seen: Vec::new(),
            both: in_turn,
        })
    }

    /// Has the independent parts of an analysis done by `both`: at the same time, where there are two cores.
    #[must_use]
    pub const fn with(mut self, both: Both) -> Self {
        self.both = both;
        self
    }

    /// Says which node has an address, as the topology file does. To be called before rows come.
    pub fn know(&mut self, address: IpAddr, node: &str) {
        self.names.know(address, node);
    }

    /// Takes a row of `probes`.
    pub fn probe(&mut self, row: &ProbeRow) {
        let Some(fate) = Fate::parse(&row.outcome) else {
            self.unreadable += 1;
            return;
        };
        let window = row.time_ns.div_euclid(self.settings.window_ns);
        if window < self.next {
            self.late += 1;
            return;
        }
        let tuple = self.tuples.number(
            Key {
                src: self.names.nic(row.src, &row.observer, &row.src_nic),
                dst: self.names.nic(row.dst, &row.observer, &row.dst_nic),
                udp_src_port: row.udp_src_port,
                udp_dst_port: row.udp_dst_port,
            },
            window,
        );
        let record = Record::new(
            tuple,
            row.time_ns.rem_euclid(self.settings.window_ns),
            fate,
            row.network_latency_ns,
            row.processing_delay_ns,
        );
        let open = self.open.entry(window).or_default();
        open.records.push(record);
        open.clock_error_ns = open.clock_error_ns.max(row.clock_error_ns);
    }

    /// Takes a row of `paths`; a path counts when all its rows have come.
    pub fn path(&mut self, row: &PathRow) {
        let hops = usize::from(row.hops);
        let hop = usize::from(row.hop);
        if hop == 0 || hop > hops {
            self.unreadable += 1;
            return;
        }
        let key = Key {
            src: self.names.nic(row.src, &row.observer, &row.src_nic),
            dst: self.names.nic(row.dst, &row.observer, &row.dst_nic),
            udp_src_port: row.udp_src_port,
            udp_dst_port: row.udp_dst_port,
        };
        let tuple = self
            .tuples
            .number(key, row.time_ns.div_euclid(self.settings.window_ns));
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
            self.tuples
                .trace(tuple, row.time_ns, &hops, &mut self.names);
            self.traces.remove(&tuple);
        }
    }

    /// Rows that could not be used: an outcome or a hop that is none.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Traces that ended before their destination, and so changed nothing.
    #[must_use]
    pub const fn traces_cut_short(&self) -> u64 {
        self.tuples.cut_short
    }

    /// Analyses every window that ends at the watermark or before; no row of those is taken after.
    ///
    /// The watermark is the time by (1) behind which no more rows are expected: of a live mesh, the time that
    /// every agent has reported, less the timeout of probes.
    pub fn advance(&mut self, watermark: Time) -> Vec<WindowDiagnosis> {
        core::iter::from_fn(|| self.advance_one(watermark)).collect()
    }

    /// The earliest of the windows that [`advance`](Self::advance) would analyse: what is asked of the analyzer
    /// after it, it answers as of that window.
    pub fn advance_one(&mut self, watermark: Time) -> Option<WindowDiagnosis> {
        self.next = self
            .next
            .max(watermark.0.div_euclid(self.settings.window_ns));
        self.close()
    }

    /// Analyses every window that has rows.
    pub fn finish(&mut self) -> Vec<WindowDiagnosis> {
        core::iter::from_fn(|| self.finish_one()).collect()
    }

    /// The earliest of the windows that have rows.
    pub fn finish_one(&mut self) -> Option<WindowDiagnosis> {
        let (earliest, _) = self.open.first_key_value()?;
        self.next = self.next.max(earliest + 1);
        self.close()
    }

    fn close(&mut self) -> Option<WindowDiagnosis> {
        let (number, _) = self.open.first_key_value()?;
        let number = Some(*number).filter(|number| *number < self.next)?;
        // Before the analysis, not after: what is asked then may need any 5-tuple of the window.
        self.forget(number);
        let window = self.open.remove(&number)?;
        Some(self.analyse(number, &window))
    }

    /// Drops 5-tuples that nobody has used for so long that no verdict can need them.
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

/// 5-tuples are kept for so many windows more than NICs stay anomalous: a pool of source ports is traced and
/// probed again and again while it lasts.
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
