//! The state of all connections, and the changes that all parts share: change a direction, emit an event.

use super::context::Context;
use super::direction::Direction;
use super::settings::ConnectionSettings;
use crate::connections::duplicates::by_delay::DuplicatesByDelay;
use crate::connections::duplicates::by_source::DuplicatesBySource;
use crate::connections::fast::state::FastState;
use crate::connections::intake::capture_loss::CaptureLoss;
use crate::connections::intake::clock_skew::ClockSkew;
use crate::connections::intake::mirror_loss::MirrorLoss;
use crate::connections::intake::prefetch::Prefetch;
use crate::connections::intake::sort_buffer::SortBuffer;
use crate::connections::intake::yielded::Yielded;
use crate::connections::order::intervals::MAX_INTERVALS;
use crate::connections::pairing::peer_candidates::{Candidates, OpenRequests};
use crate::connections::pairing::setup::{Handshakes, Requests};
use crate::connections::pairing::table::Directions;
use crate::connections::requests::outstanding::MAX_OUTSTANDING;
use crate::connections::rows::event::{Event, EventDetail, LossLocation};
use crate::delivery::Delivery;
use crate::impairment::ImpairedRun;
use crate::settings::Settings;
use crate::steps::Steps;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_model::{ConnectionRow, Text};

/// Bytes of the state of one direction; 100,000 connections have 200,000 directions.
pub const DIRECTION_BYTES: usize = core::mem::size_of::<Direction>() + core::mem::size_of::<FastState>();
/// Bytes that a direction may allocate in addition: five histograms of 1,024 buckets, 33 message sizes, the gaps of requests
/// and responses and fourteen sets of PSNs as long, outstanding requests, eight skipped ranges, the state of a sprayed
/// direction, its candidates and two slots in the index; most allocate a thousandth of it or nothing.
pub const MAX_HEAP_BYTES: usize = 5 * (56 + 1_025 * 8 * 3 / 2)
    + 33 * 4
    + 2 * MAX_INTERVALS * 64 * 2
    + 13 * MAX_INTERVALS * 24 * 2
    + MAX_INTERVALS * 40 * 2
    + MAX_OUTSTANDING * 56 * 3 / 2
    + 8 * 32
    + 8_192
    + DuplicatesByDelay::HEAP_BYTES
    + DuplicatesBySource::HEAP_BYTES
    + 256
    + 32;

/// Checks that visit all directions: a visit to each is a few cache misses.
pub(crate) const HEAP_PARTS: usize = 16;
/// The place of a direction in the index, at most.
const INDEX_BYTES: usize = 32;

/// Connection rows returned at once: rows of 100,000 connections need as much memory as their state, so they are
/// written in parts.
pub const ROWS_AT_ONCE: usize = 1_024;

/// The state of all connections.
#[derive(Debug)]
pub struct Connections {
    pub(crate) settings: ConnectionSettings,
    pub(crate) observer: Text,
    pub(crate) sort_buffer: SortBuffer,
    /// Runs that may wait before a turn is requested.
    pub(crate) limit: usize,
    pub(crate) directions: Directions,
    /// What each sixteenth of the directions had allocated beside their state at its last check, and the next one.
    pub(crate) heap_bytes: [usize; HEAP_PARTS],
    pub(crate) heap_part: usize,
    /// A new direction found no room since the last check.
    pub(crate) is_full: bool,
    pub(crate) prefetch: Prefetch,
    pub(crate) open: OpenRequests,
    /// Candidates of directions with several possible peers.
    pub(crate) candidates: BTreeMap<u32, Candidates>,
    pub(crate) cm: Requests,
    pub(crate) handshakes: Handshakes,
    pub(crate) capture_loss: CaptureLoss,
    pub(crate) mirror_loss: MirrorLoss,
    pub(crate) clock_skew: ClockSkew,
    pub(crate) yielded: Yielded,
    pub(crate) events: Vec<Event>,
    /// Length of a slice: runs of the current slice may still arrive.
    pub(crate) slice_ns: u64,
    pub(crate) window_ns: u64,
    /// Time of the newest processed item, and of the last check for idle directions.
    pub(crate) now_ns: u64,
    pub(crate) swept_ns: u64,
    pub(crate) reported_ns: u64,
    /// The direction at which an unfinished report continues.
    pub(crate) report_at: Option<u32>,
    pub(crate) complete_ns: u64,
    /// Directions below this number have ended, at the end of the capture.
    pub(crate) ended: u32,
    /// Runs with retransmitted or reordered packets, until their windows take them.
    pub(crate) impaired_runs: Vec<ImpairedRun>,
    /// Times and packets of fabric loss, until their windows take them.
    pub(crate) losses: Vec<(u64, u64)>,
    /// Rows not taken yet.
    pub(crate) retired: Vec<ConnectionRow>,
    pub(crate) summary: ConnectionSummary,
    /// Steps of collectives, if they are asked for.
    pub(crate) steps: Option<Box<Steps>>,
}

