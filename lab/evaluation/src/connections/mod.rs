//! What the analysis of connections reports, measured against the truth of generated classes of traffic.
//!
//! Each class is a scenario in `userspace/generate/scenarios/classes`. The generator knows of every packet which
//! transmission of its PSN it is and where it was lost; nothing here is derived from the analysis.
//!
//! `LAB_CLASS=spray-loss cargo xtask lab connections` runs this class alone; each difference is a line.
//! `LAB_SEEDS=41-80` takes other seeds: those that a rule was not made on.
//!
//! | module | what it holds |
//! |---|---|
//! | `floors` | what each class reaches |
//! | `follow` | a class, generated and analyzed |
//! | `matching` | losses reported and losses real, one to one |
//! | `score` | the figures of a class |
//! | `captures` | a test: captures made by hand |
//! | `live`, `silent`, `window_length` | tests: times of a live capture, silent directions, windows of other lengths |

#[cfg(test)]
mod captures;
mod floors;
mod follow;
#[cfg(test)]
mod live;
mod matching;
mod score;
#[cfg(test)]
mod silent;
#[cfg(test)]
mod window_length;

use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use floors::{FLOORS, Floor};
use score::Score;
use std::ops::RangeInclusive;

/// The seeds of a usual run; the accuracy that the project states is that of 40.
const SEEDS: u64 = 4;
const ALL_SEEDS: u64 = 40;

/// The goals are those of every class (`floors`).
pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let seeds = chosen_seeds().unwrap_or(1..=size.choose(SEEDS, ALL_SEEDS));
    let only = std::env::var("LAB_CLASS").ok();
    let is_chosen = |floor: &&Floor| only.as_ref().is_none_or(|only| only == floor.class);
    let floors: Vec<&Floor> = FLOORS.iter().filter(is_chosen).collect();
    let (mut sum, mut below) = (Score::default(), 0.0);
    if size.details {
        print!("{}", Score::header());
    }
    for (floor, score, wrong) in measured(&floors, &seeds) {
        if size.details {
            print!("{}", score.line(floor.class));
        }
        if only.is_some() {
            wrong.iter().for_each(|line| println!("{line}"));
        }
        for what in floor.missed_by(&score, number(&seeds)) {
            println!("{}: {what}", floor.class);
            below += 1.0;
        }
        sum.real += score.real;
        sum.visible += score.visible;
        sum.reported += score.reported;
        sum.right += score.right;
        sum.found += score.found;
    }
    let runs = floors.len() as u64 * number(&seeds);
    vec![
        Line::new(
            "losses",
            runs,
            "reported ones that are real, %",
            percent(sum.right, sum.reported),
            Goal::AtLeast(98.0),
        ),
        Line::new(
            "losses",
            runs,
            "visible ones that are reported, %",
            percent(sum.found, sum.visible),
            Goal::AtLeast(95.0),
        ),
        Line::new("classes", runs, "figures below their floor", below, Goal::AtMost(0.0)),
    ]
}

/// The seeds that the environment names.
fn chosen_seeds() -> Option<RangeInclusive<u64>> {
    let text = std::env::var("LAB_SEEDS").ok()?;
    let (first, last) = text.split_once('-').unwrap_or((&text, &text));
    let seed = |text: &str| text.parse().unwrap_or_else(|_| panic!("LAB_SEEDS is FIRST-LAST"));
    Some(seed(first)..=seed(last))
}

fn number(seeds: &RangeInclusive<u64>) -> u64 {
    (seeds.end() + 1).saturating_sub(*seeds.start())
}

/// Each class over its seeds, and a line for each difference.
fn measured<'a>(floors: &[&'a Floor], seeds: &RangeInclusive<u64>) -> Vec<(&'a Floor, Score, Vec<String>)> {
    parallel::each(floors, |floor| {
        let (mut score, mut wrong) = (Score::default(), Vec::new());
        for seed in seeds.clone() {
            let found = score.add(&follow::follow(&follow::class(floor.class), seed));
            wrong.extend(found.into_iter().map(|line| format!("seed {seed}: {line}")));
        }
        (*floor, score, wrong)
    })
}

#[cfg(test)]
mod tests {
    use super::{FLOORS, Size, evaluate};
    use rocescope_generate::CLASSES;

    #[test]
    fn every_class_reaches_its_floor() {
        let size = Size {
            full: false,
            details: true,
        };
        let lines = evaluate(size);
        assert!(lines.iter().all(crate::table::Line::is_met), "{lines:#?}");
    }

    #[test]
    fn every_class_has_a_floor() {
        let floors: Vec<&str> = FLOORS.iter().map(|floor| floor.class).collect();
        let classes: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
        assert_eq!(floors, classes);
    }
}
