//! What the wire tells of each queue pair: connections, loss, latency, congestion.
//!
//! Run records and whole events in, rows of `connections` and `events` out. State belongs to the
//! *direction*, a flow without its UDP source port; a connection is two directions that answer each
//! other.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | times and bounds |
//! | `order` | runs and whole events, put in order of their first times |
//! | `key`, `table` | which direction a run belongs to |
//! | `ahead` | directions of the next runs, looked up together |
//! | `direction` | the state of one direction |
//! | `hot`, `ordinary` | the part of it that ordinary runs need, and what they do to it |
//! | `sequence` | the highest PSN, the gaps below it, what fills them |
//! | `pass` | what the sender is sending, for the first time or again |
//! | `receiver` | what the receiver makes of it, as far as the order at the tap tells |
//! | `twice` | copies that a mirror makes |
//! | `requests`, `answers` | what a run of requests, ACKs or responses does to that state |
//! | `way` | how a run came to pass: onward, overtaken, copied, or because its sender went back, and why |
//! | `retransmission` | what it counts as therefore |
//! | `doubt` | sent again though nothing asked for it |
//! | `left_out` | what did not pass again, and may come late |
//! | `waiting`, `latency` | requests on their way, and how long their answers took |
//! | [`congestion`] | ECN, CNPs, and the rate before and after one |
//! | [`episode`], [`event`] | retransmissions in one go, and all else that deserves a line |
//! | `pairing`, `peers` | which direction answers which, from PSNs alone |
//! | `setup`, `managed` | CM datagrams and TCP handshakes |
//! | `few`, `sizes` | a queue and a histogram that mostly hold one thing |
//! | `blind` | intervals in which the capture lost runs |
//! | `ingest` | one item, from its direction to its peer |
//! | `report`, `event_rows` | a connection as rows, and what happened to it |
//!
//! The terms, for requests of one direction. `high` is the highest PSN seen. A packet above
//! `high` + 1 opens a *gap*. One at or below `high` that fills a gap is *out of order* when it comes
//! before any NAK that names it and within the reorder time, else it is *retransmitted* and was
//! lost before the tap. One seen before is a *duplicate* when it follows within the duplicate time
//! and nothing asked for it, else *retransmitted*. A gap that is never filled is a *lost gap*.
//!
//! Memory: a direction is bounded by [`DIRECTION_BYTES`], its histograms, gaps and waiting requests
//! by [`MOST_HEAP_BYTES`]; directions by
//! [`most_directions`](ConnectionSettings::most_directions).

pub mod congestion;
pub mod episode;
pub mod event;
pub mod settings;

mod ahead;
mod answers;
mod blind;
mod direction;
mod doubt;
mod event_rows;
mod few;
mod hot;
mod ingest;
mod key;
mod latency;
mod left_out;
mod managed;
mod order;
mod ordinary;
mod pairing;
mod pass;
mod peers;
mod receiver;
mod report;
mod requests;
mod retransmission;
mod sequence;
mod setup;
mod sizes;
mod table;
#[cfg(test)]
mod tests;
mod twice;
mod waiting;
mod way;

pub use direction::PairedBy;
pub use settings::ConnectionSettings;

use crate::settings::Settings;
use crate::trouble::Told;
use ahead::{Ahead, GROUP};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use event::Event;
use order::{Item, Order};
use rocescope_model::{ConnectionRow, EventRow, Text};
use rocescope_record::{RunRecord, Whole};

/// Bytes of one direction's own state: 100,000 connections are 200,000 of them.
pub const DIRECTION_BYTES: usize =
    core::mem::size_of::<direction::Direction>() + core::mem::size_of::<hot::Hot>();
/// Bytes a direction may own beside: five histograms of 64 buckets, 33 message sizes, 16 gaps, 64
/// waiting requests, eight ranges that were left out, its candidates and two places in the index; most
/// own a tenth of it or nothing.
pub const MOST_HEAP_BYTES: usize =
    5 * (56 + 65 * 8 * 3 / 2) + 33 * 4 + 16 * 48 + 64 * 40 * 3 / 2 + 8 * 32 + 32 + 256 + 32;

