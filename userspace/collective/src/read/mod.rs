//! Steps and telemetry from the formats of others. Each reader takes text and returns rows; what it cannot read, it skips
//! and counts.
//!
//! | module | input |
//! |---|---|
//! | [`comma`] | collectives with the steps of their proxy operations, as `CoMMA` writes them |
//! | [`nccl_profiler`] | the trace of NCCL's example profiler |
//! | [`nccl_inspector`] | the lines of NCCL Inspector |
//! | [`flight_recorder`] | dumps of `PyTorch`'s flight recorder |
//! | [`pickle`] | pickles of plain values, such as these dumps, as JSON |
//! | [`nccl_ras`] | reports of NCCL's RAS: how often ranks have called collectives |
//! | [`nccl_debug`] | the log of NCCL: which rank has which queue pair |
//! | [`nccl_failures`] | the same log: which transfers failed |
//! | [`follow`] | a file of one of these formats while a job writes it |

use crate::complaints::Complaints;
use alloc::string::String;
use alloc::vec::Vec;
use rocescope_model::human::{is_visible, visible};
use rocescope_model::{StepRow, TelemetryRow, Text, Time};

pub mod comma;
pub mod flight_recorder;
pub mod follow;
mod json;
pub mod nccl_debug;
pub mod nccl_failures;
pub mod nccl_inspector;
pub mod nccl_profiler;
pub mod nccl_ras;
pub mod pickle;

#[cfg(test)]
mod tests;

/// What an input has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Imported {
    /// Steps, and flows that are none.
    pub steps: Vec<StepRow>,
    /// Reports of switches, and pauses.
    pub telemetry: Vec<TelemetryRow>,
    /// From whom ranks receive.
    pub receives: Vec<Receive>,
    /// Operations that have sent their last step.
    pub finished: Vec<Operation>,
    /// What was skipped, and what the format lacks.
    pub complaints: Complaints,
}

/// The part of a rank and a channel in a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// The collective.
    pub collective: Text,
    /// The rank.
    pub rank: u32,
    /// The channel.
    pub channel: u16,
}

/// A rank receives its data from another rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receive {
    /// Who receives.
    pub by: Operation,
    /// The rank that sends.
    pub from: u32,
}

/// A file of an input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// Its name, in complaints.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// Nanoseconds of microseconds with a fraction.
fn nanos(us: f64) -> i64 {
    const NANOS_IN_US: f64 = 1e3;
    // A cast saturates; half a nanosecond more rounds it.
    (us * NANOS_IN_US + if us < 0.0 { -0.5 } else { 0.5 }) as i64
}

/// What all rows of an import share.
fn complete(all: &mut Imported, observer: &str, format: &'static str) {
    for row in &mut all.steps {
        row.observer = String::from(observer).into();
        row.format = Text::from_static(format);
        row.time = Time(row.time_ns);
        // A file may have anything, and a collector refuses rows with control characters.
        for text in [
            &mut row.collective,
            &mut row.operation,
            &mut row.host,
            &mut row.dst_host,
        ] {
            if !text.chars().all(is_visible) {
                *text = visible(text).into();
            }
        }
    }
}
