//! Requests in flight: datagrams that were sent and have no outcome yet.
//!
//! Each asker keeps its requests in such a table: a NIC its probes to the other NICs of the host
//! ([`session`](crate::session)), the agent its questions to other agents (`Asker`), and its probes to their NICs
//! ([`peers`](crate::peers)). The sequence number of a datagram finds its request again, and with it who asked. The other
//! end copies the number into its answer and reads nothing from it.

use crate::types::Nanos;
use rocescope_model::UdpPath;
use std::collections::VecDeque;

/// A datagram without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<T> {
    /// The sequence number of its datagram.
    pub number: u64,
    /// Who asked, or what was asked.
    pub asked: T,
    /// When it was due (1).
    pub due: Nanos,
    /// When the agent sent it: later than due if the host delayed the agent.
    pub sent: Nanos,
    /// When it left (2).
    pub nic_sent: Option<Nanos>,
    /// The arrival of the datagram, or of its answer, if only (2) is missing.
    pub arrival: Option<Arrival>,
    /// The clock was set meanwhile, so that its times are not comparable, or frames were lost in this host.
    pub invalidated: bool,
}

/// The arrival of a probe, or of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whether all bytes are unchanged.
    pub intact: bool,
    /// (3)
    pub nic_received: Option<Nanos>,
    /// (4)
    pub received: Nanos,
    /// How long the agent of the other end held the probe, of an answer.
    pub held: Nanos,
}

/// Who asked another agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The flow of this number.
    Flow(u64),
    /// A path that is watched.
    Watch(UdpPath),
    /// A trace to another host.
    Trace {
        /// Its number.
        id: u16,
        /// The initial TTL of the packet.
        ttl: u8,
    },
}

impl Arrival {
    /// When it arrived: on the clock of the NIC, if that is known.
    #[must_use]
    pub fn at(&self) -> Nanos {
        self.nic_received.unwrap_or(self.received)
    }
}

impl<T> Request<T> {
    /// From its departure to the arrival of its answer, without the time that the other agent held it; `None` while one of
    /// both is unknown.
    #[must_use]
    pub fn round_trip(&self) -> Option<Nanos> {
        let (sent, arrival) = self.nic_sent.zip(self.arrival)?;
        Some(arrival.at() - sent - arrival.held)
    }
}

/// Requests by their numbers.
#[derive(Clone, Debug)]
pub struct Requests<T> {
    /// In the order of their numbers: new ones are at the end, and so are most that are found.
    all: VecDeque<Request<T>>,
    next: u64,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            all: VecDeque::new(),
            next: 0,
        }
    }
}

impl<T: Copy> Requests<T> {
    /// Notes that something is sent at `now` that was `due`; returns its number, one more than the last.
    pub fn ask(&mut self, asked: T, due: Nanos, now: Nanos) -> u64 {
        let number = self.next;
        self.next += 1;
        self.insert(number, asked, due, now);
        number
    }

    /// The same with a number that the caller has chosen.
    pub fn insert(&mut self, number: u64, asked: T, due: Nanos, now: Nanos) {
        let at = match self.all.back() {
            Some(last) if last.number >= number => self.all.partition_point(|known| known.number < number),
            _ => self.all.len(),
        };
        let request = Request {
            number,
            asked,
            due,
            sent: now,
            nic_sent: None,
            arrival: None,
            invalidated: false,
        };
        self.all.insert(at, request);
    }

    /// Whether [`ask`](Self::ask) ever returned this number.
    #[must_use]
    pub const fn was_asked(&self, number: u64) -> bool {
        number < self.next
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.all.binary_search_by_key(&number, |known| known.number).ok()
    }

