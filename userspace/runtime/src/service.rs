//! Notifies systemd that a service is ready, alive or stopping. Without systemd, the notifications have
//! no effect.

use sd_notify::NotifyState;
use std::time::{Duration, Instant};

/// The connection to the service manager.
#[derive(Debug, Default)]
pub struct Service {
    ready: bool,
    /// The interval of the watchdog, if enabled.
    watchdog: Option<Duration>,
    notified: Option<Instant>,
}

impl Service {
    /// Reports that the service works. The first call reports that it is ready.
    pub fn alive(&mut self, now: Instant) {
        if !self.ready {
            self.ready = true;
            self.watchdog = sd_notify::watchdog_enabled();
            notify(&[NotifyState::Ready]);
        }
        // Notify twice per interval, because a call may be late.
        let due = |every: Duration| self.notified.is_none_or(|then| now.duration_since(then) >= every / 2);
        if self.watchdog.is_some_and(due) {
            self.notified = Some(now);
            notify(&[NotifyState::Watchdog]);
        }
    }

    /// Reports that the service is stopping and writes what is left.
    pub fn stopping() {
        notify(&[NotifyState::Stopping]);
    }
}

fn notify(state: &[NotifyState<'_>]) {
    // If it fails, the watchdog of the manager detects it.
    let _ = sd_notify::notify(state);
}
