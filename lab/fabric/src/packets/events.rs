//! What happens next, in the order of time.

use super::network::Port;
use super::ports::Packet;
use core::cmp::Ordering;

/// A poll.
#[derive(Debug, Clone, Copy)]
pub(super) struct Poll {
    /// Whose.
    pub(super) watch: usize,
    /// The flow that it is about; `None`: all switches were asked.
    pub(super) flow: Option<u32>,
}

/// What happens next.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Arrive(Packet),
    Free(Port),
    Acknowledge {
        flow: u32,
        payload: u32,
        sent_ns: i64,
    },
    Pause {
        port: Port,
        by_storm: bool,
        on: bool,
    },
    Begin(u32),
    Poll {
        poll: Poll,
        hop: usize,
    },
    Trace {
        poll: Poll,
        ingress: Port,
    },
    Notify {
        watch: usize,
        rank: usize,
        step: u32,
        detections: u32,
    },
    Tick,
    Epoch,
}

#[derive(Debug)]
pub(super) struct Due {
    pub(super) at_ns: i64,
    /// Events of one time happen in the order in which they were planned.
    pub(super) order: u64,
    pub(super) event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap yields the greatest.
        (other.at_ns, other.order).cmp(&(self.at_ns, self.order))
    }
}
