//! Sends the frames of the slots in a loop, at a rate that the program keeps.

use super::program::{self, BURST, LENGTH_BYTES, State, Target};
use crate::bpf::{self, Input, ProgramKind, Shared};
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Packets that the kernel allocates at once; the limit is 256.
const BATCH: u32 = 64;
/// The target duration of a call.
const CALL: Duration = Duration::from_secs(1);
const FIRST_CALL: u32 = 20_000;

/// A program that fills packets, and its shared state.
#[derive(Debug)]
pub(super) struct Repeat {
    state: Shared,
    program: OwnedFd,
    /// The buffer from which the kernel creates packets.
    pub(super) packet: Vec<u8>,
    is_live: bool,
    /// Repetitions of the program in a second, as measured so far.
    speed: f64,
}

impl Repeat {
    pub(super) fn new(frames: &[Vec<u8>], target: &Target<'_>) -> io::Result<Self> {
        let longest = frames.iter().map(Vec::len).max().unwrap_or(0);
        let slot_bytes = (LENGTH_BYTES + longest).next_multiple_of(8);
        let mut slots = Shared::new("rocescope_slots", slot_bytes, frames.len().max(1))?;
        for (at, frame) in frames.iter().enumerate() {
            let (length, bytes) = slots.value(at).split_at_mut(LENGTH_BYTES);
            length.copy_from_slice(&(frame.len() as u64).to_ne_bytes());
            bytes[..frame.len()].copy_from_slice(frame);
        }
        let mut state = Shared::new("rocescope_send", size_of::<State>(), 1)?;
        let program = program::sender(&slots.fd, &state.fd, target, longest);
        // From here on the program holds the slots.
        let program = bpf::load(ProgramKind::Xdp, "rocescope_send", &program)?;
        bytemuck::from_bytes_mut::<State>(state.value(0)).end = frames.len() as u64;
        Ok(Self {
            state,
            program,
            packet: vec![0; longest],
            is_live: matches!(target, Target::Interface(_)),
            speed: f64::from(FIRST_CALL) / CALL.as_secs_f64(),
        })
    }

    /// Sends for a second, until `deadline`, or until `max` frames were sent, at `pps` frames a second or
    /// as fast as possible. A signal ends it early without an error.
    pub(super) fn send(&mut self, pps: Option<f64>, max: u64, deadline: Instant) -> io::Result<()> {
        let state = self.state();
        state.left = max;
        state.interval_ns = pps.map_or(0, |pps| (BURST as f64 * 1e9 / pps).max(1.0) as u64);
        let begun = Instant::now();
        let time = CALL.min(deadline.saturating_duration_since(begun));
        let count = (self.speed * time.as_secs_f64()).max(1.0);
        // At full speed no repetition is idle.
        let count = match pps {
            None => count.min(max as f64),
            Some(_) => count,
        };
        let count = count.min(f64::from(u32::MAX)) as u32;
        match self.run(count) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            ran => ran?,
        }
        // At most tenfold from one call to the next: the first call mostly waits.
        let speed = f64::from(count) / begun.elapsed().as_secs_f64();
        self.speed = speed.clamp(self.speed / 2.0, self.speed * 10.0);
        Ok(())
    }

    pub(super) fn run(&mut self, count: u32) -> io::Result<()> {
        let packets = Input {
            data: &self.packet,
            repeat: count,
            live_batch: self.is_live.then_some(BATCH.min(count)),
            ..Input::default()
        };
        bpf::run(&self.program, &packets)
    }

    pub(super) fn state(&mut self) -> &mut State {
        bytemuck::from_bytes_mut(self.state.value(0))
    }

    pub(super) const fn shared(&self) -> &OwnedFd {
        &self.state.fd
    }
}
