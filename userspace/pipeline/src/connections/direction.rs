//! The state of one direction: counts, and what is still open.

use crate::connections::duplicates::by_delay::DuplicatesByDelay;
use crate::connections::duplicates::by_source::DuplicatesBySource;
use crate::connections::losses::pending::Pending;
use crate::connections::metrics::congestion::{Notifications, Rate};
use crate::connections::metrics::latency::Latencies;
use crate::connections::metrics::message_sizes::MessageSizes;
use crate::connections::metrics::traffic_classes::TrafficClasses;
use crate::connections::order::gap_fate::LostGaps;
use crate::connections::order::psn_tracker::{ExtendedPsn, PsnTracker};
use crate::connections::order::reordering::Reordering;
use crate::connections::order::responder::Responder;
use crate::connections::order::retransmission_scheme::SenderRecoveries;
use crate::connections::order::send_sequence::SendSequence;
use crate::connections::pairing::key::DirectionKey;
use crate::connections::pairing::setup::Setup;
use crate::connections::requests::marked::MarkedCounts;
use crate::connections::requests::outstanding::OutstandingRequests;
use crate::connections::requests::recovery::{Episode, PendingNak, PendingTimeout, RnrEpisode};
use crate::connections::responses::rounds::{Passed, ResponseRecovery};
use crate::connections::spray::state::Sprayed;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::{Psn, Stream, Transport};

/// How two directions were found to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PairedBy {
    /// Not paired.
    #[default]
    None,
    /// ACKs or responses one way carry the PSNs of requests the other way.
    Ack,
    /// CM datagrams named both QPNs.
    Cm,
}

impl PairedBy {
    /// The name in rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ack => "ack",
            Self::Cm => "cm",
        }
    }
}

/// All counters of a direction; first those of every packet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) frame_bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) acks: u64,
    pub(crate) request_packets: u64,
    pub(crate) messages: u64,
    pub(crate) unique_messages: u64,
    pub(crate) unique_payload_bytes: u64,

    pub(crate) reads: u64,
    pub(crate) atomics: u64,
    pub(crate) congestion_experienced: u64,
    pub(crate) retransmitted: u64,
    pub(crate) out_of_order: u64,
    pub(crate) duplicate: u64,
    pub(crate) repeated: u64,
    pub(crate) lost_upstream: u64,
    pub(crate) lost_downstream: u64,
    /// Retransmitted after a long wait: it or its answer was lost downstream of the tap.
    pub(crate) unanswered: u64,
    pub(crate) repeated_responses: u64,
    pub(crate) unfilled_response_gaps: u64,
    pub(crate) unfilled_gaps: LostGaps,
    pub(crate) unfilled_gap_packets: u64,
    /// Gap packets that the peer acknowledged, until they are added to the total of the capture.
    pub(crate) mirror_lost_packets: u64,
    pub(crate) nak_psn_sequence: u64,
    pub(crate) rnr_nak: u64,
    pub(crate) nak_fatal: u64,
    pub(crate) cnps: u64,
    pub(crate) timeouts: u32,
    pub(crate) nak_episodes: u32,
    pub(crate) rnr_episodes: u32,
    pub(crate) response_episodes: u32,
    pub(crate) restarts: u32,
}

