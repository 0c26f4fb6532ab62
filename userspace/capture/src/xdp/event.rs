//! The events that a capture delivers.

use super::rings::Blind;
use rocescope_record::{ControlPacket, RunRecord, UetRecord};

/// An event that a capture delivers.
#[derive(Clone, Copy, Debug)]
pub enum CaptureEvent<'a> {
    /// A run of packets.
    Run(&'a RunRecord),
    /// A CM datagram or a TCP handshake.
    ControlPacket(ControlPacket<'a>),
    /// A UET packet.
    Uet(&'a UetRecord),
    /// Runs were lost; delivered before the runs that follow.
    Blind(&'a Blind),
    /// A warning of the program for the operator; each comes at most once a CPU.
    Warning(&'a str),
}
