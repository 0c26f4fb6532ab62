//! Outstanding requests: round trips are measured from them.

use crate::connections::intake::inline_queue::InlineQueue;
use crate::connections::order::psn_tracker::{ExtendedPsn, PsnTracker};

/// The maximum number of outstanding requests, 48 bytes each; the oldest is dropped without a sample.
pub(crate) const MAX_OUTSTANDING: usize = 2_048;

/// Requests kept whose response has passed.
const MAX_SEEN: usize = 16;

/// What kind of answer a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An acknowledgement.
    Acknowledge,
    /// READ responses or an atomic acknowledgement.
    Response,
    /// None: its response has passed. It may be lost downstream of the tap and requested again.
    ResponseSeen,
}

/// A message or operation without an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutstandingRequest {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// First time of its first packet.
    pub(crate) begun_ns: u64,
    /// Last time of its last packet.
    pub(crate) sent_ns: u64,
    pub(crate) answer: Answer,
    /// The highest PSN from which a READ requested its response.
    pub(crate) asked_from: ExtendedPsn,
    /// Whether the time of its last packet is exact, and it passed once: if not, an answer may belong to either
    /// transmission (Karn's rule).
    pub(crate) unambiguous: bool,
    /// A packet up to its last one was late: the answer may follow that one.
    pub(crate) is_late: bool,
    /// An earlier packet of it was repeated: the answer waits for that one.
    pub(crate) is_repaired: bool,
    /// Its completion time has been counted.
    pub(crate) completed: bool,
}

/// The outstanding requests of a direction, by PSN.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutstandingRequests {
    requests: InlineQueue<OutstandingRequest>,
}

