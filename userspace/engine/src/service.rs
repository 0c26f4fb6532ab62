//! What systemd hears of what runs for long: that it is ready, that it lives, that it stops. Elsewhere
//! nobody listens, and nothing happens.

use sd_notify::NotifyState;
use std::time::{Duration, Instant};

/// The tie to the service manager.
#[derive(Debug, Default)]
pub struct Service {
    ready: bool,
    /// How often it wants a sign of life, where it does.
    watchdog: Option<Duration>,
    told: Option<Instant>,
}

impl Service {
    /// What it is there for is being done. The first call says that it is ready.
    pub fn alive(&mut self, now: Instant) {
        if !self.ready {
            self.ready = true;
            self.watchdog = sd_notify::watchdog_enabled();
            tell(&[NotifyState::Ready]);
        }
        // Twice as often as is asked for, for one may come late.
        let due = |every: Duration| {
            self.told
                .is_none_or(|told| now.duration_since(told) >= every / 2)
        };
        if self.watchdog.is_some_and(due) {
            self.told = Some(now);
            tell(&[NotifyState::Watchdog]);
        }
    }

    /// Nothing more is taken in; what is left is written.
    pub fn stopping() {
        tell(&[NotifyState::Stopping]);
    }
}

fn tell(state: &[NotifyState<'_>]) {
    // Where it fails, the manager will find out by itself.
    let _ = sd_notify::notify(state);
}
