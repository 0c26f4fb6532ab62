//! The monitors of all hosts of a collective, which pass detections on to the one whose data they await.

use super::{Monitor, Settings, Step};
use alloc::vec;
use alloc::vec::Vec;

/// What one host sends another: the detections that it does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notice {
    /// From.
    pub from: usize,
    /// To.
    pub to: usize,
    /// The step that it is about.
    pub step: u32,
    /// Detections.
    pub detections: u32,
}

/// A monitor for each host. How notices travel is the caller's business: they may take time, or be lost.
#[derive(Debug, Clone)]
pub struct Group {
    monitors: Vec<Monitor>,
    /// Whose data each host waits for.
    awaited: Vec<Option<usize>>,
}

impl Group {
    /// Creates the monitors of this many hosts.
    #[must_use]
    pub fn new(settings: Settings, hosts: usize) -> Self {
        Self {
            monitors: vec![Monitor::new(settings); hosts],
            awaited: vec![None; hosts],
        }
    }

    /// A host begins a step.
    pub fn begin(&mut self, host: usize, step: Step) {
        self.awaited[host] = None;
        self.monitors[host].begin(step);
    }

    /// As [`Monitor::round_trip`].
    #[must_use]
    pub fn round_trip(&mut self, host: usize, now_ns: i64, rtt_ns: i64) -> bool {
        self.monitors[host].round_trip(now_ns, rtt_ns)
    }

    /// As [`Monitor::overdue`].
    #[must_use]
    pub fn overdue(&mut self, host: usize, now_ns: i64, age_ns: i64) -> bool {
        self.monitors[host].overdue(now_ns, age_ns)
    }

    /// A host ended a step, and awaits data of another one, or of none. Returns what to send.
    #[must_use]
    pub fn end(&mut self, host: usize, step: u32, awaited: Option<usize>) -> Option<Notice> {
        self.awaited[host] = awaited;
        let left = self.monitors[host].end(awaited.is_some());
        self.notice(host, step, left)
    }

    /// A notice arrived. Returns what to send on.
    #[must_use]
    pub fn notified(&mut self, notice: Notice) -> Option<Notice> {
        let host = notice.to;
        let left = self.monitors[host].notified(notice.step, notice.detections);
        self.notice(host, notice.step, left)
    }

    fn notice(&self, from: usize, step: u32, detections: Option<u32>) -> Option<Notice> {
        Some(Notice {
            from,
            to: self.awaited[from]?,
            step,
            detections: detections?,
        })
    }
}
