//! Losses, and the switches that dropped the packets.
//!
//! A switch that reports the packets that it drops names their flow: a loss of that flow at that time has a port, a queue
//! and a reason. Counters of drops have no flow: they place a loss where one port alone on its way dropped frames at that
//! time, and are worth a look otherwise.
//!
//! | module | what it does |
//! |---|---|
//! | `reports` | places losses by reports of drops |
//! | `counters` | places losses by counters of ports and queues |

mod counters;
mod reports;

use super::incident::Incident;
use super::ports::Cables;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use counters::PortDrops;
use reports::{DropPlace, Sum};
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

/// Ports that are listed beside a loss.
const MAX_PORTS: usize = 3;

/// The drops that meet one loss.
#[derive(Debug, Default)]
struct Met {
    incident: usize,
    since_ns: i64,
    until_ns: i64,
    dst_qpn: Option<u32>,
    reports: BTreeMap<DropPlace, Sum>,
    ports: BTreeMap<(String, String), PortDrops>,
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

    /// Takes a reading of a port or of one of its queues.
    pub fn port(&mut self, row: &SwitchPortRow) {
        let (received, sent) = (row.in_dropped_frames.unwrap_or(0), row.out_dropped_frames.unwrap_or(0));
        // Rows of priorities repeat a part of what the row of the port counts.
        if row.priority.is_some() || received + sent == 0 {
            return;
        }
        let begun_ns = row.time_ns.saturating_sub(row.interval_ns.unwrap_or(0));
        let losses = self.losses.iter_mut();
        for loss in losses.filter(|loss| row.time_ns >= loss.since_ns && begun_ns <= loss.until_ns) {
            let key = (row.switch.to_string(), row.port_name.to_string());
            loss.ports.entry(key).or_default().add(row.queue, received, sent);
        }
    }

    /// Gives each loss the place where its packets were dropped.
    pub fn place(self, cables: &Cables, incidents: &mut [Incident]) {
        for loss in self.losses {
            let Some(incident) = incidents.get_mut(loss.incident) else {
                continue;
            };
            match loss.reports.is_empty() {
                true => counters::place(incident, cables, loss.ports),
                false => reports::name(incident, loss.reports),
            }
        }
    }
}
