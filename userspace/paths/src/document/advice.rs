//! Which source ports would make the layers even.

use super::fim::{lower_bound, percent};
use crate::discover::{Plan, Trace, hops};
use crate::known::COMPLETE;
use crate::workload::pairs::Shortfall;
use crate::{Flow, Workload};
use rocescope_diagnose::paths::{Advice, Candidate, Hop, Imbalance, advise};
use rocescope_model::human::plural;
use rocescope_model::{json, render};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(serialize_with = "json::float")]
    fim_before_percent: Option<f64>,
    #[serde(serialize_with = "json::float")]
    fim_after_percent: Option<f64>,
    /// No choice of paths is more even: flows are whole.
    #[serde(serialize_with = "json::float")]
    min_fim_percent: Option<f64>,
    /// Flows whose own path is complete: the others are left as they are and count nowhere.
    flows: u64,
    /// All flows of the workload.
    flows_asked: usize,
    left_out: &'a [LeftOut],
    skipped: &'a BTreeMap<&'static str, u64>,
    shortfalls: &'a [Shortfall],
    changes: &'a [Change],
    before: &'a Imbalance,
    after: &'a Imbalance,
    apply: &'static str,
}

/// A flow whose own path is unknown: the metric does not count it.
#[derive(Debug, Serialize)]
struct LeftOut {
    flow: Flow,
    reason: &'static str,
    detail: String,
}

/// A flow with another source port.
#[derive(Debug, Serialize)]
struct Change {
    flow: Flow,
    src_port: u16,
    /// The flow label of the address vector that gives this port on RoCE.
    flow_label: u32,
    hops: Vec<Hop>,
}

/// What it takes to apply the advice.
const APPLY: &str = "RoCE with a flow label: set it in the address vector of the queue pair (grh.flow_label of \
    ibv_modify_qp, perftest --flow_label); NCCL sets label 0, and the port follows from the numbers of the queue pairs: more \
    of them a connection (NCCL_IB_QPS_PER_CONNECTION) give more ports, and which ones is not for the user to choose; \
    TCP and UDP: bind the socket to the port";

/// Advice for the flows of a workload.
#[derive(Debug)]
pub struct Advised {
    advice: Advice,
    changes: Vec<Change>,
    left_out: Vec<LeftOut>,
}

impl Advised {
    /// `traces` are those of the [`candidates`] of all flows, `count` of each.
    #[must_use]
    pub fn new(plan: &Plan, flows: &[Flow], traces: &[Trace], count: usize) -> Self {
        let mut left_out = Vec::new();
        let mut choices = Vec::with_capacity(flows.len());
        for traces in traces.chunks(count.max(1)) {
            if let Some(own) = traces.first().filter(|trace| trace.outcome.reason != COMPLETE) {
                left_out.push(LeftOut {
                    flow: own.flow,
                    reason: own.outcome.reason,
                    detail: own.outcome.detail.clone(),
                });
                choices.push(Vec::new());
                continue;
            }
            let complete = traces.iter().filter(|trace| trace.outcome.reason == COMPLETE);
            let choice = complete.map(|trace| Candidate {
                port: trace.flow.src_port,
                ways: trace.ways.clone(),
            });
            choices.push(choice.collect());
        }
        let advice = advise(&plan.fabric, &choices);
        Self {
            changes: changes(plan, flows, &choices, &advice),
            advice,
            left_out,
        }
    }

    /// Flows whose own path is complete.
    #[must_use]
    pub fn flows(&self) -> u64 {
        self.advice.before.flows
    }

    /// One JSON object.
    #[must_use]
    pub fn document(&self, workload: &Workload, shortfalls: &[Shortfall]) -> String {
        let advice = &self.advice;
        json::pretty(&Document {
            fim_before_percent: advice.before.fim_percent,
            fim_after_percent: advice.after.fim_percent,
            min_fim_percent: advice.after.min_fim_percent,
            flows: advice.before.flows,
            flows_asked: workload.flows.len(),
            left_out: &self.left_out,
            skipped: &workload.skipped,
            shortfalls,
            changes: &self.changes,
            before: &advice.before,
            after: &advice.after,
            apply: APPLY,
        }) + "\n"
    }

    /// The metric before and after, the changes, and the flows that are left out.
    #[must_use]
    pub fn text(&self) -> String {
        text(&self.advice, &self.changes, &self.left_out)
    }
}

/// The ports of RoCE begin here.
const FIRST_PORT: u16 = 0xc000;

