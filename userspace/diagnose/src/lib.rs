//! Analyses over rows of the dataset.
//!
//! | module | contents |
//! |---|---|
//! | [`hosts`] | the wire and the counters of both its ends, joined: application, host, NIC, link or switch |
//! | [`incidents`] | the faults of all analyses joined: one cause is one incident |
//! | [`growth`] | what rows of connections have more than those before them |
//! | [`hostmesh`] | diagnosis from probes between the NICs of hosts, and their paths: what fails, and where |
//! | [`hostping`] | the bottleneck inside a host, from loopback tests between its NICs and its memory and GPUs |
//! | [`mesh`] | the same probes by pair of NICs, and the pairs as a matrix to draw |
//! | [`owners`] | whose the queue pairs of captured traffic are: job, pod, process, host |
//! | [`pinglist`] | whom the NICs of a mesh probe, so that every link is crossed |
//! | [`paths`] | paths of flows over the links of a fabric, and how evenly they load them |
//!
//! Everything here is a pure function of the rows and times passed in (`no_std`): the same rows give the
//! same verdicts, in the collector and over a dataset.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod growth;
pub mod hostmesh;
pub mod hostping;
pub mod hosts;
pub mod incidents;
pub mod mesh;
pub mod owners;
pub mod paths;
mod pcie;
pub mod pinglist;

/// An instant to the second.
fn second(ns: i64) -> alloc::string::String {
    alloc::format!("{:.0}", rocescope_model::Time(ns))
}
