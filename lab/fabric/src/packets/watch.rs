//! Monitors of hosts: what they see, and what they ask for.

use alloc::vec::Vec;

/// What the monitor of a rank sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// Its host begins a step.
    Begin {
        /// The rank.
        rank: usize,
        /// Number of the step, from 1.
        step: u32,
        /// Round-trip time of the step's path when its queues are empty.
        base_rtt_ns: i64,
        /// How long the step takes alone.
        expected_ns: i64,
    },
    /// A packet of the step was acknowledged.
    Acknowledged {
        /// The rank.
        rank: usize,
        /// Its round-trip time.
        rtt_ns: i64,
    },
    /// The oldest packet in flight is not acknowledged yet, or none can be sent.
    Overdue {
        /// The rank.
        rank: usize,
        /// Since when.
        age_ns: i64,
    },
    /// The last packet of the step was acknowledged.
    Sent {
        /// The rank.
        rank: usize,
        /// Number of the step.
        step: u32,
        /// The rank whose data the next step still lacks.
        awaited: Option<usize>,
    },
    /// A notification arrived.
    Notified {
        /// The rank that receives it.
        rank: usize,
        /// The step that it is about.
        step: u32,
        /// Detections that are passed on.
        detections: u32,
    },
    /// An epoch of the switches ended.
    Epoch,
}

/// What a monitor asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Reports of the switches along the path of a rank's flow, and along the pauses that halt it.
    Path {
        /// The rank.
        rank: usize,
    },
    /// Reports of all switches.
    All,
    /// A notification to another rank.
    Notify {
        /// From.
        from: usize,
        /// To.
        to: usize,
        /// The step that it is about.
        step: u32,
        /// Detections that are passed on.
        detections: u32,
    },
}

/// The monitors of all ranks.
pub trait Watch {
    /// Takes what is seen, and appends what to ask for.
    fn see(&mut self, now_ns: i64, seen: Seen, asks: &mut Vec<Ask>);
}
