//! All of it: the critical path, the graphs, the ratings and the causes.

use crate::causes::{self, Cause};
use crate::complaints::Complaints;
use crate::culprit;
use crate::evidence::{self, Evidence};
use crate::paper;
use crate::provenance::{Graph, PortWeights, authors_weights, egress_shares};
use crate::rating::{Contends, Delay, Sums, delays};
use crate::readings::{Excess, Readings, Spread};
use crate::steps::{FlowKey, Steps};
use crate::telemetry::{PortCounters, PortKey, Report, Telemetry, Trigger};
use crate::waiting::{CriticalPath, Part, Shape, critical_path};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashSet;
use rocescope_model::Text;

/// Reports of a switch that follow the one before within this time are left out by the authors' program.
const REPEATED_NS: i64 = 50_000;
/// Length of a window.
pub const WINDOW_NS: i64 = 10_000_000;

/// The rules of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Those of the paper.
    Paper(Readings),
    /// Those of the authors' program, to the digit.
    Authors,
}

impl Mode {
    /// Its name in documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper(_) => "paper",
            Self::Authors => "authors",
        }
    }
}

/// The weights of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportWeights {
    /// The switch.
    pub switch: Text,
    /// Its time.
    pub time_ns: i64,
    /// Why it was made.
    pub trigger: Trigger,
    /// Ports in the current epoch.
    pub now: Vec<PortWeights>,
    /// Ports in the epoch before.
    pub last: Vec<PortWeights>,
    /// Egress port, its share of the metered traffic, and the upstream port that the traffic came from.
    pub shares: Vec<(Text, f64, Option<PortKey>)>,
}

/// A window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// Its start.
    pub start_ns: i64,
    /// Its graph.
    pub graph: Graph,
    /// What delayed the flows of the collective.
    pub delays: Vec<Delay>,
}

/// The result.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The rules.
    pub mode: Mode,
    /// The steps.
    pub steps: Steps,
    /// Its critical path.
    pub path: CriticalPath,
    /// What made it slow, as far as the waits of its steps tell, the highest cost first.
    pub culprits: Vec<culprit::Delay>,
    /// The weights of all reports that count.
    pub reports: Vec<ReportWeights>,
    /// Windows with a flow of the collective in a queue.
    pub windows: Vec<Window>,
    /// Flows outside the collective, with their ratings, the highest first.
    pub contributors: Vec<(FlowKey, f64)>,
    /// Root causes.
    pub causes: Vec<Cause>,
    /// What hosts and captures saw while it ran.
    pub evidence: Vec<Evidence>,
    /// What is missing or contradicts itself.
    pub complaints: Complaints,
}

/// Which flows belong to the collective.
#[derive(Debug)]
struct Members {
    addresses: HashSet<IpAddr>,
    ports: HashSet<Option<u16>>,
}

impl Members {
    fn new(steps: &Steps) -> Self {
        Self {
            addresses: steps.flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect(),
            ports: steps.flows.iter().map(|flow| flow.src_port).collect(),
        }
    }

    /// Whether a flow is between hosts of the collective, from a source port of its steps.
    fn contain(&self, flow: &FlowKey) -> bool {
        self.addresses.contains(&flow.src) && self.addresses.contains(&flow.dst) && self.ports.contains(&flow.src_port)
    }
}

/// The start of the window of this time.
fn window_of(time_ns: i64) -> i64 {
    time_ns.div_euclid(WINDOW_NS) * WINDOW_NS
}

/// The reports that the authors' program keeps.
fn kept(telemetry: &Telemetry) -> Vec<&Report> {
    let mut kept = Vec::new();
    let mut before: Option<&Report> = None;
    for report in &telemetry.reports {
        let repeats = before.is_some_and(|before| {
            before.switch == report.switch && report.time_ns.saturating_sub(before.time_ns) < REPEATED_NS
        });
        if !repeats {
            kept.push(report);
        }
        before = Some(report);
    }
    kept
}

fn weights(report: &Report, of_port: impl Fn(&PortCounters) -> PortWeights) -> ReportWeights {
    ReportWeights {
        switch: report.switch.clone(),
        time_ns: report.time_ns,
        trigger: report.trigger,
        now: report.now.iter().map(&of_port).collect(),
        last: report.last.iter().map(&of_port).collect(),
        shares: egress_shares(report),
    }
}

/// What the rules of a mode make of the reports.
struct Rated {
    reports: Vec<ReportWeights>,
    windows: Vec<Window>,
    contributors: Vec<(FlowKey, f64)>,
}

/// Analyzes a collective.
#[must_use]
pub fn analyze(steps: Steps, telemetry: &Telemetry, mode: Mode) -> Analysis {
    let members = Members::new(&steps);
    let mut complaints = steps.complaints.clone();
    complaints.append(telemetry.complaints.clone());
    let (path, rated) = match mode {
        Mode::Paper(readings) => {
            let path = critical_path(&steps, Shape::Paper);
            let rated = by_paper(&steps, telemetry, &path, &members, readings, &mut complaints);
            (path, rated)
        }
        Mode::Authors => {
            let path = critical_path(&steps, Shape::Authors);
            let rated = by_authors(&steps, telemetry, &path, &members);
            (path, rated)
        }
    };
    let mut by_window: BTreeMap<i64, Vec<&Report>> = BTreeMap::new();
    for report in &telemetry.reports {
        by_window.entry(window_of(report.time_ns)).or_default().push(report);
    }
    let found = by_window
        .into_iter()
        .flat_map(|(start_ns, reports)| causes::in_window(start_ns, reports, |flow| members.contain(flow)))
        .collect();
    if path.circular > 0 {
        let kind = "steps wait for each other in a circle, which is impossible; left out of the critical path";
        complaints.add(kind, path.circular);
    }
    Analysis {
        mode,
        culprits: culprit::culprits(&steps, &path),
        evidence: evidence::evidence(&steps, telemetry),
        path,
        reports: rated.reports,
        windows: rated.windows,
        contributors: rated.contributors,
        causes: causes::merge(found),
        complaints,
        steps,
    }
}

