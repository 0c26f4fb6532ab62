//! Counts the truth during generation, from the intended packets and never from decoded ones.

use super::lost::{LossPoint, LostPacket, PacketKind};
use super::message::Request;
use super::packet::Packet;
use super::responder::{Replied, RepliedKind};
use super::scenario::group::Service;
use super::sequence_set::SequenceSet;
use super::tapped::{Cause, Content, Passage, TapView};
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};

/// Packets and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Volume {
    /// The number of packets.
    pub packets: u64,
    /// Bytes of their frames, without the encapsulation of the mirror.
    pub frame_bytes: u64,
    /// Bytes of payload, without extension headers, pad and ICRC.
    pub payload_bytes: u64,
}

impl Volume {
    pub(super) fn add(&mut self, frame_bytes: u32, payload_bytes: u32) {
        self.packets += 1;
        self.frame_bytes += u64::from(frame_bytes);
        self.payload_bytes += u64::from(payload_bytes);
    }
}

/// Times between a request at the tap and its answer there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Delays {
    /// The number of samples.
    pub samples: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The mean, in nanoseconds, rounded down.
    pub mean_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    #[serde(skip)]
    sum_ns: u64,
}

impl Delays {
    fn add(&mut self, ns: u64) {
        self.min_ns = if self.samples == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.samples += 1;
        self.sum_ns += ns;
        self.mean_ns = self.sum_ns / self.samples;
    }
}

/// What one side of a connection sent, as it passed the tap.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Direction {
    /// All of it.
    #[serde(flatten)]
    pub volume: Volume,
    /// Packets that this side sent, on whatever way, without copies by the network.
    pub sent_packets: u64,
    /// Packets of them that reached the other side.
    pub delivered_packets: u64,
    /// Payload of PSNs that had not passed before.
    pub unique_payload_bytes: u64,
    /// Packets whose opcode has LAST or ONLY, without CM datagrams.
    pub messages: u64,
    /// Those of them whose PSN had not passed before.
    pub unique_messages: u64,
    /// Messages that this side knows to have arrived; those sent, on services without acknowledgements.
    /// Includes READs and atomics.
    pub completed_messages: u64,
    /// Retransmitted packets.
    pub retransmitted_packets: u64,
    /// Packets that passed after a later one, although sent before it and for the first time.
    pub out_of_order_packets: u64,
    /// How much later they passed than the first packet that was sent after them (RFC 4737, late-time offset).
    pub late: Delays,
    /// Copies that the network made, and packets that passed after their own retransmission.
    pub duplicate_packets: u64,
    /// Request packets with a PSN that an earlier request packet had.
    pub repeated_request_psns: u64,
    /// Packets lost between their sender and the tap.
    pub lost_upstream: u64,
    /// Packets lost between the tap and their receiver.
    pub lost_downstream: u64,
    /// Copies that the network made upstream of the tap, which are among `duplicate_packets`.
    pub copied_by_network: u64,
    /// Copies that the mirror made, which are among `duplicate_packets`; of acknowledgements too.
    pub copied_by_mirror: u64,
    /// Packets that passed the tap but not the mirror; counted nowhere else.
    pub lost_by_mirror: u64,
    /// Request PSNs below the highest that never passed.
    pub unfilled_gap_psns: u64,
    /// How often the requester's timer expired.
    pub timeouts: u64,
    /// Packets with a wrong ICRC, truncated or not.
    pub damaged_packets: u64,
    /// Request packets marked with congestion experienced.
    pub ce_packets: u64,
    /// Congestion notifications sent.
    pub cnps: u64,
    /// Positive acknowledgements sent.
    pub acks: u64,
    /// NAKs sent for a PSN out of sequence.
    pub nak_psn_sequence: u64,
    /// Receiver-not-ready NAKs sent.
    pub rnr_nak: u64,
    /// NAKs sent that end the connection.
    pub nak_fatal: u64,
    /// From this side's requests to their acknowledgements: PSNs that passed once and that a packet
    /// acknowledges by number.
    pub rtt: Delays,
    /// From this side's READ and atomic requests to the first packet of their responses.
    pub response_delay: Delays,
    /// Packets that passed by UDP source port, where this side changes its port by path or packet.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ports: BTreeMap<u16, PortVolume>,
    /// The first lost packets, up to the limit of the list.
    pub lost: Vec<LostPacket>,
}

/// What passed with one UDP source port.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PortVolume {
    /// The number of packets.
    pub packets: u64,
    /// Bytes of their frames, without the encapsulation of the mirror.
    pub frame_bytes: u64,
    /// Packets marked with congestion experienced.
    pub ce_packets: u64,
}

/// The bits of ECN that mark congestion experienced.
const CONGESTION_EXPERIENCED: u8 = 3;

/// The maximum number of lost packets listed for a direction, 480 KiB.
const LOST_MAX: usize = 10_000;

