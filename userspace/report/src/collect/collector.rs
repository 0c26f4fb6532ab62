//! Collects rows and keeps sums.

use super::agreement::Agreement;
use super::connections::Connections;
use super::counters::Counters;
use super::events::Events;
use super::flows::Flows;
use super::groups::GroupFigures;
use super::loopback::LoopbackFigures;
use super::mesh::Mesh;
use super::paths::Paths;
use super::switches::Switches;
use super::{MAX_NAMES, OpcodeFigures, Origin, PdcFigures, Scope, Totals};
use crate::report::{NotStored, Period, Report};
use crate::series::Series;
use rocescope_model::filter::{Filter, FilterError, RowFilter};
use rocescope_model::{
    ConnectionRow, CounterRow, EventRow, FlowPathRow, FlowRow, LinkLoadRow, LinkRow, LoopbackRow, OpcodeRow, PdcRow,
    ProbeRow, QueuePairRow, Row, SlaRow, SwitchDropRow, SwitchPortRow, VerdictRow, WindowRow,
};
use std::collections::BTreeSet;

/// The filter of each table that has its columns.
#[derive(Debug, Default)]
struct Filters {
    flows: Option<RowFilter>,
    connections: Option<RowFilter>,
    events: Option<RowFilter>,
    unfiltered: Vec<&'static str>,
}

impl Filters {
    fn new(filter: &Filter) -> Result<Self, FilterError> {
        let mut filters = Self::default();
        let mut first = None;
        for (table, place) in [
            (FlowRow::TABLE, &mut filters.flows),
            (ConnectionRow::TABLE, &mut filters.connections),
            (EventRow::TABLE, &mut filters.events),
        ] {
            match RowFilter::new(filter, table) {
                Ok(fits) => *place = Some(fits),
                Err(error) => {
                    filters.unfiltered.push(table.name);
                    first.get_or_insert(error);
                }
            }
        }
        match first {
            Some(error) if filters.unfiltered.len() == 3 => Err(error),
            _ => Ok(filters),
        }
    }

    fn note(&self, filter: &Filter) -> String {
        let left = match self.unfiltered.as_slice() {
            [] => String::new(),
            tables => format!(
                " {} lack a column of the filter and are not filtered.",
                tables.join(" and ")
            ),
        };
        format!(
            "The filter `{filter}` selects flows, connections and events; totals, rates and opcodes are those of all packets.{left}"
        )
    }
}

/// Collects rows and keeps sums.
#[derive(Debug)]
pub struct Collector {
    scope: Scope,
    filters: Filters,
    observers: BTreeSet<String>,
    /// Rows of observers beyond [`MAX_NAMES`].
    unnamed_observers: u64,
    totals: Totals,
    agreement: Agreement,
    series: Option<Series<Period>>,
    opcodes: OpcodeFigures,
    pdcs: PdcFigures,
    flows: Flows,
    groups: Option<GroupFigures>,
    connections: Connections,
    events: Events,
    not_stored: NotStored,
    ended_early: Vec<String>,
    untracked_packets: u64,
    yielded_packets: u64,
    mesh: Mesh,
    counters: Counters,
    loopback: LoopbackFigures,
    paths: Paths,
    switches: Switches,
}

impl Collector {
    /// Creates an empty collector.
    ///
    /// # Errors
    /// Returns an error if no table has the columns of the filter.
    pub fn new(scope: Scope) -> Result<Self, FilterError> {
        let filters = scope.filter.as_ref().map_or(Ok(Filters::default()), Filters::new)?;
        Ok(Self {
            flows: Flows::default(),
            groups: scope.by.map(GroupFigures::new),
            connections: Connections::new(scope.top, scope.owned_by),
            events: Events::new(scope.top),
            not_stored: NotStored::default(),
            ended_early: Vec::new(),
            untracked_packets: 0,
            yielded_packets: 0,
            mesh: Mesh::new(),
            counters: Counters::default(),
            loopback: LoopbackFigures::default(),
            paths: Paths::default(),
            switches: Switches::default(),
            opcodes: OpcodeFigures::default(),
            pdcs: PdcFigures::default(),
            totals: Totals::default(),
            agreement: Agreement::default(),
            series: None,
            observers: BTreeSet::new(),
            unnamed_observers: 0,
            filters,
            scope,
        })
    }

    /// Adds hops of paths of flows, before the windows, whose flows have the rates.
    pub fn flow_paths(&mut self, rows: &[FlowPathRow]) {
        rows.iter().for_each(|row| self.paths.hop(row));
    }

    /// Adds loads of links.
    pub fn link_loads(&mut self, rows: &[LinkLoadRow]) {
        rows.iter().for_each(|row| self.paths.link(row));
    }

