//! The methods that are compared: when each asks for telemetry, and what its analyzer keeps of it.

use rocescope_collective::monitor::{Group, Notice, Settings, Step};
use rocescope_fabric::packets::{Ask, Seen, Watch};

/// Shortest time between two questions of a host that are not limited in number: an epoch of the switches.
const GAP_NS: i64 = 1_000_000;

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The monitors of this crate.
    Monitors(Settings),
    /// The same, but no host passes detections on.
    Kept(Settings),
    /// The same as the monitors, with one round-trip time for all steps.
    FixedThreshold { rtt_ns: i64, detections: u32 },
    /// The thresholds of this crate without a limit in number.
    Unlimited { threshold_percent: u32 },
    /// Hawkeye with 120 % of the longest round trip of all flows of the collective.
    HawkeyeMaxR,
    /// Hawkeye with 120 % of the shortest.
    HawkeyeMinR,
    /// All switches report every epoch.
    FullPolling,
}

impl Method {
    pub(super) fn name(self) -> String {
        match self {
            Self::Monitors(Settings {
                threshold_percent,
                detections,
                ..
            }) => format!("monitors, {threshold_percent} %, {detections} a step"),
            Self::Kept(settings) => format!(
                "{} %, {} a step, not passed on",
                settings.threshold_percent, settings.detections
            ),
            Self::FixedThreshold { rtt_ns, detections } => {
                format!("fixed {} us, {detections} a step", rtt_ns / 1_000)
            }
            Self::Unlimited { threshold_percent } => format!("{threshold_percent} %, not limited"),
            Self::HawkeyeMaxR => "Hawkeye-MaxR".into(),
            Self::HawkeyeMinR => "Hawkeye-MinR".into(),
            Self::FullPolling => "full polling".into(),
        }
    }

    /// Hawkeye's analyzer keeps one report of a switch in 50 µs (§IV-B of the paper).
    pub(super) fn kept_ns(self) -> i64 {
        match self {
            Self::HawkeyeMaxR | Self::HawkeyeMinR => 50_000,
            _ => 0,
        }
    }

    /// Its monitors. `rtts_ns` are the round-trip times of the collective's flows with empty queues.
    pub(super) fn watch(self, rtts_ns: &[i64], scale: u64) -> Box<dyn Watch> {
        let ranks = rtts_ns.len();
        let limited = |settings: Settings, rtt_ns, passes_on| {
            let settings = Settings {
                settle_ns: settings.settle_ns / scale as i64,
                ..settings
            };
            Box::new(Limited {
                group: Group::new(settings, ranks),
                rtt_ns,
                passes_on,
            })
        };
        let repeated = |limits_ns: Vec<i64>, percent: Option<i64>| {
            Box::new(Repeated {
                last_ns: vec![None; limits_ns.len()],
                limits_ns,
                percent,
                gap_ns: GAP_NS / scale as i64,
            })
        };
        let all = |rtt_ns: Option<&i64>| vec![rtt_ns.copied().unwrap_or(0) * 120 / 100; ranks];
        match self {
            Self::Monitors(settings) => limited(settings, None, true),
            Self::Kept(settings) => limited(settings, None, false),
            Self::FixedThreshold { rtt_ns, detections } => {
                let settings = Settings {
                    threshold_percent: 100,
                    detections,
                    ..Settings::default()
                };
                limited(settings, Some(rtt_ns), true)
            }
            Self::Unlimited { threshold_percent } => repeated(vec![0; ranks], Some(i64::from(threshold_percent))),
            Self::HawkeyeMaxR => repeated(all(rtts_ns.iter().max()), None),
            Self::HawkeyeMinR => repeated(all(rtts_ns.iter().min()), None),
            Self::FullPolling => Box::new(Full),
        }
    }
}

/// Monitors of this crate, one for each rank.
struct Limited {
    group: Group,
    /// A round-trip time in the place of the path's.
    rtt_ns: Option<i64>,
    passes_on: bool,
}

impl Watch for Limited {
    fn see(&mut self, now_ns: i64, seen: Seen, asks: &mut Vec<Ask>) {
        match seen {
            Seen::Begin {
                rank,
                step,
                base_rtt_ns,
                expected_ns,
            } => {
                let step = Step {
                    number: step,
                    base_rtt_ns: self.rtt_ns.unwrap_or(base_rtt_ns),
                    expected_ns,
                };
                self.group.begin(rank, step);
            }
            Seen::Acknowledged { rank, rtt_ns } => {
                if self.group.round_trip(rank, now_ns, rtt_ns) {
                    asks.push(Ask::Path { rank });
                }
            }
            Seen::Overdue { rank, age_ns } => {
                if self.group.overdue(rank, now_ns, age_ns) {
                    asks.push(Ask::Path { rank });
                }
            }
            Seen::Sent { rank, step, awaited } => {
                let notice = self.group.end(rank, step, awaited);
                self.send(notice, asks);
            }
            Seen::Notified { rank, step, detections } => {
                let notice = Notice {
                    // Who sent it does not matter.
                    from: rank,
                    to: rank,
                    step,
                    detections,
                };
                let notice = self.group.notified(notice);
                self.send(notice, asks);
            }
            Seen::Epoch => {}
        }
    }
}

impl Limited {
    fn send(&self, notice: Option<Notice>, asks: &mut Vec<Ask>) {
        if let Some(notice) = notice.filter(|_| self.passes_on) {
            asks.push(Ask::Notify {
                from: notice.from,
                to: notice.to,
                step: notice.step,
                detections: notice.detections,
            });
        }
    }
}

/// Every acknowledgement above a threshold asks, at most once in a gap: as Hawkeye's agents do, which see nothing of a
/// flow that is halted.
struct Repeated {
    limits_ns: Vec<i64>,
    /// The threshold follows each step.
    percent: Option<i64>,
    last_ns: Vec<Option<i64>>,
    gap_ns: i64,
}

impl Watch for Repeated {
    fn see(&mut self, now_ns: i64, seen: Seen, asks: &mut Vec<Ask>) {
        match (seen, self.percent) {
            (Seen::Begin { rank, base_rtt_ns, .. }, Some(percent)) => {
                self.limits_ns[rank] = base_rtt_ns * percent / 100;
            }
            (Seen::Acknowledged { rank, rtt_ns }, _)
                if rtt_ns > self.limits_ns[rank]
                    && self.last_ns[rank].is_none_or(|last| now_ns - last >= self.gap_ns) =>
            {
                self.last_ns[rank] = Some(now_ns);
                asks.push(Ask::Path { rank });
            }
            _ => {}
        }
    }
}

/// All switches report every epoch.
struct Full;

impl Watch for Full {
    fn see(&mut self, _: i64, seen: Seen, asks: &mut Vec<Ask>) {
        if seen == Seen::Epoch {
            asks.push(Ask::All);
        }
    }
}
