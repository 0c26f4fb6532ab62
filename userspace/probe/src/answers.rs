//! Limits how often a switch has to answer: a rate per address.

use crate::types::Nanos;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The answers that each address may still give: one token bucket per address.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    per_second: f64,
    buckets: BTreeMap<IpAddr, Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Nanos,
}

impl Answers {
    pub(crate) const fn new(per_second: f64) -> Self {
        Self {
            per_second,
            buckets: BTreeMap::new(),
        }
    }

    /// Whether an address may be asked again.
    pub(crate) fn may(&self, address: IpAddr, now: Nanos) -> bool {
        let bucket = self.buckets.get(&address);
        bucket.is_none_or(|bucket| self.filled(*bucket, now) >= 1.0)
    }

    /// Records an answer of an address.
    pub(crate) fn given(&mut self, address: IpAddr, at: Nanos) {
        let tokens = self.burst();
        let bucket = self.buckets.get(&address).copied();
        let bucket = bucket.unwrap_or(Bucket { tokens, at });
        let tokens = self.filled(bucket, at) - 1.0;
        let at = bucket.at.max(at);
        self.buckets.insert(address, Bucket { tokens, at });
    }

    /// The clock was set.
    pub(crate) fn stepped(&mut self, by: Nanos) {
        for bucket in self.buckets.values_mut() {
            bucket.at = bucket.at + by;
        }
    }

    /// The answers of one second may come at once, at least one.
    const fn burst(&self) -> f64 {
        self.per_second.max(1.0)
    }

    fn filled(&self, bucket: Bucket, now: Nanos) -> f64 {
        let passed = (now - bucket.at).0.max(0) as f64 / 1e9;
        (bucket.tokens + passed * self.per_second).min(self.burst())
    }
}

#[cfg(test)]
mod tests {
    use super::Answers;
    use crate::types::Nanos;

    #[test]
    fn an_address_may_give_one_second_of_answers_at_once_and_then_at_the_rate() {
        let (one, other) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let second = 1_000_000_000;
        let mut answers = Answers::new(2.0);
        for _ in 0..2 {
            assert!(answers.may(one, Nanos(0)));
            answers.given(one, Nanos(0));
        }
        assert!(!answers.may(one, Nanos(second / 2 - 1)));
        assert!(answers.may(one, Nanos(second / 2)));
        assert!(answers.may(other, Nanos(0)));
        // The clock is set back an hour: the limit does not wait for it.
        answers.stepped(Nanos(-3_600 * second));
        assert!(answers.may(one, Nanos(-3_600 * second + second / 2)));
    }
}
