//! The evaluation of the Fudan system's paper (section 5.4), repeated.
//!
//! Its workloads come from the generator and pass the run cache and the pipeline like frames of a
//! capture. Every result is then computed twice: from the sketches in the rows of `windows` alone
//! (Linear Counting, Count-Min, jitter over Count-Min rates), as in the paper, and from the other
//! columns, which are exact for this number of flows. The truth is counted from the raw bytes of the
//! frames by offsets, without code of rocescope.
//!
//! | module | what it holds |
//! |---|---|
//! | `workload` | the paper's workloads as scenarios |
//! | `truth` | the truth in the frames |
//! | `replay` | a scenario through run cache and pipeline |
//! | `count`, `size`, `recognition` | the results of the paper |

mod count;
mod recognition;
mod replay;
mod size;
mod truth;
mod workload;

use crate::table::{Goal, Line, Size};

/// The result of the paper and the results here.
struct Compared {
    what: &'static str,
    /// A share: 0.027 is 2.7 %.
    paper: f64,
    sketches: f64,
    columns: f64,
    cases: u64,
    of: String,
}

/// The goals are the paper's results, for the sketches alone.
pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    // Seconds of 5.2 (3) and (4), runs of 5.4 (1) and (3).
    let (seconds, seeds, shifts) = size.choose((2, 1, 1), (120, count::SEEDS, workload::SHIFTS_MS.len()));
    let mut errors = vec![count::flow_count(seeds).unwrap()];
    errors.extend(size::flow_and_opcode_size(seconds).unwrap());
    let mut lines = Vec::new();
    if size.details {
        println!("| error | paper | ours, sketches alone | ours, columns | of |");
        println!("|---|---|---|---|---|");
    }
    for found in &errors {
        if size.details {
            println!(
                "| {} | {} | {} | {} | {} |",
                found.what,
                percent(found.paper),
                percent(found.sketches),
                percent(found.columns),
                found.of
            );
        }
        let goal = Goal::AtMost(found.paper * 100.0);
        lines.push(Line::new(
            found.what,
            found.cases,
            "mean error, %",
            found.sketches * 100.0,
            goal,
        ));
    }
    if size.details {
        println!("\n| recognised | paper | ours, sketches alone | false | ours, columns | false | of |");
        println!("|---|---|---|---|---|---|---|");
    }
    for (line, text) in recognition::recognition(shifts).unwrap() {
        if size.details {
            println!("{text}");
        }
        lines.push(line);
    }
    lines
}

fn percent(share: f64) -> String {
    format!("{:.4} %", 100.0 * share)
}
