//! What a rank sends over a channel, step by step, with its monitor.

use super::path::Probed;
use crate::monitor::{Monitor, Settings, Step};
use alloc::vec::Vec;
use rocescope_model::UdpPath;
use rocescope_model::{StepProbeRow, StepRow, Text, Time};

/// How long a step may take before its monitor spaces detections, while no step has ended.
const UNKNOWN_NS: i64 = i64::MAX / 4;

/// A rank and a channel.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    monitor: Monitor,
    /// The newest step.
    pub(super) current: Option<Current>,
    /// The collective and the rank from which this one receives.
    pub(super) from: Option<(Text, u32)>,
    /// The shortest time of a step so far, and its bytes.
    best: Option<(i64, Option<u64>)>,
}

/// The newest step of a lane.
#[derive(Debug, Clone)]
pub(super) struct Current {
    pub(super) row: StepRow,
    pub(super) path: UdpPath,
    base_ns: Option<i64>,
    threshold_ns: i64,
    /// Round trips up to this time were taken.
    fed_ns: i64,
    answered: u64,
    sum_ns: i64,
    max_ns: Option<i64>,
    detections: u64,
    pub(super) received: u64,
    /// When its end was read.
    pub(super) ended_ns: Option<i64>,
    /// Its monitor ended, too.
    pub(super) is_closed: bool,
}

impl Current {
    fn end_ns(&self) -> i64 {
        let duration_ns = self.row.duration_ns.unwrap_or(i64::MAX);
        self.row.time_ns.saturating_add(duration_ns)
    }

    /// The row of an event in it.
    fn event(&self, observer: &Text, event: &'static str, at_ns: i64, trip_ns: Option<i64>) -> StepProbeRow {
        let count = i64::try_from(self.answered).unwrap_or(i64::MAX);
        StepProbeRow {
            observer: observer.clone(),
            time: Time(at_ns),
            time_ns: at_ns,
            event: Text::from_static(event),
            collective: self.row.collective.clone(),
            host: self.row.host.clone(),
            channel: self.row.channel,
            step: self.row.step,
            dst_host: self.row.dst_host.clone(),
            src: self.path.src,
            dst: self.path.dst,
            udp_src_port: self.path.port,
            start_ns: self.row.time_ns,
            base_round_trip_ns: self.base_ns.unwrap_or(0),
            threshold_ns: self.threshold_ns,
            round_trip_ns: trip_ns,
            answered: self.answered,
            mean_round_trip_ns: (count > 0).then(|| self.sum_ns / count.max(1)),
            max_round_trip_ns: self.max_ns,
            detections: self.detections,
            received: self.received,
            passed_to: None,
            asked: false,
        }
    }
}

/// A lane computes the threshold of each step itself.
fn absolute(settings: Settings) -> Settings {
    Settings {
        threshold_percent: 100,
        ..settings
    }
}

