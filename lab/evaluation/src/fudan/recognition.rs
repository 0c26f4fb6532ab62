//! Section 5.4 (3): elephant flows, and flows whose rate jumped.

use super::replay::{Replay, Window, replay};
use super::truth;
use super::workload::{CHANGING_SECONDS, RATES_MBPS, SHIFTS_MS, changes_ms, changing, elephant_qpn};
use crate::table::{Goal, Line};
use rocescope_model::EventRow;
use rocescope_pipeline::Settings;
use rocescope_pipeline::settings;
use rocescope_sketches::jitter::{ChangeKind, Thresholds};
use rocescope_sketches::{FlowHash, Jitter};
use std::collections::HashMap;
use std::error::Error;

const ELEPHANTS_BPS: [u64; 3] = [1_500_000_000, 2_500_000_000, 3_500_000_000];
const JITTER_BPS: u64 = 2_000_000_000;
const WINDOW_NS: u64 = 1_000_000_000;

/// Counts of true, found and false items.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    there: u32,
    found: u32,
    false_alarms: u32,
}

impl Found {
    fn recall(self) -> f64 {
        100.0 * f64::from(self.found) / f64::from(self.there.max(1))
    }
}

/// Lines, each also with the results from other columns. Changes fall on edges of windows, or within them: `shifts` runs.
pub(super) fn recognition(shifts: usize) -> Result<Vec<(Line, String)>, Box<dyn Error>> {
    let mut lines = Vec::new();
    for elephant_bps in ELEPHANTS_BPS {
        let settings = Settings {
            window_ns: WINDOW_NS,
            elephant_bps: elephant_bps as f64,
            jitter: settings::Jitter {
                relative: None,
                absolute_bps: Some(JITTER_BPS as f64),
            },
            ..Settings::default()
        };
        let mut flows = (Found::default(), Found::default());
        let mut changes = flows;
        for (seed, shift_ms) in (1..).zip(SHIFTS_MS.into_iter().take(shifts)) {
            let scenario = changing(shift_ms);
            let replayed = replay(&scenario, seed, CHANGING_SECONDS as f64, &settings)?;
            add(&mut flows, elephants(&replayed.windows, elephant_bps)?);
            add(&mut changes, jitter(&replayed, elephant_bps, shift_ms)?);
        }
        let gbps = elephant_bps as f64 / 1e9;
        lines.push(line(
            &format!("elephants above {gbps} Gbit/s"),
            flows,
            "flows in windows of 1 s",
        ));
        lines.push(line(
            &format!("changes of elephants above {gbps} Gbit/s"),
            changes,
            "changes",
        ));
    }
    Ok(lines)
}

fn add(sum: &mut (Found, Found), run: (Found, Found)) {
    for (sum, run) in [(&mut sum.0, run.0), (&mut sum.1, run.1)] {
        sum.there += run.there;
        sum.found += run.found;
        sum.false_alarms += run.false_alarms;
    }
}

fn line(what: &str, (sketched, listed): (Found, Found), things: &str) -> (Line, String) {
    let text = format!(
        "| {what} | 95 % | {:.1} % | {} | {:.1} % | {} | {} {things} |",
        sketched.recall(),
        sketched.false_alarms,
        listed.recall(),
        listed.false_alarms,
        sketched.there
    );
    let line = Line::new(
        what,
        u64::from(sketched.there),
        "recognized, %",
        sketched.recall(),
        Goal::AtLeast(95.0),
    );
    (line, text)
}

fn bps(bytes: u64) -> u64 {
    bytes * 8 * 1_000_000_000 / WINDOW_NS
}

/// By the Count-Min table, and by the column `elephant`.
fn elephants(windows: &[Window], threshold: u64) -> Result<(Found, Found), Box<dyn Error>> {
    let (mut sketched, mut listed) = (Found::default(), Found::default());
    for window in windows {
        let table = window.frame_bytes()?;
        for (flow, bytes) in &window.truth.flow_bytes {
            let there = bps(*bytes) >= threshold;
            let hash = truth::hash(flow);
            let row = window.flows.iter().find(|row| row.flow_hash == hash.0.cast_signed());
            let by_sketch = bps(table.estimate(hash)) >= threshold;
            let by_row = row.is_some_and(|row| row.elephant);
            for (found, by) in [(&mut sketched, by_sketch), (&mut listed, by_row)] {
                found.there += u32::from(there);
                found.found += u32::from(there && by);
                found.false_alarms += u32::from(!there && by);
            }
        }
    }
    Ok((sketched, listed))
}

/// A change: queue pair, window in which it began, and whether the rate rose.
type Change = (u32, u64, bool);

/// The changes that the scenario makes and that pass the thresholds.
fn changes(threshold: u64, shift_ms: u64) -> Vec<Change> {
    let mut changes = Vec::new();
    for (flow, rates) in RATES_MBPS.iter().enumerate() {
        for (pair, at_ms) in rates.windows(2).zip(changes_ms(shift_ms)) {
            if let [from, to] = pair
                && from.max(to) * 1_000_000 >= threshold
                && from.abs_diff(*to) * 1_000_000 >= JITTER_BPS
            {
                changes.push((elephant_qpn(flow), at_ms / 1_000, to > from));
            }
        }
    }
    changes
}

/// By the jitter sketch over rates that the Count-Min table gives, and by the rows of `events`.
fn jitter(replayed: &Replay, threshold: u64, shift_ms: u64) -> Result<(Found, Found), Box<dyn Error>> {
    let thresholds = Thresholds {
        elephant_bps: threshold,
        absolute_bps: Some(JITTER_BPS),
        relative: None,
    };
    let mut jitter = Jitter::new(thresholds, 1_000, 60);
    let mut qpns: HashMap<FlowHash, u32> = HashMap::new();
    let mut reported: Vec<Change> = Vec::new();
    let mut events = Vec::new();
    for (number, window) in (0..).zip(&replayed.windows) {
        let table = window.frame_bytes()?;
        let mut rates = Vec::new();
        for flow in window.truth.flow_bytes.keys() {
            let hash = truth::hash(flow);
            qpns.insert(hash, flow.2);
            rates.push((hash, bps(table.estimate(hash))));
        }
        jitter.close_window(number, rates, |event| events.push(event));
    }
    jitter.finish(|event| events.push(event));
    for event in events {
        if event.kind == ChangeKind::Jitter
            && let Some(qpn) = qpns.get(&event.flow)
        {
            reported.push((*qpn, event.window, event.to_bps > event.from_bps));
        }
    }
    let there = changes(threshold, shift_ms);
    let sketched = compare(&there, &reported);
    let start_ns = replayed
        .windows
        .first()
        .map_or(0, |window| window.totals.window_start_ns);
    let rows = replayed.events.iter();
    let rows = rows.filter(|row| row.kind.as_str() == "jitter");
    let listed: Vec<Change> = rows.filter_map(|row| change(row, start_ns)).collect();
    Ok((sketched, compare(&there, &listed)))
}

fn change(row: &EventRow, start_ns: i64) -> Option<Change> {
    let window = (row.time_ns - start_ns).cast_unsigned() / WINDOW_NS;
    Some((row.dst_qpn?, window, row.value? > row.previous?))
}

/// A report must have the flow, the window in which its rate began to change, and the direction.
fn compare(there: &[Change], reported: &[Change]) -> Found {
    let found = there.iter().filter(|change| reported.contains(change));
    let false_alarms = reported.iter().filter(|report| !there.contains(report));
    Found {
        there: there.len() as u32,
        found: found.count() as u32,
        false_alarms: false_alarms.count() as u32,
    }
}
