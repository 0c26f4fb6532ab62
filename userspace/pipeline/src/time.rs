//! Times of packets, whose difference cannot wrap.
//!
//! A capture may deliver what passed later first: rings of several CPUs, a clock that was set back, batches of one
//! timestamp. A difference of two times is therefore never `-`, which panics in debug builds and is 584 years in
//! release builds; `tests/times.rs` checks the sources for it.

/// A time of a packet, in nanoseconds since 1970.
pub(crate) trait EventTime: Sized {
    /// Nanoseconds since `earlier`; 0 if that is later.
    fn since(self, earlier: Self) -> u64;

    /// Nanoseconds since `earlier`; `None` if that is later, so that there is no sample.
    fn checked_since(self, earlier: Self) -> Option<u64>;

    /// The start of its period of `period_ns`.
    fn floor(self, period_ns: u64) -> Self;
}

impl EventTime for u64 {
    #[inline(always)]
    fn since(self, earlier: Self) -> u64 {
        self.saturating_sub(earlier)
    }

    #[inline(always)]
    fn checked_since(self, earlier: Self) -> Option<u64> {
        self.checked_sub(earlier)
    }

    #[inline(always)]
    fn floor(self, period_ns: u64) -> Self {
        self - self % period_ns
    }
}