/// The same flow from several source ports, its own first; the others are spread over those of RoCE.
pub fn candidates(flow: &Flow, count: usize) -> impl Iterator<Item = Flow> + use<> {
    let flow = *flow;
    // Odd, so that no port comes again.
    let ports = (1..).map(move |step: u16| FIRST_PORT | flow.src_port.wrapping_add(step.wrapping_mul(1_021)) & 0x3fff);
    let others = ports.filter(move |port| *port != flow.src_port);
    let all = std::iter::once(flow.src_port).chain(others).take(count);
    all.map(move |src_port| Flow { src_port, ..flow })
}

/// A flow label that the kernel folds to a source port; 0 would mean that no label is set.
fn label(port: u16) -> u32 {
    match u32::from(port & 0x3fff) {
        0 => 0x4001,
        label => label,
    }
}

fn changes(plan: &Plan, flows: &[Flow], choices: &[Vec<Candidate>], advice: &Advice) -> Vec<Change> {
    let chosen = flows.iter().zip(choices).zip(&advice.chosen);
    let changed = chosen.filter_map(|((flow, choice), place)| {
        let candidate = choice.get(*place).filter(|candidate| candidate.port != flow.src_port)?;
        Some(Change {
            flow: *flow,
            src_port: candidate.port,
            flow_label: label(candidate.port),
            hops: hops(&plan.fabric, &candidate.ways),
        })
    });
    changed.collect()
}

/// Reasons that are printed, at most, each with its flows: all are in the JSON.
const MAX_NAMED: usize = 20;

fn text(advice: &Advice, changes: &[Change], left_out: &[LeftOut]) -> String {
    let (before, after) = (&advice.before, &advice.after);
    let mut text = String::new();
    if !left_out.is_empty() {
        text = format!(
            "Only {} of {}: the paths of the others are unknown (left out, below)\n",
            before.flows,
            plural(before.flows + left_out.len() as u64, "flow")
        );
    }
    text += &format!(
        "FIM {} before, {} after: {} of {} with another source port{}\n\n",
        percent(before.fim_percent),
        percent(after.fim_percent),
        changes.len(),
        plural(before.flows, "flow"),
        lower_bound(after)
    );
    let mut lines = vec![["Layer", "Before", "After", "Min"].map(String::from).to_vec()];
    lines.extend(before.layers.iter().zip(&after.layers).map(|(before, after)| {
        let fims = [before.fim_percent, after.fim_percent, after.min_fim_percent];
        [vec![before.name()], fims.map(percent).to_vec()].concat()
    }));
    text.push_str(&render::align(&lines, &[false, true, true, true]));
    let mut lines = vec![["Flow", "Port", "Flow label"].map(String::from).to_vec()];
    lines.extend(changes.iter().map(|change| {
        vec![
            change.flow.to_string(),
            change.src_port.to_string(),
            format!("{:#x}", change.flow_label),
        ]
    }));
    text.push('\n');
    text.push_str(&render::align(&lines, &[false, true, true]));
    let mut reasons: BTreeMap<(&str, &str), Vec<&Flow>> = BTreeMap::new();
    for LeftOut { flow, reason, detail } in left_out {
        reasons.entry((reason, detail)).or_default().push(flow);
    }
    for ((reason, detail), flows) in reasons.iter().take(MAX_NAMED) {
        let named = match &flows[..] {
            [flow] => flow.to_string(),
            flows => plural(flows.len() as u64, "flow"),
        };
        text.push_str(&format!("left out: {named}: {reason}: {detail}\n"));
    }
    if reasons.len() > MAX_NAMED {
        let more = plural((reasons.len() - MAX_NAMED) as u64, "other reason");
        text.push_str(&format!("and {more}: -o json has all\n"));
    }
    text.push_str(&format!("\nTo apply: {APPLY}\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::{FIRST_PORT, candidates, label};
    use crate::Flow;
    use rocescope_model::source_port;
    use std::collections::BTreeSet;

    #[test]
    fn candidates_differ_and_have_labels_that_give_their_ports() {
        let addresses = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        for own in [FIRST_PORT, 65_535, 1_234] {
            let flow = Flow::roce(addresses[0], addresses[1], own);
            let ports: Vec<u16> = candidates(&flow, 256).map(|flow| flow.src_port).collect();
            assert_eq!((ports[0], ports.len()), (own, 256));
            assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 256);
            let fit = |port: &u16| label(*port) > 0 && source_port(label(*port)) == *port;
            assert!(ports[1..].iter().all(fit));
        }
    }
}
