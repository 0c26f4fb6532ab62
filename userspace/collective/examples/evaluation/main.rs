//! The paper's evaluation in the simulator: `evaluation [SCALE [CASES [SET [CLASS]]]]`.
//!
//! `SCALE` divides all sizes and times, 1 by default; `CASES` limits the cases of each class; each `SET` has other seeds, 0
//! by default; `CLASS` is a part of the name of one class. Fails if the best setting of the monitors has a recall or a
//! precision below 0.95 in a class, or needs more telemetry than the paper's.

mod cases;
mod judge;
mod methods;
mod table;
#[cfg(test)]
mod tests;

use cases::{Case, Class};
use judge::{Judged, judge};
use methods::Method;
use rocescope_collective::monitor::Settings;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Thresholds of Fig. 12, in percent.
pub(crate) const THRESHOLDS: [u32; 5] = [120, 150, 180, 210, 240];
/// Detections a step of Fig. 12.
pub(crate) const COUNTS: [u32; 5] = [1, 2, 3, 4, 5];
/// Seeds between two sets.
const SEEDS: u64 = 1_000_000;
/// Round-trip times of Fig. 13a.
pub(crate) const FIXED_NS: [i64; 4] = [15_000, 30_000, 45_000, 60_000];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let mut next = |default| arguments.next().and_then(Result::ok).unwrap_or(default);
    let (scale, limit, set) = (next(1).max(1), next(u64::MAX), next(0));
    let wanted = std::env::args().nth(4).unwrap_or_default();
    let methods = all_methods();
    let jobs: Vec<(Class, u64)> = Class::ALL
        .iter()
        .filter(|class| class.name().contains(&wanted))
        .flat_map(|class| (0..class.cases().min(limit)).map(|number| (*class, set * SEEDS + number)))
        .collect();
    let (at, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            scope.spawn(|| {
                while let Some((class, number)) = jobs.get(at.fetch_add(1, Ordering::Relaxed)) {
                    let (seed, judged) = find(*class, *number, &methods, scale);
                    if let Ok(mut done) = done.lock() {
                        done.push((*class, seed, judged));
                        if done.len().is_multiple_of(20) {
                            eprintln!("{} of {} cases", done.len(), jobs.len());
                        }
                    }
                }
            });
        }
    });
    let mut all = done.into_inner().unwrap_or_default();
    all.sort_by_key(|(class, seed, _)| (*class, *seed));
    if table::print(&methods, &all) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The case with this number: seeds whose flows do not reach the collective are skipped.
fn find(class: Class, number: u64, methods: &[Method], scale: u64) -> (u64, Judged) {
    let mut seed = number;
    loop {
        if let Some(judged) = judge(&Case::draw(class, seed, scale), methods, scale) {
            return (seed, judged);
        }
        seed += 1_000;
    }
}

fn all_methods() -> Vec<Method> {
    let mut methods = Vec::new();
    for threshold_percent in THRESHOLDS {
        for detections in COUNTS {
            methods.push(Method::Monitors(Settings {
                threshold_percent,
                detections,
                ..Settings::default()
            }));
        }
    }
    methods.extend([Method::HawkeyeMaxR, Method::HawkeyeMinR, Method::FullPolling]);
    methods.extend(FIXED_NS.map(|rtt_ns| Method::FixedThreshold { rtt_ns, detections: 3 }));
    methods.push(Method::Kept(Settings::default()));
    methods.push(Method::Unlimited { threshold_percent: 120 });
    methods
}
