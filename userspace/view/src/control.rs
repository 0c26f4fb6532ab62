//! Requests from the keys to a source, and the pace at which it plays.

use crate::{Motion, Seek};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The user has quit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ended by the user")]
pub struct Stopped;

/// Passes requests from the drawing thread to the thread of the source.
#[derive(Clone, Debug)]
pub struct Control(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug)]
struct State {
    stopped: bool,
    paused: bool,
    /// Whether a seek pauses the source.
    pauses_on_seek: bool,
    /// Multiple of the recorded speed.
    speed: f64,
    seeks: VecDeque<Seek>,
    /// Counts changes: after one, the due time must be computed again.
    changes: u64,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Show the window: it is due.
    Go,
    /// Go to another window.
    Seek(Seek),
}

impl Control {
    /// A source that plays at `speed` times the recorded pace. If it starts paused, it also pauses after each seek.
    #[must_use]
    pub fn new(speed: f64, paused: bool) -> Self {
        let state = State {
            stopped: false,
            paused,
            pauses_on_seek: paused,
            speed,
            seeks: VecDeque::new(),
            changes: 0,
        };
        Self(Arc::new((Mutex::new(state), Condvar::new())))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is consistent even if the other thread panicked.
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut State)) -> Motion {
        let mut state = self.state();
        change(&mut state);
        state.changes += 1;
        self.0.1.notify_all();
        if state.paused {
            Motion::Paused
        } else {
            Motion::Speed(state.speed)
        }
    }

    /// Asks the source to end.
    pub fn stop(&self) {
        self.change(|state| state.stopped = true);
    }

    /// Pauses or resumes the source.
    pub fn pause(&self, paused: bool) -> Motion {
        self.change(|state| state.paused = paused)
    }

    /// Plays at another pace.
    pub fn speed(&self, speed: f64) -> Motion {
        self.change(|state| state.speed = speed)
    }

    /// Asks for another window.
    pub fn seek(&self, seek: Seek) -> Motion {
        self.change(|state| {
            state.paused |= state.pauses_on_seek;
            state.seeks.push_back(seek);
        })
    }

    /// Waits for a request.
    ///
    /// # Errors
    /// [`Stopped`] if the source has to end.
    pub fn wait(&self) -> Result<Next, Stopped> {
        let mut state = self.state();
        loop {
            if state.stopped {
                return Err(Stopped);
            }
            if let Some(seek) = state.seeks.pop_front() {
                return Ok(Next::Seek(seek));
            }
            if !state.paused {
                return Ok(Next::Go);
            }
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Plays event time in real time.
#[derive(Debug, Default)]
pub struct Pace {
    /// When the last window was due, and its time.
    last: Option<(Instant, i64)>,
    changes: u64,
}

impl Pace {
    /// Waits until the window of this time is due, or a request arrives. Calls `on_long_wait` once with the time left
    /// if that is more than 5 s.
    ///
    /// # Errors
    /// [`Stopped`] if the source has to end.
    pub fn wait(
        &mut self,
        control: &Control,
        time_ns: i64,
        mut on_long_wait: impl FnMut(Duration),
    ) -> Result<Next, Stopped> {
        let mut reported = false;
        let mut state = control.state();
        loop {
            if state.stopped {
                return Err(Stopped);
            }
            let now = Instant::now();
            if let Some(seek) = state.seeks.pop_front() {
                // The next window has no relation to the last one.
                self.last = None;
                return Ok(Next::Seek(seek));
            }
            if state.changes != self.changes {
                // The new speed applies from now on.
                self.changes = state.changes;
                self.last = self.last.map(|(_, time_ns)| (now, time_ns));
            }
            if state.paused {
                state = (control.0.1.wait(state)).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let due = match self.last {
                Some((then, last_ns)) if state.speed.is_finite() => {
                    let ahead_ns = time_ns.saturating_sub(last_ns).max(0) as f64 / state.speed;
                    // 30 years at most, so that nothing overflows.
                    let ahead = Duration::from_nanos(ahead_ns.min(1e18) as u64);
                    then.checked_add(ahead).unwrap_or(then)
                }
                _ => now,
            };
            let Some(left) = due.checked_duration_since(now).filter(|left| !left.is_zero()) else {
                self.last = Some((due, time_ns));
                return Ok(Next::Go);
            };
            if left > Duration::from_secs(5) && !reported {
                reported = true;
                on_long_wait(left);
            }
            (state, _) = (control.0.1.wait_timeout(state, left)).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_come_when_due_and_at_once_on_request() {
        let control = Control::new(100.0, false);
        let mut pace = Pace::default();
        let begun = Instant::now();
        for second in 0..3 {
            let next = pace.wait(&control, second * 1_000_000_000, |_| {}).unwrap();
            assert_eq!(next, Next::Go);
        }
        assert!(begun.elapsed() >= Duration::from_millis(20));
        control.seek(Seek::Windows(1));
        let next = pace.wait(&control, i64::MAX, |_| {}).unwrap();
        assert_eq!(next, Next::Seek(Seek::Windows(1)));
        control.speed(f64::INFINITY);
        assert_eq!(control.pause(false), Motion::Speed(f64::INFINITY));
        assert_eq!(pace.wait(&control, i64::MAX, |_| {}).unwrap(), Next::Go);
        control.stop();
        assert!(pace.wait(&control, 0, |_| {}).is_err());
        assert!(control.wait().is_err());
    }
}