    /// The request of this number.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<&Request<T>> {
        self.all.get(self.find(number)?)
    }

    /// Removes one, which was not sent.
    pub fn remove(&mut self, number: u64) -> Option<Request<T>> {
        let at = self.find(number)?;
        self.all.remove(at)
    }

    /// The host delayed the agent after it read the clock: one was sent at this time or later.
    pub fn delayed(&mut self, number: u64, until: Nanos) {
        if let Some(request) = self.find(number).and_then(|at| self.all.get_mut(at)) {
            request.sent = request.sent.max(until);
        }
    }

    /// Records when one left (2); returns it if its answer had already arrived, which completes it.
    pub fn left(&mut self, number: u64, nic_sent: Nanos) -> Option<Request<T>> {
        let at = self.find(number)?;
        let request = self.all.get_mut(at)?;
        request.nic_sent = Some(nic_sent);
        request.arrival?;
        self.all.remove(at)
    }

    /// Records the first arrival; returns the request if it is known when it left, which completes it.
    pub fn arrived(&mut self, number: u64, arrival: Arrival) -> Option<Request<T>> {
        let at = self.find(number)?;
        let request = self.all.get_mut(at)?;
        request.arrival.get_or_insert(arrival);
        request.nic_sent?;
        self.all.remove(at)
    }

    /// The one with the lowest number.
    #[must_use]
    pub fn oldest(&self) -> Option<&Request<T>> {
        self.all.front()
    }

    /// Removes those.
    pub fn extract_if(&mut self, is: impl Fn(&Request<T>) -> bool) -> Vec<Request<T>> {
        let extracted: Vec<_> = self.all.iter().filter(|request| is(request)).copied().collect();
        if !extracted.is_empty() {
            self.all.retain(|request| !is(request));
        }
        extracted
    }

    /// Removes all others.
    pub fn retain(&mut self, is: impl Fn(&Request<T>) -> bool) {
        self.all.retain(is);
    }

    /// In the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Request<T>> {
        self.all.iter()
    }

    /// The same, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Request<T>> {
        self.all.iter_mut()
    }

    /// How many are in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether none is in flight.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The clock was set.
    pub fn stepped(&mut self, by: Nanos) {
        for request in &mut self.all {
            request.due = request.due + by;
            request.sent = request.sent + by;
            request.invalidated = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(at: i64) -> Arrival {
        Arrival {
            intact: true,
            nic_received: Some(Nanos(at)),
            received: Nanos(at + 5),
            held: Nanos(2),
        }
    }

    #[test]
    fn a_request_is_complete_when_both_its_times_are_known_in_any_order() {
        let mut requests = Requests::default();
        for asked in ["a", "b", "c"] {
            requests.ask(asked, Nanos(0), Nanos(1));
        }
        assert_eq!(requests.left(1, Nanos(3)), None);
        let done = requests.arrived(1, arrival(9)).unwrap();
        assert_eq!((done.asked, done.round_trip()), ("b", Some(Nanos(4))));
        assert_eq!(requests.arrived(2, arrival(9)), None);
        // The first arrival counts.
        assert_eq!(requests.arrived(2, arrival(99)), None);
        assert_eq!(requests.left(2, Nanos(3)).unwrap().round_trip(), Some(Nanos(4)));
        assert_eq!((requests.left(2, Nanos(3)), requests.len()), (None, 1));
        assert!(requests.was_asked(2) && !requests.was_asked(3));
    }

    #[test]
    fn numbers_in_any_order_are_found() {
        let mut requests = Requests::default();
        for number in [7, 3, 9, 5] {
            requests.insert(number, number, Nanos(0), Nanos(0));
        }
        let numbers: Vec<_> = requests.iter().map(|request| request.number).collect();
        assert_eq!((numbers, requests.oldest().unwrap().asked), (vec![3, 5, 7, 9], 3));
        assert_eq!(requests.extract_if(|request| request.number > 6).len(), 2);
        assert_eq!(requests.remove(3).unwrap().asked, 3);
        requests.stepped(Nanos(8));
        assert!(requests.get(5).unwrap().invalidated && requests.get(7).is_none());
    }
}
