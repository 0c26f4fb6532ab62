//! Options that must be set before the program is loaded.

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
