//! Who and what the collector refuses: counted by reason, and told without flooding whoever listens.

use super::settings::Tell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A reason is told again after this time, with how often it was met meanwhile.
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
    /// More handshakes at once than there may be, in all or from one address.
    Crowd = "too_many_handshakes";
    /// The handshake did not end in time.
    SlowHandshake = "slow_handshake";
    /// What came was no TLS handshake, or one that cannot be agreed on.
    NoTls = "no_tls";
    /// The peer showed no certificate.
    NoCertificate = "no_certificate";
    /// The peer's certificate is not of the collector's authority, or has run out.
    WrongCertificate = "wrong_certificate";
    /// There is no DNS name in the certificate.
    NoName = "no_name";
    /// More agents at once than there may be.
    TooManyAgents = "too_many_agents";
    /// The agent is connected already; its newer connection takes the place of the older.
    Replaced = "replaced";
    /// The peer did not begin to send in time.
    Idle = "idle";
    /// What came was not HTTP/2, or not Flight.
    Protocol = "protocol";
    /// A message was, or said it was, longer than it may be.
    TooLarge = "message_too_large";
    /// Rows or a label of another agent than the certificate's.
    OtherAgent = "other_agent";
    /// A parcel that is no batch of rows, or not of a table that agents have.
    Unfit = "unfit_parcel";
}

/// How often what was refused.
pub struct Refusals {
    counts: Vec<AtomicU64>,
    /// When each reason was told last, and its count then.
    told: Mutex<Vec<Option<(Instant, u64)>>>,
    tell: Tell,
}

impl Refusals {
    pub(crate) fn new(tell: Tell) -> Self {
        Self {
            counts: Refusal::ALL.iter().map(|_| AtomicU64::new(0)).collect(),
            told: Mutex::new(vec![None; Refusal::ALL.len()]),
            tell,
        }
    }

    /// Counts it, and says it unless its like was said a moment ago.
    pub(crate) fn count(&self, refusal: Refusal, who: &dyn fmt::Display, why: &str) {
        let at = refusal as usize;
        let Some(counter) = self.counts.get(at) else {
            return;
        };
        let count = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(last) = told.get_mut(at) else { return };
        let now = Instant::now();
        let before = match last {
            Some((when, _)) if now.duration_since(*when) < QUIET => return,
            Some((_, before)) => *before,
            None => 0,
        };
        *last = Some((now, count));
        drop(told);
        let more = match count - before {
            1 => String::new(),
            like => format!(" (and {} like it)", like - 1),
        };
        (self.tell)(&format!("refused {who}: {why}{more}"));
    }

    /// Every reason that was met, with how often.
    pub(crate) fn counts(&self) -> Vec<(Refusal, u64)> {
        let counts = self
            .counts
            .iter()
            .map(|count| count.load(Ordering::Relaxed));
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
    fn a_flood_is_counted_and_told_once() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&lines);
        let tell = Arc::new(move |line: &str| theirs.lock().unwrap().push(line.to_owned()));
        let refusals = Refusals::new(tell);
        for _ in 0..1000 {
            refusals.count(Refusal::NoTls, &"192.0.2.1", "no TLS");
        }
        refusals.count(Refusal::NoName, &"192.0.2.1", "no name");
        let expected = [(Refusal::NoTls, 1000), (Refusal::NoName, 1)];
        assert_eq!(refusals.counts(), expected);
        let lines = lines.lock().unwrap();
        assert_eq!(
            *lines,
            ["refused 192.0.2.1: no TLS", "refused 192.0.2.1: no name"]
        );
    }
}
