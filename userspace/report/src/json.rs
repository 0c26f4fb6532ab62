//! The report as one JSON object, keyed by the columns of the registry.

use crate::collect::{
    Connection, ConnectionFigures, EventFigures, FlowFigures, GroupFigures, JobImbalance, KindFigures, MeshFigures,
    OwnerSums, PathFigures, PdcFigures, Peak, SwitchFigures,
};
use crate::report::{HostFaults, Period};
use crate::sections::{self, Finding};
use crate::{Report, tables};
use rocescope_diagnose::hostmesh::Problem;
use rocescope_diagnose::incidents::Incident;
use rocescope_diagnose::paths::Imbalance;
use rocescope_model::json::{self, Object, Row, Rows};
use rocescope_model::{
    Column, ConnectionRow, CounterRow, EventRow, FlowRow, GroupRow, LinkRow, LoopbackRow, OpcodeRow, PairRow, PdcRow,
    Rule, SlaRow, SwitchDropRow, SwitchPortRow, Time, Type, WindowRow,
};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// Columns without meaning for a sum.
const OF_ROWS: [&str; 4] = ["observer", "window_start", "window_start_ns", "window_ns"];

/// Columns that are the same in all rows of a span.
const OF_SPAN: [&str; 3] = ["window_start", "window_start_ns", "window_ns"];

type Wanted = fn(&Column) -> bool;
type List<'a, R> = Rows<'a, [R], Wanted>;

/// Returns the object, indented, with a final newline.
#[must_use]
pub fn document(report: &Report) -> String {
    let windows = tables::windows(report);
    let telling = report.events.important(report.scope.top);
    let sla = report.mesh.as_ref().map(MeshFigures::sla);
    let sla = sla.unwrap_or_default();
    let opcodes: Wanted = |column| !OF_ROWS.contains(&column.name) && !["frame_bps", "rate_pps"].contains(&column.name);
    let (origin, scope) = (&report.origin, &report.scope);
    let incidents = report.incidents.as_ref();
    let document = Document {
        incidents: incidents.map(|found| found.incidents.as_slice()),
        dataset: &origin.dataset,
        observers: &report.observers,
        source: &origin.sources,
        mode: &origin.modes,
        clock_source: &origin.clocks,
        resolution: &origin.answered,
        from: scope.from,
        to: scope.to,
        filter: scope.filter.as_ref().map(ToString::to_string),
        unreadable: origin.unreadable.iter().map(Unreadable::of).collect(),
        open_segments: origin.open_segments,
        totals: Totals::of(report),
        opcodes: Rows(&report.opcodes.rows, opcodes),
        flows: Flows::of(&report.flows),
        groups: report.groups.as_ref().map(Groups::of),
        connections: Connections::of(&report.connections),
        owners: report.owners.as_ref().map(|owners| Owners {
            by: owners.by.to_string(),
            rows: &owners.rows,
        }),
        pdcs: Pdcs::of(&report.pdcs),
        events: Events::of(&report.events, &telling),
        series: Series::of(report, &windows),
        mesh: report.mesh.as_ref().map(|mesh| Mesh::of(mesh, &sla)),
        counters: report.counters.as_ref().map(|counters| &*counters.grown),
        host_faults: report.host_faults.as_ref(),
        collective: report.collective.as_ref().map(|figures| &figures.document),
        loopback: report.loopback.as_ref().map(|figures| {
            let runs = figures.runs.values();
            runs.flat_map(|(_, tests)| tests).collect()
        }),
        paths: report.paths.as_ref().map(Paths::of),
        switches: report.switches.as_ref().map(Switches::of),
        findings: findings(report),
    };
    json::pretty(&document) + "\n"
}

