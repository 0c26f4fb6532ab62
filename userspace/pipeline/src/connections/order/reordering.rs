//! How much the fabric reorders the packets of a direction: learnt from packets that filled a gap without a request.
//!
//! Terms of RFC 4737: a packet is *reordered* if one with a higher PSN passed before it. Its *late time* is the time
//! since then, its *extent* the distance to the highest PSN.

/// Packets over which reordered ones are counted.
const EPOCH: u32 = 256;
/// With this many among them, the fabric sprays the direction over paths of unequal length.
const SPRAYED: u16 = 8;
/// Reordered packets after which the maximum late time is known well, if the time in which they passed is 8 times as long:
/// what is later than the first of them takes that long to pass.
const ENOUGH: u32 = 64;
const TIMES: u64 = 8;

/// The reordered packets of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reordering {
    /// The longest late time, nanoseconds.
    late_ns: u32,
    /// The largest extent, PSNs.
    extent: u32,
    /// Reordered packets, and those of them since `since`.
    packets: u32,
    recent: u16,
    is_known: bool,
    /// The low bits of the number of packets.
    since: u32,
    /// When the first one passed, the low bits of microseconds.
    first_us: u32,
}

impl Reordering {
    /// `packets` filled a gap after `late_ns`, as the packet number `count` of the direction; the highest PSN is `extent` above
    /// them.
    pub(crate) fn learn(&mut self, packets: u64, late_ns: u64, (count, extent): (u64, u64), now_ns: u64) {
        let short = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let now_us = (now_ns / 1_000) as u32;
        if self.packets == 0 {
            self.first_us = now_us;
        }
        self.late_ns = self.late_ns.max(short(late_ns));
        self.extent = self.extent.max(short(extent));
        self.packets = self.packets.saturating_add(short(packets));
        if (count as u32).wrapping_sub(self.since) > EPOCH {
            (self.since, self.recent) = (count as u32, 0);
        }
        self.recent = self.recent.saturating_add(u16::try_from(packets).unwrap_or(u16::MAX));
        let known_ns = u64::from(now_us.wrapping_sub(self.first_us)) * 1_000;
        self.is_known = self.packets >= ENOUGH && (self.is_known || known_ns >= TIMES * u64::from(self.late_ns));
    }

    /// Whether many packets are reordered: order then shows nothing about the sender.
    pub(crate) const fn is_sprayed(&self) -> bool {
        self.recent >= SPRAYED
    }

    /// A packet that is later than this, in nanoseconds, was not reordered but transmitted again.
    pub(crate) fn bound_ns(&self) -> u64 {
        let late_ns = u64::from(self.late_ns);
        if self.is_known {
            late_ns + late_ns / 4
        } else if self.packets >= u32::from(SPRAYED) {
            2 * late_ns
        } else {
            4 * late_ns
        }
    }

    /// What is requested and passes later than this was transmitted again. `reorder_ns` decides while few packets were late.
    pub(crate) fn old_ns(&self, reorder_ns: u64) -> u64 {
        if self.is_known || self.packets == 0 {
            self.bound_ns()
        } else {
            self.bound_ns().max(reorder_ns)
        }
    }

    /// A packet that is later than this was certainly transmitted again. `reorder_ns` decides until the late time is known
    /// well.
    pub(crate) fn oldest_ns(&self, reorder_ns: u64) -> u64 {
        let bound_ns = 2 * self.bound_ns();
        if self.is_known {
            bound_ns
        } else {
            bound_ns.max(reorder_ns)
        }
    }

    /// Whether the longest late time is known well.
    pub(crate) const fn is_known(&self) -> bool {
        self.packets >= ENOUGH
    }

    /// Reordered packets so far.
    pub(crate) const fn packets(&self) -> u32 {
        self.packets
    }

    /// The longest late time, nanoseconds.
    pub(crate) fn late_ns(&self) -> Option<u64> {
        (self.packets > 0).then(|| u64::from(self.late_ns))
    }

    /// The largest extent, in PSNs.
    pub(crate) fn extent(&self) -> Option<u64> {
        (self.packets > 0).then(|| u64::from(self.extent))
    }
}
