use super::*;
use crate::sample::{row, steps};

/// Chunks of 10 ns go from two leaves to the root and back, each 5 ns after the root has both.
fn tree() -> Steps {
    let mut rows = Vec::new();
    for chunk in 0..4_i64 {
        let at_ns = 20 * chunk;
        let number = chunk as u32 + 1;
        rows.push(row("a", number, "root", None, at_ns, 10));
        rows.push(row("b", number, "root", None, at_ns + 2, 10));
        rows.push(row("root", 2 * number - 1, "a", None, at_ns + 17, 10));
        rows.push(row("root", 2 * number, "b", None, at_ns + 17, 10));
    }
    for row in &mut rows {
        row.waits_known = false;
        row.format = rocescope_model::Text::from_static(rocescope_model::StepRow::CAPTURED);
        row.send_wait_ns = Some(0);
    }
    steps(&rows)
}

#[test]
fn a_root_needs_the_chunks_of_its_children_and_they_need_nothing() {
    let steps = tree();
    let host = |step: &Step| &**steps.host(step);
    for step in &steps.steps {
        let awaited = step.awaited().map(|data| &steps.steps[data]);
        match host(step) {
            // That of b ends last.
            "root" => assert_eq!(
                awaited.map(|data| (host(data), data.end_ns())),
                Some(("b", step.start_ns - 5))
            ),
            _ => assert!(awaited.is_none(), "{step:?}"),
        }
    }
}