#[derive(Serialize)]
struct Document<'a> {
    incidents: Option<&'a [Incident]>,
    dataset: &'a str,
    observers: &'a [String],
    source: &'a BTreeSet<String>,
    mode: &'a BTreeSet<String>,
    clock_source: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    resolution: &'a [String],
    from: Option<Time>,
    to: Option<Time>,
    filter: Option<String>,
    unreadable: Vec<Unreadable<'a>>,
    open_segments: usize,
    #[serde(flatten)]
    totals: Totals<'a>,
    opcodes: List<'a, OpcodeRow>,
    flows: Flows<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Groups<'a>>,
    connections: Connections<'a>,
    /// Absent if no agent reported a queue pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    owners: Option<Owners<'a>>,
    pdcs: Pdcs<'a>,
    events: Events<'a>,
    series: Series<'a>,
    mesh: Option<Mesh<'a>>,
    /// Counters of trouble that grew; absent if the dataset has no counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<&'a [CounterRow]>,
    /// Absent if the dataset has no counters.
    #[serde(skip_serializing_if = "Option::is_none")]
    host_faults: Option<&'a HostFaults>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collective: Option<&'a rocescope_collective::document::Document>,
    /// The last loopback tests inside each host; absent if the dataset has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    loopback: Option<Vec<&'a LoopbackRow>>,
    /// The last run of path discovery; absent if the dataset has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Paths<'a>>,
    /// Absent if the dataset has no rows of switches.
    #[serde(skip_serializing_if = "Option::is_none")]
    switches: Option<Switches<'a>>,
    findings: Vec<SectionFinding>,
}

#[derive(Serialize)]
struct Paths<'a> {
    time: Time,
    outcomes: &'a BTreeMap<String, u64>,
    problem_counts: &'a BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    imbalance: &'a Imbalance,
    /// Absent if no agent reported queue pairs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jobs: Vec<JobFim<'a>>,
}

/// The imbalance of a job.
#[derive(Serialize)]
struct JobFim<'a> {
    name: &'a str,
    flows: u64,
    links: usize,
    #[serde(serialize_with = "json::float")]
    fim_percent: f64,
    #[serde(serialize_with = "json::float")]
    min_fim_percent: f64,
    over_time: Vec<FimAt>,
}

/// The imbalance from a time on, for a window or several.
#[derive(Serialize)]
struct FimAt {
    time: Time,
    #[serde(serialize_with = "json::float")]
    fim_percent: f64,
}

impl<'a> JobFim<'a> {
    fn of(job: &'a JobImbalance) -> Self {
        let over_time = job.over_time.iter().map(|(start_ns, window)| FimAt {
            time: Time(start_ns),
            fim_percent: window.fim() * 100.0,
        });
        Self {
            name: &job.name,
            flows: job.flows,
            links: job.links,
            fim_percent: job.fim() * 100.0,
            min_fim_percent: job.least.fim() * 100.0,
            over_time: over_time.collect(),
        }
    }
}

impl<'a> Paths<'a> {
    fn of(paths: &'a PathFigures) -> Self {
        Self {
            time: Time(paths.time_ns),
            outcomes: &paths.outcomes,
            problem_counts: &paths.problems,
            imbalance: &paths.imbalance,
            jobs: paths.jobs.iter().map(JobFim::of).collect(),
        }
    }
}

#[derive(Serialize)]
struct Switches<'a> {
    count: usize,
    ports: usize,
    counts_drops: bool,
    /// Ports, queues and priorities with drops, pauses, marks or errors.
    troubled: Vec<&'a SwitchPortRow>,
    drops: &'a [SwitchDropRow],
}

impl<'a> Switches<'a> {
    fn of(switches: &'a SwitchFigures) -> Self {
        Self {
            count: switches.switches.len(),
            ports: switches.ports,
            counts_drops: switches.counts_drops,
            troubled: switches.troubled.iter().flat_map(|port| &port.rows).collect(),
            drops: &switches.drops,
        }
    }
}

#[derive(Serialize)]
struct Groups<'a> {
    by: String,
    rows: List<'a, GroupRow>,
}

impl<'a> Groups<'a> {
    fn of(groups: &'a GroupFigures) -> Self {
        Self {
            by: groups.by.to_string(),
            rows: Rows(&groups.rows, |column| !OF_ROWS.contains(&column.name)),
        }
    }
}

#[derive(Serialize)]
struct Unreadable<'a> {
    path: &'a str,
    reason: &'a str,
}

