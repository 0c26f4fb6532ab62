//! What is decided before the program is loaded.

/// What is decided before the program is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Slots of the run cache a CPU, 160 bytes each; the next power of two is taken.
    pub slots: u32,
    /// Bytes of the rings of all CPUs together; each gets a power of two, at least 64 KiB. A ring
    /// that is full loses runs, which are counted.
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
