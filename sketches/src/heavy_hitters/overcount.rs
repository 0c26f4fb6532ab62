//! The part of a count that may not belong to the flow, in 16 bits.
//!
//! A floating-point number rounded *up*: 10 bits of fraction, 6 of exponent. Exact below 1,024, and at most 1/1,024 too
//! large above, which lowers the lower bound by as little. Eight bytes would be exact, but cost a third of the flows
//! that fit in the same memory.

const FRACTION_BITS: u32 = 10;
const ONE: u64 = 1 << FRACTION_BITS;

/// Code `e · 2¹⁰ + f`: the value `f` when `e = 0`, else `(2¹⁰ + f) · 2^(e − 1)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overcount(u16);

impl Overcount {
    pub(super) const ZERO: Self = Self(0);

    /// The smallest code whose value is at least `weight`.
    pub(super) fn at_least(weight: u64) -> Self {
        if weight < ONE {
            return Self(weight as u16);
        }
        let shift = weight.ilog2() - FRACTION_BITS;
        let kept = weight >> shift;
        let rounded = kept + u64::from(kept << shift != weight);
        // The leading one adds one to the exponent; a fraction that rounds up to 2¹¹ adds another.
        Self((u64::from(shift) * ONE + rounded) as u16)
    }

    pub(super) fn get(self) -> u64 {
        let (exponent, fraction) = (u32::from(self.0 >> FRACTION_BITS), u64::from(self.0) % ONE);
        match exponent.checked_sub(1) {
            None => fraction,
            Some(shift) if shift < u64::BITS - FRACTION_BITS => (ONE + fraction) << shift,
            Some(_) => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_counts_and_powers_of_two_are_exact() {
        let powers = (0..64).map(|bit| 1 << bit);
        for weight in (0..2048).chain(powers) {
            assert_eq!(Overcount::at_least(weight).get(), weight);
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!(Overcount::at_least(2049).get(), 2050);
        assert_eq!(Overcount::at_least(4095).get(), 4096);
        assert_eq!(Overcount::at_least(u64::MAX).get(), u64::MAX);
    }

    proptest! {
        #[test]
        fn never_below_and_never_far_above(bits in 0u32..64, raw: u64) {
            let weight = raw >> bits;
            let kept = Overcount::at_least(weight).get();
            prop_assert!(weight <= kept && kept - weight <= weight / 1024 + 1);
        }
    }
}