    /// Adds the rows of all observers for one window, each in the order of its file.
    ///
    /// Windows must be added in the order of their starts, each once.
    pub fn window(&mut self, windows: &[WindowRow], flows: &[FlowRow], opcodes: &[OpcodeRow]) {
        let windows = windows
            .iter()
            .filter(|row| self.scope.covers(row.window_start_ns) && self.wants(&row.observer));
        let windows: Vec<&WindowRow> = windows.collect();
        let (Some(first), Some(period)) = (windows.first(), Period::of(&windows)) else {
            return;
        };
        for row in &windows {
            self.name(&row.observer);
        }
        let observers: BTreeSet<&str> = windows.iter().map(|row| &*row.observer).collect();
        for observer in observers {
            let of_it = windows.iter().filter(|row| &*row.observer == observer);
            let of_it: Vec<&WindowRow> = of_it.copied().collect();
            let listed = flows.iter().filter(|flow| &*flow.observer == observer);
            self.flows
                .window(observer, &of_it, listed.clone(), self.filters.flows.as_ref());
            if let Some(groups) = &mut self.groups {
                let filter = self.filters.flows.as_ref();
                let matches =
                    |flow: &&FlowRow| filter.is_none_or(|filter| filter.matches(std::slice::from_ref(*flow), 0));
                let listed: Vec<FlowRow> = listed.filter(matches).cloned().collect();
                let opcodes = opcodes.iter().filter(|row| &*row.observer == observer);
                let opcodes: Vec<OpcodeRow> = opcodes.cloned().collect();
                // Flows belong to all rows of the window: a capture that was started again writes a second one.
                if let Some(window) = Period::of(&of_it) {
                    groups.window(&window.sums, &listed, &opcodes, filter.is_some());
                }
            }
        }
        self.agreement.window(windows.iter().copied(), flows, opcodes);
        self.paths.window(flows, self.connections.owners(), self.scope.owned_by);
        self.totals.window(&period);
        for row in opcodes {
            if windows.iter().any(|window| window.observer == row.observer) {
                self.opcodes.add(row);
            }
        }
        let series = self.series.get_or_insert_with(|| Series::new(first.window_ns));
        series.add(first.window_start_ns, period);
    }

    /// Adds events, in any order; after the windows, whose length determines the periods.
    pub fn events(&mut self, rows: Vec<EventRow>) {
        let window_ns = match self.totals.window_ns.0 {
            0 => 1_000_000_000,
            window_ns => window_ns,
        };
        for row in rows {
            self.not_stored(&row);
            let filter = self.filters.events.as_ref();
            if self.scope.covers(row.time_ns)
                && self.wants(&row.observer)
                && filter.is_none_or(|filter| filter.matches(std::slice::from_ref(&row), 0))
            {
                self.name(&row.observer);
                self.events.add(row, window_ns);
            }
        }
    }

    /// Notes what the dataset lacks, whatever the filter selects.
    fn not_stored(&mut self, row: &EventRow) {
        if self.scope.covers(row.time_ns) && self.wants(&row.observer) {
            match &*row.kind {
                "untracked" => self.untracked_packets = self.untracked_packets.saturating_add(row.count),
                "yielded" => self.yielded_packets = self.yielded_packets.saturating_add(row.count),
                EventRow::INPUT_ENDED => self.ended_early.push(row.detail.to_string()),
                _ => {}
            }
        }
        let span_ns = row.value.unwrap_or(0.0) as i64;
        let is_within = self.scope.covers(row.time_ns) || self.scope.covers(row.time_ns.saturating_add(span_ns));
        if &*row.kind == "not_stored" && is_within && self.wants(&row.observer) {
            self.not_stored.gaps += 1;
            self.not_stored.span_ns = self.not_stored.span_ns.saturating_add(span_ns);
        }
    }

    /// Adds queue pairs that agents reported, of all hosts and in any order; before the windows.
    pub fn queue_pairs(&mut self, rows: &[QueuePairRow]) {
        rows.iter().for_each(|row| self.connections.queue_pair(row));
    }

    /// Adds directions of connections, those of one observer in the order in which they were written; after the windows,
    /// whose length determines how long a live one may have no row.
    pub fn connections(&mut self, rows: Vec<ConnectionRow>) {
        let (_, longest_ns) = self.totals.window_ns;
        self.connections.set_window(longest_ns);
        for row in rows {
            if self.wants(&row.observer) {
                self.name(&row.observer);
                self.connections
                    .add(row, &self.scope, self.filters.connections.as_ref());
            }
        }
    }

    /// Adds directions of UET's packet delivery contexts, in the order of their windows.
    pub fn pdcs(&mut self, rows: &[PdcRow]) {
        for row in rows {
            if self.scope.covers(row.window_start_ns) && self.wants(&row.observer) {
                self.pdcs.add(row);
            }
        }
    }

    /// Adds probes, in any order.
    pub fn probes(&mut self, rows: &[ProbeRow]) {
        for row in rows {
            if self.scope.covers(row.time_ns) && self.wants(&row.observer) {
                self.mesh.probe(row);
            }
        }
    }

