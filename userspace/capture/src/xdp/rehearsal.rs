//! The kernel's programs over frames in memory, each told its time.
//!
//! `BPF_PROG_TEST_RUN` gives a loaded program a frame and 16 bytes of metadata before it; the
//! program, told so when it was loaded, takes its two clocks from there. So the same frames, times
//! and flush points can be given to it and to [`Observer`](rocescope_record::Observer).

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

/// The interface that `BPF_PROG_TEST_RUN` claims: the loopback of the network namespace.
pub const INTERFACE: u32 = 1;

/// Bytes of metadata before a frame.
const METADATA_BYTES: usize = 16;

/// Programs that take their times from who drives them.
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
    /// Loads `object`. This thread stays on one CPU from here on, for every CPU has its own runs.
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

    /// Moves this thread to a CPU, by its place among those that are online and round again: each has
    /// runs and sessions of its own.
    ///
    /// # Errors
    /// The CPU is closed to this process.
    pub fn go_to(&self, place: usize) -> Result<(), Error> {
        let online = cpu::online()?;
        match online.get(place % online.len().max(1)) {
            Some(cpu) => cpu::pin(*cpu),
            None => Ok(()),
        }
    }

    /// Gives the program a frame, of 14 bytes at least.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn observe(&mut self, frame: &[u8], now: u64, tick: u64) -> Result<(), Error> {
        let ctx = self.prepare(frame, now, tick);
        self.kernel.run(PROGRAM, &self.frame, &ctx)
    }

    /// Gives the program the same frame `times` times, without metadata: all pass at time 0.
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

    /// What was published and not taken yet, in the order of its publication.
    pub fn take(&mut self) -> Vec<RunRecord> {
        let mut order = Order::default();
        self.rings.drain(&mut order);
        order.into_published()
    }

    /// Control packets that were not taken yet, in the order in which it passed.
    pub fn take_control_packets(&mut self, mut sink: impl FnMut(ControlPacket<'_>)) {
        self.control_packets.drain();
        self.control_packets.release_as_published(&mut sink);
    }

    /// What the program has said since the last call, a sentence each.
    pub fn take_warnings(&mut self) -> Vec<String> {
        self.warnings.take()
    }

    /// What full rings have cost, as far as batches that were taken tell.
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

    /// Puts metadata and frame together; answers the `struct xdp_md` that says where they lie.
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
