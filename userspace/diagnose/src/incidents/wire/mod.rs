//! Faults that captured connections show: each row of `connections` is all that is known of a direction, and `events` have
//! the times.
//!
//! | module | what it does |
//! |---|---|
//! | [`direction`] | what is kept of a direction |
//! | [`episodes`] | when a sign showed itself |
//! | `ends` | which pairs share an end |
//! | `loss`, `no_answer`, `slow_receiver`, `fatal_nak`, `order`, `tap` | one file for each kind of faults |

pub mod direction;
pub mod ends;
pub mod episodes;
mod fatal_nak;
mod loss;
mod no_answer;
mod order;
mod slow_receiver;
mod tap;

use super::incident::{Incident, Victims};
use super::place::Place;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use direction::Direction;
use episodes::{Episode, Episodes};
use hashbrown::HashMap;
use rocescope_model::human::plural;
use rocescope_model::{ConnectionRow, EventRow, Text, WindowRow};
use tap::Observers;

/// Directions that are kept: some 40 MB. When there are more, those that have ended without trouble go first.
const MAX_DIRECTIONS: usize = 131_072;
/// Rows that find no room before the next search for such directions.
const SEARCH_ROWS: u64 = 16_384;
/// An incident goes on if it was seen this long before the end of the data.
const OPEN_NS: i64 = 30_000_000_000;

/// Takes the rows of a capture, and tells which faults they show.
#[derive(Debug, Default)]
pub struct Wire {
    directions: HashMap<(Text, i64, bool), Direction>,
    crowded_out: u64,
    episodes: Episodes,
    observers: Observers,
    /// The newest time of any row.
    end_ns: Option<i64>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The faults.
    pub incidents: Vec<Incident>,
    /// What a reader must know of these figures.
    pub notes: Vec<String>,
}

impl Wire {
    /// Adds a row of `connections`; a later row of a direction replaces an earlier one.
    pub fn connection(&mut self, row: &ConnectionRow) {
        self.reaches(row.last_ns);
        let key = (row.observer.clone(), row.connection, &*row.role == "b_to_a");
        if self.directions.len() >= MAX_DIRECTIONS && !self.directions.contains_key(&key) {
            if self.crowded_out.is_multiple_of(SEARCH_ROWS) {
                self.directions.retain(|_, direction| !direction.has_ended_well());
            }
            if self.directions.len() >= MAX_DIRECTIONS {
                self.crowded_out += 1;
                return;
            }
        }
        self.directions.insert(key, Direction::of(row));
    }

    /// Adds a row of `events`.
    pub fn event(&mut self, row: &EventRow) {
        self.reaches(row.time_ns);
        self.episodes.add(row);
    }

    /// Adds a row of `windows`.
    pub fn window(&mut self, row: &WindowRow) {
        self.reaches(row.window_start_ns.saturating_add(row.window_ns));
        self.observers.window(row);
    }

    fn reaches(&mut self, time_ns: i64) {
        self.end_ns = self.end_ns.max(Some(time_ns));
    }

    /// Whether there is any connection.
    #[must_use]
    pub fn has_connections(&self) -> bool {
        !self.directions.is_empty()
    }

    /// What was judged, in words; `None` if no capture box wrote a row.
    #[must_use]
    pub fn judged(&self) -> Option<String> {
        let directions = self.directions.len() as u64;
        let packets = self.observers.packets();
        (directions + packets > 0).then(|| {
            let (packets, directions) = (plural(packets, "captured packet"), plural(directions, "direction"));
            format!("{packets}, {directions} of connections")
        })
    }

    /// The faults.
    #[must_use]
    pub fn find(&self) -> Found {
        let mut found = Found::default();
        let mut all: Vec<&Direction> = self.directions.values().collect();
        all.sort_by_key(|direction| (direction.src, direction.dst, direction.dst_qpn, direction.first_ns));
        let view = View {
            all: &all,
            episodes: &self.episodes,
            observers: &self.observers,
            end_ns: self.end_ns.unwrap_or(0),
        };
        no_answer::find(&view, &mut found.incidents);
        order::find(&view, &mut found.incidents);
        loss::find(&view, &mut found.incidents);
        slow_receiver::find(&view, &mut found.incidents);
        fatal_nak::find(&view, &mut found.incidents);
        tap::find(&view, &mut found);
        if !self.has_connections() && self.observers.packets() > 0 {
            found.notes.push(self.observers.without_connections());
        }
        if self.crowded_out > 0 {
            found.notes.push(format!(
                "{} rows of connections beyond the first {MAX_DIRECTIONS} directions are not judged",
                self.crowded_out
            ));
        }
        found
    }
}

/// What the rules see.
struct View<'a> {
    all: &'a [&'a Direction],
    episodes: &'a Episodes,
    observers: &'a Observers,
    end_ns: i64,
}

impl View<'_> {
    /// Whether something that was seen last then goes on.
    const fn is_open(&self, last_ns: i64) -> bool {
        last_ns.saturating_add(OPEN_NS) >= self.end_ns
    }

    /// Sets the time of an incident.
    fn times(&self, incident: &mut Incident, episode: Episode) {
        incident.since_ns = episode.first_ns;
        incident.until_ns = episode.last_ns;
        incident.is_open = self.is_open(episode.last_ns);
    }
}

/// The packets of a victim list for a sentence: `QP 244 lost 8 and sent 317 again`.
fn queue_pair(direction: &Direction) -> String {
    direction
        .dst_qpn
        .map_or_else(|| "an unknown QP".to_string(), |qpn| format!("QP {qpn}"))
}

/// The traffic that meets a place.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// Its packets.
    pub(super) packets: u64,
    /// Those of its connections that lost packets or sent them again.
    pub(super) victims: Victims,
}

impl Wire {
    /// Whether the tap sees both directions of any connection.
    pub(super) fn sees_answers(&self) -> bool {
        self.directions.values().any(|direction| direction.other_direction_seen)
    }

    /// The traffic that meets a place.
    pub(super) fn met(&self, place: &Place) -> Met {
        let ways = self.directions.values();
        let ways = ways.filter(|way| place.meets(&Place::pair(way.src, way.dst)));
        let mut met = Met::default();
        let mut victims = Vec::new();
        for way in ways {
            met.packets += way.packets;
            if way.lost() + way.retransmitted > 0 {
                victims.push(way.victim());
            }
        }
        met.victims = Victims::of(victims);
        met
    }
}
