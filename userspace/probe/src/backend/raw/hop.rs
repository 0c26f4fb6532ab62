//! What is known about a next hop.

use super::next_hop::Resolved;
use crate::types::{Nanos, Refusal};

/// A neighbour that has not answered for this long does not answer: the kernel asks three times, once a second.
const PATIENCE: Nanos = Nanos(3_000_000_000);

/// What is known about a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    /// Not looked up yet.
    Unknown,
    /// Asked since this instant, without an answer.
    Asked { since: Nanos },
    /// Its MAC address.
    At([u8; 6]),
    /// It does not answer.
    Silent,
    /// There is no route.
    NoRoute,
}

impl Hop {
    /// The state after another lookup.
    pub(super) fn after(self, found: Resolved, now: Nanos) -> Self {
        match (found, self) {
            (Resolved::At(mac), _) => Self::At(mac),
            (Resolved::NoRoute, _) => Self::NoRoute,
            // Keep the old address: only sending shows whether it still works.
            (Resolved::Asked, Self::At(_) | Self::Silent) => self,
            (Resolved::Asked, Self::Asked { since }) if now - since >= PATIENCE => Self::Silent,
            // The clock was set back.
            (Resolved::Asked, Self::Asked { since }) if now >= since => self,
            (Resolved::Asked, _) => Self::Asked { since: now },
        }
    }

    /// Its MAC address, or why there is none.
    pub(super) const fn mac(self) -> Result<[u8; 6], Refusal> {
        match self {
            Self::At(mac) => Ok(mac),
            Self::Unknown | Self::Asked { .. } => Err(Refusal::Resolving),
            Self::Silent => Err(Refusal::Unreachable),
            Self::NoRoute => Err(Refusal::NoRoute),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A neighbour that has just been asked is not one that does not answer: probes to it are evidence of nothing.
    #[test]
    fn a_next_hop_is_silent_only_after_the_kernel_has_asked_three_times() {
        let at = |ms: i64| Nanos(ms * 1_000_000);
        let asked = Hop::Unknown.after(Resolved::Asked, at(0));
        assert_eq!(asked.mac(), Err(Refusal::Resolving));
        let still = asked.after(Resolved::Asked, at(2_999));
        assert_eq!(still.mac(), Err(Refusal::Resolving));
        let silent = still.after(Resolved::Asked, at(3_000));
        assert_eq!(silent.mac(), Err(Refusal::Unreachable));
        assert_eq!(silent.after(Resolved::Asked, at(3_001)), silent);
        assert_eq!(silent.after(Resolved::At([1; 6]), at(3_002)).mac(), Ok([1; 6]));
        // An address that was known stays in use, whatever the neighbour table has.
        let known = Hop::At([1; 6]).after(Resolved::Asked, at(9_000));
        assert_eq!(known.mac(), Ok([1; 6]));
        assert_eq!(known.after(Resolved::NoRoute, at(9_000)).mac(), Err(Refusal::NoRoute));
        // The clock went back: the wait begins again.
        let back = asked.after(Resolved::Asked, at(-10_000));
        assert_eq!(back.after(Resolved::Asked, at(-7_001)).mac(), Err(Refusal::Resolving));
        assert_eq!(back.after(Resolved::Asked, at(-7_000)).mac(), Err(Refusal::Unreachable));
    }
}
