//! The configuration that user space sets, also while the kernel program runs.

use crate::filter::PacketFilter;
use bytemuck::{Pod, Zeroable};
use rocescope_wire::{Psn, ROCE_UDP_PORT};

/// The configuration block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Config {
    /// Length of a window in nanoseconds. Windows are aligned to the epoch.
    pub window_ns: u64,
    /// Length of a slice in nanoseconds: the maximum duration of a run. Window edges are slice edges.
    pub slice_ns: u64,
    /// Nanoseconds in one tick of the cheap clock.
    pub tick_ns: u64,
    /// The difference between the epoch clock and the clock of the kernel in nanoseconds.
    pub epoch_offset_ns: u64,
    /// [`port_mask`](Self::port_mask) of the key of runs.
    pub key_mask: u64,
    /// UDP destination ports that carry RoCEv2; 0 for none.
    pub udp_ports: [u16; 4],
    /// A PSN is marked when its hash has none of these bits: 0 marks all.
    pub mark_mask: u32,
    /// Packets of a CPU that may have exact times, and all of whose PSNs are marked, in a burst: see
    /// [`ExactBudget`](crate::ExactBudget). 0 if tick and mask apply to all.
    pub exact_burst: u32,
    /// Packets by which that budget grows in a tick.
    pub exact_a_tick: u32,
    /// The XDP verdict: 0 passes the frame to the kernel, else it is dropped.
    pub verdict: u32,
    /// Not 0: a flush publishes every run, whether its slice is over or not.
    pub draining: u32,
    /// Always 0: the kernel's program adds it to numbers that the verifier must not know.
    pub reserved: u32,
    /// The packets to reject at once; they count as filtered.
    pub filter: PacketFilter,
}

impl Config {
    /// Slices are no longer than this, so that a quiet flow is still published in time.
    const LONGEST_SLICE_NS: u64 = 100_000_000;

    /// For captures with an exact timestamp on every frame: one tick is a nanosecond and every
    /// PSN is marked. A `window_ns` of 0 becomes 1.
    #[must_use]
    pub const fn exact(window_ns: u64) -> Self {
        let window_ns = if window_ns == 0 { 1 } else { window_ns };
        let tenth = window_ns.div_ceil(10);
        Self {
            window_ns,
            slice_ns: if tenth < Self::LONGEST_SLICE_NS {
                tenth
            } else {
                Self::LONGEST_SLICE_NS
            },
            tick_ns: 1,
            key_mask: Self::port_mask(true),
            udp_ports: [ROCE_UDP_PORT, 0, 0, 0],
            mark_mask: 0,
            exact_burst: 0,
            exact_a_tick: 0,
            epoch_offset_ns: 0,
            verdict: 0,
            draining: 0,
            reserved: 0,
            filter: PacketFilter::NONE,
        }
    }

    /// The mask of the word of a [`FlowKey`](rocescope_wire::FlowKey) with the UDP source port: whether packets with
    /// different ports belong to different runs. A sender that sprays packets changes the port at each of them.
    #[must_use]
    pub const fn port_mask(is_port_in_key: bool) -> u64 {
        if is_port_in_key { u64::MAX } else { !0xffff }
    }

    /// Applies what may change during a capture: UDP ports, key, marks, verdict and filter. Windows, slices and
    /// clocks stay, because open runs depend on them.
    pub const fn adopt(&mut self, other: &Self) {
        self.udp_ports = other.udp_ports;
        self.key_mask = other.key_mask;
        self.mark_mask = other.mark_mask;
        self.verdict = other.verdict;
        self.filter = other.filter;
    }

    /// Whether round trips are measured at this PSN. Both directions choose the same PSNs.
    #[must_use]
    #[inline(always)]
    pub const fn is_marked(&self, psn: Psn) -> bool {
        mix32(psn.get()) & self.mark_mask == 0
    }

    /// The ticks from `now_ns` to the end of its slice, at least 1.
    #[must_use]
    #[inline(always)]
    pub const fn ticks_left(&self, now_ns: u64) -> u64 {
        self.ticks_left_in(&self.slice_at(now_ns), now_ns)
    }

    /// The same for a known slice.
    #[must_use]
    #[inline(always)]
    pub const fn ticks_left_in(&self, slice: &Slice, now_ns: u64) -> u64 {
        let left = slice.length_ns - now_ns.wrapping_sub(slice.begin_ns);
        let ticks = left / or_one(self.tick_ns);
        if ticks == 0 { 1 } else { ticks }
    }

    /// The slice of `now_ns`: three divisions, whose result is valid for thousands of runs.
    #[must_use]
    #[inline(always)]
    pub const fn slice_at(&self, now_ns: u64) -> Slice {
        let (window, slice) = (or_one(self.window_ns), or_one(self.slice_ns));
        let in_window = now_ns % window;
        let in_slice = in_window % slice;
        let to_window_end = window - (in_window - in_slice);
        Slice {
            begin_ns: now_ns - in_slice,
            length_ns: if slice < to_window_end { slice } else { to_window_end },
        }
    }
}

/// A slice of a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Slice {
    /// Its begin, nanoseconds since the epoch.
    pub begin_ns: u64,
    /// Its length in nanoseconds; 0 for an empty slice.
    pub length_ns: u64,
}

impl Slice {
    /// Whether it includes this time.
    #[must_use]
    #[inline(always)]
    pub const fn holds(&self, now_ns: u64) -> bool {
        now_ns.wrapping_sub(self.begin_ns) < self.length_ns
    }
}

/// Divisors come from user space; 0 must not reach a division.
#[inline(always)]
const fn or_one(divisor: u64) -> u64 {
    if divisor == 0 { 1 } else { divisor }
}

/// Spreads neighbouring PSNs over all bits: the finaliser of `MurmurHash3`.
const fn mix32(mut value: u32) -> u32 {
    value ^= value >> 16;
    value = value.wrapping_mul(0x85eb_ca6b);
    value ^= value >> 13;
    value = value.wrapping_mul(0xc2b2_ae35);
    value ^ value >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_never_crosses_a_window() {
        // 333 ns windows have slices of 34 ns; the last one is 27 ns.
        let config = Config::exact(333);
        assert_eq!(config.ticks_left(0), 34);
        assert_eq!(config.ticks_left(306), 27);
        assert_eq!(config.ticks_left(332), 1);
        assert_eq!(config.ticks_left(333), 34);
        for now in 0..1_000 {
            let slice = config.slice_at(now);
            assert!(slice.holds(now));
            let end = slice.begin_ns + slice.length_ns;
            assert_eq!(config.ticks_left(now), end - now);
            assert!(slice.begin_ns / 333 == (end - 1) / 333 && !slice.holds(end));
        }
        assert_eq!(Config::exact(10_000_000_000).slice_ns, 100_000_000);
    }

    #[test]
    fn one_psn_in_sixteen_is_marked_by_a_mask_of_fifteen() {
        let config = Config {
            mark_mask: 15,
            ..Config::exact(1)
        };
        let marked = (0..160_000).filter(|psn| config.is_marked(Psn::new(*psn))).count();
        assert!((9_500..10_500).contains(&marked), "{marked}");
        assert!((0..1000).all(|psn| Config::exact(1).is_marked(Psn::new(psn))));
    }
}
