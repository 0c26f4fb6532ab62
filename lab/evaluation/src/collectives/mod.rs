//! The paper's evaluation of the diagnosis of collectives, in the simulator.
//!
//! `LAB_CLASS=incast` runs one class alone, `LAB_SET=1` other seeds. The full size compares all methods and settings.
//!
//! | module | what it holds |
//! |---|---|
//! | `cases` | classes and cases, from seeds |
//! | `methods` | the methods that are compared |
//! | `judge` | a case under all methods; how right each is |
//! | `polled` | the same cases through counters of switches that are polled |
//! | `table` | the tables |
//! | `incidents` | the same cases, and what `diagnose` reports of them |

mod cases;
pub(crate) mod incidents;
mod judge;
mod methods;
mod polled;
mod table;
#[cfg(test)]
mod tests;

use crate::parallel;
use crate::table::{Goal, Line, Size};
use cases::{Case, Class};
use judge::{Judged, judge};
use methods::Method;
use rocescope_collective::monitor::Settings;

/// Thresholds of Fig. 12, in percent.
pub(crate) const THRESHOLDS: [u32; 5] = [120, 150, 180, 210, 240];
/// Detections a step of Fig. 12.
pub(crate) const COUNTS: [u32; 5] = [1, 2, 3, 4, 5];
/// Seeds between two sets.
const SEEDS: u64 = 1_000_000;
/// Round-trip times of Fig. 13a.
pub(crate) const FIXED_NS: [i64; 4] = [15_000, 30_000, 45_000, 60_000];

/// What the paper reaches, and bytes of telemetry of a case in it (Fig. 10a: "consistently maintained around 10KB").
const LEAST: f64 = 95.0;
const PAPER_BYTES: f64 = 10_000.0;
/// Divides all sizes and times of small cases, and their number in each class.
const SCALE: u64 = 10;
const CASES: u64 = 6;

/// The figures are those of the default setting of the monitors.
pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let (wanted, set) = (variable("LAB_CLASS"), variable("LAB_SET").parse().unwrap_or(0));
    let (scale, limit) = size.choose((SCALE, CASES), (1, u64::MAX));
    let methods = size.choose(vec![Method::Monitors(Settings::default())], all_methods());
    let number = |class: &Class| {
        (0..class.cases().min(limit))
            .map(|number| set * SEEDS + number)
            .collect::<Vec<_>>()
    };
    let of_class = |class: &Class| {
        number(class)
            .into_iter()
            .map(|number| (*class, number))
            .collect::<Vec<_>>()
    };
    let jobs: Vec<(Class, u64)> = Class::ALL
        .iter()
        .filter(|class| class.name().contains(&wanted))
        .flat_map(of_class)
        .collect();
    let all = parallel::each(&jobs, |(class, number)| {
        (*class, find(*class, *number, &methods, scale))
    });
    if size.details {
        table::print(&methods, &all);
        polled::print(&jobs, scale);
    }
    let mut lines = Vec::new();
    for (class, sums) in table::sums(&methods, &all, Method::Monitors(Settings::default())) {
        let cases = sums.cases as u64;
        let mut add = |measure, value, goal| lines.push(Line::new(class.name(), cases, measure, value, goal));
        if class == Class::Healthy {
            add("causes a case", sums.a_case(sums.wrong_roots), Goal::AtMost(0.0));
            continue;
        }
        add("precision, %", sums.precision() * 100.0, Goal::AtLeast(LEAST));
        add("recall, %", sums.recall() * 100.0, Goal::AtLeast(LEAST));
        if size.full {
            add("bytes a case", sums.a_case(sums.telemetry), Goal::AtMost(PAPER_BYTES));
        }
    }
    lines
}

/// What came of the case with this number: seeds whose flows do not reach the collective are skipped.
fn find(class: Class, number: u64, methods: &[Method], scale: u64) -> Judged {
    of_number(number, |seed| judge(&Case::draw(class, seed, scale), methods, scale))
}

fn of_number<T>(number: u64, of_seed: impl Fn(u64) -> Option<T>) -> T {
    let mut seed = number;
    loop {
        if let Some(found) = of_seed(seed) {
            return found;
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
