//! The evaluation of the Fudan system's paper (section 5.4), repeated: `cargo xtask bench paper`.
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

use std::error::Error;

/// The result of the paper and the results here.
struct Line {
    what: &'static str,
    /// A share: 0.027 is 2.7 %.
    paper: f64,
    sketches: f64,
    columns: f64,
    of: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let seconds = match std::env::args().nth(1) {
        None => 120,
        Some(text) => text
            .parse()
            .map_err(|_| "usage: paper [SECONDS of 5.2 (3) and (4); the paper has 120]")?,
    };
    let mut errors = vec![count::flow_count()?];
    errors.extend(size::flow_and_opcode_size(seconds)?);
    println!("| error | paper | ours, sketches alone | ours, columns | ratio | of |");
    println!("|---|---|---|---|---|---|");
    for line in &errors {
        println!(
            "| {} | {} | {} | {} | {} | {} |",
            line.what,
            percent(line.paper),
            percent(line.sketches),
            percent(line.columns),
            ratio(line.paper, line.sketches),
            line.of
        );
    }
    println!();
    println!("| recognised | paper | ours, sketches alone | false | ours, columns | false | of |");
    println!("|---|---|---|---|---|---|---|");
    for line in recognition::recognition()? {
        println!("{line}");
    }
    Ok(())
}

fn percent(share: f64) -> String {
    format!("{:.4} %", 100.0 * share)
}

fn ratio(paper: f64, ours: f64) -> String {
    if ours == 0.0 {
        "no error".into()
    } else {
        format!("{:.0} times less", paper / ours)
    }
}
