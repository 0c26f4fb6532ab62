use super::*;
use crate::sample::{row, steps};
use alloc::format;
use alloc::string::String;

const MS: i64 = 1_000_000;

fn names(steps: &Steps, path: &CriticalPath) -> String {
    let name = |vertex: &Vertex| {
        let step = &steps.steps[vertex.step];
        format!("{}.{}{}", steps.host(step), step.number, &vertex.event.name()[..1])
    };
    path.vertices.iter().map(name).collect::<alloc::vec::Vec<_>>().join(" ")
}

/// Three hosts in a ring; step 2 of host 2 is slow, and step 3 of host 0 waits for it.
fn ring() -> Steps {
    steps(&[
        row("0", 1, "1", None, 0, 10 * MS),
        row("1", 1, "2", None, 0, 10 * MS + 7),
        row("2", 1, "0", None, 0, 10 * MS),
        row("0", 2, "1", None, 10 * MS, 10 * MS),
        row("1", 2, "2", None, 10 * MS + 7, 10 * MS),
        row("2", 2, "0", Some(("1", 1)), 10 * MS + 7, 50 * MS),
        row("1", 3, "2", None, 20 * MS + 7, 10 * MS),
        row("0", 3, "1", Some(("2", 2)), 60 * MS + 7, 10 * MS),
        row("2", 3, "0", None, 60 * MS + 7, 9 * MS),
    ])
}

#[test]
fn the_longest_chain_of_waits_is_the_critical_path() {
    let steps = ring();
    let path = critical_path(&steps);
    assert_eq!(path.total_ns, 10 * MS + 7 + 50 * MS + 10 * MS);
    assert_eq!(names(&steps, &path), "0.3e 0.3b 2.2e 2.2b 1.1e 1.1b");
    let weights: alloc::vec::Vec<i64> = path.parts.iter().map(|part| part.ns).collect();
    assert_eq!(weights, [10 * MS, 50 * MS, 10 * MS + 7]);
    assert_eq!(path.circular, 0);
}

#[test]
fn a_host_that_nothing_waits_for_cannot_begin_a_path() {
    // Host 1 ends late, but its last step is known: its end begins a path of its own.
    let steps = steps(&[
        row("0", 1, "1", None, 0, 5),
        row("1", 1, "0", None, 0, 100),
        row("0", 2, "1", None, 5, 5),
    ]);
    let path = critical_path(&steps);
    assert_eq!(names(&steps, &path), "1.1e 1.1b");
    // If host 1 had a second step that waited for host 0, the end of its first step would lead nowhere.
    let steps = crate::sample::steps(&[
        row("0", 1, "1", None, 0, 5),
        row("1", 1, "0", None, 0, 100),
        row("0", 2, "1", None, 5, 5),
        row("1", 2, "0", Some(("0", 1)), 5, 7),
    ]);
    let path = critical_path(&steps);
    assert_eq!(
        (path.total_ns, names(&steps, &path).as_str()),
        (12, "1.2e 1.2b 0.1e 0.1b")
    );
}

#[test]
fn steps_that_wait_for_each_other_are_counted_and_left_out() {
    let steps = steps(&[
        row("0", 1, "1", Some(("1", 1)), 0, 5),
        row("1", 1, "0", Some(("0", 1)), 0, 5),
        row("2", 1, "0", None, 0, 3),
    ]);
    let path = critical_path(&steps);
    assert_eq!((path.total_ns, path.circular), (3, 4));
    assert_eq!(critical_path(&crate::sample::steps(&[])), CriticalPath::default());
}
