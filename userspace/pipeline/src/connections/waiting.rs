//! Requests whose answer has not passed yet: what round trips are measured from.

use super::few::Few;
use super::sequence::Place;

/// Requests that wait at most, 40 bytes each; the oldest gives way and gives no sample.
const MOST_WAITING: usize = 64;

/// What kind of answer a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// An acknowledgement.
    Acknowledge,
    /// READ responses or an atomic acknowledgement.
    Response,
}

/// A message or operation on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) first: Place,
    pub(crate) last: Place,
    /// When its first packet passed first.
    pub(crate) begun_ns: u64,
    /// When its last packet passed last.
    pub(crate) sent_ns: u64,
    pub(crate) answer: Answer,
    /// Whether the time of its last packet is exact, and it passed once: else an answer cannot be
    /// told to be the first one's or the second's (Karn's rule).
    pub(crate) clear: bool,
}

/// The requests of a direction that wait, in the order of their PSNs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    requests: Few<Request>,
}

impl Waiting {
    pub(crate) fn push(&mut self, request: Request) {
        if self
            .requests
            .back()
            .is_some_and(|newest| newest.last >= request.last)
        {
            // Overtaken: seldom, and not worth a sorted place.
            return;
        }
        if self.requests.len() >= MOST_WAITING {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }

    /// PSNs `first..=last` passed again at `now_ns`.
    pub(crate) fn again(&mut self, first: Place, last: Place, now_ns: u64) {
        for request in self.requests.iter_mut() {
            if request.last >= first && request.first <= last {
                request.clear = false;
                request.sent_ns = now_ns;
            }
        }
    }

    /// When the request that holds `place` passed last.
    pub(crate) fn sent_ns(&self, place: Place) -> Option<u64> {
        let holds = |request: &&Request| (request.first..=request.last).contains(&place);
        self.requests
            .iter()
            .find(holds)
            .map(|request| request.sent_ns)
    }

    /// All up to `place` is answered: hands out and forgets the requests that are.
    pub(crate) fn answered(&mut self, place: Place, mut done: impl FnMut(&Request)) {
        while let Some(request) = self
            .requests
            .front()
            .filter(|request| request.last <= place)
        {
            done(request);
            self.requests.pop_front();
        }
    }

    /// The READ or atomic that begins at `place`.
    pub(crate) fn response_at(&mut self, place: Place) -> Option<&mut Request> {
        self.requests
            .iter_mut()
            .find(|request| request.first == place && request.answer == Answer::Response)
    }

    /// Whether a READ or atomic waits for a response with one of these PSNs.
    pub(crate) fn expects_response(&self, first: Place, last: Place) -> bool {
        self.requests.iter().any(|request| {
            request.answer == Answer::Response && request.first <= last && request.last >= first
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}
