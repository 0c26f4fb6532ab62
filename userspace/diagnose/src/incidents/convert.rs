//! Faults of the analyses of hosts, of the mesh and of loopback tests, as incidents.

use super::incident::{Certainty, Incident, Source, ToldBy};
use super::place::Place;
use crate::hostmesh::document::Finding;
use crate::hostping::document::CauseName;
use crate::hosts::{Change, HostVerdict};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::catalogue::Metric;
use rocescope_model::{EventRow, Text, VerdictRow};

/// A fault that counters and captured traffic show.
#[must_use]
pub fn host(verdict: &HostVerdict) -> Incident {
    let source = match verdict.host {
        Some(_) => Source::Counters,
        None => Source::Capture,
    };
    let kind = match verdict.place_kind {
        "device" => "nic",
        kind => kind,
    };
    let mut place = Place {
        host: verdict.host.clone(),
        nic: verdict
            .host
            .as_ref()
            .zip(verdict.device.as_ref())
            .map(|(host, device)| format!("{host}/{device}")),
        src: verdict.src,
        dst: verdict.dst,
        dst_qpn: verdict.dst_qpn,
        addresses: verdict.addresses.iter().copied().collect(),
        ..Place::named(kind, verdict.place.as_str())
    };
    match (verdict.src, verdict.dst) {
        (Some(src), Some(dst)) => {
            place.pairs = [(src, dst)].into();
            if verdict.place_kind == "pair" {
                place.name = Place::pair(src, dst).name;
            }
        }
        (None, Some(address)) => place.addresses = [address].into(),
        _ => {}
    }
    let mut incident = Incident::new(verdict.class.name(), place, ToldBy::Hosts, source);
    incident.since_ns = verdict.since_ns;
    incident.until_ns = verdict.until_ns;
    incident.is_open = verdict.state != Change::Ended;
    (incident.certainty, incident.reason) = Certainty::split(&verdict.confidence);
    let meaning = verdict
        .sentence
        .strip_prefix(verdict.place.as_str())
        .unwrap_or(&verdict.sentence);
    incident.meaning = meaning.trim_start_matches(':').trim().to_string();
    incident.action.clone_from(&verdict.action);
    for unknown in &verdict.unknown {
        if !incident.unknown.contains(unknown) {
            incident.unknown.push(unknown.clone());
        }
    }
    for row in &verdict.evidence {
        incident.rests_on(table_of(&row.name), row.of.as_str(), &row.name, row.value, &row.unit);
    }
    incident
}

/// The table that has a name of evidence: a metric of the catalogue, a kind of event, or else a column of captured flows.
fn table_of(name: &str) -> &'static str {
    if Metric::named(name).is_some() {
        "counters"
    } else if EventRow::KINDS.iter().any(|(kind, _)| *kind == name) {
        "events"
    } else {
        "flows"
    }
}

/// The class of loss that no place explains.
const UNLOCATED: &str = "unlocated_loss";

/// The addresses of the NICs of a mesh, by `host/nic`.
pub type Addresses = BTreeMap<String, BTreeSet<IpAddr>>;

/// A fault that probes between NICs show. It goes on if its last window is the last of the mesh.
#[must_use]
pub fn mesh(finding: &Finding, addresses: &Addresses, last_window_ns: i64) -> Incident {
    let worst = &finding.problem.worst;
    let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
    let mut place = Place {
        host: text(&worst.host).or_else(|| worst.nic.as_deref().and_then(host_of)),
        nic: text(&worst.nic),
        link: text(&worst.link),
        switch: text(&worst.switch),
        src: worst.src,
        dst: worst.dst,
        ..Place::named(&worst.place_kind, worst.place.as_str())
    };
    place.addresses = addresses_of(worst, addresses);
    let tuples = worst.worst_tuples.as_deref().unwrap_or_default().split_whitespace();
    let flows = finding.flows.iter().map(String::as_str);
    place.pairs = tuples.chain(flows).filter_map(pair_of).collect();
    if let (Some(src), Some(dst)) = (worst.src, worst.dst) {
        place.pairs.insert((src, dst));
    }
    // The paper's `slow_receiver` is a NIC; that of a capture is an application.
    let class = match (&*worst.class, &*worst.symptom) {
        ("slow_receiver", _) => "slow_nic",
        ("congestion", _) => "latency",
        (class, _) => class,
    };
    let mut incident = Incident::new(class, place, ToldBy::Mesh, Source::Mesh);
    incident.since_ns = worst.since_ns;
    incident.until_ns = finding.problem.until_ns;
    incident.is_open = finding.problem.until_ns >= last_window_ns;
    let is_late = matches!(&*worst.symptom, "latency" | "asymmetry" | "delay");
    let (certainty, reason) = match (is_late, finding.problem.windows) {
        (true, _) => (Certainty::Possible, "probes are late, and hosts delay them too"),
        (false, 1) => (Certainty::Likely, "probes of one window"),
        (false, _) => (Certainty::Certain, "probes of several windows"),
    };
    (incident.certainty, incident.reason) = (certainty, reason.to_string());
    let meaning = worst
        .sentence
        .strip_prefix(worst.place.as_str())
        .unwrap_or(&worst.sentence);
    incident.meaning = meaning.trim_start_matches(':').trim().trim_end_matches('.').to_string();
    incident.action = worst.action.to_string();
    let of = worst.place.as_str();
    incident.rests_on("verdicts", of, "anomalous", finding.problem.anomalous as f64, "probes");
    incident.rests_on("verdicts", of, "probes", finding.problem.probes as f64, "probes");
    incident.rests_on("verdicts", of, "score", finding.problem.score, "");
    if class == UNLOCATED {
        let unknown = "where it is: a trace of one of these 5-tuples shows the last hop that answers";
        incident.unknown.push(unknown.to_string());
    }
    for said in [&finding.hostping, &finding.counters].into_iter().flatten() {
        incident.unknown.push(said.clone());
    }
    incident
}

