//! Requests whose answer has not passed yet: what round trips are measured from.

use super::inline_queue::InlineQueue;
use super::psn_tracker::{ExtendedPsn, PsnRanges};

/// Outstanding requests at most, 40 bytes each; the oldest gives way and gives no sample.
const MAX_OUTSTANDING: usize = 64;

/// Requests kept whose response has passed.
const MAX_SEEN: usize = 8;

/// What kind of answer a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An acknowledgement.
    Acknowledge,
    /// READ responses or an atomic acknowledgement.
    Response,
    /// None: its response has passed. It may have been lost downstream of the tap, and be asked for again.
    ResponseSeen,
}

/// A message or operation on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutstandingRequest {
    pub(crate) first: ExtendedPsn,
    pub(crate) last: ExtendedPsn,
    /// When its first packet passed first.
    pub(crate) begun_ns: u64,
    /// When its last packet passed last.
    pub(crate) sent_ns: u64,
    pub(crate) answer: Answer,
    /// The highest PSN from which a READ asked for its response.
    pub(crate) asked_from: ExtendedPsn,
    /// Whether the time of its last packet is exact, and it passed once: else an answer cannot be
    /// told to be the first one's or the second's (Karn's rule).
    pub(crate) unambiguous: bool,
    /// Its completion time has been counted.
    pub(crate) completed: bool,
}

/// The requests of a direction that wait, in the order of their PSNs.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutstandingRequests {
    requests: InlineQueue<OutstandingRequest>,
}

impl OutstandingRequests {
    pub(crate) fn push(&mut self, request: OutstandingRequest) {
        if self
            .requests
            .back()
            .is_some_and(|newest| newest.last >= request.last)
        {
            // Reordered: rare, and not worth sorting.
            return;
        }
        if self.requests.len() >= MAX_OUTSTANDING {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }

    /// PSNs `first..=last` passed again at `now_ns`.
    pub(crate) fn retransmitted(&mut self, first: ExtendedPsn, last: ExtendedPsn, now_ns: u64) {
        for request in self.requests.iter_mut() {
            if request.last >= first && request.first <= last {
                request.unambiguous &= request.last > last;
                request.sent_ns = now_ns;
                if request.answer == Answer::ResponseSeen {
                    request.answer = Answer::Response;
                }
            }
        }
    }

    /// The sender went back to `first` of its own: an answer for what follows may be for what was
    /// sent before or for what is sent now.
    pub(crate) fn mark_ambiguous(&mut self, first: ExtendedPsn) {
        for request in self.requests.iter_mut() {
            request.unambiguous &= request.last < first;
        }
    }

    /// The READ at `first` takes PSNs up to `last`, as the path MTU tells now.
    pub(crate) fn extend(&mut self, first: ExtendedPsn, last: ExtendedPsn) {
        if let Some(request) = self.requests.iter_mut().find(|r| r.first == first) {
            request.last = request.last.max(last);
        }
    }

    /// A READ asks for its response from `psn` on. Whether one had asked from there before.
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

    /// How many of these PSNs are those of responses alone: each READ has one of its own.
    pub(crate) fn asked_for(&self, first: ExtendedPsn, last: ExtendedPsn) -> u64 {
        let reads = self.requests.iter();
        let reads = reads.filter(|request| request.answer != Answer::Acknowledge);
        let within = reads.map(|read| {
            let from = first.max(read.first + 1);
            (last.min(read.last) + 1).saturating_sub(from)
        });
        within.sum()
    }

    /// When the request that holds `psn` passed last.
    pub(crate) fn sent_ns(&self, psn: ExtendedPsn) -> Option<u64> {
        let holds = |request: &&OutstandingRequest| (request.first..=request.last).contains(&psn);
        self.requests
            .iter()
            .find(holds)
            .map(|request| request.sent_ns)
    }

    /// All up to `psn` is answered: hands out and forgets the requests that are. A READ or atomic
    /// is answered by its response alone, and by all of it: `response` tells what PSN the last one
    /// began with, and which did not pass.
    pub(crate) fn answered(
        &mut self,
        psn: ExtendedPsn,
        response: Option<(ExtendedPsn, &PsnRanges)>,
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

    /// The same where a READ or atomic waits in front.
    fn answered_among(
        &mut self,
        psn: ExtendedPsn,
        response: Option<(ExtendedPsn, &PsnRanges)>,
        mut done: impl FnMut(&OutstandingRequest),
    ) {
        let mut passed = 0;
        for _ in 0..self.requests.len() {
            let Some(mut request) = self.requests.pop_front() else {
                break;
            };
            let is_all_here = |(first, missing): (ExtendedPsn, &PsnRanges)| {
                let overlaps = |(from, to): &(ExtendedPsn, ExtendedPsn)| {
                    *from <= request.last && *to >= request.first
                };
                request.last >= first && !missing.ranges().iter().any(overlaps)
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

    /// The first PSN of the READ or atomic whose response holds `psn`.
    pub(crate) fn response_of(&self, psn: ExtendedPsn) -> Option<ExtendedPsn> {
        let mut requests = self.requests.iter();
        let holds = |request: &&OutstandingRequest| {
            request.answer == Answer::Response && (request.first..=request.last).contains(&psn)
        };
        requests.find(holds).map(|request| request.first)
    }

    /// Whether a READ or atomic waits for a response with one of these PSNs.
    pub(crate) fn expects_response(&self, first: ExtendedPsn, last: ExtendedPsn) -> bool {
        self.requests.iter().any(|request| {
            request.answer == Answer::Response && request.first <= last && request.last >= first
        })
    }

    /// Whether it keeps none, not even one whose response has passed.
    pub(crate) const fn keeps_none(&self) -> bool {
        self.requests.len() == 0
    }

    /// Whether none waits for its answer.
    pub(crate) fn is_empty(&self) -> bool {
        self.requests
            .iter()
            .all(|request| request.answer == Answer::ResponseSeen)
    }
}
