//! The rows of the last minutes, in bounded memory, as reports of any time among them.

use rocescope_diagnose::incidents::{Document, Incident, Source};
use rocescope_model::filter::FilterError;
use rocescope_model::{
    Cells as _, ConnectionRow, CounterRow, EventRow, FlowRow, IncidentRow, LinkRow, LoopbackRow, OpcodeRow, PdcRow,
    ProbeRow, QueuePairRow, Revisions, Row, SlaRow, SwitchDropRow, SwitchPortRow, Table, Text, Time, VerdictRow,
    WindowRow, WindowRows,
};
use rocescope_report::{Collector, Origin, Report, Scope};
use rocescope_store::Batch;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// How long rows are kept.
pub(crate) const KEPT_NS: i64 = 5 * 60_000_000_000;
/// Agents write the row of a queue pair again every five minutes by default.
const QUEUE_PAIRS_NS: i64 = 2 * KEPT_NS;
/// Rows of a live connection are at most this far apart.
const CONNECTIONS_NS: i64 = 61_000_000_000;
/// Rows in memory, a third of a kilobyte each: beyond, the oldest are forgotten early. A minute of 1,000 flows a window
/// fits.
const MAX_ROWS: usize = 65_000;

/// Incidents of a collector in memory: beyond, those that ended go, and then the oldest.
const MAX_INCIDENTS: usize = 1_000;

/// The tables that are followed.
pub(crate) const TABLES: &[&Table] = &[
    WindowRow::TABLE,
    FlowRow::TABLE,
    OpcodeRow::TABLE,
    EventRow::TABLE,
    ConnectionRow::TABLE,
    PdcRow::TABLE,
    ProbeRow::TABLE,
    SlaRow::TABLE,
    VerdictRow::TABLE,
    LinkRow::TABLE,
    CounterRow::TABLE,
    LoopbackRow::TABLE,
    QueuePairRow::TABLE,
    SwitchPortRow::TABLE,
    SwitchDropRow::TABLE,
    IncidentRow::TABLE,
];

/// The rows of a captured window of all observers.
#[derive(Debug, Default)]
struct Window {
    windows: Vec<WindowRow>,
    flows: Vec<FlowRow>,
    opcodes: Vec<OpcodeRow>,
    pdcs: Vec<PdcRow>,
}

impl Window {
    fn rows(&self) -> usize {
        self.windows.len() + self.flows.len() + self.opcodes.len() + self.pdcs.len()
    }
}

/// Rows in the order in which they came, with their times.
#[derive(Debug)]
struct Timed<R>(VecDeque<(i64, R)>);

impl<R> Default for Timed<R> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<R: Row + Clone> Timed<R> {
    fn add(&mut self, batch: &Batch, time: fn(&R) -> i64) -> Option<i64> {
        let rows: Vec<R> = batch.typed().ok()?;
        let newest = rows.iter().map(time).max();
        self.0.extend(rows.into_iter().map(|row| (time(&row), row)));
        newest
    }

    /// Forgets rows before an instant. Rows come nearly in order: those behind a newer one go a little later.
    fn forget(&mut self, before_ns: i64) {
        while self.0.pop_front_if(|(time, _)| *time < before_ns).is_some() {}
    }

    fn within(&self, from_ns: i64, to_ns: i64) -> Vec<R> {
        let rows = self.0.iter();
        let rows = rows.filter(|(time, _)| (from_ns..to_ns).contains(time));
        rows.map(|(_, row)| row.clone()).collect()
    }
}

/// The rows of the last minutes.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    windows: BTreeMap<i64, Window>,
    events: Timed<EventRow>,
    connections: Timed<ConnectionRow>,
    probes: Timed<ProbeRow>,
    sla: Timed<SlaRow>,
    verdicts: Timed<VerdictRow>,
    links: Timed<LinkRow>,
    counters: Timed<CounterRow>,
    loopback: Timed<LoopbackRow>,
    queue_pairs: Timed<QueuePairRow>,
    switch_ports: Timed<SwitchPortRow>,
    switch_drops: Timed<SwitchDropRow>,
    /// The last row of each incident that a collector reports, by its name.
    incidents: HashMap<Text, IncidentRow>,
    /// The end of the newest captured window, or the newest other row if none was captured.
    captured_ns: Option<i64>,
    other_ns: Option<i64>,
    /// Before it, rows are forgotten.
    from_ns: i64,
    unread: u64,
}

