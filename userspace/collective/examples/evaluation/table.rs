//! The tables.

use crate::cases::Class;
use crate::judge::{Judged, Score, Verdict};
use crate::methods::Method;

/// Telemetry of a case in the paper (Fig. 10a: "consistently maintained around 10KB").
const PAPER_BYTES: f64 = 10_000.0;
const FLOOR: f64 = 0.95;

/// Sums over the cases of a class.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    right: f64,
    partial: f64,
    missed: f64,
    cases: f64,
    wrong_roots: f64,
    polls: f64,
    telemetry: f64,
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

    fn precision(&self) -> f64 {
        self.right / (self.right + self.partial)
    }

    fn recall(&self) -> f64 {
        self.right / (self.right + self.missed)
    }

    fn a_case(&self, sum: f64) -> f64 {
        sum / self.cases
    }

    fn passes(&self) -> bool {
        self.precision() >= FLOOR && self.recall() >= FLOOR && self.a_case(self.telemetry) <= PAPER_BYTES
    }
}

/// Prints the tables; returns whether some setting of the monitors passes in every class.
pub(crate) fn print(methods: &[Method], all: &[(Class, u64, Judged)]) -> bool {
    let mut passes = true;
    let mut pass_all = vec![true; methods.len()];
    for class in Class::ALL {
        let of_class = || all.iter().filter(move |(other, ..)| *other == class);
        let cases = of_class().count();
        if cases == 0 {
            continue;
        }
        let events: u64 = of_class().map(|(.., judged)| judged.events).sum();
        let took_ns: i64 = of_class().map(|(.., judged)| judged.took_ns).sum();
        let never_met: usize = of_class().map(|(.., judged)| judged.never_met).sum();
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
        let mut best = false;
        for (at, method) in methods.iter().enumerate() {
            let sums = Sums::of(of_class().map(|(.., judged)| &judged.scores[at]));
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
            let is_good = matches!(method, Method::Monitors(_)) && sums.passes();
            best |= is_good;
            pass_all[at] &= is_good;
        }
        if !best {
            println!("no setting of the monitors passes for {}", class.name());
            passes = false;
        }
    }
    let all_good = methods.iter().zip(pass_all).filter(|(_, is_good)| *is_good);
    let names: Vec<String> = all_good.map(|(method, _)| method.name()).collect();
    match names.is_empty() {
        true => println!("\nno setting passes in every class"),
        false => println!("\npasses in every class: {}", names.join("; ")),
    }
    passes
}
