//! What the analyses find, measured against a truth that they do not know: `cargo xtask lab`.
//!
//! Each evaluation is a module with a function that returns lines of the table. Small sizes run in seconds; those of
//! `docs/bench` take up to an hour. A test of the same module runs a part of it on every change.
//!
//! | module | what is evaluated | the truth |
//! |---|---|---|
//! | `connections` | losses and counters of connections | the generator's, packet by packet |
//! | [`hosts`] | verdicts about hosts | scripted faults of a model of a NIC |
//! | `incidents` | incidents of all systems | faults of generated traffic, and those of the evaluations below |
//! | `mesh` | verdicts about a mesh of probes | faults of the simulated fabric |
//! | `collectives` | root causes of slow collectives | flows and pauses of the simulated network |
//! | `steps` | steps of collectives from the wire, and the culprit | the generator's |
//! | [`hostping`] | links inside a host | faults of a simulated host, and the slides |
//! | `sketches` | bounds and heavy hitters | the stream |
//! | `fudan` | counts, sizes and changes as in the Fudan system's paper | the bytes of the frames |
//! | [`table`] | the lines, and how they are printed | |
//! | [`vedrfolnir`] | runs of the simulator of Vedrfolnir's authors, as rows; a test has its own evaluation | |
//! | [`recorded`] | the dataset `examples/fabric`, from the simulators | |
//! | `parallel` | runs on all processors | |
//! | `generated` | generated traffic as a capture box takes it | |
#![expect(clippy::unwrap_used, clippy::panic, reason = "an evaluation stops where it fails")]

mod collectives;
mod connections;
mod fudan;
mod generated;
pub mod hostping;
pub mod hosts;
mod incidents;
mod mesh;
mod parallel;
pub mod recorded;
mod sketches;
mod steps;
pub mod table;
pub mod vedrfolnir;

use table::{Line, Size};

/// Runs an evaluation at a size; returns its lines of the table.
pub type Evaluation = fn(Size) -> Vec<Line>;

/// What `cargo xtask lab` can run, by name.
pub const EVALUATIONS: [(&str, Evaluation); 10] = [
    ("connections", connections::evaluate),
    ("hosts", hosts::evaluate),
    ("incidents", incidents::evaluate),
    ("mesh", mesh::evaluate),
    ("collectives", collectives::evaluate),
    ("steps", steps::evaluate),
    ("shapes", steps::shapes::evaluate),
    ("hostping", hostping::evaluate),
    ("sketches", sketches::evaluate),
    ("fudan", fudan::evaluate),
];
