//! One direction of a connection: a requester, a responder, and the path between them.
//!
//! The tap divides a packet's path. What happens upstream is decided when the packet is sent
//! ([`Channel::turn`]), what happens downstream after it was seen ([`Channel::passed`],
//! [`Channel::answered`]).

use super::delivery::Delivery;
use super::lost::{LossPoint, Lost, PacketKind};
use super::message::Request;
use super::requester::{Act, Answer, Requester};
use super::responder::{Replied, RepliedKind, Responder};
use super::rules::Rules;
use super::scenario::impairment::Side;
use super::tally::Direction;
use super::tapped::{Cause, Content};
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
    request: Request,
    cause: Cause,
    delivery: Delivery,
    /// Its PSN passed the tap for the first time.
    fair: bool,
}

/// A requester, its responder, and the path between them.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    pub(super) requester: Requester,
    responder: Responder,
    stragglers: Vec<Straggler>,
}

/// The next event of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Request(Act),
    Reply,
    Cnp,
    Straggler(usize),
}

impl Channel {
    pub(super) fn new(requester: Requester, responder: Responder) -> Self {
        Self {
            requester,
            responder,
            stragglers: Vec::new(),
        }
    }

    /// The next event and its time in nanoseconds.
    pub(super) fn due(&self, rules: &Rules) -> (u64, Next) {
        let (at, act) = self.requester.due(rules);
        let (reply_at, cnp_at) = self.responder.due();
        let mut first = (at, Next::Request(act));
        if reply_at < first.0 {
            first = (reply_at, Next::Reply);
        }
        if cnp_at < first.0 {
            first = (cnp_at, Next::Cnp);
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
            Next::Request(Act::Send) => self.send(now, rules, requests),
            Next::Request(Act::Back) => {
                self.requester.go_back(now);
                None
            }
            Next::Request(Act::Expire) => {
                requests.timeouts += u64::from(self.requester.expire(now, rules));
                None
            }
            Next::Reply => self.reply(now, rules, responses),
            Next::Cnp => {
                self.responder.notify();
                Some((Content::Cnp, Cause::Original, Delivery::default()))
            }
            Next::Straggler(index) => {
                let straggler = self.stragglers.swap_remove(index);
                if straggler.side == Side::AfterTap {
                    self.arrive(now, &straggler.request, straggler.fair, straggler.delivery, rules);
                    return None;
                }
                Some((Content::Request(straggler.request), straggler.cause, straggler.delivery))
            }
        }
    }

    fn send(&mut self, now: u64, rules: &Rules, direction: &mut Direction) -> Option<(Content, Cause, Delivery)> {
        let (request, number) = self.requester.send(now, rules)?;
        let cause = if request.again {
            Cause::Retransmission
        } else {
            Cause::Original
        };
        let Some(impairments) = &rules.requests else {
            return Some((Content::Request(request), cause, Delivery::default()));
        };
        let mut delivery = impairments.draw(number, now, self.requester.random());
        if delivery.lost == Some(Side::BeforeTap) {
            direction.lost_before_tap += 1;
            let of = PacketKind::Request;
            direction.lose(Lost::new(now, LossPoint::BeforeTap, of, request.sequence, request.go));
            return None;
        }
        let mut straggler = Straggler {
            side: Side::BeforeTap,
            left: 0,
            at: now + BEHIND,
            request,
            cause,
            delivery,
            fair: false,
        };
        if delivery.doubled == Some(Side::BeforeTap) {
            delivery.doubled = None;
            straggler.delivery = Delivery {
                damaged: delivery.damaged,
                ..Delivery::default()
            };
            straggler.cause = Cause::Copy;
            self.stragglers.push(straggler);
        }
        if let Some(late) = delivery.late
            && late.side == Side::BeforeTap
        {
            delivery.late = None;
            self.stragglers.push(Straggler {
                left: late.by,
                at: now + late.hold,
                cause: if request.again { cause } else { Cause::Late },
                delivery,
                ..straggler
            });
            return None;
        }
        Some((Content::Request(request), cause, delivery))
    }

    fn reply(&mut self, now: u64, rules: &Rules, direction: &mut Direction) -> Option<(Content, Cause, Delivery)> {
        let replied = self.responder.send(now, rules)?;
        let cause = if replied.again {
            Cause::Retransmission
        } else {
            Cause::Original
        };
        let mut delivery = Delivery::default();
        if let Some(impairments) = &rules.responses {
            delivery = impairments.draw(replied.number, now, self.responder.random());
            if delivery.lost == Some(Side::BeforeTap) {
                direction.lost_before_tap += 1;
                let of = replied.packet_kind();
                direction.lose(Lost::new(now, LossPoint::BeforeTap, of, replied.sequence, replied.go));
                return None;
            }
        }
        Some((Content::Reply(replied), cause, delivery))
    }

    /// Lists what passed the tap and will not arrive.
    pub(super) fn lose(&self, now: u64, content: &Content, place: LossPoint, direction: &mut Direction) {
        let (of, sequence, go, awaited) = match content {
            Content::Request(request) => {
                let awaited = self.responder.awaits(request);
                (PacketKind::Request, request.sequence, request.go, awaited)
            }
            Content::Reply(replied) => (replied.packet_kind(), replied.sequence, replied.go, true),
            Content::Cnp | Content::Session(_) => return,
        };
        direction.lose(Lost {
            awaited,
            ..Lost::new(now, place, of, sequence, go)
        });
    }

    /// A request has passed the tap.
    pub(super) fn passed(
        &mut self,
        now: u64,
        request: &Request,
        cause: Cause,
        delivery: Delivery,
        fair: bool,
        rules: &Rules,
    ) {
        if cause != Cause::Copy {
            self.overtake(Side::BeforeTap, now);
        }
        if delivery.lost.is_some() || delivery.damaged {
            return;
        }
        if let Some(late) = delivery.late {
            self.stragglers.push(Straggler {
                side: Side::AfterTap,
                left: late.by,
                at: now + late.hold,
                request: *request,
                cause,
                delivery: Delivery { late: None, ..delivery },
                fair,
            });
            return;
        }
        self.arrive(now, request, fair, delivery, rules);
        self.overtake(Side::AfterTap, now);
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

    fn arrive(&mut self, now: u64, request: &Request, fair: bool, delivery: Delivery, rules: &Rules) {
        self.responder.receive(now, request, fair, rules);
        if delivery.doubled.is_some() {
            self.responder.receive(now, request, false, rules);
        }
    }

    /// A reply has passed the tap and arrives unimpaired.
    pub(super) fn answered(&mut self, now: u64, replied: &Replied, rules: &Rules) {
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
    }
}
