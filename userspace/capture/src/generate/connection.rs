//! A connection: one or two channels, each a requester, a responder and the way between them, and
//! the session that sets it up and takes it down.
//!
//! A packet's way is cut in two by the tap. What happens before it is decided when the packet is
//! sent, what happens behind it when the packet has been seen: [`Connection::turn`] lets the next
//! thing happen, and [`Connection::deliver`] takes what passed the tap to its receiver.

use super::fate::Fate;
use super::message::Request;
use super::random::Random;
use super::requester::{Act, Answer, NEVER, Requester};
use super::responder::{Replied, RepliedKind, Responder};
use super::rules::Rules;
use super::scenario::impairment::Side;
use super::session::{Datagram, Session};
use super::tally::Direction;
use rocescope_wire::extension::rnr_timer_us;

/// How far a copy, or a late packet, follows behind another packet, in nanoseconds.
const BEHIND: u64 = 10;

/// How a packet came to pass the tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// As it should.
    Original,
    /// Its sender has sent it before.
    Retransmission,
    /// The network made a second one.
    Copy,
    /// Behind packets that were sent after it.
    Late,
}

/// What passes the tap.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Request(Request),
    Reply(Replied),
    Cnp,
    Session(Datagram),
}

/// Something that passes the tap.
#[derive(Clone, Debug)]
pub(super) struct Tapped {
    /// Whose requests it is about: 0 the first side's, 1 the second's.
    pub(super) channel: usize,
    pub(super) content: Content,
    pub(super) cause: Cause,
    fate: Fate,
}

impl Tapped {
    /// Which side sent it.
    pub(super) fn from(&self) -> usize {
        match &self.content {
            Content::Request(_) => self.channel,
            Content::Reply(_) | Content::Cnp => 1 - self.channel,
            Content::Session(datagram) => datagram.from(),
        }
    }

    /// Whether its ICRC is wrong.
    pub(super) fn is_damaged(&self) -> bool {
        self.fate.damaged
    }
}

/// A packet on its way that comes later than it should.
#[derive(Clone, Copy, Debug)]
struct Straggler {
    /// Whether it has still to pass the tap.
    side: Side,
    /// How many packets may still pass it.
    left: u32,
    at: u64,
    request: Request,
    cause: Cause,
    fate: Fate,
    /// Its PSN passed the tap for the first time.
    fair: bool,
}

#[derive(Clone, Debug)]
struct Channel {
    requester: Requester,
    responder: Responder,
    stragglers: Vec<Straggler>,
}

/// What a channel does next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Request(Act),
    Reply,
    Cnp,
    Straggler(usize),
}

impl Channel {
    fn due(&self, rules: &Rules) -> (u64, Next) {
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

    fn turn(
        &mut self,
        now: u64,
        next: Next,
        rules: &Rules,
        directions: [&mut Direction; 2],
    ) -> Option<(Content, Cause, Fate)> {
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
                Some((Content::Cnp, Cause::Original, Fate::default()))
            }
            Next::Straggler(index) => {
                let straggler = self.stragglers.swap_remove(index);
                if straggler.side == Side::AfterTap {
                    self.arrive(
                        now,
                        &straggler.request,
                        straggler.fair,
                        straggler.fate,
                        rules,
                    );
                    return None;
                }
                Some((
                    Content::Request(straggler.request),
                    straggler.cause,
                    straggler.fate,
                ))
            }
        }
    }

    fn send(
        &mut self,
        now: u64,
        rules: &Rules,
        direction: &mut Direction,
    ) -> Option<(Content, Cause, Fate)> {
        let (request, number) = self.requester.send(now, rules)?;
        let cause = if request.again {
            Cause::Retransmission
        } else {
            Cause::Original
        };
        let Some(fates) = &rules.requests else {
            return Some((Content::Request(request), cause, Fate::default()));
        };
        let mut fate = fates.draw(number, now, self.requester.random());
        if fate.lost == Some(Side::BeforeTap) {
            direction.lost_before_tap += 1;
            return None;
        }
        let mut straggler = Straggler {
            side: Side::BeforeTap,
            left: 0,
            at: now + BEHIND,
            request,
            cause,
            fate,
            fair: false,
        };
        if fate.doubled == Some(Side::BeforeTap) {
            fate.doubled = None;
            straggler.fate = Fate {
                damaged: fate.damaged,
                ..Fate::default()
            };
            straggler.cause = Cause::Copy;
            self.stragglers.push(straggler);
        }
        if let Some(late) = fate.late
            && late.side == Side::BeforeTap
        {
            fate.late = None;
            self.stragglers.push(Straggler {
                left: late.by,
                at: now + late.hold,
                cause: if request.again { cause } else { Cause::Late },
                fate,
                ..straggler
            });
            return None;
        }
        Some((Content::Request(request), cause, fate))
    }

    fn reply(
        &mut self,
        now: u64,
        rules: &Rules,
        direction: &mut Direction,
    ) -> Option<(Content, Cause, Fate)> {
        let replied = self.responder.send(now, rules)?;
        let cause = if replied.again {
            Cause::Retransmission
        } else {
            Cause::Original
        };
        let mut fate = Fate::default();
        if let Some(fates) = &rules.responses {
            fate = fates.draw(replied.number, now, self.responder.random());
            if fate.lost == Some(Side::BeforeTap) {
                direction.lost_before_tap += 1;
                return None;
            }
        }
        Some((Content::Reply(replied), cause, fate))
    }

    /// A request has passed the tap.
    fn passed(
        &mut self,
        now: u64,
        request: &Request,
        cause: Cause,
        fate: Fate,
        fair: bool,
        rules: &Rules,
    ) {
        if cause != Cause::Copy {
            self.overtake(Side::BeforeTap, now);
        }
        if fate.lost.is_some() || fate.damaged {
            return;
        }
        if let Some(late) = fate.late {
            self.stragglers.push(Straggler {
                side: Side::AfterTap,
                left: late.by,
                at: now + late.hold,
                request: *request,
                cause,
                fate: Fate { late: None, ..fate },
                fair,
            });
            return;
        }
        self.arrive(now, request, fair, fate, rules);
        self.overtake(Side::AfterTap, now);
    }

    /// A packet passes those that wait on one side of the tap.
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

    fn arrive(&mut self, now: u64, request: &Request, fair: bool, fate: Fate, rules: &Rules) {
        self.responder.receive(now, request, fair, rules);
        if fate.doubled.is_some() {
            self.responder.receive(now, request, false, rules);
        }
    }

    /// A reply has passed the tap, and nothing happens to it behind.
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
    }
}

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    forward: Channel,
    backward: Option<Box<Channel>>,
    session: Option<Box<Session>>,
}

