//! Runs a loaded XDP program over frames without an interface: measures the limit of the program and
//! its reader without a driver.

use super::program::{HEADER_BYTES, Target};
use super::repeat::Repeat;
use crate::bpf;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Runs a program repeatedly over frames.
#[derive(Debug)]
pub struct TestRun {
    repeat: Repeat,
    /// Kept open: the kernel empties a map without an owner.
    _next: OwnedFd,
}

impl TestRun {
    /// Opens the program with the number that `ip link` shows. All frames have the same length.
    ///
    /// # Errors
    /// `CAP_BPF`, `CAP_SYS_ADMIN` or `CAP_NET_ADMIN` is missing, there is no such program, or
    /// (`InvalidInput`) frames differ in length.
    pub fn open(program: u32, frames: &[Vec<u8>]) -> io::Result<Self> {
        let mut lengths = frames.iter().map(Vec::len);
        let length = lengths.next().unwrap_or(0);
        if length == 0 || lengths.any(|other| other != length) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Slots of whole frames would not fit into the cache.
        let headers: Vec<Vec<u8>> = frames
            .iter()
            .map(|frame| frame[..length.min(HEADER_BYTES)].to_vec())
            .collect();
        let program = bpf::program_by_id(program)?;
        let next = bpf::tail(&program)?;
        let mut repeat = Repeat::new(&headers, &Target::Program(&next))?;
        repeat.packet = vec![0; length];
        Ok(Self { repeat, _next: next })
    }

    /// Runs for a second, until `deadline`, or for `max` frames, at `pps` frames a second or as fast as
    /// possible. A signal ends it early without an error.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn send(&mut self, pps: Option<f64>, max: u64, deadline: Instant) -> io::Result<()> {
        self.repeat.send(pps, max, deadline)
    }

    /// Frames passed to the program so far.
    #[must_use]
    pub fn offered(&mut self) -> u64 {
        self.repeat.state().offered
    }
}
