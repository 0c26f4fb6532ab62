//! When and where a packet passes, and the clocks that say so.

use crate::config::Config;
use crate::exact_budget::ExactBudget;
use rocescope_wire::Psn;

/// The clocks of the caller.
pub trait Clock {
    /// A cheap counter that advances at least every [`Config::tick_ns`]; read at every packet.
    fn tick(&self) -> u64;
    /// Exact nanoseconds since the epoch; read when a run starts or a marked packet passes.
    fn now(&self) -> u64;
    /// [`Config::ticks_left`]; a clock may remember the slice.
    #[inline(always)]
    fn ticks_left(&self, config: &Config, now_ns: u64) -> u64 {
        config.ticks_left(now_ns)
    }
}

/// When and where a packet passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Moment {
    /// The cheap clock.
    pub tick: u64,
    /// Index of the interface.
    pub interface: u32,
    /// Not 0: the exact time of the packet is recorded, and its PSN is marked.
    pub is_exact: u32,
}

impl Moment {
    /// Now, on an interface.
    #[must_use]
    #[inline(always)]
    pub fn now(clock: &impl Clock, interface: u32, budget: &mut ExactBudget, config: &Config) -> Self {
        let tick = clock.tick();
        Self {
            tick,
            interface,
            is_exact: budget.take(tick, config),
        }
    }

    /// The mask of the key of runs. Exact packets keep their port, because each may be a record anyway: so the ports of a
    /// sprayed direction are known in a live capture.
    #[inline(always)]
    pub(crate) const fn key_mask(&self, config: &Config) -> u64 {
        config.key_mask | (self.is_exact as u64).wrapping_neg()
    }

    /// Whether round trips are measured at this PSN.
    #[inline(always)]
    pub(crate) const fn marks(&self, psn: Psn, config: &Config) -> bool {
        self.is_exact != 0 || config.is_marked(psn)
    }
}
