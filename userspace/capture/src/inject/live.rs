//! Frames through `BPF_PROG_TEST_RUN` with live frames: the kernel makes packets, a program fills
//! each from a slot and redirects it to the interface.
//!
//! Slots are memory that is shared with the program, and the program keeps the rate: one system call
//! sends for up to a second. It has to, for each call waits for a grace period of the kernel, of
//! about 25 ms. Between frames the program spins: sending takes a core, whatever the rate.

use super::looped::Looped;
use super::program::{self, REGISTER, Target};
use super::sent::Sent;
use crate::bpf::{self, Input, Kind};
use rocescope_host::interface::Interface;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// What is left of a page for a frame, tried from above: the kernel's own part differs.
const PAGE: usize = 4_096;
const STEP: usize = 8;
/// An Ethernet header, less than which the kernel takes for no packet.
const SHORTEST: usize = 14;

/// Sends frames onto an interface, over and over.
#[derive(Debug)]
pub struct LiveFrames {
    looped: Looped,
    _counter: OwnedFd,
    _tracepoint: OwnedFd,
}

impl LiveFrames {
    /// Takes the frames that are to be sent. The thread that calls this is the one that sends.
    ///
    /// # Errors
    /// `CAP_BPF`, `CAP_PERFMON` or `CAP_NET_ADMIN` is missing, or the kernel is older than 5.18; of
    /// the kind `InvalidInput`, a frame is too long or too short, or there is none.
    pub fn open(on: &Interface, frames: &[Vec<u8>]) -> io::Result<Self> {
        let mut looped = Looped::new(frames, &Target::Interface(on.index))?;
        let counter = program::counter(looped.shared());
        let counter = bpf::load(Kind::RawTracepoint, "rocescope_sent", &counter)?;
        let tracepoint = bpf::trace(&counter, c"xdp_devmap_xmit")?;
        let arguments = [0, 0, 0, 0, u64::from(REGISTER.cast_unsigned())];
        let context = bytemuck::bytes_of(&arguments);
        let told = Input {
            context,
            ..Input::default()
        };
        bpf::run(&counter, &told)?;
        let most = find_packet(&mut looped)?;
        let fits = |frame: &Vec<u8>| (SHORTEST..=most).contains(&frame.len());
        if frames.is_empty() || !frames.iter().all(fits) {
            let said = format!("frames of {SHORTEST} to {most} bytes can be sent this way");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
        }
        Ok(Self {
            looped,
            _counter: counter,
            _tracepoint: tracepoint,
        })
    }

    /// Sends for a second, or until `deadline`, or until `most` frames were sent; `pps` frames a
    /// second, or as many as go. A signal ends it early, which is no error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn send(&mut self, pps: Option<f64>, most: u64, deadline: Instant) -> io::Result<()> {
        self.looped.send(pps, most, deadline)
    }

    /// What has become of all frames so far.
    #[must_use]
    pub fn sent(&mut self) -> Sent {
        let state = self.looped.state();
        Sent {
            offered: state.offered,
            accepted: state.accepted,
            dropped: state.dropped,
        }
    }
}

/// Finds the longest packet that the kernel makes, by trying; nothing is sent.
fn find_packet(looped: &mut Looped) -> io::Result<usize> {
    for length in (SHORTEST..=PAGE).rev().step_by(STEP) {
        looped.packet = vec![0; length];
        match looped.run(1) {
            Ok(()) => {
                looped.state().packet_bytes = length as u64;
                return Ok(length);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from_raw_os_error(libc::EINVAL))
}