/// Rows of connections handed over at once: 100,000 connections are written piece by piece, for their
/// rows take as much memory as their state.
pub const ROWS_AT_ONCE: usize = 1_024;

/// The state of all connections.
#[derive(Debug)]
pub struct Connections {
    settings: ConnectionSettings,
    observer: Text,
    order: Order,
    /// Runs that may wait before a turn is asked for.
    limit: usize,
    directions: table::Directions,
    ahead: Ahead,
    open: pairing::OpenRequests,
    /// Candidates of directions whose answers name several.
    candidates: BTreeMap<u32, pairing::Candidates>,
    cm: setup::Requests,
    handshakes: setup::Handshakes,
    blind: blind::Blind,
    events: Vec<Event>,
    /// Length of a slice: runs of the slice under way may still come.
    slice_ns: u64,
    window_ns: u64,
    /// Time of the newest item taken, and when idle directions were looked for last.
    now_ns: u64,
    swept_ns: u64,
    reported_ns: u64,
    /// The direction at which an unfinished report goes on.
    report_at: Option<u32>,
    complete_ns: u64,
    /// What runs brought about, until their windows take it.
    pub(crate) told: Vec<Told>,
    /// Rows that wait to be taken.
    retired: Vec<ConnectionRow>,
    summary: ConnectionSummary,
}

/// What happened to the connection state itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Connections and unpaired directions whose last rows were written.
    pub connections: u64,
    /// Those that gave way because there were too many.
    pub evicted: u64,
    /// Pairings undone because a later answer contradicted them.
    pub unpaired: u64,
    /// Packets to and from QP 1: management, no connection.
    pub management_packets: u64,
    /// TCP handshakes seen.
    pub tcp_handshakes: u64,
    /// Connections to which a handshake was given though it could have been another's.
    pub tcp_ambiguous: u64,
    /// Runs that were taken before all older ones had come.
    pub hurried_runs: u64,
    /// Events beyond the bound, counted only.
    pub events_dropped: u64,
    /// Packets of requests that the peer acknowledged and that were never seen, though the capture
    /// itself lost nothing then: the mirror left them out.
    pub mirror_lost_packets: u64,
    /// Packets that the mirror showed once more.
    pub mirrored_twice_packets: u64,
}

impl Connections {
    /// Without connections yet.
    #[must_use]
    pub fn new(settings: ConnectionSettings, pipeline: &Settings) -> Self {
        let tenth = pipeline.window_ns.div_ceil(10);
        Self {
            settings,
            observer: pipeline.observer.clone(),
            order: Order::default(),
            limit: settings.waiting_runs,
            directions: table::Directions::default(),
            ahead: Ahead::default(),
            open: pairing::OpenRequests::default(),
            candidates: BTreeMap::new(),
            cm: setup::Requests::default(),
            handshakes: setup::Handshakes::default(),
            blind: blind::Blind::default(),
            events: Vec::new(),
            slice_ns: tenth.clamp(1, 100_000_000),
            window_ns: pipeline.window_ns.max(1),
            now_ns: 0,
            swept_ns: 0,
            reported_ns: 0,
            report_at: None,
            complete_ns: 0,
            told: Vec::new(),
            retired: Vec::new(),
            summary: ConnectionSummary::default(),
        }
    }

    /// Takes a run; it waits until the next turn.
    #[inline]
    pub fn run(&mut self, run: &RunRecord) {
        self.order.run(run);
    }

    /// Takes what crossed whole; it waits likewise.
    pub fn whole(&mut self, event: Whole<'_>) {
        match event {
            Whole::Mad(record) => self.order.mad(record),
            Whole::Handshake(record) => self.order.handshake(record),
        }
    }

