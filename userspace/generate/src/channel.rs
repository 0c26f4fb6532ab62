//! One direction of a connection: a requester, a responder, and the path between them.
//!
//! The tap divides a packet's path. What happens upstream is decided when the packet is sent
//! ([`Channel::turn`]), what happens downstream after it was seen ([`Channel::passed`],
//! [`Channel::answered`]).

use super::delivery::{Burst, Delivery};
use super::lost::{LossPoint, LostPacket, PacketKind};
use super::requester::{Act, Answer, Requester};
use super::responder::{Replied, RepliedKind, Responder};
use super::rules::Rules;
use super::scenario::group::Sender;
use super::scenario::impairment::Side;
use super::tally::Direction;
use super::tapped::{Cause, Content, Passage, TapView};
use rocescope_wire::extension::rnr_timer_us;

/// The delay of a copy or a late packet after another packet, in nanoseconds.
const BEHIND: u64 = 10;

/// A delayed packet in flight.
#[derive(Clone, Copy, Debug)]
struct Straggler {
    /// Whether it has not passed the tap yet.
    side: Side,
    /// How many packets may still overtake it.
    left: u32,
    at: u64,
    content: Content,
    cause: Cause,
    delivery: Delivery,
    passage: Passage,
}

/// A requester, its responder, and the path between them.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) requester: Requester,
    responder: Responder,
    stragglers: Vec<Straggler>,
    /// Of requests and of responses.
    bursts: [Burst; 2],
}

/// The next event of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Request(Act),
    Reply,
    Nak,
    Cnp,
    Straggler(usize),
}

impl Channel {
    pub(super) fn new(requester: Requester, responder: Responder) -> Self {
        Self {
            requester,
            responder,
            stragglers: Vec::new(),
            bursts: [Burst::default(); 2],
        }
    }

    /// The next event and its time in nanoseconds.
    pub(super) fn due(&self, rules: &Rules) -> (u64, Next) {
        let (at, act) = self.requester.due(rules);
        let [reply_at, nak_at, cnp_at] = self.responder.due();
        let mut first = (at, Next::Request(act));
        for other in [(reply_at, Next::Reply), (nak_at, Next::Nak), (cnp_at, Next::Cnp)] {
            if other.0 < first.0 {
                first = other;
            }
        }
        for (index, straggler) in self.stragglers.iter().enumerate() {
            if straggler.at < first.0 {
                first = (straggler.at, Next::Straggler(index));
            }
        }
        first
    }

    /// Executes the event. Returns what passes the tap, if anything; `directions` are the requester's
    /// and the responder's.
    pub(super) fn turn(
        &mut self,
        now: u64,
        next: Next,
        rules: &Rules,
        directions: [&mut Direction; 2],
    ) -> Option<(Content, Cause, Delivery)> {
        let [requests, responses] = directions;
        match next {
            Next::Request(act @ (Act::Send | Act::Repair)) => self.send(now, act, rules, requests),
            Next::Request(Act::Back) => {
                self.requester.go_back(now);
                None
            }
            Next::Request(Act::Expire) => {
                requests.timeouts += u64::from(self.requester.expire(now, rules));
                None
            }
            Next::Reply => self.reply(now, rules, responses),
            Next::Nak => {
                self.responder.complain(now, rules);
                None
            }
            Next::Cnp => {
                self.responder.notify();
                responses.sent_packets += 1;
                Some((Content::Cnp, Cause::Original, Delivery::default()))
            }
            Next::Straggler(index) => {
                let straggler = self.stragglers.swap_remove(index);
                if straggler.side == Side::Downstream {
                    let arriving = match straggler.content {
                        Content::Request(_) => requests,
                        _ => responses,
                    };
                    arriving.delivered_packets += 1;
                    self.arrive(now, &straggler.content, straggler.passage, straggler.delivery, rules);
                    return None;
                }
                Some((straggler.content, straggler.cause, straggler.delivery))
            }
        }
    }

    fn send(
        &mut self,
        now: u64,
        act: Act,
        rules: &Rules,
        direction: &mut Direction,
    ) -> Option<(Content, Cause, Delivery)> {
        let (request, number) = if act == Act::Repair {
            self.requester.repair(now, rules)?
        } else {
            self.requester.send(now, rules)?
        };
        let [burst, _] = &mut self.bursts;
        let delivery = rules.requests.as_ref().map_or_else(Delivery::default, |impairments| {
            impairments.draw(number, now, false, self.requester.random(), burst)
        });
        self.launch(now, Content::Request(request), request.again, delivery, direction)
    }

    fn reply(&mut self, now: u64, rules: &Rules, direction: &mut Direction) -> Option<(Content, Cause, Delivery)> {
        let replied = self.responder.send(now, rules)?;
        let is_acknowledgement = replied.packet_kind() == PacketKind::Acknowledge;
        let [_, burst] = &mut self.bursts;
        let delivery = rules.responses.as_ref().map_or_else(Delivery::default, |impairments| {
            let random = self.responder.random();
            impairments.draw(replied.number, now, is_acknowledgement, random, burst)
        });
        self.launch(now, Content::Reply(replied), replied.again, delivery, direction)
    }

