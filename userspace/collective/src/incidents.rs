//! What made a collective slow, as incidents.

use crate::analysis::Analysis;
use crate::document::{CauseDocument, CulpritDocument, Document, hangs};
use crate::hang::counts::DEAD;
use crate::hang::{Class, Hang};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_diagnose::incidents::{Certainty, Incident, Place, Source, ToldBy, Victim, Victims};
use rocescope_model::human::readable;
use rocescope_model::{Unit, Value};

/// A culprit that cost less of the collective's time than this share is noise.
const LEAST_SHARE: f64 = 0.05;

/// The collectives that hang, and the culprits and root causes of a collective, if it has steps.
#[must_use]
pub fn of(analysis: &Analysis) -> Vec<Incident> {
    let mut found: Vec<Incident> = analysis.hangs.iter().map(of_hang).collect();
    let Some((first_ns, last_ns)) = analysis.steps.span_ns() else {
        return found;
    };
    let document = Document::of(analysis);
    let length_ns = last_ns.saturating_sub(first_ns).max(1);
    let is_large = |culprit: &&CulpritDocument| culprit.cost_ns as f64 >= LEAST_SHARE * length_ns as f64;
    let culprits = document.culprits.iter().filter(is_large);
    found.extend(culprits.map(|culprit| of_culprit(analysis, culprit, (first_ns, last_ns))));
    found.extend(document.root_causes.iter().map(of_cause));
    found
}

fn of_hang(hang: &Hang) -> Incident {
    let ranks = hangs::named(hang.ranks.iter().map(|(rank, _)| *rank));
    let place = match hang.class {
        Class::CollectiveStuck => Place::named("group", format!("group {}", hang.group)),
        _ => Place::named("rank", ranks.as_str()),
    };
    let mut incident = Incident::new(hang.class.name(), place, ToldBy::Collectives, Source::Collectives);
    (incident.since_ns, incident.until_ns, incident.is_open) = (hang.since_ns, hang.since_ns, true);
    incident.meaning = hangs::sentence(hang, "collective");
    let is_known = hang.ranks.iter().any(|(_, last)| last.is_some());
    let still = hang.ras.as_ref().map(|ras| ras.still_ns.is_some());
    let is_dead = hang.ras.as_ref().is_some_and(|ras| ras.silence == Some(DEAD));
    let (certainty, why) = match hang.class {
        Class::RankMissing if is_dead => (Certainty::Likely, "NCCL's RAS considers it dead"),
        Class::RankMissing if still == Some(true) => (Certainty::Likely, "RAS counts no call between two reports"),
        Class::RankMissing if still == Some(false) => (
            Certainty::Possible,
            "one report of RAS does not show whether the job goes on",
        ),
        Class::CollectiveStuck if still.is_some() => (
            Certainty::Possible,
            "RAS counts no call between two reports, and all ranks called as many",
        ),
        Class::CallsDiffer => (Certainty::Certain, "the ranks of a group must call the same collective"),
        Class::RankMissing if is_known => (
            Certainty::Likely,
            "its dump has earlier collectives of the group, not this one",
        ),
        Class::RankMissing => (
            Certainty::Possible,
            "the group has this rank, and there is no dump of it",
        ),
        Class::RankLate => (Certainty::Likely, "the others have started it"),
        Class::CollectiveStuck => (Certainty::Possible, "every rank of the dumps has started it"),
    };
    (incident.certainty, incident.reason) = (certainty, why.to_string());
    incident.action = match hang.class {
        Class::CallsDiffer => {
            "look at what these ranks do differently at this collective: a branch, an exception, sizes of data"
        }
        Class::RankMissing => "look at what this rank does: its stack (py-spy), its log, whether the process lives",
        Class::RankLate => {
            "look at the GPU of this rank: what runs in its stream before the collective, a kernel that hangs"
        }
        Class::CollectiveStuck => {
            "look at the network of these ranks (`rocescope diagnose`), and for an error of a GPU (Xid) or of NCCL"
        }
    }
    .to_string();
    if hang.class != Class::CallsDiffer && hang.ras.is_none() {
        let unknown = "how long they waited: dumps that a running job wrote may have caught it on its way";
        incident.unknown.push(unknown.to_string());
    }
    incident.rests_on(
        "steps",
        incident.place.name.clone(),
        "ranks that wait",
        hang.waiting.len() as f64,
        "",
    );
    incident
}