/// One direction of a queue pair.
///
/// Fields are in the order of use: those of every run come first, in few cache lines that [`touch`](Self::touch)
/// prefetches; those of retransmissions, READs and rows come last.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Direction {
    pub(crate) key: DirectionKey,
    pub(crate) mtu: u16,
    pub(crate) udp_src_port: u16,
    /// More than one UDP source port was seen.
    pub(crate) ports_differ: bool,
    pub(crate) transport: Transport,
    pub(crate) paired_by: PairedBy,
    /// Answers that confirmed the pairing; with few the pairing may still be undone.
    pub(crate) votes: u8,

    pub(crate) peer: Option<u32>,
    pub(crate) last_ns: u64,
    /// PSNs of requests, or of datagrams.
    pub(crate) requests: PsnTracker,
    /// The send sequence, and the responder of the peer.
    pub(crate) send_sequence: SendSequence,
    pub(crate) responder: Responder,
    pub(crate) last_request_ns: u64,
    /// The peer has received everything up to here.
    pub(crate) acked: ExtendedPsn,
    /// What it had received by an earlier answer.
    pub(crate) acked_before: ExtendedPsn,
    pub(crate) outstanding: OutstandingRequests,

    /// Retransmissions of the oldest open request without an answer in between.
    pub(crate) tries: u32,
    pub(crate) try_interval_ns: u64,
    /// Packets that had been retransmitted when the last answer came.
    pub(crate) resolved: u64,
    /// The current message: its start time, and the bytes that passed.
    pub(crate) message_ns: u64,
    pub(crate) message_first: ExtendedPsn,
    pub(crate) message_bytes: u64,
    pub(crate) sizes: MessageSizes,
    /// First request PSN; it may still decrease until the first answer.
    pub(crate) start: Option<ExtendedPsn>,
    pub(crate) start_is_open: bool,
    /// DREQ has passed, or the connection was rejected.
    pub(crate) closed: bool,
    /// The retry exhaustion of the open requests is already an event.
    pub(crate) retries_exhausted: bool,
    /// The length a READ or WRITE names in its RETH, bytes.
    pub(crate) response_is_whole: bool,

    pub(crate) duplicates_by_source: DuplicatesBySource,
    pub(crate) latencies: Latencies,
    pub(crate) rate: Rate,
    pub(crate) counts: Counts,
    pub(crate) classes: TrafficClasses,

    pub(crate) episode: Option<Box<Episode>>,
    pub(crate) pending_timeout: Option<Box<PendingTimeout>>,
    pub(crate) rnr: Option<RnrEpisode>,
    /// A READ whose PSNs could not be counted because the path MTU is still unknown.
    pub(crate) open_read: Option<(ExtendedPsn, u32)>,
    /// Time of the peer's last answer.
    pub(crate) answered_ns: u64,
    /// The last two NAKs of the peer, which may not have reached the sender yet.
    pub(crate) naks: [Option<PendingNak>; 2],
    /// What later packets decide.
    pub(crate) pending: Pending,
    /// How much the fabric reorders its packets, and its state once that is much.
    pub(crate) reordering: Reordering,
    pub(crate) response_reordering: Option<Box<Reordering>>,
    pub(crate) sprayed: Option<Box<Sprayed>>,
    pub(crate) recoveries: SenderRecoveries,
    /// Set while a mirror may capture its frames twice.
    pub(crate) duplicates_by_delay: Option<Box<DuplicatesByDelay>>,
    /// The last PSN that it acknowledged.
    pub(crate) acknowledges: Option<Psn>,
    /// The last run of responses that were new.
    pub(crate) last_responses: Passed,
    /// Responses that were missing or requested again.
    pub(crate) response_recovery: Option<Box<ResponseRecovery>>,
    /// PSNs of READ responses and atomic acknowledgements.
    pub(crate) responses: PsnTracker,
    pub(crate) first_ns: u64,
    pub(crate) first_request_ns: u64,
    pub(crate) notifications: Option<Box<Notifications>>,
    /// Of a sender that marks retransmissions.
    pub(crate) marked: Option<Box<MarkedCounts>>,
    /// What CM and TCP reported at setup, with the direction of the active side.
    pub(crate) setup: Option<Box<Setup>>,
    /// Time of the last rows.
    pub(crate) reported_ns: u64,
}

impl Direction {
    pub(crate) fn new(key: DirectionKey, now_ns: u64) -> Self {
        Self {
            key,
            udp_src_port: 0,
            ports_differ: false,
            transport: Transport::Vendor,
            paired_by: PairedBy::None,
            votes: 0,
            closed: false,
            retries_exhausted: false,
            peer: None,
            mtu: 0,
            first_ns: now_ns,
            last_ns: now_ns,
            counts: Counts::default(),
            classes: TrafficClasses::default(),
            duplicates_by_source: DuplicatesBySource::default(),
            sizes: MessageSizes::default(),
            requests: PsnTracker::default(),
            responses: PsnTracker::default(),
            send_sequence: SendSequence::default(),
            responder: Responder::default(),
            outstanding: OutstandingRequests::default(),
            start: None,
            start_is_open: true,
            first_request_ns: 0,
            last_request_ns: 0,
            message_ns: 0,
            message_first: 0,
            message_bytes: 0,
            response_is_whole: true,
            open_read: None,
            acked: 0,
            acked_before: 0,
            answered_ns: 0,
            naks: [None; 2],
            rnr: None,
            episode: None,
            pending_timeout: None,
            tries: 0,
            try_interval_ns: 0,
            resolved: 0,
            pending: Pending::default(),
            reordering: Reordering::default(),
            response_reordering: None,
            sprayed: None,
            recoveries: SenderRecoveries::default(),
            duplicates_by_delay: None,
            acknowledges: None,
            last_responses: Passed::default(),
            response_recovery: None,
            latencies: Latencies::default(),
            rate: Rate::default(),
            notifications: None,
            marked: None,
            setup: None,
            reported_ns: now_ns,
        }
    }