    /// The capture lost runs between these times.
    pub fn blind(&mut self, from_ns: u64, to_ns: u64) {
        self.blind.add(from_ns, to_ns);
    }

    /// Whether so much waits that a turn should come before the window's end.
    #[must_use]
    #[inline]
    pub fn wants_turn(&self) -> bool {
        self.order.len() >= self.limit
    }

    /// All runs that ended their slice before `time_ns` have come: takes what began before the
    /// slice under way.
    pub fn turn(&mut self, time_ns: u64) {
        self.now_ns = self.now_ns.max(time_ns);
        let in_window = time_ns % self.window_ns;
        let slice_start_ns = time_ns - in_window % self.slice_ns;
        self.release(slice_start_ns.max(self.complete_ns.min(time_ns)));
        if self.order.is_full() {
            let middle_ns = self.order.middle_ns();
            let before = self.order.len();
            self.release(middle_ns);
            self.order.hurried += (before - self.order.len()) as u64;
        }
        self.limit = (self.order.len() + self.settings.waiting_runs).max(2 * self.order.len());
        self.sweep(time_ns);
    }

    fn release(&mut self, watermark_ns: u64) {
        let mut order = core::mem::take(&mut self.order);
        order.sort(watermark_ns);
        let mut from = 0;
        loop {
            let group = || order.items(from).take(GROUP);
            self.look_ahead(group().filter_map(|item| match item {
                Item::Run(run) => Some(run),
                Item::Mad(_) | Item::Handshake(_) => None,
            }));
            let mut taken = 0;
            for item in group() {
                match item {
                    Item::Run(run) => self.ingest(run),
                    Item::Mad(record) => self.datagram(record),
                    Item::Handshake(record) => self.handshakes.take(record),
                }
                taken += 1;
            }
            if taken == 0 {
                break;
            }
            from += taken;
        }
        order.forget(watermark_ns);
        self.order = order;
    }

    /// Looks once a second of event time for what is idle and what is due.
    fn sweep(&mut self, time_ns: u64) {
        const EVERY_NS: u64 = 1_000_000_000;
        if time_ns.saturating_sub(self.swept_ns) < EVERY_NS {
            return;
        }
        self.swept_ns = time_ns;
        let within_ns = self.settings.handshake_ns + self.slice_ns + self.window_ns;
        self.handshakes
            .forget_before(time_ns.saturating_sub(within_ns));
        for at in self.directions.numbers() {
            self.look_for_exhaustion(at, time_ns);
        }
    }

    /// All runs that began before `time_ns` have come, also those of the slice under way.
    pub fn complete_before(&mut self, time_ns: u64) {
        self.complete_ns = time_ns;
    }

    /// Takes all that waits: the capture is over at `time_ns`.
    pub fn finish(&mut self) {
        self.release(u64::MAX);
        for at in self.directions.numbers() {
            self.look_for_exhaustion(at, self.now_ns);
        }
    }

    /// Rows of connections that are gone or due since they were last taken, and of all that happened;
    /// at the end (`all`) of every connection. About [`ROWS_AT_ONCE`] of them: answers whether there
    /// are more, which the next call adds.
    pub fn rows(
        &mut self,
        all: bool,
        rows: &mut Vec<ConnectionRow>,
        events: &mut Vec<EventRow>,
    ) -> bool {
        let more = self.report(all, rows);
        let happened = self.events.drain(..);
        events.extend(happened.map(|event| event_rows::event_row(&self.observer, &event)));
        more
    }

    /// What happened to the state itself.
    #[must_use]
    pub fn summary(&self) -> ConnectionSummary {
        ConnectionSummary {
            tcp_handshakes: self.handshakes.seen,
            hurried_runs: self.order.hurried,
            ..self.summary
        }
    }

    /// Directions followed now.
    #[must_use]
    pub fn directions(&self) -> usize {
        self.directions.len()
    }
}
