//! Sends with `BPF_PROG_TEST_RUN` and live frames: the kernel allocates packets, a program fills each
//! from a slot and redirects it to the interface.
//!
//! Slots are memory shared with the program, and the program keeps the rate: one system call sends for
//! up to a second, because each call waits for a grace period of the kernel, about 25 ms. Between
//! frames the program spins: sending occupies a core at any rate.

use super::program::{self, REGISTER, Target};
use super::repeat::Repeat;
use super::sent::Sent;
use crate::bpf::{self, Input, ProgramKind};
use rocescope_host::interface::Interface;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Candidates for the part of a page left for a frame, tried from above: the kernel's part varies.
const PAGE: usize = 4_096;
const STEP: usize = 8;
/// An Ethernet header: the kernel refuses shorter packets.
const SHORTEST: usize = 14;

/// Sends frames repeatedly onto an interface.
#[derive(Debug)]
pub struct LiveFrames {
    repeat: Repeat,
    _counter: OwnedFd,
    _tracepoint: OwnedFd,
}

impl LiveFrames {
    /// Takes the frames to send. The calling thread must also be the one that sends.
    ///
    /// # Errors
    /// `CAP_BPF`, `CAP_PERFMON` or `CAP_NET_ADMIN` is missing, the kernel is older than 5.18, or
    /// (`InvalidInput`) a frame is too long or too short, or there is none.
    pub fn open(on: &Interface, frames: &[Vec<u8>]) -> io::Result<Self> {
        let mut repeat = Repeat::new(frames, &Target::Interface(on.index))?;
        let counter = program::counter(repeat.shared());
        let counter = bpf::load(ProgramKind::RawTracepoint, "rocescope_sent", &counter)?;
        let tracepoint = bpf::trace(&counter, c"xdp_devmap_xmit")?;
        let arguments = [0, 0, 0, 0, u64::from(REGISTER.cast_unsigned())];
        let context = bytemuck::bytes_of(&arguments);
        let input = Input {
            context,
            ..Input::default()
        };
        bpf::run(&counter, &input)?;
        let max = find_packet(&mut repeat)?;
        let fits = |frame: &Vec<u8>| (SHORTEST..=max).contains(&frame.len());
        if frames.is_empty() || !frames.iter().all(fits) {
            let message = format!("frame length out of range: expected {SHORTEST} to {max} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(Self {
            repeat,
            _counter: counter,
            _tracepoint: tracepoint,
        })
    }

    /// Sends for a second, until `deadline`, or until `max` frames were sent, at `pps` frames a second or
    /// as fast as possible. A signal ends it early without an error.
    ///
    /// # Errors
    /// An error of the kernel.
    pub fn send(&mut self, pps: Option<f64>, max: u64, deadline: Instant) -> io::Result<()> {
        self.repeat.send(pps, max, deadline)
    }

    /// The counts so far.
    #[must_use]
    pub fn sent(&mut self) -> Sent {
        let state = self.repeat.state();
        Sent {
            offered: state.offered,
            accepted: state.accepted,
            dropped: state.dropped,
        }
    }
}

/// Finds by trial the longest packet that the kernel allocates; sends nothing.
fn find_packet(repeat: &mut Repeat) -> io::Result<usize> {
    for length in (SHORTEST..=PAGE).rev().step_by(STEP) {
        repeat.packet = vec![0; length];
        match repeat.run(1) {
            Ok(()) => {
                repeat.state().packet_bytes = length as u64;
                return Ok(length);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::from_raw_os_error(libc::EINVAL))
}
