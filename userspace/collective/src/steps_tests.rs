use super::*;
use crate::sample::{row, steps};
use std::println;

fn awaited(steps: &Steps, host: &str, number: u32) -> Option<(Text, u32)> {
    let step = steps
        .steps
        .iter()
        .find(|step| **steps.host(step) == *host && step.number == number);
    let awaited = &steps.steps[step.unwrap().awaited()?];
    Some((steps.host(awaited).clone(), awaited.number))
}

#[test]
fn a_stated_wait_is_resolved_whatever_the_order_of_the_rows() {
    let mut rows = [
        row("a", 1, "b", None, 0, 10),
        row("b", 1, "a", None, 0, 20),
        row("a", 2, "b", Some(("b", 1)), 20, 10),
        row("b", 2, "a", None, 20, 10),
    ];
    for _ in 0..2 {
        let steps = steps(&rows);
        assert_eq!(awaited(&steps, "a", 2), Some((Text::from_static("b"), 1)));
        assert_eq!(awaited(&steps, "b", 2), None);
        assert!(steps.complaints.is_empty(), "{:?}", steps.complaints);
        assert_eq!(steps.span_ns(), Some((0, 30)));
        rows.reverse();
    }
}

#[test]
fn a_wait_that_the_source_does_not_state_is_for_the_later_of_own_step_and_data() {
    let mut rows = [
        row("a", 1, "b", None, 0, 10),
        row("b", 1, "a", None, 0, 20),
        row("a", 2, "b", None, 20, 10),
        row("b", 2, "a", None, 20, 10),
    ];
    for row in &mut rows {
        row.waits_known = false;
    }
    let steps = steps(&rows);
    // The data for step 2 of a came at 20, its own step 1 ended at 10; b had the data before its own step ended.
    assert_eq!(awaited(&steps, "a", 2), Some((Text::from_static("b"), 1)));
    assert_eq!(awaited(&steps, "b", 2), None);
    assert_eq!(steps.inferred, 1);
}

#[test]
fn channels_are_streams_of_their_own() {
    let on = |channel, mut row: StepRow| {
        row.channel = Some(channel);
        row
    };
    let steps = steps(&[
        on(0, row("a", 1, "b", None, 0, 10)),
        on(1, row("a", 1, "b", None, 0, 30)),
        on(0, row("b", 1, "a", None, 0, 10)),
        on(0, row("b", 2, "a", Some(("a", 1)), 10, 10)),
    ]);
    assert_eq!((steps.hosts.len(), steps.streams.len()), (2, 3));
    let waits = steps.steps.iter().find_map(Step::awaited).unwrap();
    assert_eq!(steps.steps[waits].duration_ns, 10);
}

#[test]
fn each_kind_of_broken_input_is_one_line_and_the_rest_remains() {
    let mut open = row("e", 1, "a", None, 5, 0);
    open.duration_ns = None;
    let steps = steps(&[
        row("a", 1, "b", None, 0, 10),
        row("a", 1, "b", None, 0, 11),
        row("a", 3, "b", None, 9, 10),
        row("b", 1, "a", None, 0, -5),
        row("b", 2, "a", Some(("absent", 1)), 10, 10),
        row("c", 1, "d", None, 0, 10),
        row("c", 2, "d", None, 5, 10),
        row("d", 1, "c", None, 0, 3_000_000),
        row("d", 2, "c", Some(("d", 1)), 3_000_000, 10),
        row("c", 3, "d", Some(("d", 1)), 15, 10),
        open,
    ]);
    assert_eq!(steps.steps.len(), 10);
    for line in steps.complaints.lines() {
        println!("{line}");
    }
    assert_eq!(
        steps.complaints.lines(),
        [
            "host a, step 1: a second row of this step; left out",
            "host a, step 3: the steps before it are missing",
            "host b, step 1: ends before it starts; its time is taken as 0",
            "host e, step 1: did not end; taken to last until the newest step ended",
            "host absent, step 1: another step waited for it, and it is missing; taken as waiting for its own predecessor",
            "host a, step 3: starts before the step before it ends (2 such steps)",
            "hosts c and d: step 3 starts 3.000 ms before the step ends that it waited for: their clocks differ; durations \
             are right, times of different hosts are not",
        ]
    );
}

#[test]
fn flows_without_steps_are_background() {
    let mut flow = row("a", 0, "b", None, 7, 10);
    flow.src = Some([10, 0, 0, 1].into());
    flow.dst = Some([10, 0, 0, 2].into());
    let steps = steps(&[flow]);
    assert!(steps.steps.is_empty());
    assert_eq!((steps.background.len(), steps.background[0].start_ns), (1, 7));
}
