//! Faults that captured connections show: each row of `connections` is all that is known of a direction, and `events` have
//! the times.
//!
//! | module | what it does |
//! |---|---|
//! | [`direction`] | what is kept of a direction |
//! | [`episodes`] | when a sign showed itself |
//! | `ends`, `lossy` | which pairs have one cause |
//! | `traces` | losses that are too few for a fault |
//! | `loss`, `no_answer`, `slow_receiver`, `fatal_nak`, `order`, `timeouts`, `pauses`, `tap` | one file for each kind of faults |
//! | `taps` | what each tap sees of answers |
//! | `marks` | marks of congestion without a queue |
//! | `one_direction`, `sampled` | what a tap knows that sees one direction, or one packet of many |

pub mod direction;
pub mod ends;
pub mod episodes;
mod fatal_nak;
mod loss;
mod lossy;
mod marks;
mod no_answer;
mod one_direction;
mod order;
mod pauses;
mod sampled;
mod slow_receiver;
mod tap;
mod taps;
mod timeouts;
mod traces;

use super::incident::Incident;
use super::place::Place;
use super::victims::Victims;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
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
/// An incident goes on if it was seen within a tenth of the data before its end, at least this long and at most so long.
const OPEN_NS: (i64, i64) = (1_000_000_000, 30_000_000_000);
/// A row of a connection that still lives comes within this time.
const ROW_NS: i64 = 60_000_000_000;

/// Takes the rows of a capture, and reports which faults they show.
#[derive(Debug, Default)]
pub struct Wire {
    /// Only what happened in this time counts.
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    directions: HashMap<Key, Direction>,
    /// The last rows from before that time: totals of later rows include them.
    before: HashMap<Key, Direction>,
    /// When [`turn`](Self::turn) was called last, and what was known then.
    turned: Option<(i64, HashMap<Key, Direction>)>,
    /// The number of packets for each that the taps have, as their operator states.
    sampling: Option<u64>,
    crowded_out: u64,
    episodes: Episodes,
    observers: Observers,
    pauses: pauses::Pauses,
    /// Inputs that were not read to their end: the share that was, if known.
    ended_early: Vec<Option<f64>>,
    /// The oldest and the newest time of any row.
    span_ns: Option<(i64, i64)>,
}

/// Capture box, connection, and whether it is the direction from `b` to `a`.
type Key = (Text, i64, bool);

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The faults.
    pub incidents: Vec<Incident>,
    /// What a reader must know of these figures.
    pub notes: Vec<String>,
    /// The number of packets for each that the taps have, if mirrors sample.
    pub sampled_one_of: Option<u64>,
}

impl Wire {
    /// Only what happens from the one time to the other counts. Rows of `connections` from before are needed all the same:
    /// the rows after them are totals.
    #[must_use]
    pub fn within(from_ns: Option<i64>, to_ns: Option<i64>) -> Self {
        Self {
            from_ns,
            to_ns,
            ..Self::default()
        }
    }

    /// The mirror samples: the taps have one packet of N. `None`: it copies all, or it is recognized.
    #[must_use]
    pub const fn sampling(mut self, one_of: Option<u64>) -> Self {
        self.sampling = one_of;
        self
    }

    /// Forgets what happened before the last call of this. A program that runs for long calls it now and then: it judges
    /// one to two of these spans.
    pub fn turn(&mut self, now_ns: i64) {
        let from = self.turned.replace((now_ns, self.directions.clone()));
        let Some((from_ns, before)) = from else { return };
        self.before = before;
        self.from_ns = Some(from_ns);
        self.directions.retain(|_, direction| direction.last_ns >= from_ns);
        self.episodes.forget(from_ns);
        self.pauses.forget(from_ns);
        self.span_ns = self
            .span_ns
            .map(|(first, last)| (first.max(from_ns), last.max(from_ns)));
    }

    /// Adds a row of `connections`; a later row of a direction replaces an earlier one.
    pub fn connection(&mut self, row: &ConnectionRow) {
        let key = (row.observer.clone(), row.connection, &*row.role == "b_to_a");
        if self.from_ns.is_some_and(|from| row.time_ns < from) {
            // What finds no room has no row before the time: nothing of it counts.
            if self.before.len() < MAX_DIRECTIONS || self.before.contains_key(&key) {
                self.before.insert(key, Direction::of(row));
            }
            return;
        }
        let is_past = self.to_ns.is_some_and(|to| row.time_ns > to.saturating_add(ROW_NS));
        if is_past && self.directions.contains_key(&key) {
            return;
        }
        self.reaches(row.first_ns.unwrap_or(row.last_ns));
        self.reaches(row.last_ns);
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
        if &*row.kind == EventRow::INPUT_ENDED {
            self.ended_early.push(row.value);
            return;
        }
        if &*row.kind == EventRow::PAUSE {
            let is_in_time =
                self.from_ns.is_none_or(|from| row.time_ns >= from) && self.to_ns.is_none_or(|to| row.time_ns <= to);
            if is_in_time {
                self.pauses.add(row);
            }
            return;
        }
        self.episodes.add(row);
    }

    /// Adds a row of `windows`.
    pub fn window(&mut self, row: &WindowRow) {
        self.reaches(row.window_start_ns);
        self.reaches(row.window_start_ns.saturating_add(row.window_ns));
        self.observers.window(row);
        self.pauses.window(row);
    }

