//! The monitor of a host: when to ask the network why a step is slow.
//!
//! It asks when a round trip takes longer than a share of what the step's path allows (VEDRFOLNIR §III-C: the threshold
//! is computed again for each step), at most a number of times in each step, and spaced over the time that the step should
//! take. When a step ends early, its host waits for the data of another one: the detections that are left go to that host
//! in a notification, so that the slowest host of each step has most of them (Fig. 7 of the paper).
//!
//! A packet that is not acknowledged yet counts with its age, a lower bound of its round trip: a flow that is halted
//! completely gives no acknowledgements. If it is halted for a third of the time that its step should take, the host asks
//! once more, whatever is left: a deadlock may have formed after the first question (§V of the paper; the authors' program
//! waits 10 of 30 ms).
//!
//! | module | contents |
//! |---|---|
//! | `group` | the monitors of all hosts of a collective, for the simulator |
//! | [`host`] | the monitors of one host, from the steps that its jobs report and the probes of its agent |
//! | [`placement`] | which rank is where |
//! | [`notice`] | detections that agents pass on, as text |
//!
//! ```
//! use rocescope_collective::monitor::{Monitor, Settings, Step};
//!
//! let mut monitor = Monitor::new(Settings { threshold_percent: 150, detections: 3, settle_ns: 0 });
//! let step = Step { number: 1, base_rtt_ns: 20_000, expected_ns: 30_000_000 };
//! monitor.begin(step);
//! assert!(!monitor.round_trip(1_000, 21_000));
//! assert!(monitor.round_trip(2_000, 60_000));
//! assert!(!monitor.round_trip(3_000, 60_000), "too soon after the last one");
//! // The step ended, and its host waits for another one: the two detections that are left go there.
//! assert_eq!(monitor.end(true), Some(2));
//! ```

mod group;
pub mod host;
pub mod notice;
pub mod placement;

pub use group::{Group, Notice};

/// The rules of a monitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Round-trip time above which it asks, in percent of what the path takes with empty queues.
    pub threshold_percent: u32,
    /// Detections in each step, without those that other hosts pass on.
    pub detections: u32,
    /// Time from the slow round trip to the question: half an epoch of the switches. Their counters still have all since the
    /// round trip then, and also what came of it: pauses that spread, flows that filled the queue.
    pub settle_ns: i64,
}

impl Default for Settings {
    /// The setting that finds contention with the least telemetry; docs/bench/collective.md has the others.
    fn default() -> Self {
        Self {
            threshold_percent: 150,
            detections: 1,
            settle_ns: 500_000,
        }
    }
}

/// A step that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its number.
    pub number: u32,
    /// Round-trip time of its path with empty queues, from the topology.
    pub base_rtt_ns: i64,
    /// How long it takes alone.
    pub expected_ns: i64,
}

/// The monitor of one host.
#[derive(Debug, Clone)]
pub struct Monitor {
    settings: Settings,
    step: Option<Step>,
    /// Detections that are left in this step.
    left: u32,
    /// Number of the newest step, also after its end.
    newest: u32,
    /// Whether that step ended and its host waits for data.
    waits: bool,
    last_ns: Option<i64>,
    /// When it will ask about a round trip that was slow.
    due_ns: Option<i64>,
    /// Whether it asked because nothing was acknowledged for long.
    stalled: bool,
}

/// Part of a step's time after which a flow without acknowledgements is stalled.
const STALL: i64 = 3;

impl Monitor {
    /// Creates the monitor of a host.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            step: None,
            left: 0,
            newest: 0,
            waits: false,
            last_ns: None,
            due_ns: None,
            stalled: false,
        }
    }

    /// Other rules, from the next step on.
    pub fn reconfigure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// A step begins: it has all its detections, and the first may come at once.
    pub fn begin(&mut self, step: Step) {
        self.step = Some(step);
        self.newest = step.number;
        self.left = self.settings.detections;
        self.waits = false;
        self.last_ns = None;
        self.due_ns = None;
        self.stalled = false;
    }

    /// A packet was acknowledged after this time. Returns whether to ask the network now.
    #[must_use]
    pub fn round_trip(&mut self, now_ns: i64, rtt_ns: i64) -> bool {
        self.stalled = false;
        self.asks(now_ns, rtt_ns, self.settings.settle_ns)
    }

    /// The oldest packet in flight is as old as this, or none could be sent for so long. Returns whether to ask the
    /// network now.
    #[must_use]
    pub fn overdue(&mut self, now_ns: i64, age_ns: i64) -> bool {
        let Some(step) = self.step else { return false };
        // A flow that is halted fills no counters any more.
        if self.asks(now_ns, age_ns, 0) {
            return true;
        }
        let stalls = !self.stalled && self.is_slow(&step, age_ns) && age_ns > step.expected_ns / STALL;
        self.stalled |= stalls;
        stalls
    }

    fn asks(&mut self, now_ns: i64, rtt_ns: i64, settle_ns: i64) -> bool {
        let Some(step) = self.step else { return false };
        if self.left == 0 {
            return false;
        }
        if self.due_ns.is_none() && self.is_slow(&step, rtt_ns) {
            let spacing_ns = step.expected_ns / i64::from(self.settings.detections.max(1));
            let earliest_ns = self
                .last_ns
                .map_or(now_ns, |last_ns| last_ns.saturating_add(spacing_ns));
            if now_ns >= earliest_ns {
                self.due_ns = Some(now_ns.saturating_add(settle_ns));
            }
        }
        if self.due_ns.is_none_or(|due_ns| now_ns < due_ns) {
            return false;
        }
        self.due_ns = None;
        self.left -= 1;
        self.last_ns = Some(now_ns);
        true
    }

    fn is_slow(&self, step: &Step, rtt_ns: i64) -> bool {
        let limit = i128::from(step.base_rtt_ns) * i128::from(self.settings.threshold_percent);
        i128::from(rtt_ns) * 100 > limit
    }

    /// The step ended; `waits` if the data for the next one are not here yet (table I of the paper: as many steps were
    /// sent as received). Returns the detections to pass on to the host whose data are awaited.
    pub fn end(&mut self, waits: bool) -> Option<u32> {
        self.step = None;
        self.waits = waits;
        let left = core::mem::take(&mut self.left);
        (waits && left > 0).then_some(left)
    }

    /// Another host passed on detections of a step. Returns those to pass on to the host whose data are awaited: all of
    /// them, if this host has sent the step already and waits too. A host that is steps ahead drops them.
    pub fn notified(&mut self, step: u32, detections: u32) -> Option<u32> {
        if step != self.newest {
            return None;
        }
        if self.step.is_some() {
            self.left = self.left.saturating_add(detections);
            return None;
        }
        self.waits.then_some(detections)
    }
}

#[cfg(test)]
mod tests;
