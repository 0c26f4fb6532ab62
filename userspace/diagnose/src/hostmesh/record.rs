//! A probe in 16 bytes, and a window of them.

use alloc::vec::Vec;

/// The outcome of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProbeOutcome {
    Received,
    Timeout,
    Corrupt,
    Unsent(Unsent),
    /// A probe to another host without an answer, of which no one reported whether it arrived: evidence of nothing.
    Unknown,
}

/// What an unsent probe is evidence about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// Nothing: the queue was full, the next hop was being asked, or the row does not give the reason.
    Nothing,
    /// The NIC that should have sent it.
    Sender,
    /// Either NIC: the next hop between them does not answer.
    Either,
}

impl Unsent {
    /// Parses a reason of `probes.unsent_reason`.
    pub(crate) fn parse(reason: Option<&str>) -> Self {
        match reason {
            Some("nic_down" | "no_route") => Self::Sender,
            Some("no_next_hop") => Self::Either,
            _ => Self::Nothing,
        }
    }
}

impl ProbeOutcome {
    /// Parses the outcome of a row, and the reason of one that was not sent; `None` if it is unknown.
    pub(crate) fn parse(outcome: &str, unsent_reason: Option<&str>) -> Option<Self> {
        Some(match outcome {
            "received" => Self::Received,
            "timeout" => Self::Timeout,
            "corrupt" => Self::Corrupt,
            "unsent" => Self::Unsent(Unsent::parse(unsent_reason)),
            "unknown" => Self::Unknown,
            _ => return None,
        })
    }

    /// Whether the paper counts it as a timeout: sent, and not received intact.
    pub(crate) const fn is_drop(self) -> bool {
        matches!(self, Self::Timeout | Self::Corrupt)
    }
}

/// One probe: the number of its 5-tuple, microseconds since the start of the window with the outcome in the two upper
/// bits, and the measured times, or for a probe that was not sent its reason. 16 million of them take 256 MB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) tuple: u32,
    at: u32,
    network: i32,
    processing: i32,
}

/// No measurement.
const NONE: i32 = i32::MIN;
/// Reasons in the place of a latency.
const SENDER: i32 = 1;
const EITHER: i32 = 2;
const UNKNOWN: i32 = 3;
/// In the place of a host delay: the receiving host reports this probe, which has no times.
const OF_RECEIVER: i32 = i32::MIN + 1;

impl Record {
    pub(crate) fn new(
        tuple: u32,
        offset_ns: i64,
        outcome: ProbeOutcome,
        network_ns: Option<i64>,
        processing_ns: Option<i64>,
    ) -> Self {
        let micros = u32::try_from(offset_ns / 1_000).unwrap_or(0) & (u32::MAX >> 2);
        // Two seconds are longer than any timeout; longer times saturate.
        let short = |ns: i64| i32::try_from(ns.clamp(-SATURATED, SATURATED)).unwrap_or(NONE);
        let network = network_ns.map_or(NONE, short);
        let (outcome, network) = match outcome {
            ProbeOutcome::Received => (0, network),
            ProbeOutcome::Timeout => (1, network),
            ProbeOutcome::Corrupt => (2, network),
            ProbeOutcome::Unsent(Unsent::Nothing) => (UNSENT, NONE),
            ProbeOutcome::Unsent(Unsent::Sender) => (UNSENT, SENDER),
            ProbeOutcome::Unsent(Unsent::Either) => (UNSENT, EITHER),
            ProbeOutcome::Unknown => (UNSENT, UNKNOWN),
        };
        Self {
            tuple,
            at: outcome << 30 | micros,
            network,
            processing: processing_ns.map_or(NONE, short),
        }
    }

    /// The same, reported by the host that should have received it.
    pub(crate) const fn of_receiver(self) -> Self {
        Self {
            network: match self.at >> 30 {
                UNSENT => self.network,
                _ => NONE,
            },
            processing: OF_RECEIVER,
            ..self
        }
    }

    /// Whether the sending host reports it: only such a probe shows that its agent runs.
    pub(crate) const fn is_of_sender(self) -> bool {
        let has_times = self.network != NONE && self.at >> 30 != UNSENT;
        self.processing != OF_RECEIVER || has_times
    }

