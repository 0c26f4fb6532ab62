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
use rocescope_analysis::collectives::Collectives;
use rocescope_analysis::hostping::Tests;
use rocescope_analysis::paths::fim::Fim;
use rocescope_diagnose::hostping::Rule;
use rocescope_diagnose::{hostmesh, hosts};

#[test]
fn the_mesh_keeps_its_promises() {
    let mesh = || hostmesh::Analyzer::new(hostmesh::Settings::default(), "test").unwrap();
    let slices = rows::mesh();
    assert_eq!(check(mesh, &slices), Ok(slices.len()));
    // Faults, so that equal reports are no empty ones.
    let all = promises::at_once(&mut mesh(), &slices);
    let mut verdicts = all.iter().flat_map(|window| &window.verdicts);
    assert!(verdicts.any(|verdict| verdict.sentence.contains("unreachable")));
}

#[test]
fn hosts_keep_their_promises() {
    let hosts = || hosts::Analyzer::new(hosts::Settings::default()).unwrap();
    let slices = rows::hosts();
    assert_eq!(check(hosts, &slices), Ok(slices.len()));
    let all = promises::at_once(&mut hosts(), &slices);
    assert!(all.iter().any(|window| !window.changes.is_empty()));
}

#[test]
fn the_imbalance_of_flows_keeps_its_promises() {
    let (fabric, runs) = rows::fabric();
    let slices = rows::flows();
    let fim = || Fim::new(fabric.clone(), &runs);
    assert_eq!(check(fim, &slices), Ok(slices.len()));
    let all = promises::at_once(&mut fim(), &slices);
    assert!(
        all.iter()
            .all(|window| (window.imbalance.flows, window.unknown) == (2, 1))
    );
}

#[test]
fn loopback_tests_keep_their_promises() {
    let slices = rows::tests();
    assert_eq!(check(|| Tests::new(None, Rule::SEED), &slices), Ok(2));
}

#[test]
fn collectives_keep_their_promises() {
    assert_eq!(check(Collectives::default, &rows::steps()), Ok(2));
}
