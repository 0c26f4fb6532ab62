//! Numbers that must not be mixed: packet sequence numbers and queue pair numbers.

use core::fmt;

/// A packet sequence number: 24 bits, modulo 2^24 (IBTA volume 1, 9.2.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Psn(u32);

impl Psn {
    /// The number of PSNs: 2^24.
    pub const MODULUS: u32 = 1 << 24;

    /// The PSN whose low 24 bits are those of `value`.
    #[must_use]
    #[inline(always)]
    pub const fn new(value: u32) -> Self {
        Self(value & (Self::MODULUS - 1))
    }

    /// As a plain number below 2^24.
    #[must_use]
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The PSN `count` after this one.
    #[must_use]
    #[inline(always)]
    pub const fn plus(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// The distance of this PSN after `earlier`, in 0..2^24. A value of 2^23 or more means that it is
    /// before it (IBTA volume 1, 9.7.1: the valid and the duplicate half of the PSN space).
    #[must_use]
    #[inline(always)]
    pub const fn distance_from(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0) & (Self::MODULUS - 1)
    }

    /// Whether this PSN is after `other` in the valid half of the space.
    #[must_use]
    #[inline(always)]
    pub const fn is_after(self, other: Self) -> bool {
        let distance = self.distance_from(other);
        distance != 0 && distance < Self::MODULUS / 2
    }
}

impl fmt::Debug for Psn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "psn {}", self.0)
    }
}

/// A queue pair number: 24 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct Qpn(u32);

impl Qpn {
    /// The general service interface, used by connection management.
    pub const GSI: Self = Self(1);

    /// The number in the low 24 bits of `value`.
    #[must_use]
    #[inline(always)]
    pub const fn new(value: u32) -> Self {
        Self(value & 0x00ff_ffff)
    }

    /// As a plain number below 2^24.
    #[must_use]
    #[inline(always)]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Qpn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "qp {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_psn_wraps_at_24_bits() {
        let last = Psn::new(0x00ff_ffff);
        assert_eq!(last.plus(1), Psn::new(0));
        assert!(Psn::new(0).is_after(last));
        assert!(!last.is_after(Psn::new(0)));
        assert!(!last.is_after(last));
        assert_eq!(Psn::new(2).distance_from(last), 3);
    }
}
