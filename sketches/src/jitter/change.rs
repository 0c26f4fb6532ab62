//! The thresholds and kinds of rate changes.

use crate::hash::FlowHash;

/// Thresholds of a change. A change must pass every one that is set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// A flow is an elephant in a change if it has at passes this rate before or after it.
    pub elephant_bps: u64,
    /// Minimum difference of rates, in bits per second.
    pub absolute_bps: Option<u64>,
    /// Minimum difference as a share of the rate before: 0.5 is half of it. Any rate after 0 passes.
    pub relative: Option<f64>,
}

impl Thresholds {
    /// The paper's scenario 5.2 (3): elephants of 5 Gbit/s, changes of 2.5 Gbit/s.
    pub const FUDAN: Self = Self {
        elephant_bps: 5_000_000_000,
        absolute_bps: Some(2_500_000_000),
        relative: None,
    };

    /// Whether the step between two rates passes `share` of every threshold. Equal rates never do.
    pub(super) fn passed(&self, from: u64, to: u64, share: f64) -> bool {
        let difference = from.abs_diff(to) as f64;
        let passes = |threshold: f64| difference >= share * threshold;
        difference > 0.0
            && self.absolute_bps.is_none_or(|bps| passes(bps as f64))
            && self.relative.is_none_or(|ratio| passes(ratio * from as f64))
    }

    pub(super) fn elephant(&self, from: u64, to: u64) -> bool {
        from.max(to) >= self.elephant_bps
    }
}

/// The kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// An elephant's rate changed.
    Jitter,
    /// A flow that was not tracked became an elephant.
    Start,
    /// An elephant fell to 0 and was still at 0 a window later. If it resumes before it is forgotten, that is
    /// [`ChangeKind::Jitter`].
    Stop,
}

/// One change of one elephant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The elephant.
    pub flow: FlowHash,
    /// The first window whose rate differs.
    pub window: u64,
    /// The window in which the change was complete; equals [`window`](Self::window) for a sharp one.
    pub settled: u64,
    /// Rate before, in bits per second.
    pub from_bps: u64,
    /// Rate after, in bits per second.
    pub to_bps: u64,
    /// Jitter, or a start or stop.
    pub kind: ChangeKind,
}
