//! The times of frames in the order of their positions, where a capture's clock contradicts it.
//!
//! Capture files have batches of frames with one time, and clocks that were set back. From the fourth frame of a batch on,
//! each is later than the one before it by a nanosecond: a few frames may have passed at once, and keep their exact
//! distances to others. Where a clock was set back by half a millisecond or more, its frames continue where those before
//! ended, until the clock is ahead of them again. Frames that are earlier by less, or that return to where the clock was,
//! passed on another queue of the NIC: there the times are right, and the positions are not.

use crate::time::EventTime;

/// A clock that goes back by less than this was not set: queues of a NIC are read one after another.
const STEP_NS: u64 = 500_000;
/// Interfaces of one capture with a clock of their own.
const CLOCKS: usize = 8;
/// Frames of one time that keep it: they may have passed at once.
const FEW: u8 = 3;
/// The clock returned this often to where it was before it went back: it was never set.
const RETURNS: u8 = 2;

/// The clock of one interface.
#[derive(Clone, Copy, Debug, Default)]
struct InterfaceClock {
    /// The latest time of the clock since it was set, and before.
    latest_ns: u64,
    before_ns: u64,
    /// The latest time that a frame got.
    corrected_ns: u64,
    /// How far the clock is behind.
    behind_ns: u64,
    returns: u8,
    /// The time that several frames had last, and how many, up to [`FEW`].
    equal_ns: u64,
    equal: u8,
}

/// Corrects the times of the frames of a capture.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameClock([InterfaceClock; CLOCKS]);

impl FrameClock {
    /// The time of the next frame, to which its clock gives `time_ns`.
    #[inline]
    pub fn correct(&mut self, time_ns: u64, interface: u32) -> u64 {
        let Some(clock) = self.0.get_mut(interface as usize % CLOCKS) else {
            return time_ns;
        };
        if time_ns > clock.corrected_ns && clock.behind_ns == 0 {
            clock.latest_ns = time_ns;
            clock.corrected_ns = time_ns;
            return time_ns;
        }
        clock.contradicted(time_ns)
    }
}

impl InterfaceClock {
    /// The time of a frame that is not simply later than all before.
    #[cold]
    fn contradicted(&mut self, time_ns: u64) -> u64 {
        if time_ns == self.latest_ns {
            self.equal = if time_ns == self.equal_ns { self.equal + 1 } else { 2 };
            self.equal_ns = time_ns;
            if self.equal <= FEW {
                return self.corrected_ns;
            }
            self.equal = FEW;
        }
        let next_ns = self.corrected_ns.saturating_add(1);
        if time_ns > self.corrected_ns {
            // The clock is ahead again. If it returned to where it was, another queue's frames were read.
            let is_return = time_ns.since(self.before_ns) <= self.behind_ns / 2;
            if is_return && time_ns.since(self.latest_ns) > self.behind_ns / 2 {
                self.returns = self.returns.saturating_add(1);
            }
            self.behind_ns = 0;
        } else if time_ns < self.latest_ns {
            if self.returns >= RETURNS || self.latest_ns.since(time_ns) < STEP_NS {
                return time_ns.saturating_add(self.behind_ns);
            }
            self.before_ns = self.latest_ns;
            self.behind_ns = next_ns.since(time_ns);
        }
        self.latest_ns = time_ns;
        self.corrected_ns = time_ns.saturating_add(self.behind_ns).max(next_ns);
        self.corrected_ns
    }
}

#[cfg(test)]
mod tests {
    use super::FrameClock;
    use alloc::vec::Vec;

    fn corrected(times: &[u64]) -> Vec<u64> {
        let mut clock = FrameClock::default();
        times.iter().map(|ns| clock.correct(*ns, 0)).collect()
    }

    #[test]
    fn frames_of_a_batch_follow_each_other() {
        assert_eq!(
            corrected(&[100, 100, 100, 100, 100, 101, 200]),
            [100, 100, 100, 101, 102, 103, 200]
        );
    }

    #[test]
    fn a_few_frames_of_one_time_keep_it() {
        let times = [0, 0, 0, 10_000, 10_000, 10_000, 20_000, 20_000];
        assert_eq!(corrected(&times), times);
    }

    #[test]
    fn a_clock_that_was_set_back_goes_on_until_it_is_ahead() {
        let times = [10_000_000, 10_001_000, 5_000_000, 5_002_000, 5_002_000, 20_000_000];
        let wanted = [10_000_000, 10_001_000, 10_001_001, 10_003_001, 10_003_001, 20_000_000];
        assert_eq!(corrected(&times), wanted);
        // Back twice.
        let times = [10_000_000, 5_000_000, 5_001_000, 1_000_000, 1_001_000];
        assert_eq!(
            corrected(&times),
            [10_000_000, 10_000_001, 10_001_001, 10_001_002, 10_002_002]
        );
    }

    #[test]
    fn queues_that_are_read_one_after_another_keep_their_times() {
        // Behind by less than a clock is set.
        assert_eq!(
            corrected(&[900_000, 600_000, 601_000, 910_000]),
            [900_000, 600_000, 601_000, 910_000]
        );
        // By more: after two returns the times are trusted.
        let mut times = Vec::new();
        for batch in 0..6 {
            times.extend([10_000_000 + batch * 100_000, 8_500_000 + batch * 100_000]);
        }
        assert_eq!(corrected(&times)[6..], times[6..]);
    }
}