impl<'a> Unreadable<'a> {
    fn of((path, reason): &'a (String, String)) -> Self {
        Self { path, reason }
    }
}

#[derive(Serialize)]
struct Totals<'a> {
    start: Option<Time>,
    end: Option<Time>,
    windows: u64,
    window_ns: i64,
    covered_ns: i64,
    complete: bool,
    unaccounted_frames: i64,
    totals: Row<'a, WindowRow, Wanted>,
    rates: Rates,
}

#[derive(Serialize)]
struct Rates {
    frame_bps: Rate,
    rate_pps: Rate,
}

#[derive(Serialize)]
struct Rate {
    #[serde(serialize_with = "json::float")]
    mean: f64,
    #[serde(serialize_with = "json::float")]
    peak: f64,
    peak_window_start: Option<Time>,
}

impl<'a> Totals<'a> {
    fn of(report: &'a Report) -> Self {
        let totals = &report.totals;
        let instant = |ns: i64| (!report.is_empty()).then_some(Time(ns));
        let rate = |mean: f64, peak: Peak| Rate {
            mean,
            peak: peak.rate,
            peak_window_start: instant(peak.start_ns),
        };
        Self {
            start: instant(totals.start_ns),
            end: instant(totals.end_ns),
            windows: totals.windows,
            window_ns: totals.window_ns.0,
            covered_ns: totals.covered_ns,
            complete: report.is_complete(),
            unaccounted_frames: totals.unaccounted_frames(),
            // Flows are not summed over windows; `flows` of the report has them.
            totals: Row(&totals.sums, |column| {
                matches!(column.aggregate.time, Rule::Sum | Rule::Ratio { .. })
            }),
            rates: Rates {
                frame_bps: rate(totals.mean_bps(), totals.peak_bps),
                rate_pps: rate(totals.mean_pps(), totals.peak_pps),
            },
        }
    }
}

#[derive(Serialize)]
struct Flows<'a> {
    distinct: u64,
    distinct_exact: bool,
    elephant_flows: u64,
    top: List<'a, FlowRow>,
    marked: List<'a, FlowRow>,
    sprayed: List<'a, FlowRow>,
}

impl<'a> Flows<'a> {
    fn of(flows: &'a FlowFigures) -> Self {
        let wanted: Wanted = |column| !OF_SPAN.contains(&column.name);
        Self {
            distinct: flows.distinct,
            distinct_exact: flows.distinct_exact,
            elephant_flows: flows.elephants,
            top: Rows(&flows.rows, wanted),
            marked: Rows(&flows.marked, wanted),
            sprayed: Rows(&flows.sprayed, wanted),
        }
    }
}

#[derive(Serialize)]
struct Connections<'a> {
    count: u64,
    paired_by_cm: u64,
    paired_by_ack: u64,
    not_paired: u64,
    troubled: u64,
    resending: u64,
    rtt_connections: u64,
    rtt_uneven_connections: u64,
    totals: Object<&'static str, u64>,
    worst: &'a [Connection],
    slowest: &'a [Connection],
}

impl<'a> Connections<'a> {
    fn of(connections: &'a ConnectionFigures) -> Self {
        let [paired_by_cm, paired_by_ack, not_paired] = connections.paired;
        Self {
            count: connections.count,
            paired_by_cm,
            paired_by_ack,
            not_paired,
            troubled: connections.troubled,
            resending: connections.resending,
            rtt_connections: connections.timed,
            rtt_uneven_connections: connections.uneven,
            totals: connections.sums().collect(),
            worst: &connections.worst,
            slowest: &connections.slowest,
        }
    }
}

/// Traffic by owner.
#[derive(Serialize)]
struct Owners<'a> {
    by: String,
    rows: &'a [OwnerSums],
}

/// A direction without its histograms.
pub(crate) fn direction<S: Serializer>(row: &Option<ConnectionRow>, serializer: S) -> Result<S::Ok, S::Error> {
    let row = row.as_ref();
    row.map(|row| Row(row, |column: &Column| column.kind != Type::ListI64))
        .serialize(serializer)
}