impl Lane {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            monitor: Monitor::new(absolute(settings)),
            current: None,
            from: None,
            best: None,
        }
    }

    /// Other rules, from the next step on.
    pub(super) fn reconfigure(&mut self, settings: Settings) {
        self.monitor.reconfigure(absolute(settings));
    }

    /// How long a step of this size takes at best.
    fn expected_ns(&self, row: &StepRow) -> i64 {
        let scaled = |(best_ns, best_bytes): (i64, Option<u64>)| match (row.bytes, best_bytes) {
            (Some(bytes), Some(best_bytes)) if best_bytes > 0 => {
                let ns = i128::from(best_ns) * i128::from(bytes) / i128::from(best_bytes);
                i64::try_from(ns).unwrap_or(UNKNOWN_NS)
            }
            _ => best_ns,
        };
        row.expected_ns.or_else(|| self.best.map(scaled)).unwrap_or(UNKNOWN_NS)
    }

    /// Learns how fast steps are.
    fn learn(&mut self, row: &StepRow) {
        let Some(took_ns) = row.duration_ns.filter(|ns| *ns > 0) else {
            return;
        };
        let is_better = |(best_ns, best_bytes): (i64, Option<u64>)| match (row.bytes, best_bytes) {
            (Some(bytes), Some(best_bytes)) => {
                i128::from(took_ns) * i128::from(best_bytes) < i128::from(best_ns) * i128::from(bytes)
            }
            _ => took_ns < best_ns,
        };
        if self.best.is_none_or(is_better) {
            self.best = Some((took_ns, row.bytes));
        }
    }

    /// A step begins along a path.
    pub(super) fn begin(
        &mut self,
        row: StepRow,
        path: UdpPath,
        base_ns: Option<i64>,
        threshold_ns: impl Fn(i64) -> i64,
    ) {
        let threshold_ns = base_ns.map_or(i64::MAX, threshold_ns);
        self.monitor.begin(Step {
            number: row.step,
            base_rtt_ns: threshold_ns,
            expected_ns: self.expected_ns(&row),
        });
        self.current = Some(Current {
            fed_ns: row.time_ns,
            row,
            path,
            base_ns,
            threshold_ns,
            answered: 0,
            sum_ns: 0,
            max_ns: None,
            detections: 0,
            received: 0,
            ended_ns: None,
            is_closed: false,
        });
    }

    /// The end of the newest step was read.
    pub(super) fn ended(&mut self, duration_ns: i64, now_ns: i64) {
        let Some(current) = &mut self.current else { return };
        if current.ended_ns.is_none() {
            current.row.duration_ns = Some(duration_ns);
            current.ended_ns = Some(now_ns);
            let row = current.row.clone();
            self.learn(&row);
        }
    }

    /// Takes the round trips of its path that it has not taken, while its step went on. Returns its detections.
    pub(super) fn feed(&mut self, probed: &Probed, observer: &Text) -> Vec<StepProbeRow> {
        let mut found = Vec::new();
        let Some(current) = self.current.as_mut().filter(|current| !current.is_closed) else {
            return found;
        };
        let end_ns = current.end_ns();
        let from = probed.trips.partition_point(|(at_ns, _)| *at_ns <= current.fed_ns);
        for (at_ns, rtt_ns) in probed.trips.range(from..).copied() {
            if at_ns > end_ns {
                break;
            }
            current.fed_ns = at_ns;
            current.answered += 1;
            current.sum_ns = current.sum_ns.saturating_add(rtt_ns);
            current.max_ns = current.max_ns.max(Some(rtt_ns));
            if self.monitor.round_trip(at_ns, rtt_ns) {
                current.detections += 1;
                found.push(current.event(observer, StepProbeRow::SLOW, at_ns, Some(rtt_ns)));
            }
        }
        found
    }

    /// Probes of its path are not answered for this long.
    pub(super) fn unanswered(&mut self, now_ns: i64, age_ns: i64, observer: &Text) -> Option<StepProbeRow> {
        let current = self.current.as_mut().filter(|current| current.ended_ns.is_none())?;
        if !self.monitor.overdue(now_ns, age_ns) {
            return None;
        }
        current.detections += 1;
        Some(current.event(observer, StepProbeRow::OVERDUE, now_ns, Some(age_ns)))
    }

    /// Detections that another host passed on for this step. Returns those to pass on.
    pub(super) fn notified(&mut self, step: u32, detections: u32) -> Option<u32> {
        let left = self.monitor.notified(step, detections);
        if let Some(current) = self.current.as_mut().filter(|current| current.row.step == step)
            && !current.is_closed
        {
            current.received += u64::from(detections);
        }
        left
    }

    /// The newest step is over; `waits` if its rank waits for data. Returns its row, if its path was probed meanwhile, and
    /// the detections to pass on.
    pub(super) fn close(&mut self, waits: bool, observer: &Text) -> (Option<StepProbeRow>, Option<u32>) {
        let Some(current) = self.current.as_mut().filter(|current| !current.is_closed) else {
            return (None, None);
        };
        current.is_closed = true;
        let left = self.monitor.end(waits);
        let is_known = current.answered > 0 || current.detections > 0 || current.received > 0;
        let end_ns = match current.row.duration_ns {
            Some(_) => current.end_ns(),
            // The next step began: its own end was not reported.
            None => current.fed_ns,
        };
        let row = is_known.then(|| current.event(observer, StepProbeRow::END, end_ns, None));
        (row, left)
    }
}
