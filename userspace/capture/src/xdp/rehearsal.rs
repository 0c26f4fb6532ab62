//! Runs the kernel's programs over frames in memory with given timestamps.
//!
//! `BPF_PROG_TEST_RUN` passes a frame with 16 bytes of metadata, from which a program loaded for
//! rehearsal reads its two clocks. So the program and [`Observer`](rocescope_record::Observer) can run
//! over the same frames, timestamps and flush points.

use super::control_packets::ControlPackets;
use super::cpu;
use super::error::Error;
use super::kernel::Kernel;
use super::object::PROGRAM;
use super::options::Options;
use super::order::Order;
use super::rings::{Losses, Rings};
use super::warnings::Warnings;
use rocescope_record::{Config, ControlPacket, Counters, RunRecord};

/// The interface that `BPF_PROG_TEST_RUN` reports: the loopback of the network namespace.
pub const INTERFACE: u32 = 1;

/// Bytes of metadata before a frame.
const METADATA_BYTES: usize = 16;

/// Programs that read their timestamps from the metadata of each frame.
pub struct Rehearsal {
    kernel: Kernel,
    rings: Rings,
    control_packets: ControlPackets,
    warnings: Warnings,
    frame: Vec<u8>,
}

impl std::fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rehearsal").finish_non_exhaustive()
    }
}

impl Rehearsal {
    /// Loads `object` and pins this thread to one CPU, because every CPU has its own runs.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn load(object: &[u8], options: Options, config: Config) -> Result<Self, Error> {
        if let Some(first) = cpu::online()?.first() {
            cpu::pin(*first)?;
        }
        let (kernel, readers) = Kernel::load(object, options, config, true)?;
        Ok(Self {
            kernel,
            rings: Rings::new(readers.runs, config.slice_ns),
            control_packets: ControlPackets::new(readers.control_packets),
            warnings: readers.warnings,
            frame: Vec::new(),
        })
    }

    /// Moves this thread to the online CPU with the index `place`, modulo their number: each has its own
    /// runs and sessions.
    ///
    /// # Errors
    /// This process may not run on the CPU.
    pub fn go_to(&self, place: usize) -> Result<(), Error> {
        let online = cpu::online()?;
        match online.get(place % online.len().max(1)) {
            Some(cpu) => cpu::pin(*cpu),
            None => Ok(()),
        }
    }

    /// Runs the program over a frame of at least 14 bytes.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn observe(&mut self, frame: &[u8], now: u64, tick: u64) -> Result<(), Error> {
        let ctx = self.prepare(frame, now, tick);
        self.kernel.run(PROGRAM, &self.frame, &ctx)
    }

    /// Runs the program `times` times over a frame without metadata: all timestamps are 0.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn repeat(&self, frame: &[u8], times: u32) -> Result<(), Error> {
        self.kernel.repeat(PROGRAM, frame, times)
    }

    /// As [`Capture::reconfigure`](super::Capture::reconfigure).
    ///
    /// # Errors
    /// The map cannot be written.
    pub fn reconfigure(&self, config: &Config) -> Result<(), Error> {
        self.kernel.reconfigure(config)
    }

    /// Publishes the runs whose slice has ended at `tick`, or all.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn flush(&mut self, tick: Option<u64>) -> Result<(), Error> {
        let ctx = self.prepare(&[0; 14], 0, tick.unwrap_or(0));
        self.kernel.drain(tick.is_none())?;
        self.kernel.flush_at(&self.frame, &ctx)
    }

    /// The runs published since the last call, in the order of publication.
    pub fn take(&mut self) -> Vec<RunRecord> {
        let mut order = Order::default();
        self.rings.drain(&mut order);
        order.into_published()
    }

    /// The control packets since the last call, in the order of publication.
    pub fn take_control_packets(&mut self, mut sink: impl FnMut(ControlPacket<'_>)) {
        self.control_packets.drain();
        self.control_packets.release_as_published(&mut sink);
    }

    /// The warnings of the program since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.warnings.take()
    }

    /// The losses of full rings, as reported by the batches taken so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        self.rings.losses()
    }

    /// The exact counters.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        self.kernel.counters()
    }

    /// Concatenates metadata and frame; returns the `struct xdp_md` with their offsets.
    fn prepare(&mut self, frame: &[u8], now: u64, tick: u64) -> [u8; 24] {
        self.frame.clear();
        self.frame.extend_from_slice(&now.to_ne_bytes());
        self.frame.extend_from_slice(&tick.to_ne_bytes());
        self.frame.extend_from_slice(frame);
        let mut ctx = [0; 24];
        let words = [METADATA_BYTES as u32, self.frame.len() as u32];
        for (bytes, word) in ctx.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        ctx
    }
}
