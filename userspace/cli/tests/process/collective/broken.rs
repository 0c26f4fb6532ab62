//! Runs with damage: one line for each kind, and the rest is analyzed.

use crate::collective::{document, imported};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use tempfile::TempDir;

const HOSTS: i64 = 4;
const STEPS: i64 = 3;
const STEP_NS: i64 = 10_000_000;

/// A ring of four hosts and three steps, each of 10 ms, as lines of `fct.txt`: changed, or left out where `change` returns
/// `None`. Arguments: host, step, start and duration.
fn ring(change: impl Fn(i64, i64, i64, i64) -> Option<(i64, i64)>) -> Value {
    let folder = TempDir::new().unwrap();
    let input = folder.path().join("run");
    fs::create_dir(&input).unwrap();
    let mut lines = String::new();
    for step in 1..=STEPS {
        for host in 1..=HOSTS {
            let (next, previous) = (host % HOSTS + 1, (host + HOSTS - 2) % HOSTS + 1);
            if let Some((start, took)) = change(host, step, (step - 1) * STEP_NS, STEP_NS) {
                writeln!(
                    lines,
                    "{host} {next} {step} {step} {previous} 10000 10000 1000 {start} {took} {STEP_NS}"
                )
                .unwrap();
            }
        }
    }
    fs::write(input.join("fct.txt"), lines).unwrap();
    let (dataset, _) = imported("vedrfolnir", &input, &folder);
    document(&dataset, &[])
}

fn complaints(found: &Value) -> Vec<&str> {
    let lines = found["complaints"].as_array().unwrap();
    lines.iter().map(|line| line.as_str().unwrap()).collect()
}

#[test]
fn a_whole_run_has_no_complaint() {
    let found = ring(|_, _, start, took| Some((start, took)));
    assert_eq!(found["critical_path"]["total_ns"], STEPS * STEP_NS);
    assert_eq!(complaints(&found), [""; 0]);
}

#[test]
fn steps_that_overlap_are_a_line() {
    // Step 2 of host 3 takes twice as long as until its next one starts.
    let found = ring(|host, step, start, took| Some((start, if (host, step) == (3, 2) { 2 * took } else { took })));
    assert_eq!(
        complaints(&found),
        [
            "host 3, step 3: starts before the step before it ends (1 such steps)",
            "hosts 4 and 3: step 3 starts 10.000 ms before the step ends that it waited for: their clocks differ; durations \
             are right, times of different hosts are not"
        ]
    );
    assert_eq!(found["critical_path"]["total_ns"], 4 * STEP_NS);
}

#[test]
fn a_clock_that_is_off_by_milliseconds_is_a_line_and_durations_count() {
    let found = ring(|host, _, start, took| Some((start + if host == 2 { 3_000_000 } else { 0 }, took)));
    let lines = complaints(&found);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with(
            "hosts 3 and 2: step 2 starts 3.000 ms before the step ends that it waited for: their clocks differ"
        ),
        "{lines:?}"
    );
    assert_eq!(found["critical_path"]["total_ns"], STEPS * STEP_NS);
}

#[test]
fn a_missing_rank_is_a_line() {
    let found = ring(|host, _, start, took| (host != 3).then_some((start, took)));
    assert_eq!(
        complaints(&found),
        [
            "host 3, step 1: another step waited for it, and it is missing; taken as waiting for its own predecessor (and 1 \
             more)"
        ]
    );
    assert_eq!(
        (&found["steps"], &found["critical_path"]["total_ns"]),
        (&Value::from(9), &Value::from(STEPS * STEP_NS))
    );
}

#[test]
fn missing_steps_are_a_line() {
    let found = ring(|host, step, start, took| ((host, step) != (2, 2)).then_some((start, took)));
    let lines = complaints(&found);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], "host 2, step 3: the steps before it are missing");
    assert!(
        lines[1].starts_with("host 2, step 2: another step waited for it"),
        "{lines:?}"
    );
    assert_eq!(found["critical_path"]["total_ns"], STEPS * STEP_NS);
}
