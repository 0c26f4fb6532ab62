//! Reports of drops: each names a flow, a port, a queue and a reason.

use super::{MAIN_PERCENT, MAX_PORTS};
use crate::incidents::incident::{Certainty, Incident, Source};
use crate::incidents::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;
use rocescope_model::human::{grouped, plural};

/// Where a switch dropped packets, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DropPlace {
    pub(super) switch: String,
    /// The port at which they were to leave; without one, the port at which they arrived.
    pub(super) port: Option<String>,
    pub(super) is_egress: bool,
    pub(super) queue: Option<u32>,
    pub(super) reason: String,
}

/// What was dropped there.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) reports: u64,
    /// Whether some are of the pairs of the loss, and not only of its addresses.
    pub(super) is_of_pairs: bool,
    pub(super) flows: BTreeSet<(IpAddr, IpAddr)>,
}

/// Names the place that has nearly all reports; otherwise states where they are.
pub(super) fn name(incident: &mut Incident, reports: BTreeMap<DropPlace, Sum>) {
    let all: u64 = reports.values().map(|sum| sum.reports).sum();
    let mut places: Vec<(DropPlace, Sum)> = reports.into_iter().collect();
    places.sort_by_key(|(_, sum)| Reverse(sum.reports));
    for (place, sum) in places.iter().take(MAX_PORTS) {
        let of = format!("{}, {}", place.name(), place.reason);
        incident.rests_on("switch_drops", of, "dropped_frames", sum.reports as f64, "frames");
    }
    incident.sources.insert(Source::Switches);
    let Some((main, sum)) = places.first() else { return };
    if sum.reports * 100 < all * MAIN_PERCENT {
        let listed: Vec<String> = places
            .iter()
            .take(MAX_PORTS)
            .map(|(place, sum)| format!("{} {} ({})", grouped(sum.reports), place.name(), place.reason))
            .collect();
        incident.meaning += &format!("; switches dropped packets of these flows: {}", listed.join(", "));
        return;
    }
    let reported = plural(sum.reports, "packet");
    incident.meaning += &format!(
        "; {} reported {reported} of {} as dropped: {}",
        main.switch,
        plural(sum.flows.len() as u64, "pair"),
        main.reason
    );
    if let Some(lost) = incident.victims.lost_packets
        && lost > sum.reports
    {
        let rest = plural(lost - sum.reports, "further packet");
        let unknown = format!("where {rest} went: switches limit how many drops they report");
        incident.unknown.push(unknown);
    }
    incident.action = main.action();
    if !incident.place.is_located() {
        incident.place = Place {
            kind: "switch".into(),
            name: main.name(),
            switch: Some(main.switch.clone()),
            ..incident.place.clone()
        };
        incident.certainty = match sum.is_of_pairs {
            true => Certainty::Certain,
            false => Certainty::Likely,
        };
        incident.reason = "the switch reported that it dropped packets of these flows".to_string();
    }
}

impl DropPlace {
    fn name(&self) -> String {
        let mut name = format!("switch {}", self.switch);
        if let Some(port) = &self.port {
            name += match self.is_egress {
                true => ", port ",
                false => ", from port ",
            };
            name += port;
        }
        if let Some(queue) = self.queue {
            name += &format!(", queue {queue}");
        }
        name
    }

    fn action(&self) -> String {
        let at = self.name();
        match self.reason.as_str() {
            "no_buffer_space" | "red" | "unknown_buffer" | "traffic_shaping" => format!(
                "check buffer, PFC and ECN at {at}, and what else is sent to this port: a lossless class must not be dropped"
            ),
            "acl" | "comm_admin_prohibited" | "dst_net_prohibited" | "dst_host_prohibited" => {
                format!("correct the access list at {at}, which drops these flows")
            }
            "ttl_exceeded" => format!("look for a routing loop through {at}"),
            "pkt_too_big" => format!("set one MTU along the way: that of {at} is too small"),
            "blackhole_route"
            | "blackhole_nexthop"
            | "blackhole_arp_neigh"
            | "unresolved_neigh"
            | "dst_net_unknown"
            | "dst_host_unknown"
            | "net_unreachable"
            | "host_unreachable"
            | "unknown_l3" => {
                format!("correct the route or the neighbor of these destinations at {at}")
            }
            reason => format!("look at {at}: it drops these packets for the reason `{reason}`"),
        }
    }
}
