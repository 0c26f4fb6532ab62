//! What is told beside the matrix: the verdicts of the window, and the pair under the cursor.

use crate::draw::wrap;
use crate::theme::Tone;
use crate::view::View;
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_model::human::{grouped, readable};
use rocescope_model::{FlowRow, LinkRow, MeshRows, PairRow, Time, Unit, Value, VerdictRow};
use std::net::IpAddr;

/// Paths, links and flows that are named of many.
const MOST_NAMES: usize = 2;

/// A line.
pub type Line = (String, Tone);

/// Lines that verdicts, pair and the rules above them take.
pub(crate) fn length(view: &View, width: u16) -> usize {
    2 + verdicts(view, width).concat().len() + pair(view, width).len()
}

/// The verdicts of the window, each in lines: what fails where, what to do, what speaks for it.
pub(crate) fn verdicts(view: &View, width: u16) -> Vec<Vec<Line>> {
    let Some(mesh) = view.mesh_shown() else {
        return Vec::new();
    };
    if !mesh.verdicts.is_empty() {
        let verdicts = mesh.verdicts.iter();
        return verdicts.map(|verdict| told(verdict, width)).collect();
    }
    let (text, tone) = match mesh.sla.first() {
        Some(sla) if !sla.unjudged.is_empty() => {
            (format!("not judged: {}", sla.unjudged), Tone::Notice)
        }
        Some(_) => ("nothing found in this window".into(), Tone::Good),
        None => (
            format!(
                "nobody has analysed this window: `rocescope diagnose hostmesh {} --write` does",
                view.header.source
            ),
            Tone::Notice,
        ),
    };
    vec![lines(&text, tone, width)]
}

fn told(verdict: &VerdictRow, width: u16) -> Vec<Line> {
    let mut told = lines(&headline(verdict), Tone::Bad, width);
    told.extend(lines(&format!("do: {}", verdict.action), Tone::Text, width));
    told.extend(lines(&grounds(verdict), Tone::Faint, width));
    told
}

/// Class, place and what was counted.
pub(crate) fn headline(verdict: &VerdictRow) -> String {
    format!("{}: {}", verdict.class, verdict.sentence)
}

/// Since when, how much, and how sure that is.
pub(crate) fn grounds(verdict: &VerdictRow) -> String {
    let since = format!("{:.0}", Time(verdict.since_ns));
    let clock = since.get(11..19).unwrap_or(&since);
    let share = ratio(Some(verdict.anomalous_ratio));
    let why = evidence(verdict, verdict.score);
    format!("since {clock}, {share} of its probes; {why}")
}

/// The pair under the cursor.
pub(crate) fn pair(view: &View, width: u16) -> Vec<Line> {
    let (Some(mesh), Some(pair)) = (view.mesh_shown(), view.pair()) else {
        return Vec::new();
    };
    let lost = format!(
        "{} probes: {} timeouts, {} corrupt, {} unsent; {} dropped; clocks {} ± {}",
        grouped(pair.probes),
        grouped(pair.timeouts),
        grouped(pair.corrupt),
        grouped(pair.unsent),
        ratio(pair.drop_ratio),
        nanos(pair.clock_offset_ns),
        nanos(Some(pair.clock_error_ns)),
    );
    let times = format!(
        "network P50 {}, P99 {}; host P50 {}, P99 {}",
        nanos(pair.network_p50_ns),
        nanos(pair.network_p99_ns),
        nanos(pair.processing_p50_ns),
        nanos(pair.processing_p99_ns),
    );
    let mut told = lines(&lost, Tone::Text, width);
    told.extend(lines(&times, Tone::Text, width));
    told.extend(lines(
        &format!("paths: {}", paths(mesh, pair)),
        Tone::Faint,
        width,
    ));
    if let Some((text, tone)) = links(mesh, pair) {
        told.extend(lines(&format!("links: {text}"), tone, width));
    }
    if let Some(text) = flows(view, pair) {
        told.extend(lines(&format!("flows: {text}"), Tone::Faint, width));
    }
    told
}

