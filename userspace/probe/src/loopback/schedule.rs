//! When to test a host: idle ones periodically, busy ones when counters call.

use super::load::{Busy, Load};
use super::run::End;
use crate::types::Nanos;
use rocescope_model::CounterRow;

/// A run that the host stopped is tried again after this time at the earliest.
const RETRY: Nanos = Nanos(60_000_000_000);
/// Number of looks in a row with the same alarm.
const ALARMS: u32 = 3;

/// When to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Time from one run on an idle host to the next.
    pub every: Nanos,
    /// How long a host must be idle before.
    pub idle_for: Nanos,
    /// Time from one run that counters call for to the next; none: they call for none.
    pub alarms: Option<Nanos>,
}

/// A counter that shows that a host takes in packets too slowly: its NIC pauses the switch, or discards.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// The NIC.
    pub nic: String,
    /// The metric of the catalogue.
    pub metric: String,
    /// Its increase each second.
    pub rate: f64,
}

/// Why a run is due.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The host is idle.
    Idle,
    /// Counters call.
    Alarm {
        /// The counter.
        alarm: Alarm,
        /// A NIC with traffic of others; none if there is none.
        busy: Option<Busy>,
    },
}

impl Reason {
    /// As text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Idle => "the host is idle".into(),
            Self::Alarm { alarm, .. } => format!("{} of {} grows by {:.0}/s", alarm.metric, alarm.nic, alarm.rate),
        }
    }

    /// Whether others have traffic, so that the tests are short and compared with each other.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Alarm { busy: Some(_), .. })
    }
}

/// Decides when a run is due. One run at a time: it is not asked while one goes on.
#[derive(Clone, Debug)]
pub struct Schedule {
    timing: Timing,
    idle_since: Option<Nanos>,
    /// The last complete run on an idle host.
    complete: Option<Nanos>,
    /// The last run, whatever its end.
    ran: Option<Nanos>,
    alarmed: Option<Nanos>,
    alarms: u32,
}

impl Schedule {
    /// A schedule. The first run is due when the host was idle long enough.
    #[must_use]
    pub const fn new(timing: Timing) -> Self {
        Self {
            timing,
            idle_since: None,
            complete: None,
            ran: None,
            alarmed: None,
            alarms: 0,
        }
    }

    /// Whether a run is due, from what the counters showed since the last call, about a second ago. `loads` is none if
    /// they showed nothing.
    pub fn due(&mut self, now: Nanos, loads: Option<&[Load]>, alarm: Option<Alarm>) -> Option<Reason> {
        let Some(loads) = loads else {
            self.idle_since = None;
            self.alarms = 0;
            return None;
        };
        let busy = Busy::of(loads);
        self.idle_since = match busy {
            Some(_) => None,
            None => self.idle_since.or(Some(now)),
        };
        self.alarms = match alarm {
            Some(_) => self.alarms + 1,
            None => 0,
        };
        let is_old = |then: Option<Nanos>, age: Nanos| then.is_none_or(|then| now - then >= age);
        if let (Some(pause), Some(alarm)) = (self.timing.alarms, alarm)
            && self.alarms >= ALARMS
            && is_old(self.alarmed, pause)
            && is_old(self.ran, RETRY)
        {
            return Some(Reason::Alarm { alarm, busy });
        }
        let is_idle = self.idle_since.is_some_and(|since| now - since >= self.timing.idle_for);
        let is_due = is_old(self.complete, self.timing.every) && is_old(self.ran, RETRY);
        (is_idle && is_due).then_some(Reason::Idle)
    }

    /// Takes note of a run that could not begin.
    pub const fn has_failed(&mut self, now: Nanos) {
        self.ran = Some(now);
    }

    /// Takes note of a run that has ended.
    pub fn has_run(&mut self, now: Nanos, reason: &Reason, end: &End) {
        self.ran = Some(now);
        self.idle_since = None;
        self.alarms = 0;
        match reason {
            Reason::Alarm { .. } => self.alarmed = Some(now),
            Reason::Idle if matches!(end, End::Complete | End::Time | End::Bytes) => self.complete = Some(now),
            Reason::Idle => {}
        }
    }
}

/// Counters that call for a run, and the increase each second from which they do.
const CALLING: [(&str, f64); 6] = [
    // Microseconds: 1 % of the time.
    ("tx_pause_duration", 10_000.0),
    ("tx_pause_frames", 100.0),
    ("tx_global_pause_frames", 100.0),
    ("rx_discards_phy", 1.0),
    ("rx_prio_discards", 1.0),
    ("port_rcv_discards", 1.0),
];

impl Alarm {
    /// The metrics of the catalogue that call.
    pub fn metrics() -> impl Iterator<Item = &'static str> {
        CALLING.into_iter().map(|(metric, _)| metric)
    }

    /// The first alarm of rows of the table `counters`.
    #[must_use]
    pub fn of(rows: &[CounterRow]) -> Option<Self> {
        rows.iter().find_map(|row| {
            let (metric, rate) = (row.metric.as_deref()?, row.rate?);
            let (_, limit) = CALLING.into_iter().find(|(name, _)| *name == metric)?;
            (rate >= limit).then(|| Self {
                nic: row.device.to_string(),
                metric: metric.to_owned(),
                rate,
            })
        })
    }
}
