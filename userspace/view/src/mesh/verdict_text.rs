//! Text beside the matrix: the verdicts of the window, and the pair under the cursor.

use crate::theme::Tone;
use crate::view::View;
use crate::zone::Zone;
use rocescope_diagnose::hostmesh::document::FewDrops;
use rocescope_diagnose::hostmesh::problem::evidence;
use rocescope_model::human::wrap;
use rocescope_model::human::{grouped, readable};
use rocescope_model::{FlowRow, LinkRow, MeshRows, PairRow, Time, Unit, Value, VerdictRow};
use std::net::IpAddr;

/// Paths, links and flows that are listed by name.
const MAX_NAMES: usize = 2;

/// A line and its tone.
pub type Line = (String, Tone);

/// The number of lines of verdicts, pair and the rules above them.
pub(crate) fn length(view: &View, width: u16) -> usize {
    2 + verdicts(view, width).concat().len() + pair(view, width).len()
}

/// The verdicts of the window, each in lines: what fails where, what to do, the evidence.
pub(crate) fn verdicts(view: &View, width: u16) -> Vec<Vec<Line>> {
    let Some(mesh) = view.mesh_shown() else {
        return Vec::new();
    };
    if !mesh.verdicts.is_empty() {
        let verdicts = mesh.verdicts.iter();
        return verdicts
            .map(|verdict| verdict_lines(verdict, width, view.options.zone))
            .collect();
    }
    let (text, tone) = match mesh.sla.first() {
        Some(sla) if !sla.unjudged.is_empty() => (format!("not judged: {}", sla.unjudged), Tone::Notice),
        Some(sla) => match FewDrops::of([sla]).sentence() {
            Some(few) => (few, Tone::Notice),
            None => ("no problem found in this window".into(), Tone::Good),
        },
        None => (
            format!(
                "this window is not analyzed yet: run `rocescope diagnose mesh {} --write`",
                view.header.source
            ),
            Tone::Notice,
        ),
    };
    vec![lines(&text, tone, width)]
}

fn verdict_lines(verdict: &VerdictRow, width: u16, zone: Zone) -> Vec<Line> {
    let mut block = lines(&headline(verdict), Tone::Bad, width);
    block.extend(lines(&format!("do: {}", verdict.action), Tone::Text, width));
    block.extend(lines(&grounds(verdict, zone), Tone::Faint, width));
    block
}

/// Class, and the sentence with place and counts.
pub(crate) fn headline(verdict: &VerdictRow) -> String {
    format!("{}: {}", verdict.class, verdict.sentence)
}

/// Since when, the share of probes, and the evidence.
pub(crate) fn grounds(verdict: &VerdictRow, zone: Zone) -> String {
    let since = zone.text(Time(verdict.since_ns), 0);
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
    let mut block = lines(&lost, Tone::Text, width);
    block.extend(lines(&times, Tone::Text, width));
    let paths = format!("paths: {}", paths(mesh, pair));
    block.extend(lines(&paths, Tone::Faint, width));
    if let Some((text, tone)) = links(mesh, pair) {
        block.extend(lines(&format!("links: {text}"), tone, width));
    }
    if let Some(text) = flows(view, pair) {
        block.extend(lines(&format!("flows: {text}"), Tone::Faint, width));
    }
    block
}

/// Host and NICs of the pair.
pub(crate) fn name(pair: &PairRow) -> String {
    format!("{}/{} to {}", pair.observer, pair.src_nic, pair.dst_nic)
}

/// The nodes of the paths, by name where the analysis knows it.
fn paths(mesh: &MeshRows, pair: &PairRow) -> String {
    let all: Vec<&str> = pair.path.split_whitespace().collect();
    if all.is_empty() {
        return "unknown: no trace has reached the other NIC".into();
    }
    let node = |hop: &str| {
        let link = hop.parse().ok().and_then(|hop| to(mesh, hop));
        link.map_or_else(|| hop.to_owned(), |link| link.to.to_string())
    };
    let path = |hops: &&str| hops.split('>').map(node).collect::<Vec<_>>().join(" > ");
    listed(all.iter().map(path), all.len())
}

/// The links of the paths that lost probes; `None` if the analysis wrote no links.
fn links(mesh: &MeshRows, pair: &PairRow) -> Option<(String, Tone)> {
    let hops = pair.path.split([' ', '>']).filter_map(|hop| hop.parse().ok());
    let mut links: Vec<&LinkRow> = hops.filter_map(|hop: IpAddr| to(mesh, hop)).collect();
    links.sort_by_key(|link| (core::cmp::Reverse(link.drops), link.address));
    links.dedup_by_key(|link| link.address);
    let lossy = links.iter().filter(|link| link.drops > 0);
    let losses = lossy.clone().map(|link| {
        let (drops, probes) = (grouped(link.drops), grouped(link.probes));
        format!("{}>{} {drops} of {probes} lost", link.from, link.to)
    });
    match (links.len(), lossy.clone().count()) {
        (0, _) => None,
        (all, 0) => Some((format!("no loss on any of {all}"), Tone::Faint)),
        (_, lossy) => Some((listed(losses, lossy), Tone::Notice)),
    }
}

/// The link that leads to an address.
fn to(mesh: &MeshRows, hop: IpAddr) -> Option<&LinkRow> {
    mesh.links.iter().find(|link| link.address == hop)
}

/// Captured flows from or to one of the two NICs; `None` without captured windows.
fn flows(view: &View, pair: &PairRow) -> Option<String> {
    let shown = view.shown.as_ref().filter(|shown| shown.windows > 0)?;
    let at = [pair.src, pair.dst];
    let here = |flow: &&FlowRow| at.contains(&flow.src) || at.contains(&flow.dst);
    let flows = shown.rows.flows.iter().filter(here);
    let count = flows.clone().count();
    if count == 0 {
        return Some("none captured at these NICs".into());
    }
    let names = flows.map(|flow| match flow.udp_src_port {
        Some(port) => format!("{} > {} port {port}", flow.src, flow.dst),
        None => format!("{} > {}", flow.src, flow.dst),
    });
    Some(listed(names, count))
}

/// The first names, and the number of the others.
fn listed(names: impl Iterator<Item = String>, count: usize) -> String {
    let first: Vec<String> = names.take(MAX_NAMES).collect();
    let more = count - first.len();
    let first = first.join(", ");
    if more == 0 {
        first
    } else {
        format!("{first} and {more} more")
    }
}

/// A time in nanoseconds, to read.
pub(crate) fn nanos(ns: Option<i64>) -> String {
    readable(&ns.map_or(Value::Null, Value::I64), Unit::Nanoseconds)
}

/// A share, to read.
pub(crate) fn ratio(share: Option<f64>) -> String {
    readable(&share.map_or(Value::Null, Value::F64), Unit::Ratio)
}

fn lines(text: &str, tone: Tone, width: u16) -> Vec<Line> {
    let width = usize::from(width.saturating_sub(2));
    let lines = wrap(text, width).into_iter();
    lines.map(|line| (line, tone)).collect()
}