impl Direction {
    /// It passed after its own retransmission.
    fn late_duplicate(&mut self, now: u64, of: PacketKind, sequence: u64) {
        self.duplicate_packets += 1;
        self.lose(LostPacket {
            followed: true,
            ..LostPacket::new(now, LossPoint::Late, of, sequence, 0)
        });
    }

    fn count_messages(&mut self, packet: &Packet, is_new: bool) {
        self.unique_payload_bytes += if is_new { u64::from(packet.payload_bytes) } else { 0 };
        self.messages += u64::from(packet.ends_message);
        self.unique_messages += u64::from(packet.ends_message && is_new);
    }

    /// A packet passed with this port, which its sender changes if `is_chosen`.
    fn count_port(&mut self, port: u16, is_chosen: bool, frame_bytes: u32, packet: &Packet) {
        if is_chosen || !self.ports.is_empty() {
            let volume = self.ports.entry(port).or_default();
            volume.packets += 1;
            volume.frame_bytes += u64::from(frame_bytes);
            volume.ce_packets += u64::from(packet.ecn == CONGESTION_EXPERIENCED);
        }
    }

    /// Lists a lost packet.
    pub(super) fn lose(&mut self, lost: LostPacket) {
        if self.lost.len() < LOST_MAX {
            self.lost.push(lost);
        }
    }

    /// A packet passed for the first time, possibly after one that was sent after it.
    fn overtaken(&mut self, is_late: bool, since: Option<u64>, now: u64) {
        if is_late {
            self.out_of_order_packets += 1;
            self.late.add(now - since.unwrap_or(now));
        }
    }

    /// A packet passed the tap that was sent after a packet lost upstream.
    fn follow(&mut self, of: PacketKind, sequence: u64, go: u32) {
        let all = self.lost.iter_mut().rev();
        for lost in all.filter(|lost| lost.of == of).take_while(|lost| lost.go >= go) {
            let on_the_way = matches!(lost.place, LossPoint::Upstream | LossPoint::Mirror);
            lost.followed |= on_the_way && lost.open && lost.go == go && lost.sequence < sequence;
            lost.open &= lost.sequence != sequence;
        }
    }

    /// A lost packet is requested again.
    fn refuse(&mut self, of: PacketKind, sequence: u64) {
        let mut all = self.lost.iter_mut().rev();
        let behind = |lost: &&mut LostPacket| {
            lost.of == of
                && lost.sequence == sequence
                && matches!(lost.place, LossPoint::Downstream | LossPoint::Damaged)
        };
        if let Some(lost) = all.find(behind) {
            lost.refused = true;
            return;
        }
        let mut all = self.lost.iter_mut().rev();
        if let Some(lost) = all.find(|lost| lost.of == of && lost.sequence == sequence && lost.place != LossPoint::Late)
        {
            lost.refused = true;
        }
    }
}

/// The two directions of a connection, and the PSNs of each channel that passed.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub(super) directions: [Direction; 2],
    requests: [SequenceSet; 2],
    responses: [SequenceSet; 2],
    /// PSNs of requests for the rest of a READ: few, because each needs a lost response.
    rests: Vec<(usize, u64)>,
    /// The last requests of which a copy passed that their sender did not make: they give no round trip.
    copied: VecDeque<(usize, u64)>,
}

/// The maximum number of them, 64 KiB.
const RESTS_MAX: usize = 4096;
/// The maximum number of copied requests whose answers have not passed.
const COPIED_MAX: usize = 4096;

/// Whether it is a NAK for a PSN sequence error.
const fn is_sequence_nak(syndrome: u8) -> bool {
    syndrome >> 5 > 1 && syndrome & 0x1f == 0
}

impl Ledger {
    /// Counts what passed the tap at `now`. Returns how it passed.
    pub(super) fn count(
        &mut self,
        now: u64,
        tapped: &TapView,
        packet: &Packet,
        frame_bytes: u32,
        port: u16,
        service: Service,
    ) -> Passage {
        let from = tapped.from();
        let Some(direction) = self.directions.get_mut(from) else {
            return Passage::default();
        };
        let mut passage = Passage {
            first_at: Some(now),
            in_order: true,
        };
        direction.copied_by_mirror += u64::from(tapped.cause == Cause::MirrorCopy);
        let asked_for = match &tapped.content {
            Content::Session(_) => return passage,
            Content::Cnp => {
                direction.cnps += 1;
                None
            }
            Content::Request(request) => {
                passage = self.count_request(now, tapped, request, packet, service);
                let asks = request.again && request.operation.has_response();
                asks.then_some((PacketKind::Response, request.sequence))
            }
            Content::Reply(replied) => {
                self.count_reply(now, tapped, replied, packet);
                let is_nak = matches!(replied.kind, RepliedKind::Acknowledge(syndrome) if is_sequence_nak(syndrome));
                is_nak.then_some((PacketKind::Request, replied.sequence))
            }
        };
        if let Some(direction) = self.directions.get_mut(from) {
            direction.volume.add(frame_bytes, packet.payload_bytes);
            direction.count_port(port, tapped.delivery.port.is_some(), frame_bytes, packet);
            direction.damaged_packets += u64::from(packet.damaged);
        }
        if let Some((of, sequence)) = asked_for
            && let Some(asked) = self.directions.get_mut(1 - from)
        {
            asked.refuse(of, sequence);
        }
        passage
    }