/// Windows with a flow of the collective in a queue.
fn windows<'a>(
    reports: BTreeMap<i64, Vec<&'a Report>>,
    graph: impl Fn(&[&'a Report]) -> Graph,
    delays: impl Fn(&Graph) -> Vec<Delay>,
) -> Vec<Window> {
    let mut windows = Vec::new();
    for (start_ns, reports) in reports {
        let graph = graph(&reports);
        let delays = delays(&graph);
        if !delays.is_empty() {
            windows.push(Window {
                start_ns,
                graph,
                delays,
            });
        }
    }
    windows
}

fn by_authors(steps: &Steps, telemetry: &Telemetry, path: &CriticalPath, members: &Members) -> Rated {
    let kept = kept(telemetry);
    // The first report of each switch in each window.
    let mut firsts: BTreeMap<i64, Vec<&Report>> = BTreeMap::new();
    for report in &kept {
        let window = firsts.entry(window_of(report.time_ns)).or_default();
        if window.last().is_none_or(|last| last.switch != report.switch) {
            window.push(report);
        }
    }
    let delays = |graph: &Graph| delays(graph, |flow| members.contain(flow), Contends::Present, Spread::Sum);
    let windows = windows(firsts, |reports| Graph::authors(reports.iter().copied()), delays);
    // Equation 3: each window counts for the step during which its last report about the flow was made, with the step's
    // share of the critical path.
    let mut sums = Sums::default();
    for part in path.parts.iter().rev() {
        let step = &steps.steps[part.step];
        let Some(flow) = steps.flow(step) else { continue };
        for delay in windows.iter().flat_map(|window| &window.delays) {
            if delay.flow == flow && (step.start_ns..=step.end_ns()).contains(&delay.time_ns) {
                for (other, rating) in &delay.contributors {
                    sums.add(*other, rating * (part.ns as f64 / path.total_ns as f64));
                }
            }
        }
    }
    Rated {
        reports: kept.iter().map(|report| weights(report, authors_weights)).collect(),
        windows,
        contributors: sums.finish(),
    }
}

fn by_paper(
    steps: &Steps,
    telemetry: &Telemetry,
    path: &CriticalPath,
    members: &Members,
    readings: Readings,
    complaints: &mut Complaints,
) -> Rated {
    let mut all: BTreeMap<i64, Vec<&Report>> = BTreeMap::new();
    for report in &telemetry.reports {
        all.entry(window_of(report.time_ns)).or_default().push(report);
    }
    let delays = |graph: &Graph| delays(graph, |flow| members.contain(flow), Contends::Waiting, readings.spread);
    let windows = windows(all, |reports| paper::graph(reports, readings), delays);
    // Equations 2 and 3 over the graph of each critical step: of all reports while it lasted.
    let weights_of_steps = excess(steps, path, readings.excess, complaints);
    let total: f64 = weights_of_steps.iter().sum();
    let mut sums = Sums::default();
    for (part, weight) in path.parts.iter().zip(weights_of_steps) {
        let step = &steps.steps[part.step];
        let Some(flow) = steps.flow(step) else { continue };
        if weight == 0.0 || total == 0.0 {
            continue;
        }
        let reports = paper::within(&telemetry.reports, step.start_ns, step.end_ns());
        if reports.is_empty() {
            continue;
        }
        for delay in delays(&paper::graph(&reports, readings)) {
            if delay.flow == flow {
                for (other, rating) in delay.contributors {
                    sums.add(other, rating * (weight / total));
                }
            }
        }
    }
    Rated {
        reports: telemetry
            .reports
            .iter()
            .map(|report| weights(report, paper::weights))
            .collect(),
        windows,
        contributors: sums.finish(),
    }
}

/// The weights of the steps of the critical path in equation 3.
fn excess(steps: &Steps, path: &CriticalPath, reading: Excess, complaints: &mut Complaints) -> Vec<f64> {
    let expected = |part: &Part| steps.steps[part.step].expected_ns();
    let unknown = path.parts.iter().filter(|part| expected(part).is_none()).count();
    let by_execution = unknown > 0 || reading == Excess::Execution;
    if unknown > 0 && reading != Excess::Execution {
        let kind = "steps of the critical path have no expected time; all steps count by how long they took";
        complaints.add(kind, unknown);
    }
    let weight = |part: &Part| {
        let took = steps.steps[part.step].duration_ns;
        match (by_execution, expected(part)) {
            (true, _) | (_, None) => took as f64,
            (false, Some(expected)) if reading == Excess::Signed => (took - expected) as f64,
            (false, Some(expected)) => (took - expected).max(0) as f64,
        }
    };
    path.parts.iter().map(weight).collect()
}
