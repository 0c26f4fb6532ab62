//! What each analysis promises, checked of all of them in the same way, over rows of the simulator and made
//! ones.
//!
//! | module | contents |
//! |---|---|
//! | `promises` | the checks |
//! | `broken` | analyses that break one promise each: the checks find them |
//! | `rows` | the rows that each analysis reads |

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod broken;
mod promises;
mod rows;

use promises::check;
use rocescope_diagnose::{hostmesh, hosts};

#[test]
fn the_mesh_keeps_its_promises() {
    let mesh = || hostmesh::Analyzer::new(hostmesh::Settings::default(), "test").unwrap();
    let slices = rows::mesh();
    assert_eq!(check(mesh, &slices), Ok(slices.len()));
    // A fault, so that equal reports are no empty ones.
    let all = promises::at_once(&mut mesh(), &slices);
    assert!(all.iter().any(|window| !window.verdicts.is_empty()));
}

#[test]
fn hosts_keep_their_promises() {
    let hosts = || hosts::Analyzer::new(hosts::Settings::default()).unwrap();
    let slices = rows::hosts();
    assert_eq!(check(hosts, &slices), Ok(slices.len()));
    let all = promises::at_once(&mut hosts(), &slices);
    assert!(all.iter().any(|window| !window.changes.is_empty()));
}