    fn reaches(&mut self, time_ns: i64) {
        let time_ns = time_ns.clamp(self.from_ns.unwrap_or(i64::MIN), self.to_ns.unwrap_or(i64::MAX));
        let (first, last) = self.span_ns.unwrap_or((time_ns, time_ns));
        self.span_ns = Some((first.min(time_ns), last.max(time_ns)));
    }

    /// The directions with what happened in the time asked for, each once: of two capture boxes that saw one, as the one did
    /// that saw more of it.
    pub(super) fn counted(&self) -> Vec<Direction> {
        let mut all = Vec::new();
        for (key, direction) in &self.directions {
            let from_ns = self.from_ns.filter(|from| direction.first_ns < *from);
            match from_ns {
                None => all.push(direction.clone()),
                Some(from) if direction.last_ns < from => {}
                Some(from) => all.push(direction.since(self.before.get(key), from)),
            }
        }
        let mut seen: HashMap<_, HashMap<Text, u64>> = HashMap::new();
        for way in &all {
            let boxes = seen.entry((way.src, way.dst, way.dst_qpn)).or_default();
            *boxes.entry(way.observer.clone()).or_default() += way.packets;
        }
        all.retain(|way| {
            let boxes = seen.get(&(way.src, way.dst, way.dst_qpn));
            let most = boxes.and_then(|boxes| {
                boxes
                    .iter()
                    .max_by_key(|(name, packets)| (**packets, name.as_str().to_owned()))
            });
            most.is_none_or(|(name, _)| *name == way.observer)
        });
        all.sort_by_key(|way| (way.src, way.dst, way.dst_qpn, way.first_ns));
        all
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
        let counted = self.counted();
        let all: Vec<&Direction> = counted.iter().collect();
        let (start_ns, end_ns) = self.span_ns.unwrap_or_default();
        let near_ns = end_ns.saturating_sub(start_ns) / 10;
        let view = View {
            all: &all,
            taps: &taps::Taps::of(&all),
            episodes: &self.episodes,
            observers: &self.observers,
            is_part: self.from_ns.is_some() || self.to_ns.is_some(),
            open_ns: end_ns.saturating_sub(near_ns.clamp(OPEN_NS.0, OPEN_NS.1)),
        };
        slow_receiver::find(&view, &mut found);
        fatal_nak::find(&view, &mut found.incidents);
        match self.sampling.or_else(|| sampled::one_of(&view)) {
            Some(one_of) => sampled::note(&mut found, one_of),
            None => {
                no_answer::find(&view, &mut found.incidents);
                order::find(&view, &mut found);
                loss::find(&view, &mut found);
                one_direction::find(&view, &mut found);
                timeouts::find(&view, &mut found);
            }
        }
        tap::find(&view, &mut found);
        pauses::find(&view, &self.pauses, &mut found);
        if !self.has_connections() && self.observers.packets() > 0 {
            found.notes.push(self.observers.without_connections());
        }
        for share in &self.ended_early {
            let of = share.map_or_else(String::new, |share| format!(" after {:.0} % of it", 100.0 * share));
            found.notes.push(format!(
                "an input ended early{of}, interrupted or damaged: what follows in it is not judged"
            ));
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
    taps: &'a taps::Taps<'a>,
    episodes: &'a Episodes,
    observers: &'a Observers,
    /// Whether a part of the time of the rows counts.
    is_part: bool,
    /// What was seen from then on goes on.
    open_ns: i64,
}

impl View<'_> {
    /// Whether something that was seen last then goes on.
    const fn is_open(&self, last_ns: i64) -> bool {
        last_ns >= self.open_ns
    }

    /// Sets the time of an incident.
    fn times(&self, incident: &mut Incident, episode: Episode) {
        incident.since_ns = episode.first_ns;
        incident.until_ns = episode.last_ns;
        incident.is_open = self.is_open(episode.last_ns);
    }
}

/// The queue pair that a direction goes to, for a sentence.
fn queue_pair(direction: &Direction) -> String {
    direction
        .dst_qpn
        .map_or_else(|| "an unknown QP".to_string(), |qpn| format!("QP {qpn}"))
}

pub(super) use marks::is_at_work;

/// The traffic that meets a place.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// Packets of directions that would show a loss: those that are acknowledged, whose acknowledgements the tap sees.
    pub(super) packets: u64,
    /// Those of its connections that lost packets or sent them again.
    pub(super) victims: Victims,
}

/// Whether a tap sees answers to any of these directions that meets a place.
pub(super) fn sees_answers(ways: &[Direction], place: &Place) -> bool {
    let mut ways = ways.iter().filter(|way| way.other_direction_seen);
    ways.any(|way| place.meets(&Place::pair(way.src, way.dst)))
}

/// Whether this address reports that it is not ready.
pub(super) fn reports_rnr(ways: &[Direction], address: IpAddr) -> bool {
    ways.iter().any(|way| way.src == address && way.rnr_naks > 0)
}

/// Those of these directions that meet a place.
pub(super) fn met(ways: &[Direction], place: &Place) -> Met {
    let mut met = Met::default();
    let mut victims = Vec::new();
    for way in ways.iter().filter(|way| place.meets(&Place::pair(way.src, way.dst))) {
        if way.is_acknowledged && way.other_direction_seen {
            met.packets += way.packets;
        }
        if way.lost() + way.retransmitted > 0 {
            victims.push(way.victim());
        }
    }
    met.victims = Victims::of(victims);
    met
}