    /// Sends a packet towards the tap. Returns it if it passes there at once.
    fn launch(
        &mut self,
        now: u64,
        content: Content,
        again: bool,
        mut delivery: Delivery,
        direction: &mut Direction,
    ) -> Option<(Content, Cause, Delivery)> {
        direction.sent_packets += 1;
        let cause = if again { Cause::Retransmission } else { Cause::Original };
        if delivery.lost == Some(Side::Upstream) {
            direction.lost_upstream += 1;
            direction.lose(LostPacket::of(&content, now, LossPoint::Upstream)?);
            return None;
        }
        let [detour, _] = &mut delivery.detour;
        let passes_at = now + std::mem::take(detour);
        let mut straggler = Straggler {
            side: Side::Upstream,
            left: 0,
            at: passes_at + BEHIND,
            content,
            cause,
            delivery,
            passage: Passage::default(),
        };
        if delivery.doubled == Some(Side::Upstream) {
            delivery.doubled = None;
            straggler.delivery = Delivery {
                damaged: delivery.damaged,
                port: delivery.port,
                ..Delivery::default()
            };
            straggler.cause = Cause::Copy;
            direction.copied_by_network += 1;
            self.stragglers.push(straggler);
        }
        let late = delivery.late.filter(|late| late.side == Side::Upstream);
        if late.is_none() && passes_at == now {
            return Some((content, cause, delivery));
        }
        if late.is_some() {
            delivery.late = None;
        }
        self.stragglers.push(Straggler {
            left: late.map_or(0, |late| late.by),
            at: passes_at + late.map_or(0, |late| late.hold),
            cause: if again { cause } else { Cause::Late },
            delivery,
            ..straggler
        });
        None
    }

    /// Lists what passed the tap and will not arrive.
    pub(super) fn lose(&self, now: u64, content: &Content, place: LossPoint, direction: &mut Direction) {
        let Some(lost) = LostPacket::of(content, now, place) else {
            return;
        };
        let awaited = match content {
            Content::Request(request) => self.responder.awaits(request),
            _ => true,
        };
        direction.lose(LostPacket { awaited, ..lost });
    }

    /// A request or a reply has passed the tap.
    pub(super) fn passed(
        &mut self,
        now: u64,
        tapped: &TapView,
        passage: Passage,
        rules: &Rules,
        direction: &mut Direction,
    ) {
        let TapView {
            content,
            cause,
            delivery,
            ..
        } = *tapped;
        let is_request = matches!(content, Content::Request(_));
        if is_request && cause != Cause::Copy {
            self.overtake(Side::Upstream, now);
        }
        if !delivery.arrives() {
            return;
        }
        let [_, detour] = delivery.detour;
        if delivery.late.is_some() || detour > 0 {
            let late = delivery.late;
            self.stragglers.push(Straggler {
                side: Side::Downstream,
                left: late.map_or(0, |late| late.by),
                at: now + detour + late.map_or(0, |late| late.hold),
                content,
                cause,
                delivery,
                passage,
            });
            return;
        }
        direction.delivered_packets += u64::from(cause != Cause::Copy);
        self.arrive(now, &content, passage, delivery, rules);
        if is_request {
            self.overtake(Side::Downstream, now);
        }
    }

    /// A packet overtakes those that wait on one side of the tap.
    fn overtake(&mut self, side: Side, now: u64) {
        for straggler in &mut self.stragglers {
            if straggler.side == side && straggler.left > 0 {
                straggler.left -= 1;
                if straggler.left == 0 {
                    straggler.at = straggler.at.min(now + BEHIND);
                }
            }
        }
    }

    fn arrive(&mut self, now: u64, content: &Content, passage: Passage, delivery: Delivery, rules: &Rules) {
        match content {
            Content::Request(request) => {
                self.responder.receive(now, request, passage, rules);
                if delivery.doubled.is_some() {
                    self.responder.receive(now, request, Passage::default(), rules);
                }
            }
            Content::Reply(replied) => self.answered(now, replied, rules),
            Content::Cnp | Content::Session(_) => {}
        }
    }

    fn answered(&mut self, now: u64, replied: &Replied, rules: &Rules) {
        let answer = match replied.kind {
            RepliedKind::Read(..) | RepliedKind::Atomic => Answer::Response,
            RepliedKind::Acknowledge(syndrome) => match syndrome >> 5 {
                0 => Answer::Ack,
                1 => Answer::Rnr(u64::from(rnr_timer_us(syndrome)) * 1000),
                _ if syndrome & 0x1f == 0 => Answer::NakSequence,
                _ => Answer::Fatal,
            },
        };
        self.requester.answer(now, replied.sequence, answer, rules);
        if answer == Answer::NakSequence && rules.sender == Sender::Selective {
            let also = self.responder.missing().filter(|_| rules.sack);
            for sequence in std::iter::once(replied.sequence).chain(also) {
                self.requester.plan_repair(now, sequence, rules);
            }
        }
    }
}