    /// Adds windows of one probe analysis, which is always of all hosts.
    pub fn sla(&mut self, rows: &[SlaRow]) {
        let rows = rows.iter();
        let covered = rows.filter(|row| self.scope.covers(row.window_start_ns));
        covered.for_each(|row| self.mesh.sla(row));
    }

    /// Adds its verdicts, in the order of their windows.
    pub fn verdicts(&mut self, rows: &[VerdictRow]) {
        let rows = rows.iter();
        let covered = rows.filter(|row| self.scope.covers(row.window_start_ns));
        covered.for_each(|row| self.mesh.verdict(row));
    }

    /// Adds its links, in the order of their windows.
    pub fn links(&mut self, rows: &[LinkRow]) {
        let rows = rows.iter();
        let covered = rows.filter(|row| self.scope.covers(row.window_start_ns));
        covered.for_each(|row| self.mesh.link(row));
    }

    /// Adds counters, those of one host in the order of time.
    pub fn counters(&mut self, rows: &[CounterRow]) {
        for row in rows {
            if self.scope.covers(row.time_ns) && self.wants(&row.observer) {
                self.name(&row.observer);
                self.counters.add(row);
            }
        }
    }

    /// Adds loopback tests.
    pub fn loopback(&mut self, rows: &[LoopbackRow]) {
        for row in rows {
            if self.scope.covers(row.window_start_ns) && self.wants(&row.observer) {
                self.name(&row.observer);
                self.loopback.add(row);
            }
        }
    }

    /// Adds what switches counted, those of one port in the order of time.
    pub fn switch_ports(&mut self, rows: &[SwitchPortRow]) {
        for row in rows {
            if self.scope.covers(row.time_ns) && self.wants(&row.observer) {
                self.name(&row.observer);
                self.switches.port(row);
            }
        }
    }

    /// Adds drops that switches reported, in any order.
    pub fn switch_drops(&mut self, rows: &[SwitchDropRow]) {
        for row in rows {
            if self.scope.covers(row.time_ns) && self.wants(&row.observer) {
                self.name(&row.observer);
                self.switches.dropped(row);
            }
        }
    }

    fn wants(&self, observer: &str) -> bool {
        self.scope.observer.as_ref().is_none_or(|only| only == observer)
    }

    fn name(&mut self, observer: &str) {
        if !self.observers.contains(observer) {
            if self.observers.len() < MAX_NAMES {
                self.observers.insert(observer.into());
            } else {
                self.unnamed_observers += 1;
            }
        }
    }

    /// Returns the report.
    #[must_use]
    pub fn finish(self, origin: Origin) -> Report {
        let mut notes = Vec::new();
        if let Some(filter) = &self.scope.filter {
            notes.push(self.filters.note(filter));
        }
        if self.observers.len() > 1 {
            notes.push(
                "Totals are sums over several observers: a packet that two of them saw counts twice. \
                 Each flow is listed per observer. `--observer NAME` selects one."
                    .into(),
            );
        }
        if self.unnamed_observers > 0 {
            notes.push(format!(
                "There are more than {MAX_NAMES} observers; all are counted, but not all are named."
            ));
        }
        let ranged = self.scope.from.is_some() || self.scope.to.is_some();
        let (connections, owners) = self.connections.finish(&self.scope, self.filters.connections.as_ref());
        if ranged && connections.count > 0 {
            notes.push(
                "Connections are those that were alive in the requested time; their figures count from \
                 their first packet."
                    .into(),
            );
        }
        let native_ns = self.series.as_ref().map_or(1, Series::period_ns);
        let series = self.series.unwrap_or_else(|| Series::new(native_ns));
        Report {
            groups: self.groups.map(|groups| {
                let totals = &self.totals;
                groups.finish(totals.start_ns, totals.span_ns(), totals.sums.frame_bytes)
            }),
            flows: self.flows.finish(self.scope.top, &self.totals),
            mesh: self.mesh.finish(&self.scope),
            counters: self.counters.finish(),
            incidents: None,
            host_faults: None,
            collective: None,
            loopback: self.loopback.finish(),
            paths: self.paths.finish(),
            switches: self.switches.finish(),
            events: self.events.finish(),
            opcodes: self.opcodes.finish(&self.totals),
            pdcs: self
                .pdcs
                .finish(self.scope.top, self.totals.start_ns, self.totals.span_ns()),
            observers: self.observers.into_iter().collect(),
            totals: self.totals,
            not_stored: self.not_stored,
            ended_early: self.ended_early,
            untracked_packets: self.untracked_packets,
            yielded_packets: self.yielded_packets,
            agreement: self.agreement,
            scope: self.scope,
            connections,
            owners,
            origin,
            notes,
            series,
        }
    }
}
