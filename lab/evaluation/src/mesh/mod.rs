//! Accuracy and speed of the analysis of a mesh of probes in the simulator.
//!
//! `LAB_CLASS="one switch" cargo xtask lab mesh` runs the faults whose names contain this, `LAB_CLASS=pinglists` that part alone.
//!
//! | module | what it measures |
//! |---|---|
//! | `accuracy` | precision and recall in a cluster in three tiers, of 2,000 hosts with 8 NICs in full size |
//! | `incidents` | the same faults, and what `diagnose` reports of them |
//! | `lasting` | faults that are older than the agents, and faults that outlast their source ports |
//! | `pinglists` | probes between hosts as a controller hands them out: links that they cross, uplinks that lose |
//! | `quiet` | an hour of 512 hosts without faults |
//! | `speed` | in full size: time and memory for a window of 10,000 hosts with 8 NICs |

mod accuracy;
pub(crate) mod incidents;
mod lasting;
mod pinglists;
mod quiet;
mod speed;

use crate::table::{Line, Size};
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_fabric::{Fabric, LinkId};

/// Length of a window.
const WINDOW: i64 = 20_000_000_000;
/// The start of a window.
const START: i64 = 1_795_200_000_000_000_000;

pub(crate) fn evaluate(size: Size) -> Vec<Line> {
    let only = std::env::var("LAB_CLASS").unwrap_or_default();
    if only == "pinglists" {
        return pinglists::evaluate(size);
    }
    let mut lines = accuracy::evaluate(size, &only);
    if only.is_empty() {
        lines.extend(lasting::evaluate(size));
        lines.extend(pinglists::evaluate(size));
        lines.push(quiet::evaluate(size));
        if size.full {
            speed::run();
        }
    }
    lines
}

/// Creates an analyzer that knows the addresses of all switches.
fn analyzer(fabric: &Fabric) -> Analyzer {
    let mut analyzer = Analyzer::new(Settings::default(), "bench").unwrap();
    let topology = &fabric.topology;
    for link in (0..topology.links()).map(LinkId) {
        let (lower, upper) = topology.ends(link);
        analyzer.know(topology.address(link, false), &topology.name(lower));
        analyzer.know(topology.address(link, true), &topology.name(upper));
    }
    analyzer
}
