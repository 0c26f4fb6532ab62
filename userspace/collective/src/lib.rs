//! Collectives: which step, which flow and which port made an all-reduce slow.
//!
//! | module | contents |
//! |---|---|
//! | [`read`] | steps and telemetry from the formats of others, as rows of `steps` and `telemetry` |
//! | [`job`] | variables with which a job writes these files, and where they are |
//! | [`names`] | the jobs and ranks of hosts, by their queue pairs |
//! | [`steps`] | the steps of one collective |
//! | [`hang`] | collectives that hang, and the rank that is the reason |
//! | [`failed`] | transfers that NCCL reports as failed, with what captures saw of them |
//! | [`waiting`] | what each step waited for, and the critical path |
//! | [`culprit`] | the link, rank, late start or QP that made it slow, where waits are known |
//! | [`telemetry`] | what is known of the network: reports of switches, capture points, counters of hosts, ECN marks |
//! | [`replay`] | the queue of a port, packet by packet |
//! | [`provenance`], [`paper`] | which flow and port waits for which |
//! | [`rating`] | how much each flow outside the collective delayed its flows |
//! | [`causes`] | the roots: contention, incast, pauses and their origin, deadlocks |
//! | [`evidence`] | pauses that its hosts counted, ECN marks of its flows, paths that probes found slow |
//! | [`monitor`] | when a host asks the network why a step is slow |
//! | [`analysis`] | all of it |
//! | [`document`], [`dot`], [`trace`] | the result as text, JSON and a graph, its steps as a trace |
//! | [`incidents`] | what `diagnose` reports of it |
//!
//! Everything here is a pure function of rows (`no_std`). Time and memory are linear in the steps.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod analysis;
pub mod causes;
pub mod complaints;
pub mod culprit;
pub mod document;
pub mod dot;
pub mod evidence;
pub mod failed;
pub mod hang;
mod ids;
pub mod incidents;
pub mod job;
pub mod monitor;
pub mod names;
pub mod natural;
mod needs;
mod occupied;
pub mod paper;
pub mod provenance;
mod ranks;
pub mod rating;
pub mod read;
pub mod replay;
#[cfg(test)]
mod sample;
pub mod steps;
pub mod telemetry;
mod time;
pub mod trace;
mod typical;
pub mod waiting;
