//! What hosts and captures saw while the collective ran: pauses that its hosts sent or received, ECN marks of its flows, and
//! paths of its steps whose probes took too long. It names no port of a switch, so it is evidence beside the root causes, and all there is without telemetry of
//! switches.

use crate::steps::{FlowKey, Steps};
use crate::telemetry::{Burst, HostPause, Marked, SlowPath, Telemetry};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::HashSet;
use rocescope_model::Text;

/// What was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A host paused its switch, or was paused by it.
    Paused {
        /// The host, as its counters name it.
        host: Text,
        /// Its port.
        port: Text,
        /// Its addresses in the collective.
        addresses: Vec<IpAddr>,
        /// Whether the host paused the switch.
        is_by_host: bool,
        /// How long, summed over its priorities; `None` if only frames were counted.
        paused_ns: Option<i64>,
        /// Pause frames; `None` if only the time was counted.
        frames: Option<u64>,
        /// The time over which this was counted, which includes times without the collective.
        counted_ns: i64,
    },
    /// Packets of a flow of the collective met a queue upstream of the capture.
    Marked {
        /// The flow.
        flow: FlowKey,
        /// Where it was captured.
        observer: Text,
        /// Its packets in windows with marks.
        packets: u64,
        /// Those with marks.
        marked: u64,
    },
    /// Probes along the path of its steps took longer than with empty queues.
    Slow {
        /// The detection with the longest round trip, of those that share sender and receiver.
        worst: SlowPath,
        /// How many detections there are.
        detections: u64,
        /// All bursts of probes together, without a mean.
        bursts: Option<Burst>,
        /// The capture boxes that recorded its flow.
        recorded_by: Vec<Text>,
    },
}

/// The evidence about a collective: pauses, marks, slow paths, of each the worst first.
#[must_use]
pub fn evidence(steps: &Steps, telemetry: &Telemetry) -> Vec<Evidence> {
    let Some((first_ns, last_ns)) = steps.span_ns() else {
        return Vec::new();
    };
    let overlaps = |start_ns: i64, end_ns: i64| start_ns <= last_ns && end_ns >= first_ns;
    let members: HashSet<IpAddr> = steps.flows.iter().flat_map(|flow| [flow.src, flow.dst]).collect();
    let of_time = telemetry
        .host_pauses
        .iter()
        .filter(|pause| overlaps(pause.start_ns, pause.end_ns));
    let mut all = paused(of_time, &members);
    let flows: HashSet<(IpAddr, IpAddr, Option<u16>)> = steps
        .flows
        .iter()
        .map(|flow| (flow.src, flow.dst, flow.src_port))
        .collect();
    let is_own = |flow: &FlowKey| flows.contains(&(flow.src, flow.dst, flow.src_port));
    let of_time = telemetry
        .marks
        .iter()
        .filter(|marked| overlaps(marked.start_ns, marked.end_ns));
    all.extend(marked(of_time.filter(|marked| is_own(&marked.flow))));
    let hosts: HashSet<&str> = steps.hosts.iter().map(|host| &**host).collect();
    let is_own = |slow: &&SlowPath| {
        let has_hosts = hosts.contains(&*slow.host) && hosts.contains(&*slow.to);
        (has_hosts || (members.contains(&slow.src) && members.contains(&slow.dst)))
            && overlaps(slow.time_ns, slow.time_ns)
    };
    all.extend(slow(telemetry.slow.iter().filter(is_own)));
    all
}

fn slow<'a>(found: impl Iterator<Item = &'a SlowPath>) -> Vec<Evidence> {
    let mut by_path: BTreeMap<(IpAddr, IpAddr), Vec<&SlowPath>> = BTreeMap::new();
    for one in found {
        by_path.entry((one.src, one.dst)).or_default().push(one);
    }
    let mut all: Vec<(i64, Evidence)> = Vec::new();
    for of_path in by_path.into_values() {
        let Some(worst) = of_path.iter().max_by_key(|slow| slow.round_trip_ns) else {
            continue;
        };
        let sum = |one: Burst, two: Burst| Burst {
            probes: one.probes + two.probes,
            answered: one.answered + two.answered,
            mean_ns: None,
            max_ns: one.max_ns.max(two.max_ns),
        };
        let mut recorded_by: Vec<Text> = of_path.iter().flat_map(|slow| slow.recorded_by.clone()).collect();
        recorded_by.sort_by(|a, b| a.as_str().cmp(b.as_str()));
        recorded_by.dedup();
        let evidence = Evidence::Slow {
            worst: (*worst).clone(),
            detections: of_path.len() as u64,
            bursts: of_path.iter().filter_map(|slow| slow.burst).reduce(sum),
            recorded_by,
        };
        all.push((worst.round_trip_ns, evidence));
    }
    all.sort_by_key(|(round_trip_ns, _)| core::cmp::Reverse(*round_trip_ns));
    all.into_iter().map(|(_, evidence)| evidence).collect()
}

fn paused<'a>(pauses: impl Iterator<Item = &'a HostPause>, members: &HashSet<IpAddr>) -> Vec<Evidence> {
    let mut sums: BTreeMap<(String, String, bool), HostPause> = BTreeMap::new();
    for pause in pauses {
        if !pause.addresses.iter().any(|address| members.contains(address)) {
            continue;
        }
        let key = (pause.host.to_string(), pause.port.to_string(), pause.is_by_host);
        match sums.get_mut(&key) {
            Some(sum) => {
                sum.paused_ns = match (sum.paused_ns, pause.paused_ns) {
                    (Some(one), Some(two)) => Some(one.saturating_add(two)),
                    (one, two) => one.or(two),
                };
                sum.frames = match (sum.frames, pause.frames) {
                    (Some(one), Some(two)) => Some(one.saturating_add(two)),
                    (one, two) => one.or(two),
                };
                sum.start_ns = sum.start_ns.min(pause.start_ns);
                sum.end_ns = sum.end_ns.max(pause.end_ns);
            }
            None => {
                sums.insert(key, pause.clone());
            }
        }
    }
    let mut sums: Vec<HostPause> = sums.into_values().collect();
    sums.sort_by_key(|sum| core::cmp::Reverse((sum.is_by_host, sum.paused_ns, sum.frames)));
    let evidence = |sum: HostPause| Evidence::Paused {
        addresses: sum
            .addresses
            .into_iter()
            .filter(|address| members.contains(address))
            .collect(),
        host: sum.host,
        port: sum.port,
        is_by_host: sum.is_by_host,
        paused_ns: sum.paused_ns,
        frames: sum.frames,
        counted_ns: sum.end_ns.saturating_sub(sum.start_ns),
    };
    sums.into_iter().map(evidence).collect()
}

fn marked<'a>(marks: impl Iterator<Item = &'a Marked>) -> Vec<Evidence> {
    let mut sums: BTreeMap<(FlowKey, String), (u64, u64)> = BTreeMap::new();
    for one in marks {
        let (packets, marked) = sums.entry((one.flow, one.observer.to_string())).or_default();
        *packets = packets.saturating_add(one.packets);
        *marked = marked.saturating_add(one.marked);
    }
    let mut sums: Vec<((FlowKey, String), (u64, u64))> = sums.into_iter().collect();
    sums.sort_by_key(|(_, (_, marked))| core::cmp::Reverse(*marked));
    let evidence = |((flow, observer), (packets, marked)): ((FlowKey, String), (u64, u64))| Evidence::Marked {
        flow,
        observer: observer.into(),
        packets,
        marked,
    };
    sums.into_iter().map(evidence).collect()
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
