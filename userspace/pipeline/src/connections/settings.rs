//! Times and bounds of the connection state.

/// Times that distinguish late from retransmitted packets, and bounds of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionSettings {
    /// A packet that fills a gap within this time, or within the smallest round trip if that is longer, may have been
    /// reordered: 1 ms. A retransmission takes longer: it follows the receiver's NAK or the sender's timer.
    pub reorder_ns: u64,
    /// A packet seen again within this time, without a reason to retransmit it, is a copy: 100 µs.
    pub duplicate_ns: u64,
    /// A TCP handshake belongs to the connection between its addresses whose first packet follows
    /// within this time: 5 s.
    pub handshake_ns: u64,
    /// A connection without packets for this time is idle: 10 s.
    pub idle_ns: u64,
    /// A connection without packets for this time is removed: 60 s.
    pub forget_ns: u64,
    /// How often an active connection becomes rows of `connections`: 60 s of event time.
    pub report_ns: u64,
    /// Memory for the state of directions: 512 MiB, which is enough for about 150,000 connections. When it is full, idle
    /// directions give way, at most once a second of event time; other new ones are not tracked, and their packets
    /// counted.
    pub max_bytes: usize,
    /// Runs that wait to be sorted before [`Pipeline::is_current`](crate::Pipeline::is_current) requests a turn: 8,192,
    /// 1 MiB, which a second-level cache holds.
    pub waiting_runs: usize,
    /// The maximum error of a time difference, in nanoseconds: 1 µs, the resolution of most files.
    pub clock_error_ns: u64,
    /// The maximum number of events between two turns that become rows; the others are only counted.
    pub event_rows: usize,
    /// Whether in-order runs use the fast path. It changes no result; off to compare.
    pub fast_path: bool,
    /// Whether messages become steps of collectives: see [`steps`](crate::steps).
    pub steps: bool,
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
            max_bytes: 512 << 20,
            waiting_runs: 8_192,
            clock_error_ns: 1_000,
            event_rows: 10_000,
            fast_path: true,
            steps: false,
        }
    }
}
