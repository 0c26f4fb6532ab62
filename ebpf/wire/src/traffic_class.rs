//! The traffic class of a packet: which queue switches put it into, and whether they may mark it.

/// The DSCP of a packet (RFC 2474), and whether its transport is ECN-capable (RFC 3168), in one byte: the packets of a
/// run have the same.
///
/// ```
/// use rocescope_wire::TrafficClass;
///
/// // DSCP 26, ECT(0)
/// let class = TrafficClass::of(26 << 2 | 2);
/// assert_eq!((class.dscp(), class.is_ecn_capable()), (26, true));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(transparent)]
pub struct TrafficClass(
    /// The DSCP in the upper six bits; bit 0 if ECN-capable; bit 1 is 0.
    pub u8,
);

impl TrafficClass {
    /// From the second byte of an IPv4 header, or the traffic class of an IPv6 header. A packet that a switch marked
    /// with congestion experienced was ECN-capable.
    #[must_use]
    #[inline(always)]
    pub const fn of(byte: u8) -> Self {
        // Bit 0 of either ECN bit, without a branch.
        Self(byte & 0xfc | (byte | byte >> 1) & 1)
    }

    /// The differentiated services code point: 0 to 63.
    #[must_use]
    pub const fn dscp(self) -> u8 {
        self.0 >> 2
    }

    /// Whether switches may mark the packet instead of dropping it: ECT(0), ECT(1) or CE.
    #[must_use]
    pub const fn is_ecn_capable(self) -> bool {
        self.0 & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::TrafficClass;

    #[test]
    fn both_parts_of_every_byte_are_kept() {
        for byte in 0..=u8::MAX {
            let class = TrafficClass::of(byte);
            assert_eq!(class.dscp(), byte / 4);
            assert_eq!(class.is_ecn_capable(), byte % 4 != 0);
        }
    }
}
