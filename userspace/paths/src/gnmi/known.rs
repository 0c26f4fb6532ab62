//! What is known of a switch.

use super::modules::Modules;
use super::round::Rounds;
use crate::switch::Part;
use rocescope_model::Text;
use std::collections::HashMap;

/// A switch that started later than it had started before has restarted. Some compute the time from their uptime, which
/// is not exact.
const RESTART_NS: i64 = 10_000_000_000;

/// What is known of a switch.
#[derive(Debug, Default)]
pub(super) struct Switch {
    pub(super) name: Text,
    /// Requests that have sent everything once, since the connection began; those that are refused count, too.
    pub(super) answered: Vec<bool>,
    pub(super) rounds: HashMap<(Text, Part), Rounds>,
    pub(super) modules: Modules,
    started_ns: Option<i64>,
    pub(super) restarts: u32,
}

impl Switch {
    /// A switch with this number of requests, none of which it has answered.
    pub(super) fn new(name: Text, requests: usize) -> Self {
        Self {
            name,
            answered: vec![false; requests],
            ..Self::default()
        }
    }

    /// Whether it has sent everything once since the connection began.
    pub(super) fn is_synchronized(&self) -> bool {
        self.answered.iter().all(|answered| *answered)
    }

    /// Takes the time at which it started, in any unit down to nanoseconds.
    pub(super) fn started(&mut self, time: u64) {
        let unit = match time.checked_ilog10().unwrap_or(0) {
            0..11 => 1_000_000_000,
            11..14 => 1_000_000,
            14..17 => 1_000,
            _ => 1,
        };
        let ns = i64::try_from(time).unwrap_or(i64::MAX).saturating_mul(unit);
        if self
            .started_ns
            .is_some_and(|before| ns >= before.saturating_add(RESTART_NS))
        {
            self.restarts += 1;
        }
        self.started_ns = Some(ns);
    }
}
