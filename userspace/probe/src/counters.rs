//! The counters of an agent, and their invariant.

/// Counts of one agent, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Probes that were due.
    pub probes: u64,
    /// Received in time and intact.
    pub received: u64,
    /// Not received within the timeout.
    pub timeouts: u64,
    /// Received in time, but corrupted or with a wrong ICRC.
    pub corrupt: u64,
    /// Not sent: refused by the kernel or the NIC, or without a next hop.
    pub unsent: u64,
    /// Still in flight.
    pub in_flight: u64,
    /// Turns skipped while the agent could not run; not probes.
    pub skipped: u64,
    /// Received after their timeout; they count as timeouts.
    pub late: u64,
    /// Received again.
    pub duplicates: u64,
    /// Datagrams of other agents or other programs.
    pub foreign_datagrams: u64,
    /// Datagrams too damaged to identify; their probes time out.
    pub unreadable: u64,
    /// Received, but without a departure timestamp: rows without latency.
    pub unstamped: u64,
    /// In flight while the clock was set: rows without latency.
    pub received_across_clock_step: u64,
    /// Steps of the agent's clock.
    pub clock_steps: u64,
    /// Steps of NIC clocks.
    pub clock_resets: u64,
    /// How often a NIC got another interface of the same name, or its interface returned with another address; an
    /// interface that does not return is not counted.
    pub nics_replaced: u64,
    /// How often the agent used too much CPU or fell behind, and doubled its interval.
    pub slowed: u64,
    /// Traces begun.
    pub traces: u64,
    /// Traces that reached their destination.
    pub traces_complete: u64,
    /// Traces that did not; the known path stays.
    pub traces_incomplete: u64,
    /// Packets of traces that were not sent.
    pub traces_unsent: u64,
    /// Traces with another path than before.
    pub path_changes: u64,
    /// Traces deferred because a hop would have had to answer too often.
    pub deferred_traces: u64,
    /// Hops that answered.
    pub hop_answers: u64,
    /// Answers that match no packet of a trace.
    pub unmatched_replies: u64,
    /// "Destination unreachable" answers of routers to probes or traces.
    pub unreachable: u64,
}

impl Counters {
    /// Whether every probe is counted in exactly one outcome.
    #[must_use]
    pub const fn is_balanced(&self) -> bool {
        self.probes == self.received + self.timeouts + self.corrupt + self.in_flight + self.unsent
    }
}
