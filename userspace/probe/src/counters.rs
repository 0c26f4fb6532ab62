//! What became of everything, and the identity that must hold.

/// Counts of one agent, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Probes that were due.
    pub probes: u64,
    /// Received in time and intact.
    pub received: u64,
    /// Not received within the timeout.
    pub timeouts: u64,
    /// Received in time with a wrong ICRC or changed bytes.
    pub corrupt: u64,
    /// Refused by the kernel, the NIC or for want of a next hop.
    pub unsent: u64,
    /// Not decided yet.
    pub in_flight: u64,
    /// Turns that passed while the agent could not run; no probes.
    pub skipped: u64,
    /// Received after their timeout: counted there.
    pub late: u64,
    /// Received again.
    pub duplicates: u64,
    /// Datagrams of other agents, or of nobody.
    pub strangers: u64,
    /// Datagrams too damaged to say whose they were; the probe times out.
    pub unreadable: u64,
    /// Received, but nobody said when they left: rows without latency.
    pub unstamped: u64,
    /// Received while the clock was set: rows without latency.
    pub torn: u64,
    /// The agent's clock was set.
    pub clock_steps: u64,
    /// Clocks of NICs that were set.
    pub clock_resets: u64,
    /// How often a NIC got another interface of its name, or its own came back with another address; one that stays away
    /// is not in it.
    pub nics_replaced: u64,
    /// The agent took too much and doubled its interval.
    pub slowed: u64,
    /// Traces begun.
    pub traces: u64,
    /// Traces that reached their destination.
    pub traces_complete: u64,
    /// Traces that did not: the path known before stays.
    pub traces_incomplete: u64,
    /// Packets of traces that were not sent.
    pub traces_unsent: u64,
    /// Traces that showed another path than before.
    pub path_changes: u64,
    /// Traces put off because a hop would have answered too often.
    pub traces_deferred: u64,
    /// Hops that answered.
    pub hop_answers: u64,
    /// Answers to nothing that was asked.
    pub answers_strange: u64,
    /// Routers that said of a probe or a trace that its destination cannot be reached.
    pub unreachable: u64,
}

impl Counters {
    /// Whether every probe is in exactly one place.
    #[must_use]
    pub const fn is_balanced(&self) -> bool {
        self.probes == self.received + self.timeouts + self.corrupt + self.in_flight + self.unsent
    }
}
