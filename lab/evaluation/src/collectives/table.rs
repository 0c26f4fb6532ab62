//! The tables.

use super::cases::Class;
use super::judge::{Judged, Score, Verdict};
use super::methods::Method;
use super::{LEAST, PAPER_BYTES};

/// Sums over the cases of a class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    right: f64,
    partial: f64,
    missed: f64,
    pub(super) cases: f64,
    pub(super) wrong_roots: f64,
    polls: f64,
    pub(super) telemetry: f64,
    wire: f64,
}

impl Sums {
    fn of<'a>(scores: impl Iterator<Item = &'a Score>) -> Self {
        let mut sums = Self::default();
        for score in scores {
            let verdict = match score.verdict {
                Verdict::Right => &mut sums.right,
                Verdict::Partial => &mut sums.partial,
                Verdict::Missed => &mut sums.missed,
            };
            *verdict += 1.0;
            sums.cases += 1.0;
            sums.wrong_roots += score.wrong_roots as f64;
            sums.polls += score.polls as f64;
            sums.telemetry += score.telemetry_bytes as f64;
            sums.wire += score.wire_bytes as f64;
        }
        sums
    }

    pub(super) fn precision(&self) -> f64 {
        self.right / (self.right + self.partial)
    }

    pub(super) fn recall(&self) -> f64 {
        self.right / (self.right + self.missed)
    }

    pub(super) fn a_case(&self, sum: f64) -> f64 {
        sum / self.cases
    }

    fn passes(&self) -> bool {
        let is_right = self.precision() * 100.0 >= LEAST && self.recall() * 100.0 >= LEAST;
        is_right && self.a_case(self.telemetry) <= PAPER_BYTES
    }
}

/// The sums of one method in each class that has cases.
pub(super) fn sums(methods: &[Method], all: &[(Class, Judged)], of: Method) -> Vec<(Class, Sums)> {
    let at = methods.iter().position(|method| *method == of).unwrap();
    let sums = Class::ALL.into_iter().map(|class| {
        let of_class = all.iter().filter(|(other, _)| *other == class);
        (class, Sums::of(of_class.map(|(_, judged)| &judged.scores[at])))
    });
    sums.filter(|(_, sums)| sums.cases > 0.0).collect()
}

/// Prints a table for each class, and the settings of the monitors that reach the goals in every class.
pub(super) fn print(methods: &[Method], all: &[(Class, Judged)]) {
    let mut pass_all = vec![true; methods.len()];
    for class in Class::ALL {
        let of_class = || {
            all.iter()
                .filter(move |(other, _)| *other == class)
                .map(|(_, judged)| judged)
        };
        let cases = of_class().count();
        if cases == 0 {
            continue;
        }
        let events: u64 = of_class().map(|judged| judged.events).sum();
        let took_ns: i64 = of_class().map(|judged| judged.took_ns).sum();
        let never_met: usize = of_class().map(|judged| judged.never_met).sum();
        println!(
            "\n{}: {cases} cases, {:.1} ms and {:.1} M events each; {never_met} flows never met the collective",
            class.name(),
            took_ns as f64 / 1e6 / cases as f64,
            events as f64 / 1e6 / cases as f64
        );
        println!(
            "{:<26} {:>9} {:>7} {:>8} {:>8} {:>11} {:>9} {:>11}",
            "method", "precision", "recall", "partial", "missed", "detections", "KB", "KB on wire"
        );
        for (at, method) in methods.iter().enumerate() {
            let sums = Sums::of(of_class().map(|judged| &judged.scores[at]));
            println!(
                "{:<26} {:>9.3} {:>7.3} {:>8} {:>8} {:>11.1} {:>9.1} {:>11.1}{}",
                method.name(),
                sums.precision(),
                sums.recall(),
                sums.partial,
                sums.missed,
                sums.a_case(sums.polls),
                sums.a_case(sums.telemetry) / 1e3,
                sums.a_case(sums.wire) / 1e3,
                match sums.wrong_roots > 0.0 {
                    true => format!("  ({:.1} other roots a case)", sums.a_case(sums.wrong_roots)),
                    false => String::new(),
                }
            );
            pass_all[at] &= matches!(method, Method::Monitors(_)) && sums.passes();
        }
    }
    let all_good = methods.iter().zip(pass_all).filter(|(_, is_good)| *is_good);
    let names: Vec<String> = all_good.map(|(method, _)| method.name()).collect();
    match names.is_empty() {
        true => println!("\nno setting passes in every class"),
        false => println!("\npasses in every class: {}", names.join("; ")),
    }
}
