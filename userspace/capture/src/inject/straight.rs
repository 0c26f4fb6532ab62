//! Frames straight into an XDP program that somebody has loaded, without an interface: what the
//! program and whoever reads from it can do, where no driver sets the limit.

use super::looped::Looped;
use super::program::{HEADER_BYTES, Target};
use crate::bpf;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Runs a program over frames, over and over.
#[derive(Debug)]
pub struct Straight {
    looped: Looped,
    /// A map that nobody holds is emptied.
    _next: OwnedFd,
}

impl Straight {
    /// Takes the frames, all of one length, and the number of the program as `ip link` shows it.
    ///
    /// # Errors
    /// `CAP_BPF`, `CAP_SYS_ADMIN` or `CAP_NET_ADMIN` is missing, or there is no such program; of the
    /// kind `InvalidInput`, frames differ in length.
    pub fn open(program: u32, frames: &[Vec<u8>]) -> io::Result<Self> {
        let mut lengths = frames.iter().map(Vec::len);
        let length = lengths.next().unwrap_or(0);
        if length == 0 || lengths.any(|other| other != length) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // Slots of whole frames would not fit the cache.
        let headers: Vec<Vec<u8>> = frames
            .iter()
            .map(|frame| frame[..length.min(HEADER_BYTES)].to_vec())
            .collect();
        let program = bpf::program_by_id(program)?;
        let next = bpf::tail(&program)?;
        let mut looped = Looped::new(&headers, &Target::Program(&next))?;
        looped.packet = vec![0; length];
        Ok(Self {
            looped,
            _next: next,
        })
    }

    /// Runs for a second, or until `deadline`, or for `most` frames; `pps` frames a second, or as
    /// many as go. A signal ends it early, which is no error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn send(&mut self, pps: Option<f64>, most: u64, deadline: Instant) -> io::Result<()> {
        self.looped.send(pps, most, deadline)
    }

    /// Frames that were given to the program so far.
    #[must_use]
    pub fn offered(&mut self) -> u64 {
        self.looped.state().offered
    }
}
