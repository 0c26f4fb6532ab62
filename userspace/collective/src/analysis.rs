//! All of it: the critical path, the graphs, the ratings and the causes.

use crate::causes::{self, Cause};
use crate::complaints::Complaints;
use crate::culprit;
use crate::evidence::{self, Evidence};
use crate::failed::Failed;
use crate::hang::Hang;
use crate::paper;
use crate::provenance::{Graph, PortWeights, egress_shares};
use crate::rating::{Delay, Sums, delays};
use crate::steps::{FlowKey, Steps};
use crate::telemetry::{PortKey, Report, Telemetry, Trigger};
use crate::waiting::{CriticalPath, Part, critical_path};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashSet;
use rocescope_model::Text;

/// Length of a window.
pub const WINDOW_NS: i64 = 10_000_000;

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
    /// Collectives that hang, whichever was analyzed.
    pub hangs: Vec<Hang>,
    /// Transfers that NCCL's log reports as failed.
    pub failed: Vec<Failed>,
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

fn weights(report: &Report) -> ReportWeights {
    ReportWeights {
        switch: report.switch.clone(),
        time_ns: report.time_ns,
        trigger: report.trigger,
        now: report.now.iter().map(paper::weights).collect(),
        last: report.last.iter().map(paper::weights).collect(),
        shares: egress_shares(report),
    }
}

/// Analyzes a collective.
#[must_use]
pub fn analyze(steps: Steps, telemetry: &Telemetry) -> Analysis {
    let members = Members::new(&steps);
    let mut complaints = steps.complaints.clone();
    complaints.append(telemetry.complaints.clone());
    let path = critical_path(&steps);
    let mut by_window: BTreeMap<i64, Vec<&Report>> = BTreeMap::new();
    for report in &telemetry.reports {
        by_window.entry(window_of(report.time_ns)).or_default().push(report);
    }
    let windows = windows(&by_window, &members);
    let contributors = contributors(&steps, telemetry, &path, &members, &mut complaints);
    let found = by_window
        .into_iter()
        .flat_map(|(start_ns, reports)| causes::in_window(start_ns, reports, |flow| members.contain(flow)))
        .collect();
    if path.circular > 0 {
        let kind = "steps wait for each other in a circle, which is impossible; left out of the critical path";
        complaints.add(kind, path.circular);
    }
    Analysis {
        culprits: culprit::culprits(&steps, &path),
        evidence: evidence::evidence(&steps, telemetry),
        path,
        reports: telemetry.reports.iter().map(weights).collect(),
        windows,
        contributors,
        causes: causes::merge(found),
        hangs: Vec::new(),
        failed: Vec::new(),
        complaints,
        steps,
    }
}

/// Windows with a flow of the collective in a queue.
fn windows(reports: &BTreeMap<i64, Vec<&Report>>, members: &Members) -> Vec<Window> {
    let mut windows = Vec::new();
    for (start_ns, reports) in reports {
        let graph = paper::graph(reports);
        let delays = delays(&graph, |flow| members.contain(flow));
        if !delays.is_empty() {
            windows.push(Window {
                start_ns: *start_ns,
                graph,
                delays,
            });
        }
    }
    windows
}

/// Equations 2 and 3 over the graph of each critical step: of all reports while it lasted.
fn contributors(
    steps: &Steps,
    telemetry: &Telemetry,
    path: &CriticalPath,
    members: &Members,
    complaints: &mut Complaints,
) -> Vec<(FlowKey, f64)> {
    let weights_of_steps = excess(steps, path, complaints);
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
        for delay in delays(&paper::graph(&reports), |flow| members.contain(flow)) {
            if delay.flow == flow {
                for (other, rating) in delay.contributors {
                    sums.add(other, rating * (weight / total));
                }
            }
        }
    }
    sums.finish()
}

/// The weights of the steps of the critical path in equation 3: how much longer each took than expected, or, if that is
/// unknown for one of them, how long.
fn excess(steps: &Steps, path: &CriticalPath, complaints: &mut Complaints) -> Vec<f64> {
    let expected = |part: &Part| steps.steps[part.step].expected_ns();
    let unknown = path.parts.iter().filter(|part| expected(part).is_none()).count();
    // Sources without any, such as a capture, have nothing to complain of.
    if unknown > 0 && unknown < path.parts.len() {
        let kind = "steps of the critical path have no expected time; all steps count by how long they took";
        complaints.add(kind, unknown);
    }
    let weight = |part: &Part| {
        let took = steps.steps[part.step].duration_ns;
        match expected(part) {
            Some(expected) if unknown == 0 => (took - expected).max(0) as f64,
            _ => took as f64,
        }
    };
    path.parts.iter().map(weight).collect()
}
