//! The state of one direction: what was sent that way, and what is still open.

use super::congestion::{Notifications, Rate};
use super::episode::{Doubt, Episode, Refusal, RnrEpisode};
use super::key::Key;
use super::latency::Latencies;
use super::recent::Recent;
use super::sequence::{Gap, Place, Sequence};
use super::setup::Setup;
use super::twice::Copies;
use super::waiting::Waiting;
use alloc::boxed::Box;
use rocescope_record::RunRecord;
use rocescope_wire::{Stream, Transport};

/// Sizes of messages by powers of two: 0, 1, 2-3, 4-7, … up to 2^31 bytes and more.
pub(crate) const SIZES: usize = 33;

/// How two directions were found to belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PairedBy {
    /// They were not.
    #[default]
    None,
    /// ACKs or responses one way carry the PSNs of requests the other way.
    Ack,
    /// CM datagrams named both QPNs.
    Cm,
}

impl PairedBy {
    /// The name, as rows show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Ack => "ack",
            Self::Cm => "cm",
        }
    }
}

/// Everything that is counted, a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) frame_bytes: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) unique_payload_bytes: u64,
    pub(crate) request_packets: u64,
    pub(crate) messages: u64,
    pub(crate) unique_messages: u64,
    pub(crate) reads: u64,
    pub(crate) atomics: u64,
    pub(crate) congestion_experienced: u64,
    pub(crate) retransmitted: u64,
    pub(crate) out_of_order: u64,
    pub(crate) duplicate: u64,
    pub(crate) repeated: u64,
    pub(crate) lost_before_tap: u64,
    pub(crate) lost_after_tap: u64,
    pub(crate) repeated_responses: u64,
    pub(crate) lost_response_gaps: u64,
    /// Gaps never filled: acknowledged, asked for by a NAK, neither, unknown.
    pub(crate) lost_gaps: [u32; 4],
    pub(crate) lost_gap_packets: u64,
    /// Of those that the peer acknowledged, until they are added to the whole capture's.
    pub(crate) mirror_lost_packets: u64,
    pub(crate) acks: u64,
    pub(crate) nak_psn_sequence: u64,
    pub(crate) rnr_nak: u64,
    pub(crate) nak_fatal: u64,
    pub(crate) cnps: u64,
    pub(crate) timeouts: u32,
    pub(crate) nak_episodes: u32,
    pub(crate) rnr_episodes: u32,
    pub(crate) restarts: u32,
}

/// One direction of a queue pair.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    pub(crate) key: Key,
    pub(crate) udp_src_port: u16,
    /// More than one UDP source port was seen.
    pub(crate) ports_differ: bool,
    pub(crate) transport: Transport,
    pub(crate) paired_by: PairedBy,
    /// Answers that spoke for the pairing; with a few the pairing may still be undone.
    pub(crate) votes: u8,
    /// DREQ has passed, or the connection was refused.
    pub(crate) closed: bool,
    /// The retry exhaustion of what is open now has been told.
    pub(crate) gave_up: bool,
    pub(crate) peer: Option<u32>,
    pub(crate) mtu: u16,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    pub(crate) counts: Counts,
    pub(crate) copies: Copies,
    pub(crate) sizes: [u32; SIZES],
    /// PSNs of requests, or of datagrams.
    pub(crate) requests: Sequence,
    /// PSNs of READ responses and atomic acknowledgements.
    pub(crate) responses: Sequence,
    pub(crate) recent: Recent,
    pub(crate) waiting: Waiting,
    /// First request PSN, and until when it may still fall: the first answer.
    pub(crate) start: Option<Place>,
    pub(crate) start_is_open: bool,
    pub(crate) first_request_ns: u64,
    pub(crate) last_request_ns: u64,
    /// The message that is being sent: when it began, how many bytes passed of it.
    pub(crate) message_ns: u64,
    pub(crate) message_first: Place,
    pub(crate) message_bytes: u64,
    /// The length a READ or WRITE names in its RETH, bytes.
    pub(crate) response_is_whole: bool,
    /// A READ whose PSNs could not be counted, for the path MTU is not known yet.
    pub(crate) open_read: Option<(Place, u32)>,
    /// The peer has all up to here.
    pub(crate) acked: Place,
    pub(crate) refusal: Option<Refusal>,
    pub(crate) rnr: Option<RnrEpisode>,
    pub(crate) episode: Option<Episode>,
    pub(crate) doubt: Option<Doubt>,
    /// Retransmissions of the oldest open request without an answer in between.
    pub(crate) tries: u32,
    pub(crate) try_interval_ns: u64,
    /// The loss told last: not to be told again for the same transmission.
    pub(crate) last_loss: Option<(Place, u64)>,
    /// PSNs that came too late last, overtaken by others: a NAK for them is no loss.
    pub(crate) overtaken: Option<(Place, Place)>,
    /// PSNs that did not pass again when the sender went through them: a NAK for them tells
    /// nothing of what lies behind the tap.
    pub(crate) skipped: Option<(Place, Place)>,
    pub(crate) latencies: Latencies,
    pub(crate) rate: Rate,
    pub(crate) notifications: Option<Box<Notifications>>,
    /// What CM and TCP told when the connection was set up, with the direction of the active side.
    pub(crate) setup: Option<Box<Setup>>,
    /// When it was written last.
    pub(crate) reported_ns: u64,
}

