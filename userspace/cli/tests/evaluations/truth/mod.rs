//! What the analysis of connections reports, measured against the truth of generated classes of traffic.
//!
//! Each class is a scenario in `userspace/generate/scenarios/classes`. The generator knows of every packet which
//! transmission of its PSN it is and where it was lost; nothing here is derived from the analysis.
//!
//!     cargo xtask bench truth                # the table, 40 seeds: a minute
//!     TRUTH_SEEDS=40 cargo test -p rocescope --test evaluations truth:: -- --nocapture
//!     TRUTH_CLASS=spray-loss TRUTH_SEEDS=1 cargo test -p rocescope --test evaluations truth:: -- --nocapture
//!
//! With `TRUTH_CLASS`, each difference of this class is a line.

mod floors;
mod follow;
mod live;
mod matching;
mod score;
mod silent;
mod window_length;

use floors::{FLOORS, Floor};
use rocescope_generate::CLASSES;
use score::Score;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of seeds in a usual run; the accuracy that the project states is that of 40.
const SEEDS: u64 = 4;

#[test]
fn every_class_reaches_its_floor() {
    let variable = |name| std::env::var(name).ok();
    let seeds = variable("TRUTH_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let only = variable("TRUTH_CLASS");
    let floors = FLOORS
        .iter()
        .filter(|floor| only.as_ref().is_none_or(|only| only == floor.class));
    let mut table = Score::header();
    let mut below = String::new();
    for (floor, score, wrong) in measured(&floors.collect::<Vec<_>>(), seeds) {
        if only.is_some() {
            wrong.iter().for_each(|line| println!("{line}"));
        }
        table += &score.line(floor.class);
        for what in floor.missed_by(&score, seeds) {
            writeln!(below, "{}: {what}", floor.class).unwrap();
        }
    }
    println!("{table}");
    assert!(below.is_empty(), "below the floor:\n{below}");
}

/// Each class over its seeds, and a line for each difference. All processors share the work.
fn measured<'a>(floors: &[&'a Floor], seeds: u64) -> Vec<(&'a Floor, Score, Vec<String>)> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            scope.spawn(|| {
                while let Some(floor) = floors.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (mut score, mut wrong) = (Score::default(), Vec::new());
                    for seed in 1..=seeds {
                        let found = score.add(&follow::follow(&follow::class(floor.class), seed));
                        wrong.extend(found.into_iter().map(|line| format!("seed {seed}: {line}")));
                    }
                    done.lock().unwrap().push((*floor, score, wrong));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(floor, ..)| floor.class);
    done
}

#[test]
fn every_class_has_a_floor() {
    let floors: Vec<&str> = FLOORS.iter().map(|floor| floor.class).collect();
    let classes: Vec<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
    assert_eq!(floors, classes);
}