impl Kept {
    /// Adds the rows of a capture.
    pub(crate) fn add(&mut self, rows: WindowRows) {
        for row in rows.windows {
            let end_ns = row.window_start_ns.saturating_add(row.window_ns);
            self.captured_ns = self.captured_ns.max(Some(end_ns));
            self.window(row.window_start_ns).windows.push(row);
        }
        for row in rows.flows {
            self.window(row.window_start_ns).flows.push(row);
        }
        for row in rows.opcodes {
            self.window(row.window_start_ns).opcodes.push(row);
        }
        for row in rows.pdcs {
            self.window(row.window_start_ns).pdcs.push(row);
        }
        self.events
            .0
            .extend(rows.events.into_iter().map(|row| (row.time_ns, row)));
        let connections = rows.connections.into_iter().map(|row| (row.time_ns, row));
        self.connections.0.extend(connections);
        self.forget();
    }

    /// Adds rows of a dataset. Those of a capture are not added yet: they join `captured`.
    pub(crate) fn add_batch(&mut self, batch: &Batch, captured: &mut WindowRows) {
        let table = batch.table();
        let is_read = if table == WindowRow::TABLE {
            append(batch, &mut captured.windows)
        } else if table == FlowRow::TABLE {
            append(batch, &mut captured.flows)
        } else if table == OpcodeRow::TABLE {
            append(batch, &mut captured.opcodes)
        } else if table == PdcRow::TABLE {
            append(batch, &mut captured.pdcs)
        } else if table == EventRow::TABLE {
            append(batch, &mut captured.events)
        } else if table == ConnectionRow::TABLE {
            append(batch, &mut captured.connections)
        } else {
            self.other(batch)
        };
        self.unread += u64::from(!is_read);
    }

    fn other(&mut self, batch: &Batch) -> bool {
        let table = batch.table();
        let newest = if table == ProbeRow::TABLE {
            self.probes.add(batch, |row| row.time_ns)
        } else if table == SlaRow::TABLE {
            self.sla.add(batch, |row| row.window_start_ns)
        } else if table == VerdictRow::TABLE {
            self.verdicts.add(batch, |row| row.window_start_ns)
        } else if table == LinkRow::TABLE {
            self.links.add(batch, |row| row.window_start_ns)
        } else if table == CounterRow::TABLE {
            self.counters.add(batch, |row| row.time_ns)
        } else if table == LoopbackRow::TABLE {
            self.loopback.add(batch, |row| row.window_start_ns)
        } else if table == QueuePairRow::TABLE {
            self.queue_pairs.add(batch, |row| row.time_ns)
        } else if table == SwitchPortRow::TABLE {
            self.switch_ports.add(batch, |row| row.time_ns)
        } else if table == SwitchDropRow::TABLE {
            self.switch_drops.add(batch, |row| row.time_ns)
        } else if table == IncidentRow::TABLE {
            return batch.typed().map(|rows| self.incidents(rows)).is_ok();
        } else {
            return true;
        };
        self.other_ns = self.other_ns.max(newest.map(|newest| newest.saturating_add(1)));
        newest.is_some() || batch.rows() == 0
    }

    /// Adds rows of incidents, in any order.
    pub(crate) fn incidents(&mut self, rows: Vec<IncidentRow>) {
        for row in rows {
            let known = self.incidents.get(&row.id);
            if known.is_none_or(|known| known.time_ns <= row.time_ns) {
                self.incidents.insert(row.id.clone(), row);
            }
        }
        while self.incidents.len() > MAX_INCIDENTS
            && let Some(oldest) = self
                .incidents
                .values()
                .min_by_key(|row| (&*row.state == IncidentRow::OPEN, row.time_ns))
        {
            let id = oldest.id.clone();
            self.incidents.remove(&id);
        }
    }