impl OutstandingRequests {
    /// Bytes that they have allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.requests.heap_bytes()
    }

    pub(crate) fn push(&mut self, request: OutstandingRequest) {
        if self.requests.len() >= MAX_OUTSTANDING {
            self.requests.pop_front();
        }
        if self.requests.back().is_none_or(|newest| newest.last < request.last) {
            self.requests.push_back(request);
            return;
        }
        // Reordered.
        let at = self.requests.iter().position(|other| other.last >= request.last);
        if let Some(at) = at
            && self
                .requests
                .iter()
                .nth(at)
                .is_none_or(|other| other.last > request.last)
        {
            self.requests.insert(at, request);
        }
    }

    /// PSNs `first..=last` passed again at `now_ns`.
    pub(crate) fn retransmitted(&mut self, first: ExtendedPsn, last: ExtendedPsn, now_ns: u64) {
        for request in self.requests.iter_mut() {
            if request.last >= first && request.first <= last {
                if request.last <= last {
                    request.unambiguous = false;
                    request.sent_ns = now_ns;
                } else {
                    request.is_repaired = true;
                }
                if request.answer == Answer::ResponseSeen {
                    request.answer = Answer::Response;
                }
            }
        }
    }

    /// PSNs `first..=last` passed again, though the receiver may have kept them before: an answer to what ends with one of
    /// them may belong to either copy.
    pub(crate) fn repeated(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        for request in self.requests.iter_mut() {
            request.unambiguous &= !(first..=last).contains(&request.last);
        }
    }

    /// A copy of PSNs `first..=last` passed that the network or the mirror made: an answer may follow either.
    pub(crate) fn copied(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        for request in self.requests.iter_mut() {
            let timed = match request.answer {
                Answer::Acknowledge => request.last,
                Answer::Response | Answer::ResponseSeen => request.asked_from,
            };
            request.unambiguous &= !(first..=last).contains(&timed);
        }
    }

    /// A late packet, `psn`, passed at `now_ns`: only now the receiver can acknowledge what follows.
    pub(crate) fn completed_by(&mut self, psn: ExtendedPsn, now_ns: u64) {
        for request in self.requests.iter_mut().filter(|request| request.last >= psn) {
            request.sent_ns = request.sent_ns.max(now_ns);
            request.is_late = true;
        }
    }

    /// The sender went back to `first` on its own: an answer may belong to the first transmission or to this one.
    pub(crate) fn mark_ambiguous(&mut self, first: ExtendedPsn) {
        for request in self.requests.iter_mut() {
            request.unambiguous &= request.last < first;
        }
    }

    /// The READ at `first` uses PSNs up to `last`: the path MTU is now known.
    pub(crate) fn extend(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        if let Some(request) = self.requests.iter_mut().find(|r| r.first == first) {
            request.last = request.last.max(last);
        }
    }

    /// A READ requests its response from `psn` on. Returns whether one did so before.
    pub(crate) fn read_from(&mut self, psn: ExtendedPsn) -> bool {
        let holds = |request: &&mut OutstandingRequest| {
            request.answer != Answer::Acknowledge && (request.first..=request.last).contains(&psn)
        };
        let Some(request) = self.requests.iter_mut().find(holds) else {
            return true;
        };
        let before = psn <= request.asked_from;
        request.asked_from = request.asked_from.max(psn);
        before
    }

    /// The number of these PSNs that only responses use: each READ request uses one itself.
    pub(crate) fn asked_for(&self, first: ExtendedPsn, last: ExtendedPsn) -> u64 {
        let reads = self.requests.iter();
        let reads = reads.filter(|request| request.answer != Answer::Acknowledge);
        let within = reads.map(|read| {
            let from = first.max(read.first + 1);
            (last.min(read.last) + 1).saturating_sub(from)
        });
        within.sum()
    }

    /// When the request with `psn` last passed.
    pub(crate) fn sent_ns(&self, psn: ExtendedPsn) -> Option<u64> {
        let holds = |request: &&OutstandingRequest| (request.first..=request.last).contains(&psn);
        self.requests.iter().find(holds).map(|request| request.sent_ns)
    }

    /// Everything up to `psn` is answered: returns and removes the answered requests. Only its complete response
    /// answers a READ or atomic: `response` has the PSN at which the last response began, and the responses that passed.
    pub(crate) fn answered(
        &mut self,
        psn: ExtendedPsn,
        response: Option<(ExtendedPsn, &PsnTracker)>,
        mut done: impl FnMut(&OutstandingRequest),
    ) {
        while let Some(request) = self
            .requests
            .front()
            .filter(|front| front.last <= psn && front.answer == Answer::Acknowledge)
        {
            done(request);
            self.requests.pop_front();
        }
        if self.requests.front().is_some_and(|front| front.last <= psn) {
            self.answered_among(psn, response, done);
        }
    }

    /// The same if a READ or atomic is first.
    fn answered_among(
        &mut self,
        psn: ExtendedPsn,
        response: Option<(ExtendedPsn, &PsnTracker)>,
        mut done: impl FnMut(&OutstandingRequest),
    ) {
        let mut passed = 0;
        for _ in 0..self.requests.len() {
            let Some(mut request) = self.requests.pop_front() else {
                break;
            };
            let is_all_here = |(first, responses): (ExtendedPsn, &PsnTracker)| {
                request.last >= first && !responses.misses(request.first, request.last)
            };
            let is_done = request.last <= psn
                && match request.answer {
                    Answer::Acknowledge => true,
                    Answer::Response => response.is_some_and(is_all_here),
                    Answer::ResponseSeen => false,
                };
            if is_done && !request.completed {
                done(&request);
            }
            if is_done && request.answer == Answer::Acknowledge {
                continue;
            }
            if is_done {
                (request.answer, request.completed) = (Answer::ResponseSeen, true);
            }
            passed += usize::from(request.answer == Answer::ResponseSeen);
            self.requests.push_back(request);
        }
        while passed > MAX_SEEN
            && self
                .requests
                .front()
                .is_some_and(|front| front.answer == Answer::ResponseSeen)
        {
            self.requests.pop_front();
            passed -= 1;
        }
    }

    /// The READ or atomic that begins at `psn`.
    pub(crate) fn response_at(&mut self, psn: ExtendedPsn) -> Option<&mut OutstandingRequest> {
        self.requests
            .iter_mut()
            .find(|request| request.first == psn && request.answer == Answer::Response)
    }

    /// The first PSN of the READ or atomic whose response has `psn`.
    pub(crate) fn response_of(&self, psn: ExtendedPsn) -> Option<ExtendedPsn> {
        let mut requests = self.requests.iter();
        let holds = |request: &&OutstandingRequest| {
            request.answer == Answer::Response && (request.first..=request.last).contains(&psn)
        };
        requests.find(holds).map(|request| request.first)
    }

    /// Whether the READ or atomic at `psn` uses PSNs up to `last`.
    pub(crate) fn responds_until(&self, psn: ExtendedPsn, last: ExtendedPsn) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.answer != Answer::Acknowledge && request.first <= psn && request.last == last)
    }

    /// Whether a READ that began before `psn` uses it.
    pub(crate) fn begins_before(&self, psn: ExtendedPsn) -> bool {
        let mut requests = self.requests.iter();
        requests.any(|request| request.answer != Answer::Acknowledge && request.first < psn && psn <= request.last)
    }

    /// Whether a READ or atomic waits for a response with one of these PSNs.
    pub(crate) fn expects_response(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.requests
            .iter()
            .any(|request| request.answer == Answer::Response && request.first <= last && request.last >= first)
    }

    /// Whether a READ or atomic, also one whose response has passed, uses one of these PSNs.
    pub(crate) fn requests_response(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.requests
            .iter()
            .any(|request| request.answer != Answer::Acknowledge && request.first <= last && request.last >= first)
    }

    /// Whether it is empty, also of requests whose response has passed.
    pub(crate) const fn keeps_none(&self) -> bool {
        self.requests.len() == 0
    }

    /// Whether no request waits for its answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests
            .iter()
            .all(|request| request.answer == Answer::ResponseSeen)
    }
}
