//! The side that receives requests: accepts them and answers.
//!
//! Its clock is the tap's too: a request that passes there is answered there `delay` later, so its answer
//! can be computed at once.

use super::lost::PacketKind;
use super::message::{Position, Request};
use super::random::Random;
use super::requester::NEVER;
use super::rules::{Rules, picoseconds};
use super::scenario::group::{Operation, Receiver, Service};
use super::tapped::Passage;
use std::collections::{BTreeMap, VecDeque};

/// Positive, without credits.
const ACK: u8 = 0x1f;
/// Out of sequence.
const NAK_SEQUENCE: u8 = 0x60;
/// Not ready; the low bits have the timer.
const RNR: u8 = 0x20;
/// The default line rate of responses in bits a second: the requester paces READs by its requests.
const RESPONSE_RATE: f64 = 100e9;
/// Bytes of BTH, AETH and ICRC.
const RESPONSE_BYTES: u32 = 20;

#[derive(Clone, Debug)]
pub(super) struct Responder {
    random: Random,
    expected: u64,
    /// Messages completed.
    completed: u32,
    /// A NAK is pending; packets that do not fill the gap are dropped silently.
    refusing: bool,
    /// Packets kept after a gap.
    early: BTreeMap<u64, (Request, Passage)>,
    /// When it requests the first missing packet, what it requested last, and up to where its NAKs reported
    /// all that was missing.
    nak_at: u64,
    refused: Option<u64>,
    reported: u64,
    /// The last message checked for RNR, and the number of RNR NAKs still to send for it.
    tried: Option<u64>,
    rnr_left: u8,
    replies: VecDeque<Reply>,
    /// When the last reply packet has left.
    free_at: u64,
    /// The end of the highest response ever sent.
    responded: u64,
    transmissions: u64,
    /// How often the requester had gone back when it sent the request being answered.
    go: u32,
    cnps: VecDeque<u64>,
    cnp_after: u64,
    dead: bool,
}

/// A scheduled answer.
#[derive(Clone, Copy, Debug)]
struct Reply {
    at: u64,
    kind: ReplyKind,
    sequence: u64,
    completed: u32,
    /// When its request passed the tap, if that is a valid sample of a round trip.
    asked_at: Option<u64>,
    go: u32,
}

#[derive(Clone, Copy, Debug)]
enum ReplyKind {
    /// The syndrome, the number of requests it answers, and until when it includes more.
    Acknowledge(u8, u8, u64),
    /// The rest to send, and whether the next packet is the first.
    Read(u32, bool),
    Atomic,
}

/// A reply packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replied {
    pub(super) kind: RepliedKind,
    pub(super) sequence: u64,
    pub(super) completed: u32,
    pub(super) asked_at: Option<u64>,
    /// It was sent before.
    pub(super) again: bool,
    /// How often its requester had gone back at the request.
    pub(super) go: u32,
    /// Its number among all reply packets.
    pub(super) number: u64,
}