/// Host and NICs of the pair.
pub(crate) fn name(pair: &PairRow) -> String {
    format!("{}/{} to {}", pair.observer, pair.src_nic, pair.dst_nic)
}

/// The nodes of the paths, by their names where the analysis knows any.
fn paths(mesh: &MeshRows, pair: &PairRow) -> String {
    let all: Vec<&str> = pair.path.split_whitespace().collect();
    if all.is_empty() {
        return "not known: no trace has reached the other NIC".into();
    }
    let node = |hop: &str| {
        let link = hop.parse().ok().and_then(|hop| to(mesh, hop));
        link.map_or_else(|| hop.to_owned(), |link| link.to.to_string())
    };
    let path = |hops: &&str| hops.split('>').map(node).collect::<Vec<_>>().join(" > ");
    listed(all.iter().map(path), all.len())
}

/// Which links of the paths lost something; nothing where the analysis has written no links.
fn links(mesh: &MeshRows, pair: &PairRow) -> Option<(String, Tone)> {
    let hops = pair
        .path
        .split([' ', '>'])
        .filter_map(|hop| hop.parse().ok());
    let mut links: Vec<&LinkRow> = hops.filter_map(|hop: IpAddr| to(mesh, hop)).collect();
    links.sort_by_key(|link| (core::cmp::Reverse(link.drops), link.address));
    links.dedup_by_key(|link| link.address);
    let lossy = links.iter().filter(|link| link.drops > 0);
    let told = lossy.clone().map(|link| {
        let (drops, probes) = (grouped(link.drops), grouped(link.probes));
        format!("{}>{} {drops} of {probes} lost", link.from, link.to)
    });
    match (links.len(), lossy.clone().count()) {
        (0, _) => None,
        (all, 0) => Some((format!("no loss on any of {all}"), Tone::Faint)),
        (_, lossy) => Some((listed(told, lossy), Tone::Notice)),
    }
}

/// The link that leads to an address.
fn to(mesh: &MeshRows, hop: IpAddr) -> Option<&LinkRow> {
    mesh.links.iter().find(|link| link.address == hop)
}

/// Captured flows that begin or end at one of the two NICs; nothing where nothing was captured.
fn flows(view: &View, pair: &PairRow) -> Option<String> {
    let shown = view.shown.as_ref().filter(|shown| shown.windows > 0)?;
    let at = [pair.src, pair.dst];
    let here = |flow: &&FlowRow| at.contains(&flow.src) || at.contains(&flow.dst);
    let flows = shown.rows.flows.iter().filter(here);
    let count = flows.clone().count();
    if count == 0 {
        return Some("none captured at these NICs".into());
    }
    let names = flows.map(|flow| format!("{} > {} port {}", flow.src, flow.dst, flow.udp_src_port));
    Some(listed(names, count))
}

/// The first so many, and how many more there are.
fn listed(names: impl Iterator<Item = String>, count: usize) -> String {
    let first: Vec<String> = names.take(MOST_NAMES).collect();
    let more = count - first.len();
    let first = first.join(", ");
    if more == 0 {
        first
    } else {
        format!("{first} and {more} more")
    }
}

/// A time as it is shown.
pub(crate) fn nanos(ns: Option<i64>) -> String {
    readable(&ns.map_or(Value::Null, Value::I64), Unit::Nanoseconds)
}

/// A share as it is shown.
pub(crate) fn ratio(share: Option<f64>) -> String {
    readable(&share.map_or(Value::Null, Value::F64), Unit::Ratio)
}

fn lines(text: &str, tone: Tone, width: u16) -> Vec<Line> {
    let width = usize::from(width.saturating_sub(2));
    let lines = wrap(text, width).into_iter();
    lines.map(|line| (line, tone)).collect()
}