/// Statistics of the connection state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionSummary {
    /// Connections and unpaired directions whose last rows were written.
    pub connections: u64,
    /// Idle ones that gave way because the memory was full.
    pub evicted: u64,
    /// Pairings that a later answer contradicted.
    pub unpaired: u64,
    /// Packets to and from QP 1: management, not a connection.
    pub management_packets: u64,
    /// TCP handshakes seen.
    pub tcp_handshakes: u64,
    /// Connections whose handshake may belong to another.
    pub tcp_ambiguous: u64,
    /// Runs processed before all older ones had arrived.
    pub hurried_runs: u64,
    /// Events above the bound, only counted.
    pub events_dropped: u64,
    /// Fabric loss, retransmissions, mirror loss, and packets that are not tracked.
    pub delivery: Delivery,
}

impl Connections {
    /// An empty state.
    #[must_use]
    pub fn new(settings: ConnectionSettings, pipeline: &Settings) -> Self {
        let tenth = pipeline.window_ns.div_ceil(10);
        Self {
            settings,
            observer: pipeline.observer.clone(),
            sort_buffer: SortBuffer::default(),
            limit: settings.waiting_runs,
            directions: Directions::default(),
            heap_bytes: [0; HEAP_PARTS],
            heap_part: 0,
            is_full: false,
            prefetch: Prefetch::default(),
            open: OpenRequests::default(),
            candidates: BTreeMap::new(),
            cm: Requests::default(),
            handshakes: Handshakes::default(),
            capture_loss: CaptureLoss::default(),
            mirror_loss: MirrorLoss::default(),
            clock_skew: ClockSkew::default(),
            yielded: Yielded::default(),
            events: Vec::new(),
            slice_ns: tenth.clamp(1, 100_000_000),
            window_ns: pipeline.window_ns.max(1),
            now_ns: 0,
            swept_ns: 0,
            reported_ns: 0,
            report_at: None,
            complete_ns: 0,
            ended: 0,
            impaired_runs: Vec::new(),
            losses: Vec::new(),
            retired: Vec::new(),
            summary: ConnectionSummary::default(),
            steps: settings.steps.then(|| Box::new(Steps::new(pipeline.observer.clone()))),
        }
    }

    /// Statistics of the state.
    #[must_use]
    pub fn summary(&self) -> ConnectionSummary {
        let mut delivery = self.summary.delivery;
        delivery.untracked_packets += self.steps.as_ref().map_or(0, |steps| steps.untracked());
        ConnectionSummary {
            tcp_handshakes: self.handshakes.seen,
            hurried_runs: self.sort_buffer.hurried,
            delivery,
            ..self.summary
        }
    }

    /// Bytes of the state of all directions; what they allocate beside it is counted every 16 seconds of event
    /// time.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.directions.len() * (DIRECTION_BYTES + INDEX_BYTES) + self.heap_bytes.iter().sum::<usize>()
    }

    /// Directions tracked now.
    #[must_use]
    pub fn directions(&self) -> usize {
        self.directions.len()
    }

    fn mtu_of(&self, at: u32) -> u16 {
        let Some(direction) = self.directions.get(at) else {
            return 0;
        };
        let peer = direction.peer.and_then(|peer| self.directions.get(peer));
        direction.mtu.max(peer.map_or(0, |peer| peer.mtu))
    }

    /// Changes a direction, with its context.
    pub(crate) fn with<T>(&mut self, at: u32, act: impl FnOnce(&mut Direction, &mut Context<'_>) -> T) -> Option<T> {
        let mtu = self.mtu_of(at);
        let Self {
            directions,
            events,
            losses,
            settings,
            summary,
            capture_loss,
            mirror_loss,
            ..
        } = self;
        let direction = directions.get_mut(at)?;
        let (key, udp_src_port) = (direction.key, direction.udp_src_port);
        let max = settings.event_rows;
        let mut emit = |time_ns: u64, detail: EventDetail| {
            let event = Event {
                time_ns,
                key,
                udp_src_port,
                detail,
            };
            if let EventDetail::Loss { packets, .. } = event.detail {
                losses.push((time_ns, packets));
            }
            push_event(events, summary, max, event);
        };
        let mut context = Context {
            reorder_ns: settings.reorder_ns,
            duplicate_ns: settings.duplicate_ns,
            mtu,
            emit: &mut emit,
            capture_loss,
            mirror_loss,
        };
        let result = act(direction, &mut context);
        summary.delivery.mirror_lost_packets += core::mem::take(&mut direction.counts.mirror_lost_packets);
        Some(result)
    }

    pub(crate) fn emit(&mut self, event: Event) {
        push_event(&mut self.events, &mut self.summary, self.settings.event_rows, event);
    }
}

fn push_event(events: &mut Vec<Event>, summary: &mut ConnectionSummary, max: usize, event: Event) {
    if let EventDetail::Loss { packets, location, .. } = event.detail {
        let delivery = &mut summary.delivery;
        match location {
            LossLocation::Upstream => delivery.fabric_lost_upstream_packets += packets,
            LossLocation::Downstream => delivery.fabric_lost_downstream_packets += packets,
        }
    }
    if events.len() < max {
        events.push(event);
    } else {
        summary.events_dropped += 1;
    }
}
