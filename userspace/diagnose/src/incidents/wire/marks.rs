//! Marks of congestion: what they mean without a queue, and a note where no incident has them.

use super::Wire;
use super::direction::Direction;
use crate::incidents::incident::Incident;
use crate::incidents::place::Place;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use core::net::IpAddr;
use rocescope_model::human::{grouped, plural};

/// Fewer marked packets are not worth a line.
const FEWEST: u64 = 100;

/// Share of marked packets up to which a queue only begins to grow. DCQCN's switches mark 1 % of the packets where a
/// queue reaches its upper threshold, and all of them above it (Zhu et al., SIGCOMM 2015).
const FEW: f64 = 0.05;

/// Whether an incident is congestion that only a few marks show, while round trips show that no queue grows: then
/// congestion control does its work. Round trips alone do not prove it: marks are of queues upstream of the tap, and
/// round trips are measured downstream of it.
pub(in crate::incidents) fn is_at_work(incident: &Incident, traffic: &[Direction]) -> bool {
    let is_measured = incident.evidence.iter().any(|row| row.name.starts_with("latency"));
    if incident.class != "congestion" || is_measured {
        return false;
    }
    let there = |way: &&Direction| incident.place.meets(&Place::pair(way.src, way.dst));
    let ways = traffic.iter().filter(there);
    let mut known = ways.clone().filter_map(Direction::is_never_queued).peekable();
    let is_flat = known.peek().is_some() && known.all(|is_never_queued| is_never_queued);
    is_flat && !ways.clone().any(|way| way.packets as f64 * FEW < way.marked as f64)
}

impl Wire {
    /// What is known of marked packets, if no incident reports congestion.
    #[must_use]
    pub fn marks(&self, incidents: &[Incident]) -> Option<String> {
        if incidents.iter().any(|incident| incident.class == "congestion") {
            return None;
        }
        let ways = self.counted();
        let mut receivers: BTreeMap<IpAddr, u64> = BTreeMap::new();
        for way in &ways {
            *receivers.entry(way.dst).or_default() += way.marked;
        }
        let marked: u64 = receivers.values().sum();
        let (most, count) = receivers.iter().max_by_key(|(_, count)| **count)?;
        if marked < FEWEST {
            return None;
        }
        let of_marked = ways.iter().filter(|way| way.dst == *most);
        let longest = of_marked
            .filter_map(|way| way.round_trips_ns)
            .map(|(_, late)| late)
            .max();
        let queues = match longest {
            Some(late) => format!("99 % of the round trips there took at most {:.1} µs", late as f64 / 1e3),
            None => "round trips are unknown".into(),
        };
        Some(format!(
            "{} came marked (ECN), {} of them to {most}; {queues}",
            plural(marked, "packet"),
            grouped(*count)
        ))
    }
}