impl Replied {
    pub(super) const fn packet_kind(&self) -> PacketKind {
        match self.kind {
            RepliedKind::Acknowledge(_) => PacketKind::Acknowledge,
            RepliedKind::Read(..) | RepliedKind::Atomic => PacketKind::Response,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RepliedKind {
    /// The syndrome.
    Acknowledge(u8),
    /// Position and bytes of payload.
    Read(Position, u32),
    Atomic,
}

impl Responder {
    pub(super) fn new(random: Random) -> Self {
        Self {
            random,
            expected: 0,
            completed: 0,
            refusing: false,
            early: BTreeMap::new(),
            nak_at: NEVER,
            refused: None,
            reported: 0,
            tried: None,
            rnr_left: 0,
            replies: VecDeque::new(),
            free_at: 0,
            responded: 0,
            transmissions: 0,
            go: 0,
            cnps: VecDeque::new(),
            cnp_after: 0,
            dead: false,
        }
    }

    /// Whether it would accept this request now.
    pub(super) const fn awaits(&self, request: &Request) -> bool {
        request.sequence == self.expected
    }

    /// When the next reply passes the tap, when it requests what is missing, and when the next CNP passes.
    pub(super) fn due(&self) -> [u64; 3] {
        let reply = self.replies.front().map_or(NEVER, |reply| reply.at.max(self.free_at));
        [reply, self.nak_at, self.cnps.front().copied().unwrap_or(NEVER)]
    }

    /// Removes the CNP that is due.
    pub(super) fn notify(&mut self) {
        self.cnps.pop_front();
    }

    /// A request arrives.
    pub(super) fn receive(&mut self, now: u64, request: &Request, passage: Passage, rules: &Rules) {
        if self.dead {
            return;
        }
        if let Some(ecn) = rules.ecn.as_ref().filter(|_| request.congested)
            && now >= self.cnp_after
        {
            self.cnp_after = now + ecn.cnp_interval;
            self.cnps.push_back(now + rules.delay);
        }
        if rules.service != Service::Rc {
            return;
        }
        let asked_at = passage.first_at;
        self.go = request.go;
        let ahead = request.sequence.wrapping_sub(self.expected);
        if request.sequence < self.expected {
            self.repeat(now, request, rules);
        } else if ahead == 0 {
            self.accept(now, request, asked_at, rules);
        } else if rules.receiver != Receiver::Strict && ahead <= rules.window && !self.refusing {
            self.early.insert(request.sequence, (*request, passage));
            if rules.receiver == Receiver::Selective && self.refused != Some(self.expected) {
                self.nak_at = self.nak_at.min(now.saturating_add(rules.nak_delay));
            }
        } else if rules.receiver != Receiver::Selective && !self.refusing {
            self.refusing = true;
            let expected = self.expected;
            self.reply(now, ReplyKind::Acknowledge(NAK_SEQUENCE, 0, 0), expected, None, rules);
        }
    }

    fn accept(&mut self, now: u64, request: &Request, asked_at: Option<u64>, rules: &Rules) {
        self.refusing = false;
        if let Some((message, syndrome)) = rules.refuse
            && message == request.message
        {
            self.dead = true;
            let kind = ReplyKind::Acknowledge(syndrome, 0, 0);
            self.reply(now, kind, request.sequence, None, rules);
            return;
        }
        if self.is_unready(request, rules) {
            self.refusing = true;
            let timer = rules.rnr.map_or(0, |(_, timer, _)| timer);
            // It does not depend on when the request was accepted: no round trip.
            let kind = ReplyKind::Acknowledge(RNR | timer, 0, 0);
            self.reply(now, kind, request.sequence, None, rules);
            return;
        }
        self.expected += request.span;
        self.completed = self.completed.wrapping_add(request.position.is_last().into());
        self.respond(now, request, asked_at, rules);
        self.follow(now, rules);
    }

    /// The packets kept after the gap follow.
    fn follow(&mut self, now: u64, rules: &Rules) {
        let mut acknowledge = None;
        while let Some(first) = self.early.first_entry().filter(|first| *first.key() <= self.expected) {
            let (request, passage) = first.remove();
            // What passed behind a gap may have waited for it.
            let asked_at = passage.first_at.filter(|_| passage.in_order);
            if request.sequence < self.expected {
                continue;
            }
            self.expected += request.span;
            self.completed = self.completed.wrapping_add(request.position.is_last().into());
            if request.operation.has_response() {
                acknowledge = None;
                self.respond(now, &request, asked_at, rules);
            } else if request.ack_request {
                acknowledge = Some((request.sequence, asked_at.filter(|_| request.position.is_last())));
            }
        }
        if let Some((last, asked_at)) = acknowledge {
            self.reply(now, ReplyKind::Acknowledge(ACK, 1, 0), last, asked_at, rules);
        }
        let waits = rules.receiver == Receiver::Selective && !self.early.is_empty();
        self.nak_at = if waits {
            now.saturating_add(rules.nak_delay)
        } else {
            NEVER
        };
    }

    /// Requests the first missing packet, once.
    pub(super) fn complain(&mut self, now: u64, rules: &Rules) {
        self.nak_at = NEVER;
        let is_known = self.refused == Some(self.expected) || rules.sack && self.expected < self.reported;
        if self.early.is_empty() || is_known {
            return;
        }
        self.refused = Some(self.expected);
        self.reported = self.early.last_key_value().map_or(0, |(last, _)| *last);
        self.reply(
            now,
            ReplyKind::Acknowledge(NAK_SEQUENCE, 0, 0),
            self.expected,
            None,
            rules,
        );
    }

    /// What it reported as missing in its last NAK, and still is.
    pub(super) fn missing(&self) -> impl Iterator<Item = u64> {
        (self.expected..self.reported).filter(|sequence| !self.early.contains_key(sequence))
    }

    /// Whether the receiver has no buffer for the message that begins or ends with this packet.
    fn is_unready(&mut self, request: &Request, rules: &Rules) -> bool {
        let Some((probability, _, repeat)) = rules.rnr else {
            return false;
        };
        let takes_buffer = match request.operation {
            Operation::Send | Operation::SendWithImmediate | Operation::SendWithInvalidate => {
                request.position.is_first()
            }
            Operation::WriteWithImmediate => request.position.is_last(),
            _ => false,
        };
        if !takes_buffer {
            return false;
        }
        if self.tried != Some(request.message) {
            self.tried = Some(request.message);
            self.rnr_left = if probability.hits(self.random.next()) {
                repeat
            } else {
                0
            };
        }
        let unready = self.rnr_left > 0;
        self.rnr_left = self.rnr_left.saturating_sub(1);
        unready
    }

    /// Answers a request that was accepted.
    fn respond(&mut self, now: u64, request: &Request, asked_at: Option<u64>, rules: &Rules) {
        match request.operation {
            Operation::Read => {
                let kind = ReplyKind::Read(request.message_bytes, true);
                self.reply(now, kind, request.sequence, asked_at, rules);
            }
            Operation::FetchAdd | Operation::CompareSwap => {
                self.reply(now, ReplyKind::Atomic, request.sequence, asked_at, rules);
            }
            // A round trip begins with the last packet of a message.
            _ if request.ack_request => {
                let asked_at = asked_at.filter(|_| request.position.is_last());
                self.acknowledge(now, request.sequence, asked_at, rules);
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, now: u64, sequence: u64, asked_at: Option<u64>, rules: &Rules) {
        let completed = self.completed;
        if let Some(last) = self.replies.back_mut()
            && let ReplyKind::Acknowledge(ACK, taken, until) = &mut last.kind
            && *taken < rules.ack_coalesce
            && now <= *until
        {
            *taken += 1;
            last.sequence = sequence;
            last.completed = completed;
            last.asked_at = asked_at;
            return;
        }
        let kind = ReplyKind::Acknowledge(ACK, 1, now + rules.ack_delay);
        self.reply(now + rules.ack_delay, kind, sequence, asked_at, rules);
    }

    /// Answers a request that was answered before (IBTA volume 1, 9.7.5.1.2 and 9.7.5.1.5).
    fn repeat(&mut self, now: u64, request: &Request, rules: &Rules) {
        if request.operation.has_response() {
            self.respond(now, request, None, rules);
        } else if request.ack_request {
            let last = self.expected - 1;
            self.reply(now, ReplyKind::Acknowledge(ACK, 1, 0), last, None, rules);
        }
    }

    fn reply(&mut self, now: u64, kind: ReplyKind, sequence: u64, asked_at: Option<u64>, rules: &Rules) {
        let jitter = if rules.jitter > 0 {
            self.random.below(rules.jitter + 1)
        } else {
            0
        };
        self.replies.push_back(Reply {
            at: now.saturating_add(rules.delay).saturating_add(jitter),
            kind,
            sequence,
            completed: self.completed,
            asked_at,
            go: self.go,
        });
    }

    /// Sends the reply packet that is due.
    pub(super) fn send(&mut self, now: u64, rules: &Rules) -> Option<Replied> {
        let reply = self.replies.front_mut()?;
        let sequence = reply.sequence;
        let asked_at = reply.asked_at.take();
        let (kind, more) = match &mut reply.kind {
            ReplyKind::Acknowledge(syndrome, ..) => (RepliedKind::Acknowledge(*syndrome), false),
            ReplyKind::Atomic => (RepliedKind::Atomic, false),
            ReplyKind::Read(left, first) => {
                let bytes = (*left).min(rules.mtu);
                *left -= bytes;
                let position = Position::of(*first, *left == 0);
                *first = false;
                let took = rules.header_bytes + RESPONSE_BYTES + bytes;
                let rate = rules.line_rate.unwrap_or(RESPONSE_RATE);
                self.free_at = now + picoseconds(took.into(), rate) / 1000;
                (RepliedKind::Read(position, bytes), *left > 0)
            }
        };
        let (completed, go) = (reply.completed, reply.go);
        if more {
            reply.sequence += 1;
        } else {
            self.replies.pop_front();
        }
        let is_response = !matches!(kind, RepliedKind::Acknowledge(_));
        let again = is_response && sequence < self.responded;
        if is_response {
            self.responded = self.responded.max(sequence + 1);
        }
        let number = self.transmissions;
        self.transmissions += 1;
        Some(Replied {
            kind,
            sequence,
            completed,
            asked_at,
            again,
            go,
            number,
        })
    }

    /// The responder's own random stream, which decides what happens to its packets.
    pub(super) fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}