impl Connection {
    /// A connection that begins at `start`, with a `seed` of its own.
    pub(super) fn new(
        seed: u64,
        start: u64,
        weight: f64,
        session: Option<Session>,
        bidirectional: bool,
    ) -> Self {
        let open_at = session.as_ref().map_or(start, Session::open_at);
        let channel = |stream: u64| Channel {
            requester: Requester::new(Random::new(seed, 2 * stream), weight, open_at),
            responder: Responder::new(Random::new(seed, 2 * stream + 1)),
            stragglers: Vec::new(),
        };
        Self {
            forward: channel(1),
            backward: bidirectional.then(|| Box::new(channel(2))),
            session: session.map(Box::new),
        }
    }

    fn next(&self, rules: [&Rules; 2]) -> (u64, usize, Option<Next>) {
        let (at, next) = self.forward.due(rules[0]);
        let mut first = (at, 0, Some(next));
        if let Some(backward) = &self.backward {
            let (at, next) = backward.due(rules[1]);
            if at < first.0 {
                first = (at, 1, Some(next));
            }
        }
        if let Some(session) = &self.session
            && session.at() < first.0
        {
            first = (session.at(), 0, None);
        }
        first
    }

    /// When the next thing happens, in nanoseconds; [`NEVER`] when all is over.
    pub(super) fn due(&self, rules: [&Rules; 2]) -> u64 {
        self.next(rules).0
    }

    /// Lets the next thing happen. What passes the tap, if anything does.
    pub(super) fn turn(
        &mut self,
        now: u64,
        rules: [&Rules; 2],
        directions: &mut [Direction; 2],
    ) -> Option<Tapped> {
        let (_, channel, next) = self.next(rules);
        let [first, second] = directions;
        let Some(next) = next else {
            let datagram = self.session.as_mut()?.send(now, rules[0]);
            return Some(Tapped {
                channel,
                content: Content::Session(datagram),
                cause: Cause::Original,
                fate: Fate::default(),
            });
        };
        let happened = if channel == 0 {
            self.forward.turn(now, next, rules[0], [first, second])
        } else {
            self.backward
                .as_mut()?
                .turn(now, next, rules[1], [second, first])
        };
        happened.map(|(content, cause, fate)| Tapped {
            channel,
            content,
            cause,
            fate,
        })
    }

    /// Takes what passed the tap to its receiver; `fair` if its PSN passed for the first time.
    pub(super) fn deliver(
        &mut self,
        now: u64,
        tapped: &Tapped,
        fair: bool,
        rules: [&Rules; 2],
        directions: &mut [Direction; 2],
    ) {
        if tapped.fate.lost == Some(Side::AfterTap)
            && let Some(direction) = directions.get_mut(tapped.from())
        {
            direction.lost_after_tap += 1;
        }
        let (channel, rules) = match (tapped.channel, &mut self.backward) {
            (1, Some(backward)) => (&mut **backward, rules[1]),
            _ => (&mut self.forward, rules[0]),
        };
        match &tapped.content {
            Content::Request(request) => {
                channel.passed(now, request, tapped.cause, tapped.fate, fair, rules);
            }
            Content::Reply(replied) => {
                if tapped.fate == Fate::default() {
                    channel.answered(now, replied, rules);
                }
            }
            Content::Cnp => channel.requester.slow_down(now, rules),
            Content::Session(_) => {}
        }
    }

    /// Begins to close the session when there is nothing left to do.
    pub(super) fn close(&mut self, now: u64, rules: [&Rules; 2]) {
        let quiet = self.due(rules) == NEVER;
        if let Some(session) = self.session.as_mut().filter(|_| quiet) {
            session.close(now, rules[0]);
        }
    }
}
