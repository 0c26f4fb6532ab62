//! How often a switch is asked for an answer: so many a second of any one address.

use crate::types::Nanos;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What each address may still answer; a token bucket an address.
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

    /// Whether an address may be asked once more.
    pub(crate) fn may(&self, address: IpAddr, now: Nanos) -> bool {
        let bucket = self.buckets.get(&address);
        bucket.is_none_or(|bucket| self.filled(*bucket, now) >= 1.0)
    }

    /// An address answered.
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

    /// A second's answers may come at once, one at least.
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
    fn an_address_may_be_asked_for_a_second_of_answers_at_once_and_then_in_step() {
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
        // The clock goes back an hour: nobody has to wait for it.
        answers.stepped(Nanos(-3_600 * second));
        assert!(answers.may(one, Nanos(-3_600 * second + second / 2)));
    }
}
