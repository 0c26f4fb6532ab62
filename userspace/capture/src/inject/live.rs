//! Frames through `BPF_PROG_TEST_RUN` with live frames: the kernel makes packets, a program fills
//! each from a slot and redirects it to the interface.
//!
//! Slots are memory that is shared with the program, and the program keeps the rate: one system call
//! sends for up to a second. It has to, for each call waits for a grace period of the kernel, of
//! about 25 ms. Between frames the program spins: sending takes a core, whatever the rate.

use super::Sent;
use super::program::{self, BURST, LENGTH_BYTES, REGISTER, State};
use crate::bpf::{self, Input, Kind, Shared};
use crate::interface::Interface;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Packets that the kernel makes at once; it takes up to 256.
const BATCH: u32 = 64;
/// What is left of a page for a frame, tried from above: the kernel's own part differs.
const PAGE: usize = 4_096;
const STEP: usize = 8;
/// An Ethernet header, less than which the kernel takes for no packet.
const SHORTEST: usize = 14;
/// A call should last so long.
const CALL: Duration = Duration::from_secs(1);
const FIRST_CALL: u32 = 20_000;

/// Sends frames from slots, over and over.
#[derive(Debug)]
pub struct LiveFrames {
    state: Shared,
    sender: OwnedFd,
    _counter: OwnedFd,
    _tracepoint: OwnedFd,
    packet: Vec<u8>,
    longest: usize,
    count: usize,
    /// Repetitions of the program a second, as far as is known.
    speed: f64,
}

impl LiveFrames {
    /// Takes the frames that are to be sent. The thread that calls this is the one that sends.
    ///
    /// # Errors
    /// `CAP_BPF`, `CAP_PERFMON` or `CAP_NET_ADMIN` is missing, or the kernel is older than 5.18; of
    /// the kind `InvalidInput`, a frame is too long or too short, or there is none.
    pub fn open(on: &Interface, frames: &[Vec<u8>]) -> io::Result<Self> {
        let longest = frames.iter().map(Vec::len).max().unwrap_or(0);
        let slot_bytes = (LENGTH_BYTES + longest).next_multiple_of(8);
        let mut slots = Shared::new("rocescope_slots", slot_bytes, frames.len().max(1))?;
        let state = Shared::new("rocescope_send", size_of::<State>(), 1)?;
        for (at, frame) in frames.iter().enumerate() {
            let (length, bytes) = slots.value(at).split_at_mut(LENGTH_BYTES);
            length.copy_from_slice(&(frame.len() as u64).to_ne_bytes());
            bytes[..frame.len()].copy_from_slice(frame);
        }
        let sender = program::sender(&slots.fd, &state.fd, on.index, longest);
        let sender = bpf::load(Kind::Xdp, "rocescope_send", &sender)?;
        let counter = program::counter(&state.fd);
        let counter = bpf::load(Kind::RawTracepoint, "rocescope_sent", &counter)?;
        let tracepoint = bpf::trace(&counter, c"xdp_devmap_xmit")?;
        let arguments = [0, 0, 0, 0, u64::from(REGISTER.cast_unsigned())];
        let context = bytemuck::bytes_of(&arguments);
        let told = Input {
            context,
            ..Input::default()
        };
        bpf::run(&counter, &told)?;
        // The program holds the slots from here on.
        drop(slots);
        let mut live = Self {
            state,
            sender,
            _counter: counter,
            _tracepoint: tracepoint,
            packet: Vec::new(),
            longest,
            count: frames.len(),
            speed: f64::from(FIRST_CALL) / CALL.as_secs_f64(),
        };
        live.find_packet()?;
        let fits = SHORTEST..=live.packet.len();
        if frames.is_empty() || !frames.iter().all(|frame| fits.contains(&frame.len())) {
            let most = live.packet.len();
            let said = format!("frames of {SHORTEST} to {most} bytes can be sent this way");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
        }
        Ok(live)
    }

    /// Finds the longest packet that the kernel makes, by trying; nothing is sent.
    fn find_packet(&mut self) -> io::Result<()> {
        for length in (self.longest.max(SHORTEST)..=PAGE).rev().step_by(STEP) {
            self.packet = vec![0; length];
            match self.run(1) {
                Ok(()) => break,
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => self.packet.clear(),
                Err(error) => return Err(error),
            }
        }
        let length = self.packet.len();
        let frames = self.count;
        let state = self.state();
        state.packet_bytes = length as u64;
        state.end = frames as u64;
        Ok(())
    }

    /// Sends for a second, or until `deadline`, or until `most` frames were sent; `pps` frames a
    /// second, or as many as go. A signal ends it early, which is no error.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn send(&mut self, pps: Option<f64>, most: u64, deadline: Instant) -> io::Result<()> {
        let state = self.state();
        state.left = most;
        state.interval_ns = pps.map_or(0, |pps| (BURST as f64 * 1e9 / pps).max(1.0) as u64);
        let begun = Instant::now();
        let time = CALL.min(deadline.saturating_duration_since(begun));
        let count = (self.speed * time.as_secs_f64()).max(1.0);
        // At full speed nothing is run in vain.
        let count = match pps {
            None => count.min(most as f64),
            Some(_) => count,
        };
        let count = count.min(f64::from(u32::MAX)) as u32;
        match self.run(count) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            ran => ran?,
        }
        // No faster than tenfold from one call to the next: the first is all waiting.
        let speed = f64::from(count) / begun.elapsed().as_secs_f64();
        self.speed = speed.clamp(self.speed / 2.0, self.speed * 10.0);
        Ok(())
    }

    /// What has become of all frames so far.
    #[must_use]
    pub fn sent(&mut self) -> Sent {
        let state = self.state();
        Sent {
            offered: state.offered,
            accepted: state.accepted,
            dropped: state.dropped,
        }
    }

    fn run(&mut self, count: u32) -> io::Result<()> {
        let packets = Input {
            data: &self.packet,
            repeat: count,
            live_batch: Some(BATCH.min(count)),
            ..Input::default()
        };
        bpf::run(&self.sender, &packets).map(|_| ())
    }

    fn state(&mut self) -> &mut State {
        bytemuck::from_bytes_mut(self.state.value(0))
    }
}
