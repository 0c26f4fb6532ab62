//! The mirror port: which frames it loses, and the times that the capture gives to the others.

use super::random::Random;
use super::scenario::Mirror;
use super::scenario::units::Probability;

/// The random stream of what the mirror loses.
const STREAM: u64 = 3;

/// A mirror port.
#[derive(Clone, Debug)]
pub(super) struct MirrorPort {
    loss: Probability,
    random: Random,
    /// How many frames in a row are lost, and how many of them are left.
    burst: u64,
    left: u64,
    /// How often it delivers nothing, and for how long.
    outage: Option<(u64, u64)>,
    /// Frames of this time have one time stamp.
    batch: u64,
    /// How often the clock is set back, and by how much.
    step: Option<(u64, u64)>,
    /// How far the clock of the responders' mirror is ahead.
    skew: u64,
}

impl MirrorPort {
    pub(super) fn new(mirror: &Mirror, seed: u64) -> Self {
        Self {
            loss: mirror.loss,
            random: Random::new(seed, STREAM),
            burst: mirror.burst.unwrap_or(1),
            left: 0,
            outage: mirror.outage.as_ref().map(|outage| (outage.every.0, outage.time.0)),
            batch: mirror.batch.map_or(1, |batch| batch.0.max(1)),
            step: mirror.set_back.as_ref().map(|step| (step.every.0, step.time.0)),
            skew: mirror.skew.map_or(0, |skew| skew.0),
        }
    }

    /// Whether it loses the frame that passes now.
    pub(super) fn loses(&mut self, now: u64) -> bool {
        if self.loss.hits(self.random.next()) {
            self.left = self.left.max(self.burst);
        }
        let is_lost = self.left > 0;
        self.left = self.left.saturating_sub(1);
        let is_out = |(every, time): (u64, u64)| now % every >= every - time;
        is_lost || self.outage.is_some_and(is_out)
    }

    /// The time of a frame that one side sent: 0 the requester's.
    pub(super) const fn stamp(&self, now: u64, side: usize) -> u64 {
        let mut at = now - now % self.batch;
        if let Some((every, back)) = self.step {
            at = at.saturating_sub(now / every * back);
        }
        if side > 0 { at.saturating_add(self.skew) } else { at }
    }
}
