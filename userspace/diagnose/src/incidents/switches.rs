//! Losses, and the switches that dropped the packets.
//!
//! A switch that reports the packets that it drops names their flow: a loss of that flow at that time has a port, a queue
//! and a reason. Counters of drops have no flow: beside a loss without reports they are only what is worth a look.

use super::incident::{Certainty, Incident, Source};
use super::place::Place;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;
use rocescope_model::human::{grouped, plural};
use rocescope_model::{SwitchDropRow, SwitchPortRow};

/// Classes of packets that did not arrive.
const LOSSES: [&str; 9] = [
    "network_loss",
    "loss",
    "unlocated_loss",
    "no_answer",
    "timeouts",
    "blackhole",
    "no_route",
    "acl",
    "congestion_drops",
];

/// Clocks of switches' receivers and of captures differ, and windows end later than what they show: a minute.
const SLACK_NS: i64 = 60_000_000_000;

/// A place with this part of the reports, in percent, is where the packets were dropped.
const MAIN_PERCENT: u64 = 80;

/// Ports that are listed beside a loss without reports.
const MAX_PORTS: usize = 3;

/// Where a switch dropped packets, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DropPlace {
    switch: String,
    /// The port at which they were to leave; without one, the port at which they arrived.
    port: Option<String>,
    is_egress: bool,
    queue: Option<u32>,
    reason: String,
}

/// What was dropped there.
#[derive(Clone, Debug, Default)]
struct Sum {
    reports: u64,
    /// Whether some are of the pairs of the loss, and not only of its addresses.
    is_of_pairs: bool,
    flows: BTreeSet<(IpAddr, IpAddr)>,
}

/// The drops that meet one loss.
#[derive(Debug, Default)]
struct Met {
    incident: usize,
    since_ns: i64,
    until_ns: i64,
    dst_qpn: Option<u32>,
    reports: BTreeMap<DropPlace, Sum>,
    ports: BTreeMap<(String, String), u64>,
}

/// What switches dropped while packets were lost.
#[derive(Debug, Default)]
pub struct SwitchDrops {
    losses: Vec<Met>,
    by_pair: BTreeMap<(IpAddr, IpAddr), BTreeSet<usize>>,
    by_address: BTreeMap<IpAddr, BTreeSet<usize>>,
}

impl SwitchDrops {
    /// Takes rows that concern the losses among these incidents.
    #[must_use]
    pub fn of(incidents: &[Incident]) -> Self {
        let mut drops = Self::default();
        let losses = incidents.iter().enumerate();
        for (incident, loss) in losses.filter(|(_, one)| LOSSES.contains(&one.class.as_str())) {
            let at = drops.losses.len();
            drops.losses.push(Met {
                incident,
                since_ns: loss.since_ns.saturating_sub(SLACK_NS),
                until_ns: loss.until_ns.saturating_add(SLACK_NS),
                dst_qpn: loss.place.dst_qpn,
                ..Met::default()
            });
            let victims = loss.victims.worst.iter().map(|victim| (victim.src, victim.dst));
            for pair in loss.place.pairs.iter().copied().chain(victims) {
                drops.by_pair.entry(pair).or_default().insert(at);
            }
            for address in &loss.place.addresses {
                drops.by_address.entry(*address).or_default().insert(at);
            }
        }
        drops
    }

    /// Whether there is no loss.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
    }

    /// Takes a report of drops.
    pub fn dropped(&mut self, row: &SwitchDropRow) {
        let (Some(src), Some(dst)) = (row.src, row.dst) else {
            return;
        };
        let own = self.by_pair.get(&(src, dst));
        let by_address = [src, dst].into_iter().filter_map(|end| self.by_address.get(&end));
        let met = own.into_iter().chain(by_address);
        let met: BTreeSet<usize> = met.flatten().copied().collect();
        for at in met {
            let Some(loss) = self.losses.get_mut(at) else {
                continue;
            };
            let is_other_pair = loss.dst_qpn.is_some() && row.dst_qpn.is_some() && loss.dst_qpn != row.dst_qpn;
            if row.time_ns < loss.since_ns || row.first_ns > loss.until_ns || is_other_pair {
                continue;
            }
            let port = row.out_port.as_ref().or(row.in_port.as_ref());
            let place = DropPlace {
                switch: row.switch.to_string(),
                port: port.map(ToString::to_string),
                is_egress: row.out_port.is_some(),
                queue: row.queue,
                reason: row.reason.to_string(),
            };
            let sum = loss.reports.entry(place).or_default();
            sum.reports += row.dropped_frames;
            sum.is_of_pairs |= own.is_some_and(|own| own.contains(&at));
            sum.flows.insert((src, dst));
        }
    }

    /// Takes a reading of a port.
    pub fn port(&mut self, row: &SwitchPortRow) {
        // Rows of queues and priorities repeat a part of what the row of the port counts.
        if row.queue.is_some() || row.priority.is_some() {
            return;
        }
        let dropped = row.in_dropped_frames.unwrap_or(0) + row.out_dropped_frames.unwrap_or(0);
        if dropped == 0 {
            return;
        }
        let begun_ns = row.time_ns.saturating_sub(row.interval_ns.unwrap_or(0));
        let losses = self.losses.iter_mut();
        for loss in losses.filter(|loss| row.time_ns >= loss.since_ns && begun_ns <= loss.until_ns) {
            let key = (row.switch.to_string(), row.port_name.to_string());
            *loss.ports.entry(key).or_default() += dropped;
        }
    }

    /// Gives each loss the place where its packets were dropped.
    pub fn place(self, incidents: &mut [Incident]) {
        for loss in self.losses {
            let Some(incident) = incidents.get_mut(loss.incident) else {
                continue;
            };
            match loss.reports.is_empty() {
                true => suspect(incident, loss.ports),
                false => name(incident, loss.reports),
            }
        }
    }
}

/// Names the place that has nearly all reports; otherwise states where they are.
fn name(incident: &mut Incident, reports: BTreeMap<DropPlace, Sum>) {
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

/// States which ports dropped something at that time.
fn suspect(incident: &mut Incident, ports: BTreeMap<(String, String), u64>) {
    if ports.is_empty() {
        return;
    }
    let count = ports.len();
    let mut ports: Vec<((String, String), u64)> = ports.into_iter().collect();
    ports.sort_by_key(|(_, dropped)| Reverse(*dropped));
    let listed: Vec<String> = ports
        .iter()
        .take(MAX_PORTS)
        .map(|((switch, port), dropped)| format!("{switch} {port} ({})", grouped(*dropped)))
        .collect();
    let more = match count > MAX_PORTS {
        true => format!(" and {} more", count - MAX_PORTS),
        false => String::new(),
    };
    incident.unknown.push(format!(
        "whether a switch dropped them: at that time frames were dropped at {}{more}; counters do not state of which flows",
        listed.join(", ")
    ));
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
