//! A connection: one or two channels, and the session that sets it up and takes it down.
//!
//! [`Connection::turn`] executes the next event, and [`Connection::deliver`] delivers what passed the
//! tap to its receiver.

use super::channel::{Channel, Next};
use super::delivery::Delivery;
use super::lost::LossPoint;
use super::random::Random;
use super::requester::{NEVER, Requester};
use super::responder::Responder;
use super::rules::Rules;
use super::scenario::impairment::Side;
use super::session::Session;
use super::tally::Direction;
use super::tapped::{Cause, Content, Passage, TapView};

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    forward: Channel,
    backward: Option<Box<Channel>>,
    session: Option<Box<Session>>,
}

impl Connection {
    /// A connection that begins at `start`, with its own `seed`.
    pub(super) fn new(seed: u64, start: u64, weight: f64, session: Option<Session>, bidirectional: bool) -> Self {
        let open_at = session.as_ref().map_or(start, Session::open_at);
        let channel = |stream: u64| {
            let requester = Requester::new(Random::new(seed, 2 * stream), weight, open_at);
            Channel::new(requester, Responder::new(Random::new(seed, 2 * stream + 1)))
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

    /// The time of the next event in nanoseconds; [`NEVER`] when the connection has ended.
    pub(super) fn due(&self, rules: [&Rules; 2]) -> u64 {
        self.next(rules).0
    }

    /// Executes the next event. Returns what passes the tap, if anything.
    pub(super) fn turn(&mut self, now: u64, rules: [&Rules; 2], directions: &mut [Direction; 2]) -> Option<TapView> {
        let (_, channel, next) = self.next(rules);
        let [first, second] = directions;
        let Some(next) = next else {
            let datagram = self.session.as_mut()?.send(now, rules[0]);
            return Some(TapView {
                channel,
                content: Content::Session(datagram),
                cause: Cause::Original,
                delivery: Delivery::default(),
            });
        };
        let happened = if channel == 0 {
            self.forward.turn(now, next, rules[0], [first, second])
        } else {
            self.backward.as_mut()?.turn(now, next, rules[1], [second, first])
        };
        happened.map(|(content, cause, delivery)| TapView {
            channel,
            content,
            cause,
            delivery,
        })
    }

    /// Delivers what passed the tap to its receiver.
    pub(super) fn deliver(
        &mut self,
        now: u64,
        tapped: &TapView,
        passage: Passage,
        rules: [&Rules; 2],
        directions: &mut [Direction; 2],
    ) {
        let (channel, rules) = match (tapped.channel, &mut self.backward) {
            (1, Some(backward)) => (&mut **backward, rules[1]),
            _ => (&mut self.forward, rules[0]),
        };
        let place = match tapped.delivery {
            Delivery { damaged: true, .. } => Some(LossPoint::Damaged),
            delivery => delivery.lost.map(|_| LossPoint::Downstream),
        };
        if let Some(direction) = directions.get_mut(tapped.from())
            && let Some(place) = place
        {
            direction.lost_downstream += u64::from(tapped.delivery.lost == Some(Side::Downstream));
            channel.lose(now, &tapped.content, place, direction);
        }
        let Some(direction) = directions.get_mut(tapped.from()) else {
            return;
        };
        match &tapped.content {
            Content::Request(_) | Content::Reply(_) => channel.passed(now, tapped, passage, rules, direction),
            Content::Cnp => {
                direction.delivered_packets += 1;
                channel.requester.slow_down(now, rules);
            }
            Content::Session(_) => {}
        }
    }

    /// Lists a packet that was lost.
    pub(super) fn lose(&self, now: u64, tapped: &TapView, place: LossPoint, direction: &mut Direction) {
        let channel = match (tapped.channel, &self.backward) {
            (1, Some(backward)) => backward,
            _ => &self.forward,
        };
        channel.lose(now, &tapped.content, place, direction);
    }

    /// The number of completed messages of each side.
    pub(super) fn completed(&self) -> [u64; 2] {
        let backward = self.backward.as_ref().map_or(0, |channel| channel.requester.completed);
        [self.forward.requester.completed, backward]
    }

    /// Begins to close the session when there is nothing left to do.
    pub(super) fn close(&mut self, now: u64, rules: [&Rules; 2]) {
        if self.session.is_some()
            && self.due(rules) == NEVER
            && let Some(session) = &mut self.session
        {
            session.close(now, rules[0]);
        }
    }
}
