//! The flows of a workload.

use crate::Workload;
use crate::workload::connected::Ambiguous;
use crate::workload::pairs::Shortfall;
use rocescope_model::human::{self, Rates, plural};
use rocescope_model::{json, render};
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    workload: &'a Workload,
    shortfalls: &'a [Shortfall],
}

/// One JSON object.
#[must_use]
pub fn document(workload: &Workload, shortfalls: &[Shortfall]) -> String {
    json::pretty(&Document { workload, shortfalls }) + "\n"
}

/// A line for each flow, and [`notes`].
#[must_use]
pub fn text(workload: &Workload, short: &[Shortfall]) -> String {
    let mut lines = vec![
        [
            "Source",
            "Destination",
            "Protocol",
            "Port",
            "Destination port",
            "QP",
            "Rate",
        ]
        .map(String::from)
        .to_vec(),
    ];
    lines.extend(workload.flows.iter().map(|rated| {
        let flow = &rated.flow;
        vec![
            flow.src.to_string(),
            flow.dst.to_string(),
            flow.protocol_name(),
            flow.src_port.to_string(),
            flow.dst_port.to_string(),
            flow.dst_qpn.map_or_else(|| "-".into(), |qpn| qpn.to_string()),
            rated
                .bps
                .map_or_else(|| "-".into(), |bps| human::rate(bps, Rates::default())),
        ]
    }));
    let mut text = render::align(&lines, &[false, false, false, true, true, true, true]);
    text.push_str(&format!("\n{}\n", plural(workload.flows.len() as u64, "flow")));
    text.push_str(&notes(workload, short));
    text
}

/// Ambiguous queue pairs that are printed: all are in the JSON of `paths flows`.
const MAX_AMBIGUOUS: usize = 10;

/// What is no flow, and the pairs that have fewer than they should.
#[must_use]
pub fn notes(workload: &Workload, short: &[Shortfall]) -> String {
    let mut text = String::new();
    for (reason, count) in &workload.skipped {
        text.push_str(&format!("skipped: {count} {reason}\n"));
    }
    if workload.computed_ports > 0 {
        text.push_str(&format!(
            "computed: {}, as of queue pairs with flow label 0\n",
            plural(workload.computed_ports, "source port")
        ));
    }
    for Ambiguous {
        qpn,
        peer_qpn,
        places,
        peers,
    } in workload.ambiguous.iter().take(MAX_AMBIGUOUS)
    {
        let (places, peers) = (places.join(", "), peers.join(", "));
        text.push_str(&format!(
            "ambiguous: QP {qpn} of {places} and QP {peer_qpn} of {peers}: which are connected is unknown\n"
        ));
    }
    if workload.ambiguous.len() > MAX_AMBIGUOUS {
        let more = workload.ambiguous.len() - MAX_AMBIGUOUS;
        text.push_str(&format!("and {more} more: -o json has all\n"));
    }
    for pair in short {
        let Shortfall {
            src,
            dst,
            expected,
            found,
        } = pair;
        text.push_str(&format!("{src} to {dst}: {found} of {}\n", plural(*expected, "flow")));
    }
    text
}
