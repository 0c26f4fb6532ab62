//! What agents' monitors asked: rows of `step_probes`, the bursts of probes that followed in `small_flows`, and the
//! recordings of capture boxes, which are events.

use super::{Burst, SlowPath, Source, Telemetry};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_model::{EventRow, SmallFlowRow, StepProbeRow, Text};

/// A recording and a detection of the same path within this time belong together.
const NEAR_NS: u64 = 1_000_000_000;

/// Rows of an agent's monitor, and what came of them. Ends of steps and other events are ignored.
#[derive(Debug, Clone, Copy)]
pub struct SlowPaths<'a> {
    /// Rows of `step_probes`.
    pub probes: &'a [StepProbeRow],
    /// Rows of `small_flows`.
    pub bursts: &'a [SmallFlowRow],
    /// Rows of `events`.
    pub recordings: &'a [EventRow],
}

impl Source for SlowPaths<'_> {
    fn telemetry(&self) -> Telemetry {
        // By agent and time of the detection.
        let mut bursts: BTreeMap<(&str, i64), Burst> = BTreeMap::new();
        for row in self.bursts {
            let burst = Burst {
                probes: row.probes,
                answered: row.answered,
                mean_ns: row.mean_round_trip_ns,
                max_ns: row.max_round_trip_ns,
            };
            bursts.insert((&row.capture, row.window_start_ns), burst);
        }
        let mut boxes: BTreeMap<(IpAddr, IpAddr), Vec<(i64, Text)>> = BTreeMap::new();
        for row in self.recordings.iter().filter(|row| &*row.kind == EventRow::SLOW_STEP) {
            if let (Some(src), Some(dst)) = (row.src, row.dst) {
                let by = boxes.entry((src, dst)).or_default();
                by.push((row.time_ns, row.observer.clone()));
            }
        }
        let recorded_by = |row: &StepProbeRow| {
            let of_path = boxes.get(&(row.src, row.dst)).into_iter().flatten();
            // A box may have moved the time to its own clock.
            let of_time = of_path.filter(|(time_ns, _)| time_ns.abs_diff(row.time_ns) <= NEAR_NS);
            of_time.map(|(_, by)| by.clone()).collect()
        };
        let detections = self.probes.iter().filter(|row| &*row.event != StepProbeRow::END);
        let slow = detections.map(|row| SlowPath {
            agent: row.observer.clone(),
            time_ns: row.time_ns,
            host: row.host.clone(),
            to: row.dst_host.clone(),
            step: row.step,
            src: row.src,
            dst: row.dst,
            src_port: row.udp_src_port,
            is_overdue: &*row.event == StepProbeRow::OVERDUE,
            base_ns: row.base_round_trip_ns,
            round_trip_ns: row.round_trip_ns.unwrap_or(0),
            burst: bursts.get(&(&*row.observer, row.time_ns)).copied(),
            recorded_by: recorded_by(row),
        });
        Telemetry {
            slow: slow.collect(),
            ..Telemetry::default()
        }
    }
}
