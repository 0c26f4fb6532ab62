//! What the analysis of connections reports, measured against the truth of generated classes of traffic.
//!
//! Each class is a scenario in `userspace/generate/scenarios/classes`. The generator knows of every packet which
//! transmission of its PSN it is and where it was lost; nothing here is derived from the analysis.
//!
//!     cargo xtask bench truth                # the table, 40 seeds, in a release build
//!     TRUTH_SEEDS=40 cargo test -p rocescope --test truth -- --nocapture
//!     TRUTH_CLASS=spray-loss TRUTH_SEEDS=1 cargo test -p rocescope --test truth -- --nocapture
//!
//! With `TRUTH_CLASS`, each difference of this class is a line.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod floors;
mod follow;
mod matching;
mod score;

use floors::FLOORS;
use score::Score;
use std::fmt::Write;

/// The number of seeds in a usual run; the accuracy that the project states is that of 40.
const SEEDS: u64 = 4;

#[test]
fn every_class_reaches_its_floor() {
    let variable = |name| std::env::var(name).ok();
    let seeds = variable("TRUTH_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let only = variable("TRUTH_CLASS");
    let mut table = Score::header();
    let mut below = String::new();
    for floor in FLOORS {
        if only.as_ref().is_some_and(|only| only != floor.class) {
            continue;
        }
        let mut score = Score::default();
        for seed in 1..=seeds {
            let followed = follow::follow(&follow::class(floor.class), seed);
            let wrong = score.add(&followed);
            if only.is_some() {
                wrong.iter().for_each(|line| println!("seed {seed}: {line}"));
            }
        }
        table += &score.line(floor.class);
        for what in floor.missed_by(&score, seeds) {
            writeln!(below, "{}: {what}", floor.class).unwrap();
        }
    }
    println!("{table}");
    assert!(below.is_empty(), "{table}\n{below}");
}

#[test]
fn every_class_has_a_floor() {
    let mut files = follow::classes();
    let mut floors: Vec<String> = FLOORS.iter().map(|floor| floor.class.to_owned()).collect();
    files.sort();
    floors.sort();
    assert_eq!(files, floors);
}