impl Direction {
    pub(crate) fn new(key: Key, now_ns: u64) -> Self {
        Self {
            key,
            udp_src_port: 0,
            ports_differ: false,
            transport: Transport::Vendor,
            paired_by: PairedBy::None,
            votes: 0,
            closed: false,
            gave_up: false,
            peer: None,
            mtu: 0,
            first_ns: now_ns,
            last_ns: now_ns,
            counts: Counts::default(),
            copies: Copies::default(),
            sizes: [0; SIZES],
            requests: Sequence::default(),
            responses: Sequence::default(),
            recent: Recent::default(),
            waiting: Waiting::default(),
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
            refusal: None,
            rnr: None,
            episode: None,
            doubt: None,
            tries: 0,
            try_interval_ns: 0,
            last_loss: None,
            overtaken: None,
            skipped: None,
            latencies: Latencies::default(),
            rate: Rate::default(),
            notifications: None,
            setup: None,
            reported_ns: now_ns,
        }
    }

    /// What every run adds, whatever its stream.
    pub(crate) fn pass(&mut self, run: &RunRecord) {
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
        counts.congestion_experienced += u64::from(run.congestion_experienced);
        self.last_ns = self.last_ns.max(run.last_ns());
        if run.segment_bytes != 0 {
            self.mtu = self.mtu.max(run.segment_bytes);
        }
    }

    /// Counts a message of so many bytes.
    pub(crate) fn count_size(&mut self, bytes: u64, messages: u64) {
        let at = (u64::BITS - bytes.leading_zeros()) as usize;
        if let Some(count) = self.sizes.get_mut(at.min(SIZES - 1)) {
            *count = count.saturating_add(u32::try_from(messages).unwrap_or(u32::MAX));
        }
    }

    /// Counts a gap that was never filled.
    pub(crate) fn count_lost_gap(&mut self, gap: &Gap, blind: bool) {
        let kind = if blind {
            3
        } else if gap.nak.is_some() {
            1
        } else if gap.last <= self.acked {
            0
        } else {
            2
        };
        if let Some(count) = self.counts.lost_gaps.get_mut(kind) {
            *count = count.saturating_add(1);
        }
        self.counts.lost_gap_packets += gap.packets();
        if kind == 0 {
            self.counts.mirror_lost_packets += gap.packets();
        }
    }

    /// The MTU that packets of this direction or of its peer have shown.
    pub(crate) const fn is_datagrams(&self) -> bool {
        matches!(self.transport, Transport::Ud)
    }
}