/// UET's packet delivery contexts.
#[derive(Serialize)]
struct Pdcs<'a> {
    count: u64,
    unlisted_rows: u64,
    totals: Row<'a, PdcRow, Wanted>,
    worst: List<'a, PdcRow>,
}

impl<'a> Pdcs<'a> {
    fn of(pdcs: &'a PdcFigures) -> Self {
        Self {
            count: pdcs.count,
            unlisted_rows: pdcs.unlisted,
            totals: Row(&pdcs.sums, |column| column.aggregate.time == Rule::Sum),
            worst: Rows(&pdcs.rows, |column| !OF_ROWS.contains(&column.name)),
        }
    }
}

#[derive(Serialize)]
struct Events<'a> {
    kinds: Vec<EventKindSummary<'a>>,
    telling: List<'a, EventRow>,
}

#[derive(Serialize)]
struct EventKindSummary<'a> {
    kind: &'a str,
    events: u64,
    count: u64,
    first: Time,
    last: Time,
}

impl<'a> Events<'a> {
    fn of(events: &'a EventFigures, telling: &'a [EventRow]) -> Self {
        let kind = |kind: &'a KindFigures| EventKindSummary {
            kind: &kind.kind,
            events: kind.rows,
            count: kind.count,
            first: Time(kind.first_ns),
            last: Time(kind.last_ns),
        };
        Self {
            kinds: events.kinds.iter().map(kind).collect(),
            telling: Rows(telling, |_| true),
        }
    }
}

#[derive(Serialize)]
struct Series<'a> {
    joined_windows: i64,
    periods: Vec<SeriesPeriod<'a>>,
}

#[derive(Serialize)]
struct SeriesPeriod<'a> {
    #[serde(flatten)]
    sums: Row<'a, WindowRow, Wanted>,
    windows: u64,
    #[serde(serialize_with = "json::float")]
    peak_frame_bps: f64,
    #[serde(serialize_with = "json::float")]
    peak_rate_pps: f64,
}

impl<'a> Series<'a> {
    fn of(report: &'a Report, windows: &'a [WindowRow]) -> Self {
        let wanted: Wanted = |column| json::no_sketch(column) && column.name != "observer";
        let period = |(sums, (_, period)): (&'a WindowRow, (i64, &Period))| SeriesPeriod {
            sums: Row(sums, wanted),
            windows: period.windows,
            peak_frame_bps: period.peak_bps,
            peak_rate_pps: period.peak_pps,
        };
        Self {
            joined_windows: report.series.joined(),
            periods: windows.iter().zip(report.series.iter()).map(period).collect(),
        }
    }
}

#[derive(Serialize)]
struct Mesh<'a> {
    start: Time,
    end: Time,
    pairs: List<'a, PairRow>,
    unfollowed_probes: u64,
    windows: u64,
    joined_windows: i64,
    sla: &'a [SlaRow],
    problems: &'a [Problem],
    further_verdicts: u64,
    links: &'a [LinkRow],
    links_crossed_last: u64,
    links_learnt_last: u64,
}

impl<'a> Mesh<'a> {
    fn of(mesh: &'a MeshFigures, sla: &'a [SlaRow]) -> Self {
        let (links_crossed_last, links_learnt_last) = mesh.last_links;
        Self {
            start: Time(mesh.start_ns),
            end: Time(mesh.end_ns),
            pairs: Rows(&mesh.pairs, |column| !OF_SPAN.contains(&column.name)),
            unfollowed_probes: mesh.unfollowed,
            windows: mesh.total.windows,
            joined_windows: mesh.series.joined(),
            sla,
            problems: &mesh.problems,
            further_verdicts: mesh.more_verdicts,
            links: &mesh.links,
            links_crossed_last,
            links_learnt_last,
        }
    }
}

#[derive(Serialize)]
struct SectionFinding {
    section: &'static str,
    #[serde(flatten)]
    finding: Finding,
}

fn findings(report: &Report) -> Vec<SectionFinding> {
    let sections = sections::all(report).into_iter();
    let findings = sections.flat_map(|section| {
        let of_section = section.findings.into_iter();
        of_section.map(move |finding| SectionFinding {
            section: section.id,
            finding,
        })
    });
    findings.collect()
}
