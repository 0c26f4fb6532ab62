//! What a capture hands over.

use super::rings::Blind;
use rocescope_record::{ControlPacket, RunRecord};

/// What a capture hands over.
#[derive(Clone, Copy, Debug)]
pub enum CaptureEvent<'a> {
    /// A run.
    Run(&'a RunRecord),
    /// A CM datagram or a TCP handshake.
    ControlPacket(ControlPacket<'a>),
    /// Runs were lost: told before the runs that follow.
    Blind(&'a Blind),
    /// A sentence of the program about itself, for an operator: each is said once a CPU at most.
    Warning(&'a str),
}
