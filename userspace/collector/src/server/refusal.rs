//! What the collector refuses: counted by reason, and reported without flooding the log.

use super::settings::StatusSink;
use rocescope_model::human::visible;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A reason is reported at most once in this time, with a count of those in between.
const QUIET: Duration = Duration::from_secs(10);

macro_rules! refusals {
    ($($(#[doc = $help:literal])+ $reason:ident = $name:literal;)+) => {
        /// Why a peer or a parcel was refused.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Refusal {$($(#[doc = $help])+ $reason,)+}

        impl Refusal {
            /// Every reason.
            pub const ALL: &[Self] = &[$(Self::$reason),+];

            /// The reason as a key.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {$(Self::$reason => $name,)+}
            }
        }
    };
}

refusals! {
    /// Too many simultaneous handshakes, in total or from one address.
    TooManyHandshakes = "too_many_handshakes";
    /// The handshake exceeded its time limit.
    SlowHandshake = "slow_handshake";
    /// The TLS handshake failed, or the peer does not speak TLS.
    NoTls = "no_tls";
    /// The peer showed no certificate.
    NoCertificate = "no_certificate";
    /// The collector's authority did not sign the peer's certificate, or it has expired.
    WrongCertificate = "wrong_certificate";
    /// The certificate has no DNS name.
    NoName = "no_name";
    /// Too many connections of operators, or of one certificate that is no operator's.
    TooManyOperators = "too_many_operators";
    /// Too many simultaneous agents.
    TooManyAgents = "too_many_agents";
    /// A newer connection of the same agent replaced this one.
    Replaced = "replaced";
    /// The peer opened no stream in time.
    Idle = "idle";
    /// The peer does not speak HTTP/2 or Flight.
    Protocol = "protocol";
    /// A message exceeds the size limit.
    TooLarge = "message_too_large";
    /// Rows or a label name another agent than the certificate does.
    OtherAgent = "other_agent";
    /// A parcel is not a batch of rows of a table that agents write, or a name in it has control characters.
    Unfit = "unfit_parcel";
    /// Rows are dated further ahead of the collector's clock than clocks differ.
    DatedAhead = "dated_ahead";
    /// A certificate that is not an operator's asked for a change of the configuration.
    NotOperator = "not_operator";
}

/// Counts of refusals.
pub struct Refusals {
    counts: Vec<AtomicU64>,
    /// When each reason was last reported, and its count then.
    reported: Mutex<Vec<Option<(Instant, u64)>>>,
    status: StatusSink,
}

impl Refusals {
    pub(crate) fn new(status: StatusSink) -> Self {
        Self {
            counts: Refusal::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
            reported: Mutex::new(vec![None; Refusal::ALL.len()]),
            status,
        }
    }

    /// Counts a refusal, and reports it unless its reason was reported a moment ago.
    pub(crate) fn count(&self, refusal: Refusal, who: &dyn fmt::Display, why: &str) {
        let at = refusal as usize;
        let Some(counter) = self.counts.get(at) else {
            return;
        };
        let count = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = reported.get_mut(at) else {
            return;
        };
        let now = Instant::now();
        let before = match last {
            Some((when, _)) if now.duration_since(*when) < QUIET => return,
            Some((_, before)) => *before,
            None => 0,
        };
        *last = Some((now, count));
        drop(reported);
        let more = match count - before {
            1 => String::new(),
            like => format!(" (and {} more)", like - 1),
        };
        // Names and messages of peers are part of it.
        (self.status)(&visible(&format!("refused {who}: {why}{more}")));
    }

    /// The count of every reason that occurred.
    pub(crate) fn counts(&self) -> Vec<(Refusal, u64)> {
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let all = Refusal::ALL.iter().copied().zip(counts);
        all.filter(|(_, count)| *count > 0).collect()
    }
}

impl fmt::Debug for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.counts()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Refusal, Refusals};
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_flood_is_counted_and_reported_once() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&lines);
        let status = Arc::new(move |line: &str| theirs.lock().unwrap().push(line.to_owned()));
        let refusals = Refusals::new(status);
        for _ in 0..1000 {
            refusals.count(Refusal::NoTls, &"192.0.2.1", "no TLS");
        }
        refusals.count(Refusal::NoName, &"192.0.2.1", "no name");
        let expected = [(Refusal::NoTls, 1000), (Refusal::NoName, 1)];
        assert_eq!(refusals.counts(), expected);
        let lines = lines.lock().unwrap();
        assert_eq!(*lines, ["refused 192.0.2.1: no TLS", "refused 192.0.2.1: no name"]);
    }

    /// A peer wrote lines of its own into the log.
    #[test]
    fn text_of_a_peer_stays_in_its_line() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&lines);
        let refusals = Refusals::new(Arc::new(move |line: &str| theirs.lock().unwrap().push(line.to_owned())));
        refusals.count(Refusal::Unfit, &"192.0.2.1", "column a\ncollecting\u{1b}[2J\r");
        let lines = lines.lock().unwrap();
        assert_eq!(
            *lines,
            ["refused 192.0.2.1: column a\u{fffd}collecting\u{fffd}[2J\u{fffd}"]
        );
    }
}