    /// The incidents that a collector reports, the latest first; `None` without any.
    pub(crate) fn reported(&self) -> Option<Document> {
        let known = |row: &&IncidentRow| [IncidentRow::OPEN, IncidentRow::ENDED].contains(&&*row.state);
        let mut rows: Vec<&IncidentRow> = self.incidents.values().filter(known).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.time_ns));
        (!self.incidents.is_empty()).then(|| Document {
            incidents: rows.into_iter().map(incident).collect(),
            judged: vec!["the rows of a collector that diagnoses".into()],
            ..Document::default()
        })
    }

    fn window(&mut self, start_ns: i64) -> &mut Window {
        self.windows.entry(start_ns).or_default()
    }

    /// The end of what is known: that of the newest captured window, or of the newest row if none is captured.
    pub(crate) fn end(&self) -> Option<Time> {
        self.captured_ns.or(self.other_ns).map(Time)
    }

    /// The time before which rows were forgotten.
    pub(crate) const fn begin(&self) -> Time {
        Time(self.from_ns)
    }

    /// Batches that could not be read as rows of their table.
    pub(crate) const fn unread(&self) -> u64 {
        self.unread
    }

    fn forget(&mut self) {
        let Some(newest) = self.captured_ns.max(self.other_ns) else {
            return;
        };
        self.from_ns = self.from_ns.max(newest.saturating_sub(KEPT_NS));
        while self
            .windows
            .first_key_value()
            .is_some_and(|(start, _)| *start < self.from_ns)
        {
            self.windows.pop_first();
        }
        let mut rows: usize = self.windows.values().map(Window::rows).sum();
        while rows > MAX_ROWS
            && self.windows.len() > 1
            && let Some((start, window)) = self.windows.pop_first()
        {
            rows -= window.rows();
            self.from_ns = start.saturating_add(1);
        }
        let from_ns = self.from_ns;
        self.events.forget(from_ns);
        self.connections.forget(from_ns.saturating_sub(CONNECTIONS_NS));
        self.sla.forget(from_ns);
        self.verdicts.forget(from_ns);
        self.links.forget(from_ns);
        self.loopback.forget(from_ns);
        self.queue_pairs.forget(newest.saturating_sub(QUEUE_PAIRS_NS));
        bounded(&mut self.probes, from_ns);
        bounded(&mut self.counters, from_ns);
        bounded(&mut self.switch_ports, from_ns);
        bounded(&mut self.switch_drops, from_ns);
        bounded(&mut self.events, from_ns);
        bounded(&mut self.connections, from_ns.saturating_sub(CONNECTIONS_NS));
    }

    /// The report of a time. Incidents are those that are known.
    pub(crate) fn report(&self, scope: Scope, origin: Origin, incidents: Document) -> Result<Report, FilterError> {
        let from_ns = scope.from.map_or(i64::MIN, |from| from.0);
        let to_ns = scope.to.map_or(i64::MAX, |to| to.0);
        let mut collector = Collector::new(scope)?;
        collector.queue_pairs(&self.queue_pairs.within(i64::MIN, i64::MAX));
        for window in self.windows.range(from_ns..to_ns).map(|(_, window)| window) {
            collector.window(&window.windows, &window.flows, &window.opcodes);
        }
        collector.events(self.events.within(from_ns, to_ns));
        collector.connections(self.connections.within(from_ns, i64::MAX));
        for window in self.windows.range(from_ns..to_ns).map(|(_, window)| window) {
            collector.pdcs(&window.pdcs);
        }
        collector.probes(&self.probes.within(from_ns, to_ns));
        let sla = self.sla.within(from_ns, to_ns);
        let revisions = Revisions::of(&sla);
        // One analyzer of several: all of them cover the same probes of all hosts.
        let analyzer = sla.last().map(|row| row.observer.clone());
        let is_of = |name: &Text| Some(name) == analyzer.as_ref();
        let mut verdicts = self.verdicts.within(from_ns, to_ns);
        let mut links = self.links.within(from_ns, to_ns);
        verdicts.retain(|row| is_of(&row.observer) && revisions.has(row));
        links.retain(|row| is_of(&row.observer) && revisions.has(row));
        let mut sla = sla;
        sla.retain(|row| is_of(&row.observer) && revisions.has(row));
        collector.sla(&sla);
        collector.verdicts(&verdicts);
        collector.links(&links);
        collector.counters(&self.counters.within(from_ns, to_ns));
        collector.loopback(&self.loopback.within(from_ns, to_ns));
        collector.switch_ports(&self.switch_ports.within(from_ns, to_ns));
        collector.switch_drops(&self.switch_drops.within(from_ns, to_ns));
        let mut report = collector.finish(origin);
        report.incidents = Some(incidents);
        Ok(report)
    }
}

/// The incident of a row, with who saw it.
fn incident(row: &IncidentRow) -> Incident {
    const ALL: [Source; 7] = [
        Source::Capture,
        Source::Counters,
        Source::Mesh,
        Source::Loopback,
        Source::Collectives,
        Source::Paths,
        Source::Switches,
    ];
    let mut incident = Incident::resumed(row);
    let named = |source: &Source| row.sources.split(", ").any(|name| name == source.name());
    incident.sources = ALL.into_iter().filter(named).collect();
    incident
}

/// Forgets rows before an instant, and the oldest beyond the limit.
fn bounded<R: Row + Clone>(rows: &mut Timed<R>, before_ns: i64) {
    rows.forget(before_ns);
    let more = rows.0.len().saturating_sub(MAX_ROWS);
    rows.0.drain(..more);
}

fn append<R: Row>(batch: &Batch, to: &mut Vec<R>) -> bool {
    match batch.typed() {
        Ok(mut rows) => {
            to.append(&mut rows);
            true
        }
        Err(_) => false,
    }
}
