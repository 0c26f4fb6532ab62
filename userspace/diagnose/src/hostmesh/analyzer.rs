//! Rows in, a diagnosis a window out.

use super::cells::{Cells, Place};
use super::coverage::Coverage;
use super::flows::Where;
use super::history::History;
use super::latency;
use super::names::Names;
use super::paper::{Sticky, Votes, attribute};
use super::record::{Fate, Record, Window};
use super::settings::{Settings, SettingsError};
use super::suspects::{Scan, Suspect, Symptom};
use super::tuples::{Key, Tuples};
use super::untraced::unreached;
use super::usual::Usual;
use super::verdict::Bench;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_model::{PathRow, ProbeRow, SlaRow, Text, Time, VerdictRow};

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
    sticky: Sticky,
    network: Usual,
    processing: Usual,
    history: History,
    /// The last window in which each host sent probes.
    pub(super) seen: Vec<i64>,
}

#[derive(Debug)]
struct Trace {
    from_ns: i64,
    hops: Vec<Option<IpAddr>>,
    left: usize,
}

/// What a window showed.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowDiagnosis {
    /// Start of the window.
    pub start_ns: i64,
    /// Its row of `sla`.
    pub sla: SlaRow,
    /// Its rows of `verdicts`, the likeliest first.
    pub verdicts: Vec<VerdictRow>,
    /// The place of each verdict.
    pub places: Vec<Where>,
    /// NICs that are anomalous by the paper's rule in this window, as `host/nic`.
    pub anomalous_nics: Vec<String>,
    /// Every learnt link, by number; [`Analyzer::link_rows`] makes rows of it.
    pub coverage: Vec<Coverage>,
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
        })
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

    fn analyse(&mut self, number: i64, window: &Window) -> WindowDiagnosis {
        let start_ns = number * self.settings.window_ns;
        let end_ns = start_ns + self.settings.window_ns;
        let records = &window.records;
        let mut cells = Cells::group(records, start_ns, &self.tuples);
        let mut sla = self.totals(number, &cells, window);

        let nics = self.names.nics.len();
        let anomalous = self
            .sticky
            .judge(&cells, &self.tuples, &self.settings, nics, end_ns);
        let causes = attribute(&self.sticky, &mut cells, records, &self.tuples, start_ns);
        let votes = Votes::cast(&cells, &self.tuples, &self.names, &self.settings);

        let mut unjudged = Vec::new();
        let enough = u64::try_from(records.len()).unwrap_or(u64::MAX) >= self.settings.least_window;
        if !enough {
            let least = self.settings.least_window;
            unjudged.push(format!("only {} probes, {least} are needed", records.len()));
        }
        let least_ns = self.settings.least_late_ns.max(2 * window.clock_error_ns);
        let margin = self.network.margin_ns(least_ns);
        if let Some(margin) = margin {
            latency::mark(&self.network, &mut cells, records, &self.tuples, margin);
        }
        let (mut loss, mut late, mut slow) = (Vec::new(), Vec::new(), Vec::new());
        if enough {
            loss = self.lossy(&cells, end_ns);
            let (tuples, names) = (&self.tuples, &self.names);
            let settings = &self.settings;
            match margin {
                None => unjudged.push("latency: no window to compare with yet".into()),
                Some(_) => {
                    let mut scan = Scan::new(&cells, tuples, names, settings, Symptom::Latency);
                    late = scan.run(settings.most_verdicts);
                }
            }
            if let Some(margin) = self.processing.margin_ns(settings.least_late_ns) {
                let values = latency::processing(records, tuples, names);
                let hosts = names.hosts.len();
                slow = latency::slow_hosts(&self.processing, values, hosts, settings, margin);
            }
            let values = latency::network(records, tuples);
            self.network
                .learn(tuples.pairs.len(), values, late.is_empty());
            let values = latency::processing(records, tuples, names);
            self.processing
                .learn(names.hosts.len(), values, slow.is_empty());
        }

        let history = core::mem::take(&mut self.history);
        let (verdicts, places, history) = Bench {
            analyzer: &*self,
            history,
            cells: &cells,
            records,
            votes: &votes,
            start_ns,
            late: &late,
        }
        .verdicts([
            (Symptom::Loss, &loss),
            (Symptom::Latency, &late),
            (Symptom::Delay, &slow),
        ]);
        self.history = history;
        self.history.forget(start_ns, self.settings.window_ns);
        Self::drops(&mut sla, causes, &anomalous);
        sla.verdicts = u64::try_from(verdicts.len()).unwrap_or(u64::MAX);
        if verdicts.is_empty() && causes.untraced > self.settings.most_ignored {
            unjudged.push(format!(
                "{} drops lie on paths that no trace has reached",
                causes.untraced
            ));
        }
        sla.unjudged = Text::from(unjudged.join("; "));
        WindowDiagnosis {
            start_ns,
            sla,
            verdicts,
            places,
            anomalous_nics: anomalous
                .iter()
                .map(|nic| self.names.nic_name(*nic))
                .collect(),
            coverage: self.cover(&cells, &votes),
        }
    }

    /// The places that explain the drops. Probes of a NIC that was at fault within the last minute say nothing
    /// of links and switches, as by the paper's rule, whatever becomes of the NIC.
    fn lossy(&self, cells: &Cells, end_ns: i64) -> Vec<Suspect> {
        let settings = &self.settings;
        let mut scan = Scan::new(cells, &self.tuples, &self.names, settings, Symptom::Loss);
        let start_ns = end_ns - settings.window_ns;
        let lately = self.history.nics_since(start_ns - settings.sticky_ns);
        let mut found: Vec<Suspect> = lately.iter().filter_map(|nic| scan.of_nic(*nic)).collect();
        for nic in lately {
            scan.without(nic);
        }
        let most = settings.most_verdicts.saturating_sub(found.len());
        found.extend(scan.run(most));
        let unreached = unreached(cells, &self.tuples, &self.names, settings, &found);
        found.extend(unreached);
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.truncate(settings.most_verdicts);
        found
    }

    /// The name that rows carry.
    pub(super) fn observer(&self) -> Text {
        self.observer.clone()
    }

    /// Whether a place is a NIC that is anomalous by the paper's rule at a time.
    pub(super) fn is_sticky(&self, place: Place, at_ns: i64) -> bool {
        match place {
            Place::Nic(nic) | Place::ToNic(nic) | Place::FromNic(nic) => {
                self.sticky.holds(nic, at_ns)
            }
            _ => false,
        }
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