    /// Counts a packet of a request.
    fn count_request(
        &mut self,
        now: u64,
        tapped: &TapView,
        request: &Request,
        packet: &Packet,
        service: Service,
    ) -> Passage {
        let channel = tapped.channel;
        let (Some(requests), Some(direction)) =
            (self.requests.get_mut(channel), self.directions.get_mut(tapped.from()))
        else {
            return Passage::default();
        };
        let past = requests.is_past(request.sequence);
        let (new, since) = requests.see(request.sequence, request.span, now);
        let is_new = new > 0;
        let passage = Passage {
            first_at: Some(now).filter(|_| is_new),
            in_order: requests.is_whole(),
        };
        let shown = if request.rest {
            let rest = (channel, request.sequence);
            let shown = self.rests.contains(&rest);
            if !shown && self.rests.len() < RESTS_MAX {
                self.rests.push(rest);
            }
            shown
        } else {
            !is_new
        };
        direction.repeated_request_psns += u64::from(shown && service != Service::Ud);
        match tapped.cause {
            Cause::Original => {}
            Cause::Retransmission => direction.retransmitted_packets += 1,
            Cause::Late if is_new => direction.overtaken(past, since, now),
            Cause::Copy | Cause::MirrorCopy => {
                direction.duplicate_packets += 1;
                if self.copied.len() >= COPIED_MAX {
                    self.copied.pop_front();
                }
                self.copied.push_back((channel, request.sequence));
            }
            Cause::Late => direction.late_duplicate(now, PacketKind::Request, request.sequence),
        }
        direction.ce_packets += u64::from(request.congested);
        direction.count_messages(packet, is_new);
        direction.follow(PacketKind::Request, request.sequence, request.go);
        passage
    }

    /// Counts an acknowledgement, or a packet of a response, and the delay after what it answers.
    fn count_reply(&mut self, now: u64, tapped: &TapView, replied: &Replied, packet: &Packet) {
        let (channel, from) = (tapped.channel, tapped.from());
        let (Some(responses), Some(direction)) = (self.responses.get_mut(channel), self.directions.get_mut(from))
        else {
            return;
        };
        let is_copy = matches!(tapped.cause, Cause::Copy | Cause::MirrorCopy);
        match replied.kind {
            RepliedKind::Acknowledge(syndrome) => match syndrome >> 5 {
                0 => direction.acks += 1,
                1 => direction.rnr_nak += 1,
                _ if is_sequence_nak(syndrome) => direction.nak_psn_sequence += 1,
                _ => direction.nak_fatal += 1,
            },
            RepliedKind::Read(..) | RepliedKind::Atomic => {
                let past = responses.is_past(replied.sequence);
                let (new, since) = responses.see(replied.sequence, 1, now);
                let is_new = new > 0;
                match tapped.cause {
                    Cause::Late if is_new => direction.overtaken(past, since, now),
                    Cause::Late => direction.late_duplicate(now, PacketKind::Response, replied.sequence),
                    Cause::Copy | Cause::MirrorCopy => direction.duplicate_packets += 1,
                    Cause::Original | Cause::Retransmission => {}
                }
                direction.follow(PacketKind::Response, replied.sequence, replied.go);
                direction.retransmitted_packets += u64::from(replied.again && !is_copy);
                direction.count_messages(packet, is_new);
            }
        }
        let is_single = !is_copy && !self.copied.contains(&(channel, replied.sequence));
        if let Some(asked_at) = replied.asked_at.filter(|_| is_single)
            && let Some(asking) = self.directions.get_mut(1 - from)
        {
            match replied.kind {
                RepliedKind::Acknowledge(_) => asking.rtt.add(now - asked_at),
                RepliedKind::Read(..) | RepliedKind::Atomic => asking.response_delay.add(now - asked_at),
            }
        }
    }

    /// Both directions with the counts known only at the end; `start_psns` are those of either side's
    /// requests.
    pub(super) fn finished(&self, start_psns: [u32; 2]) -> [Direction; 2] {
        let mut directions = self.directions.clone();
        for (side, direction) in directions.iter_mut().enumerate() {
            for lost in &mut direction.lost {
                let channel = match lost.of {
                    PacketKind::Request => side,
                    PacketKind::Response | PacketKind::Acknowledge => 1 - side,
                };
                let start = start_psns.get(channel).copied().unwrap_or_default();
                lost.psn = start.wrapping_add(lost.sequence as u32) & 0x00ff_ffff;
                lost.visible = lost.of != PacketKind::Acknowledge && (lost.followed || lost.refused);
            }
        }
        for (direction, requests) in directions.iter_mut().zip(&self.requests) {
            direction.unfilled_gap_psns = requests.missing();
        }
        directions
    }
}
