//! Faults that the counters of switches show: cables that damage frames, pauses and who sends them, headroom that is too
//! small, and PFC that one end of a cable does not have.
//!
//! | module | what it does |
//! |---|---|
//! | `cables` | which port is the other end of which |
//! | `seen` | what the readings of a port add up to |
//! | `damage` | ports that receive damaged frames, and what their light shows |
//! | `pauses` | ports that are paused, and where the pauses begin |
//! | `ways` | which ports a shortest way between two hosts passes |
//! | `headroom` | frames that are dropped at a port that pauses their sender, and pauses that are not heard |
//!
//! Readings are seconds apart: what happened between two of them has no order. So a pause has a place and a share of the time,
//! and whether it is the cause of a loss within the same seconds is not known from them.

mod cables;
mod damage;
mod headroom;
mod pauses;
mod seen;
mod ways;

pub use cables::{Cable, Cables, End};
pub(in crate::incidents) use ways::Ways;

use super::incident::{Incident, Source, ToldBy};
use super::place::Place;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::SwitchPortRow;
use seen::{Damage, Pause};

/// Ports, and priorities of ports, that are kept: 4,000 switches with 64 ports each.
const MAX_PORTS: usize = 262_144;

/// Switch and port.
type PortName = (String, String);

/// What the readings of the ports of switches add up to.
#[derive(Debug, Default)]
pub struct Ports {
    damage: BTreeMap<PortName, Damage>,
    /// By priority; without one, of all priorities together.
    pauses: BTreeMap<(PortName, Option<u8>), Pause>,
    last_ns: i64,
    overflow: u64,
}

impl Ports {
    /// Takes a reading.
    pub fn add(&mut self, row: &SwitchPortRow) {
        self.last_ns = self.last_ns.max(row.time_ns);
        let port = (row.switch.to_string(), row.port_name.to_string());
        if row.queue.is_some() {
            return;
        }
        if self.damage.len() + self.pauses.len() >= MAX_PORTS && !self.damage.contains_key(&port) {
            self.overflow += 1;
            return;
        }
        if row.sent_pause_frames.is_some() || row.received_pause_frames.is_some() || row.watchdog_storms.is_some() {
            let key = (port.clone(), row.priority);
            self.pauses.entry(key).or_default().add(row);
        }
        if row.priority.is_none() {
            self.damage.entry(port).or_default().add(row);
        }
    }

    /// The pauses of the ports of a switch.
    fn pauses_of_switch<'a>(
        &'a self,
        switch: &'a str,
    ) -> impl Iterator<Item = (&'a (PortName, Option<u8>), &'a Pause)> {
        let from = ((switch.to_string(), String::new()), None);
        self.pauses.range(from..).take_while(move |(key, _)| key.0.0 == switch)
    }

    /// Readings beyond the bound: they were not judged.
    #[must_use]
    pub const fn overflow(&self) -> u64 {
        self.overflow
    }

    /// The faults.
    #[must_use]
    pub fn find(&self, cables: &Cables) -> Vec<Incident> {
        let mut found = Vec::new();
        damage::find(self, cables, &mut found);
        pauses::find(self, cables, &mut found);
        headroom::find(self, cables, &mut found);
        found
    }

    /// States beside the faults of links and NICs what the ports at their ends counted.
    pub fn beside(&self, cables: &Cables, incidents: &mut [Incident]) {
        for incident in incidents.iter_mut().filter(|one| one.told_by != ToldBy::Switches) {
            damage::beside(self, cables, incident);
        }
    }
}

/// An incident at a port, or at the cable behind it if the other end is known.
fn incident(class: &str, cables: &Cables, (switch, port): &PortName) -> Incident {
    let place = match cables.at(switch, port) {
        Some(cable) => cable.place(),
        None => Place {
            switch: Some(switch.clone()),
            ..Place::named("port", format!("switch {switch}, port {port}"))
        },
    };
    Incident::new(class, place, ToldBy::Switches, Source::Switches)
}

/// A port in a sentence.
fn named((switch, port): &PortName) -> String {
    format!("{switch} {port}")
}
