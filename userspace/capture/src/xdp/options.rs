//! Options that must be set before the program is loaded.

use rocescope_record::{Config, RunRecord};

/// Options that must be set before the program is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Slots of the run cache of each CPU, 160 bytes each; rounded up to a power of two.
    pub slots: u32,
    /// Total bytes of the rings of all CPUs; each gets a power of two, at least 64 KiB. A full ring
    /// loses runs, which are counted.
    pub ring_bytes: usize,
}

impl Default for Options {
    /// 16,384 slots and 256 MiB of rings, at most 32 MiB each.
    fn default() -> Self {
        Self {
            slots: 16_384,
            ring_bytes: 256 << 20,
        }
    }
}

/// Limits of the ring of one CPU.
const SMALLEST_RING: usize = 64 << 10;
/// A quarter of a million runs: closing a window of that size takes some 200 ms without a read.
const LARGEST_RING: usize = 32 << 20;

/// Packets a second, of all CPUs together, that have exact times for as long as it takes: each may be a record.
const EXACT_PACKETS_A_SECOND: u64 = 2_000_000;

impl Options {
    /// Bytes of the ring of each of `cpus`.
    pub(super) fn ring_bytes_of_each(&self, cpus: usize) -> usize {
        let ring_bytes = (self.ring_bytes / cpus.max(1)).max(1);
        (1usize << ring_bytes.ilog2()).clamp(SMALLEST_RING, LARGEST_RING)
    }

    /// The budget of exact times of each of `cpus`: in a burst, half of what its ring holds.
    pub(super) fn with_exact_budget(&self, cpus: usize, config: Config) -> Config {
        let burst = self.ring_bytes_of_each(cpus) / size_of::<RunRecord>() / 2;
        let of_each = EXACT_PACKETS_A_SECOND / cpus.max(1) as u64;
        Config {
            exact_burst: burst as u32,
            exact_a_tick: (of_each * config.tick_ns / 1_000_000_000).clamp(1, burst as u64) as u32,
            ..config
        }
    }
}
