//! Hostping: the bottleneck inside a host, from loopback tests between its NICs and its memory and GPUs.
//!
//! | module | contents |
//! |---|---|
//! | [`topology`] | the links of the host, from files of NCCL, hwloc and `nvidia-smi` |
//! | [`measured`] | what tests measured, from matrices, perftest and SuperBench; the model of latency |
//! | [`rule`] | the threshold below which a test is abnormal |
//! | [`judge`] | tests against a baseline, or against each other: normal, abnormal or unproven |
//! | [`tomography`] | the links that explain the abnormal tests, and those that cannot be distinguished |
//! | [`ranking`] | links by the number of NICs that accuse them, for busy hosts |
//! | [`causes`] | root causes, and what to do |
//! | [`diagnosis`] | all of these together |
//! | [`join`] | a verdict of the probe mesh on a NIC, joined with the tests of its host |
//! | [`rows`] | tests as rows of the table `loopback`, and back |
//! | [`document`] | a diagnosis as text and JSON |
//! | [`refusal`] | why an input is refused, and at which line |
//!
//! After Hostping (NSDI 2023). Each test crosses the links between a NIC and an endpoint; tests that are slower than a
//! baseline accuse the links on their path, and normal ones clear them.

pub mod causes;
pub mod diagnosis;
pub mod document;
pub mod join;
pub mod judge;
pub mod measured;
pub mod ranking;
pub mod refusal;
pub mod rows;
pub mod rule;
pub mod tomography;
pub mod topology;

pub use causes::{Cause, Certainty, Finding};
pub use diagnosis::Diagnosis;
pub use document::Document;
pub use judge::{Judge, Judgement, NicLoad, Status, Test};
pub use measured::{Matrix, Measurement};
pub use refusal::Refusal;
pub use rule::Rule;
pub use tomography::Inference;
pub use topology::Topology;
