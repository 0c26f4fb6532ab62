//! Times and bounds of the connection state.

/// What tells a late packet from a repeated one, and how much is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// A packet that fills a gap within this time, or within the smallest round trip seen where
    /// that is longer, may have been reordered: 1 ms. Nothing can be resent sooner than that: the
    /// receiver's NAK or the sender's timer has to come first.
    pub reorder_ns: u64,
    /// A packet seen again within this time, and with nothing that explains it, is a copy: 100 µs.
    pub duplicate_ns: u64,
    /// A TCP handshake belongs to the connection between its addresses whose first packet follows
    /// within this time: 5 s.
    pub handshake_ns: u64,
    /// Without a packet for so long a connection is idle: 10 s.
    pub idle_ns: u64,
    /// Without a packet for so long a connection is gone and forgotten: 60 s.
    pub forget_ns: u64,
    /// How often a living connection becomes rows of `connections`: 60 s of event time.
    pub report_ns: u64,
    /// Directions followed at once: 262,144, that is 131,072 connections. When there are more, the
    /// one that has been silent longest gives way and its rows are written.
    pub most_directions: usize,
    /// Runs that wait to be put in order before [`Pipeline::is_current`](crate::Pipeline::is_current)
    /// asks for a turn: 8,192, 1 MiB, which a second-level cache holds.
    pub waiting_runs: usize,
    /// How far a time difference may be off, in nanoseconds: 1 µs, the resolution of most files.
    pub clock_error_ns: u64,
    /// How many events between two turns become rows; the others are only counted.
    pub event_rows: usize,
    /// Whether in-order runs take the fast path. It changes no answer; off, to compare.
    pub fast_path: bool,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        Self {
            reorder_ns: 1_000_000,
            duplicate_ns: 100_000,
            handshake_ns: 5_000_000_000,
            idle_ns: 10_000_000_000,
            forget_ns: 60_000_000_000,
            report_ns: 60_000_000_000,
            most_directions: 262_144,
            waiting_runs: 8_192,
            clock_error_ns: 1_000,
            event_rows: 10_000,
            fast_path: true,
        }
    }
}
