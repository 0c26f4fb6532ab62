//! `rocescope-hot-paths NAME`: runs one path that every packet, probe or step takes, over the same input each time.
//!
//! `cargo xtask bench instructions` runs it under callgrind, which counts what happens within [`measured`]: instructions do
//! not depend on what else a machine does, so a change that makes a path dearer is seen on every machine. Without a name it
//! prints the names.
//!
//! | module | what it does |
//! |---|---|
//! | `frames` | generated frames, and the paths from a frame to rows |
//! | `rows` | the paths of analyses, from rows to verdicts |

mod frames;
mod rows;

use std::error::Error;
use std::process::ExitCode;

/// A path over its input.
struct HotPath {
    name: &'static str,
    /// What the path takes, one of many.
    unit: &'static str,
    /// Makes the input, runs the path within [`measured`], and returns the number of units.
    run: fn() -> Result<u64, Box<dyn Error>>,
}

const HOT_PATHS: [HotPath; 7] = [
    HotPath {
        name: "frames-to-runs",
        unit: "frame",
        run: frames::to_long_runs,
    },
    HotPath {
        name: "frames-to-short-runs",
        unit: "frame",
        run: frames::to_short_runs,
    },
    HotPath {
        name: "windows",
        unit: "frame",
        run: frames::to_windows,
    },
    HotPath {
        name: "connections-in-order",
        unit: "frame",
        run: frames::to_connections,
    },
    HotPath {
        name: "connections-with-loss",
        unit: "frame",
        run: frames::to_connections_with_loss,
    },
    HotPath {
        name: "mesh",
        unit: "probe",
        run: rows::mesh,
    },
    HotPath {
        name: "collective",
        unit: "step",
        run: rows::collective,
    },
];

fn main() -> ExitCode {
    let name = std::env::args().nth(1);
    let Some(path) = HOT_PATHS.iter().find(|path| Some(path.name) == name.as_deref()) else {
        for path in &HOT_PATHS {
            println!("{}", path.name);
        }
        return ExitCode::from(u8::from(name.is_some()));
    };
    match (path.run)() {
        Ok(units) => {
            println!("{units} {}", path.unit);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", path.name);
            ExitCode::FAILURE
        }
    }
}

/// Does the work that is counted. Callgrind knows it by this name, so it is never inlined.
#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    std::hint::black_box(work())
}
