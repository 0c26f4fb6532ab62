//! The links of a switch that may lose packets in its stead.
//!
//! A packet crosses a switch and two of its links, so a switch that loses and several of its links that lose look alike
//! where no probe crosses it over other links. One switch is likelier than several links, and is the place of the verdict.
//! The verdict names the links as well: with few links, two bad ones are on nearly every path through their switch.

use super::cells::Cells;
use super::count::Count;
use super::joint::ends;
use super::names::Names;
use super::place::{Crossing, FaultLocation};
use super::suspects::Suspect;
use super::tuples::Tuples;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::{Text, VerdictRow};

/// More links than this do not fail together.
const MAX_LINKS: usize = 16;
/// A link is one of them if it loses this share of what the switch loses: a packet may be lost on another link too.
const PART: f64 = 0.5;

/// The names of the links of a suspected switch that lose as much as it; none if more than [`MAX_LINKS`] do, or
/// fewer than two.
pub(super) fn links_of_switch(suspect: &Suspect, cells: &Cells, tuples: &Tuples, names: &Names) -> Vec<String> {
    let mut places = [suspect.place].into_iter().chain(suspect.also.iter().copied());
    let switch = places.find_map(|place| match place {
        FaultLocation::Switch(switch) => Some(switch),
        _ => None,
    });
    let Some(switch) = switch else {
        return Vec::new();
    };
    let mut counts: BTreeMap<u32, Count> = BTreeMap::new();
    for cell in &cells.all {
        let crossing = Crossing::of(cell, tuples);
        if !crossing.meets(FaultLocation::Switch(switch), names) {
            continue;
        }
        let own = crossing.inner(names);
        for link in own.filter(|link| ends(FaultLocation::Link(*link), names).contains(&switch)) {
            counts.entry(link).or_default().add(cell.sent.into(), cell.drops.into());
        }
    }
    let least = suspect.count().share() * PART;
    counts.retain(|_, count| count.anomalous > 0 && count.share() >= least);
    match counts.len() {
        0..2 => Vec::new(),
        links if links > MAX_LINKS => Vec::new(),
        _ => counts.into_keys().map(|link| names.link_name(link)).collect(),
    }
}

/// Adds the links to those that a verdict names; returns the end of its sentence.
pub(super) fn add_links(row: &mut VerdictRow, links: &[String]) -> String {
    if links.is_empty() {
        return String::new();
    }
    let named = row.link.take().unwrap_or_default();
    let known = named.split(' ').filter(|link| !link.is_empty());
    let mut all: Vec<&str> = known.collect();
    for link in links {
        if !all.contains(&link.as_str()) {
            all.push(link);
        }
    }
    row.link = Some(Text::from(all.join(" ")));
    format!(
        "; or several of its links do it, of {}: every probe that crosses the one crosses another",
        links.join(", ")
    )
}