/// The addresses from which a host sends its steps.
fn addresses(analysis: &Analysis, host: &str) -> BTreeSet<IpAddr> {
    let steps = &analysis.steps;
    let sent = steps.steps.iter().filter(|step| **steps.host(step) == *host);
    sent.filter_map(|step| steps.flow(step)).map(|flow| flow.src).collect()
}

fn of_culprit(analysis: &Analysis, culprit: &CulpritDocument, (first_ns, last_ns): (i64, i64)) -> Incident {
    let src = addresses(analysis, &culprit.host);
    let mut place = match &culprit.dst_host {
        Some(to) => Place::named("pair", format!("{} > {to}", culprit.host)),
        None => Place {
            host: Some(culprit.host.clone()),
            addresses: src.clone(),
            ..Place::named("host", culprit.host.as_str())
        },
    };
    if let Some(to) = &culprit.dst_host {
        let dst = addresses(analysis, to);
        place.pairs = src.iter().flat_map(|src| dst.iter().map(|dst| (*src, *dst))).collect();
        place.dst_qpn = culprit.dst_qpn;
    }
    let mut incident = Incident::new(culprit.kind, place, ToldBy::Collectives, Source::Collectives);
    (incident.since_ns, incident.until_ns, incident.is_open) = (first_ns, last_ns, true);
    incident.certainty = Certainty::Likely;
    incident.reason = "its steps took longer than others of the same kind".to_string();
    let cost = readable(&Value::I64(culprit.cost_ns), Unit::Nanoseconds);
    incident.meaning = format!("cost a collective {cost}: {}", culprit.text.trim_end_matches('.'));
    incident.action = match culprit.kind {
        "slow_rank" => "look at this host: CPU, GPU clocks, memory, the data loader",
        "late_start" => "look at what this host did before: data loading, checkpoints, a slow GPU",
        _ => "look at the links between these hosts: `rocescope paths`, counters of both ports",
    }
    .to_string();
    incident.rests_on("steps", culprit.host.as_str(), "cost", culprit.cost_ns as f64, "ns");
    incident
}

fn of_cause(cause: &CauseDocument) -> Incident {
    let flows = cause.flows.iter().chain(&cause.victims);
    let victims = cause.victims.iter().map(|flow| Victim::between(flow.src, flow.dst));
    let place = Place {
        switch: Some(cause.switch.clone()),
        pairs: flows.map(|flow| (flow.src, flow.dst)).collect(),
        ..Place::named("switch", format!("switch {}, port {}", cause.switch, cause.port))
    };
    let mut incident = Incident::new(cause.kind, place, ToldBy::Collectives, Source::Collectives);
    (incident.since_ns, incident.until_ns, incident.is_open) = (cause.first_ns, cause.last_ns, true);
    incident.victims = Victims::of(victims.collect());
    (incident.victims.lost_packets, incident.victims.retransmitted_packets) = (None, None);
    incident.certainty = Certainty::Likely;
    incident.reason = "queues and pauses of switches show it".to_string();
    let (meaning, action) = cause.text.split_once(';').unwrap_or((&cause.text, "look at this port"));
    incident.meaning = meaning.to_string();
    incident.action = action.trim().to_string();
    incident.rests_on(
        "telemetry",
        incident.place.name.clone(),
        "windows",
        cause.windows as f64,
        "windows",
    );
    incident
}