/// The addresses whose traffic meets the place of a verdict.
fn addresses_of(worst: &VerdictRow, addresses: &Addresses) -> BTreeSet<IpAddr> {
    let of_nic = |nic: &str| addresses.get(nic).into_iter().flatten().copied();
    let of_host = |host: &str| {
        let nics = addresses
            .iter()
            .filter(move |(nic, _)| host_of(nic).as_deref() == Some(host));
        nics.flat_map(|(_, all)| all.iter().copied()).collect::<Vec<_>>()
    };
    match &*worst.place_kind {
        "nic" => match (worst.nic.as_deref(), worst.host.as_deref()) {
            (Some(nic), _) => of_nic(nic).collect(),
            // One of two.
            (None, Some(host)) => of_host(host).into_iter().collect(),
            (None, None) => BTreeSet::new(),
        },
        "route" => worst.dst.into_iter().collect(),
        "host" => worst
            .host
            .as_deref()
            .map(of_host)
            .unwrap_or_default()
            .into_iter()
            .collect(),
        // An access link is as its NIC.
        "link" => {
            let ends = worst.link.as_deref().unwrap_or_default().split(['>', ' ']);
            ends.flat_map(of_nic).collect()
        }
        _ => BTreeSet::new(),
    }
}

fn host_of(nic: &str) -> Option<String> {
    Some(nic.rsplit_once('/')?.0.to_string())
}

/// The addresses of `source>destination:port`.
fn pair_of(tuple: &str) -> Option<(IpAddr, IpAddr)> {
    let (src, rest) = tuple.split_once('>')?;
    let (dst, _) = rest.rsplit_once(':')?;
    let parse = |text: &str| text.trim_matches(['[', ']']).parse().ok();
    Some((parse(src)?, parse(dst)?))
}

/// A cause that loopback tests inside a host show, in the run that started then.
#[must_use]
pub fn loopback(observer: &str, start_ns: i64, cause: &CauseName, addresses: BTreeSet<IpAddr>) -> Incident {
    let links: Vec<String> = cause
        .links
        .iter()
        .map(|link| format!("{} – {}", link.a, link.b))
        .collect();
    let name = match links.is_empty() {
        true => observer.to_string(),
        false => format!("{observer}: {}", links.join(" or ")),
    };
    let place = Place {
        host: Some(observer.to_string()),
        addresses,
        ..Place::named("pcie", name)
    };
    let mut incident = Incident::new("loopback", place, ToldBy::Loopback, Source::Loopback);
    (incident.since_ns, incident.until_ns, incident.is_open) = (start_ns, start_ns, true);
    (incident.certainty, incident.reason) = match cause.certainty {
        "likely" => (Certainty::Likely, "several tests accuse it".to_string()),
        _ => (
            Certainty::Possible,
            "tests accuse it, and others may explain them".to_string(),
        ),
    };
    incident.meaning = format!("{}: {}", cause.cause.replace(['_', '-'], " "), cause.evidence);
    incident.action = cause.action.to_string();
    incident.rests_on("loopback", observer, cause.cause, cause.links.len() as f64, "links");
    incident
}