    /// Adds the counts of a run of any stream.
    pub(crate) fn count_run(&mut self, run: &RunRecord) {
        let counts = &mut self.counts;
        if counts.packets == 0 {
            self.udp_src_port = run.flow.udp_src_port;
            self.first_ns = run.first_ns;
        } else if self.udp_src_port != run.flow.udp_src_port && run.stream() != Stream::Cnp {
            self.ports_differ = true;
        }
        if run.stream() != Stream::Cnp {
            self.transport = run.opcode().transport();
        }
        counts.packets += u64::from(run.packets);
        counts.frame_bytes += u64::from(run.frame_bytes);
        counts.payload_bytes += run.payload_bytes();
        self.classes.add(run);
        if run.congestion_experienced > 0 {
            counts.congestion_experienced += u64::from(run.congestion_experienced);
        }
        self.last_ns = self.last_ns.max(run.last_ns());
        if run.segment_bytes != 0 {
            self.mtu = self.mtu.max(run.segment_bytes);
        }
    }

    /// Counts a message of this many bytes.
    pub(crate) fn count_size(&mut self, bytes: u64, messages: u64) {
        self.sizes.add(bytes, messages);
    }

    /// Bytes that it has allocated, at most [`MAX_HEAP_BYTES`](super::MAX_HEAP_BYTES).
    pub(crate) fn heap_bytes(&self) -> usize {
        let boxed = |is_used: bool, bytes: usize| if is_used { bytes } else { 0 };
        self.requests.heap_bytes()
            + self.responses.heap_bytes()
            + self.outstanding.heap_bytes()
            + self.sizes.heap_bytes()
            + self.latencies.heap_bytes()
            + self.pending.heap_bytes()
            + self.duplicates_by_source.heap_bytes()
            + self.responder.heap_bytes()
            + boxed(self.response_reordering.is_some(), size_of::<Reordering>())
            + self.sprayed.as_ref().map_or(0, |sprayed| sprayed.heap_bytes())
            + boxed(self.episode.is_some(), size_of::<Episode>())
            + boxed(self.pending_timeout.is_some(), size_of::<PendingTimeout>())
            + self
                .response_recovery
                .as_ref()
                .map_or(0, |recovery| recovery.heap_bytes())
            + boxed(self.setup.is_some(), size_of::<Setup>())
            + boxed(self.marked.is_some(), size_of::<MarkedCounts>())
            + boxed(self.duplicates_by_delay.is_some(), DuplicatesByDelay::HEAP_BYTES)
            + self
                .notifications
                .as_ref()
                .map_or(0, |notifications| notifications.heap_bytes())
    }

    /// Reads a byte of every cache line that the next run will need.
    #[inline]
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.mtu)
            ^ self.requests.high()
            ^ self.acked
            ^ self.message_first
            ^ u64::from(self.start_is_open)
            ^ self.latencies.min_rtt_ns().unwrap_or(0)
            ^ self.send_sequence.next()
            ^ self.counts.packets
            ^ self.counts.unique_payload_bytes
            ^ u64::from(self.episode.is_some() | self.pending_timeout.is_some() | self.rnr.is_some())
    }

    /// Whether no one acknowledges its packets.
    pub(crate) const fn is_unreliable(&self) -> bool {
        matches!(self.transport, Transport::Uc | Transport::Ud)
    }

    /// Whether it carries unreliable datagrams, which no one acknowledges.
    pub(crate) const fn is_datagrams(&self) -> bool {
        matches!(self.transport, Transport::Ud)
    }
}