    pub(crate) const fn outcome(self) -> ProbeOutcome {
        match self.at >> 30 {
            0 => ProbeOutcome::Received,
            1 => ProbeOutcome::Timeout,
            2 => ProbeOutcome::Corrupt,
            _ if self.network == UNKNOWN => ProbeOutcome::Unknown,
            _ => ProbeOutcome::Unsent(match self.network {
                SENDER => Unsent::Sender,
                EITHER => Unsent::Either,
                _ => Unsent::Nothing,
            }),
        }
    }

    /// The time since the start of the window, to the microsecond.
    pub(crate) fn offset_ns(self) -> i64 {
        i64::from(self.at & (u32::MAX >> 2)) * 1_000
    }

    pub(crate) fn network_ns(self) -> Option<i32> {
        Some(self.network).filter(|ns| *ns != NONE && self.at >> 30 != UNSENT)
    }

    pub(crate) fn processing_ns(self) -> Option<i32> {
        Some(self.processing).filter(|ns| *ns != NONE && self.is_of_sender())
    }
}

const SATURATED: i64 = i32::MAX as i64;
/// The outcome bits of a probe that was not sent.
const UNSENT: u32 = 3;

/// The probes of a window that is still open.
#[derive(Debug, Default)]
pub(crate) struct Window {
    pub(crate) records: Vec<Record>,
    pub(crate) clock_error_ns: i64,
}

/// Returns the smallest value that at least this share of all values does not exceed; exact. Reorders the values.
pub(crate) fn quantile(values: &mut [i32], share: f64) -> Option<i32> {
    let last = values.len().checked_sub(1)?;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rank of at most 2^32 values is exact in an f64"
    )]
    let rank = libm::ceil(share * values.len() as f64 - 1e-9) as usize;
    let (_, value, _) = values.select_nth_unstable(rank.saturating_sub(1).min(last));
    Some(*value)
}

#[cfg(test)]
mod tests {
    use super::{ProbeOutcome, Record, Unsent, quantile};
    use std::vec::Vec;

    #[test]
    fn a_record_returns_its_values() {
        assert_eq!(size_of::<Record>(), 16);
        for outcome in [ProbeOutcome::Received, ProbeOutcome::Timeout, ProbeOutcome::Corrupt] {
            let record = Record::new(7, 19_999_999_999, outcome, Some(-3), None);
            assert_eq!((record.tuple, record.outcome()), (7, outcome));
            assert_eq!(record.offset_ns(), 19_999_999_000);
            assert_eq!((record.network_ns(), record.processing_ns()), (Some(-3), None));
        }
        for unsent in [Unsent::Nothing, Unsent::Sender, Unsent::Either] {
            let record = Record::new(7, 5_000, ProbeOutcome::Unsent(unsent), None, None);
            assert_eq!(record.outcome(), ProbeOutcome::Unsent(unsent));
            assert_eq!((record.offset_ns(), record.network_ns()), (5_000, None));
        }
        let unknown = Record::new(7, 5_000, ProbeOutcome::Unknown, None, None);
        assert_eq!((unknown.outcome(), unknown.network_ns()), (ProbeOutcome::Unknown, None));
        assert!(unknown.is_of_sender());
        for outcome in [ProbeOutcome::Received, ProbeOutcome::Timeout] {
            let back = Record::new(7, 5_000, outcome, None, None).of_receiver();
            assert_eq!(
                (back.outcome(), back.is_of_sender(), back.processing_ns()),
                (outcome, false, None)
            );
        }
        let long = Record::new(0, 0, ProbeOutcome::Received, Some(1 << 40), Some(-(1 << 40)));
        assert_eq!(long.network_ns(), Some(i32::MAX));
        assert_eq!((long.processing_ns(), long.is_of_sender()), (Some(-i32::MAX), true));
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let mut values: Vec<i32> = (1..=1000).rev().collect();
        let found = [0.5, 0.9, 0.99, 0.999, 1.0].map(|share| quantile(&mut values, share));
        assert_eq!(found, [500, 900, 990, 999, 1000].map(Some));
        assert_eq!(quantile(&mut [5], 0.001), Some(5));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
