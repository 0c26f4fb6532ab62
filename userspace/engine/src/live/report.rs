//! The report of a live capture.

use crate::error::{EngineError, Result};
use rocescope_capture::af_packet::Direction;
use serde::Serialize;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The report of a live capture.
#[derive(Clone, Debug, Default)]
pub struct LiveReport {
    /// Interfaces by name, and their capture mode.
    pub interfaces: Vec<(String, &'static str)>,
    /// Frames of which direction are captured.
    pub direction: Direction,
    /// Why XDP is unavailable, if packet sockets replace it.
    pub xdp_refused: Option<String>,
    /// What happened to the frames after XDP.
    pub verdict: Option<VerdictReason>,
    /// The clock of the timestamps.
    pub clock_source: &'static str,
    /// How far a run may extend past the end of its window, in nanoseconds.
    pub boundary_slack_ns: u64,
    /// Frames that the interfaces dropped, if they report them.
    pub nic_dropped: Option<u64>,
    /// Drop counters of drivers that have grown, as `interface name`. They may count frames of `nic_dropped`
    /// again, or frames that the port itself refused.
    pub driver_drops: Vec<(String, u64)>,
    /// Frames dropped before the socket.
    pub socket_dropped: u64,
    /// The same while the capture runs; all clones share one number.
    pub socket_dropped_so_far: Arc<AtomicU64>,
    /// Runs lost to a full ring.
    pub lost_runs: u64,
    /// CM datagrams and TCP segments lost to a full ring of control packets.
    pub lost_events: u64,
    /// Intervals in which runs were lost.
    pub blind_intervals: u64,
    /// The total length of these intervals.
    pub blind_ns: u64,
    /// What the capture itself used.
    pub cost: Cost,
    /// Warnings of the kernel program.
    pub warnings: Vec<String>,
    /// The interfaces, if the capture ended because all of them were removed.
    pub removed: Option<String>,
    /// The status of the command of the capture, if the capture ended with it.
    pub command: Option<ExitStatus>,
}

/// What a capture itself used, and how far it was from losing packets.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// Processor time of all threads over the time of the capture: 1 is one core. Work of the kernel, such as the XDP
    /// program, is not in it.
    pub cpu_ratio: f64,
    /// Resident memory at the end, in bytes; `None` if the kernel does not report it.
    pub resident_bytes: Option<u64>,
    /// The fullest that the buffer between the source and the pipeline was, 0 to 1. From 0.5 connections are left out, at
    /// 1 packets are lost.
    pub peak_buffer_ratio: f64,
}

impl LiveReport {
    /// Sets the number of frames dropped before the socket so far.
    pub fn so_far(&self, socket_dropped: u64) {
        self.socket_dropped_so_far.store(socket_dropped, Ordering::Relaxed);
    }

    /// Whether the capture ended as requested. Call it after the results are printed.
    ///
    /// # Errors
    /// [`EngineError::Removed`]: a service manager then starts the capture again, until the interface is back.
    pub fn check(&self) -> Result<()> {
        self.removed
            .clone()
            .map_or(Ok(()), |names| Err(EngineError::Removed(names)))
    }

    /// The exit status of the command, as a shell reports it: 128 and the signal that ended it. `None` if the capture
    /// did not end with a command.
    #[must_use]
    pub fn exit_status(&self) -> Option<u8> {
        let status = self.command?;
        let number = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        Some(number.and_then(|number| u8::try_from(number).ok()).unwrap_or(1))
    }
}

/// What happens to frames after XDP, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictReason {
    /// Whether they are dropped; otherwise they pass to the kernel.
    pub is_drop: bool,
    /// Why.
    pub reason: String,
}

impl VerdictReason {
    /// `drop` or `pass`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        if self.is_drop { "drop" } else { "pass" }
    }
}
