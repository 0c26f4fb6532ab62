//! Live capture in the kernel: the XDP program joins packets into runs, this takes the runs.
//!
//! | module | what it does |
//! |---|---|
//! | `kernel` | the program and its maps, loaded |
//! | `link` | programs on interfaces, held by descriptors and by nothing else |
//! | `flush` | a thread that visits every CPU once a slice, so that none holds its runs for ever |
//! | `rings` | the ring of each CPU, and what was lost before it was read |
//! | `order` | runs of all CPUs by their first time |
//! | `mirror` | gaps in the numbers of mirrored frames |
//! | `whole` | CM datagrams and TCP handshakes |
//! | `clock` | the clocks of the kernel in nanoseconds since the epoch |
//! | `warnings` | what the programs say in words |
//! | `cost` | what it takes to load the programs |
//! | `speed` | nanoseconds a packet, measured here |
//! | `stack` | how deep the stack of a program gets |
//! | [`measure`] | what a packet costs in the kernel |
//! | [`rehearsal`] | the same programs over frames in memory, for tests and measurements |
//!
//! The invariant: after [`Capture::finish`] every RoCEv2 packet that the kernel counted is in a run
//! that was handed over, or in one that is counted as lost.

mod clock;
mod cost;
mod cpu;
mod error;
mod flush;
mod kernel;
pub(crate) mod link;
pub mod measure;
mod mirror;
mod order;
pub mod rehearsal;
mod rings;
mod speed;
mod stack;
mod warnings;
mod whole;

#[cfg(feature = "per-packet")]
pub(crate) use clock::epoch_offset_ns;
pub use cost::{Cost, costs};
pub(crate) use cpu::pin;
pub use error::Error;
pub use link::Mode;
pub use rings::{Blind, Losses};
pub use speed::worst_case_ns;

use flush::Flusher;
use kernel::Kernel;
use link::Attached;
use order::Order;
use rings::Rings;
use rocescope_record::{Config, ControlPacket, Counters, RunRecord};
use std::os::fd::AsFd;
use std::sync::Arc;
use warnings::Warnings;
use whole::Events;

/// The program as it was built last; see `cargo xtask ebpf`.
pub static OBJECT: &[u8] = aya::include_bytes_aligned!("../../../../ebpf/rocescope.bpf.o");

/// Environment variable that names another object for the tests.
pub const OBJECT_VARIABLE: &str = "ROCESCOPE_OBJECT";

/// What is decided before the program is loaded.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Slots of the run cache a CPU, 160 bytes each; the next power of two is taken.
    pub slots: u32,
    /// Bytes of the rings of all CPUs together; each gets a power of two, at least 64 KiB. A ring
    /// that is full loses runs, which are counted.
    pub ring_bytes: usize,
}

impl Default for Options {
    /// 16,384 slots and 256 MiB of rings, at most 32 MiB each.
    fn default() -> Self {
        Self {
            slots: 16_384,
            ring_bytes: 256 << 20,
        }
    }
}

/// What a capture hands over.
#[derive(Clone, Copy, Debug)]
pub enum CaptureEvent<'a> {
    /// A run.
    Run(&'a RunRecord),
    /// A CM datagram or a TCP handshake.
    Whole(ControlPacket<'a>),
    /// Runs were lost: told before the runs that follow.
    Blind(&'a Blind),
    /// A sentence of the program about itself, for an operator: each is said once a CPU at most.
    Warning(&'a str),
}

/// An XDP capture on any number of interfaces.
pub struct Capture {
    kernel: Arc<Kernel>,
    rings: Rings,
    order: Order,
    events: Events,
    warnings: Warnings,
    /// Blind intervals that have been told.
    told: u64,
    attached: Vec<Attached>,
    flusher: Option<Flusher>,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

/// Runs that are handed over between two looks at the rings: well below what one holds.
const AT_ONCE: usize = 4_096;

impl Capture {
    /// Loads the program; it is not attached yet.
    ///
    /// # Errors
    /// The kernel refuses: [`Error::is_permission`] tells a missing capability.
    pub fn load(options: Options, config: Config) -> Result<Self, Error> {
        let config = Config {
            tick_ns: clock::tick_ns()?,
            epoch_offset_ns: clock::epoch_offset_ns()?,
            ..config
        };
        let (kernel, readers) = Kernel::load(OBJECT, options, config, false)?;
        Ok(Self {
            kernel: Arc::new(kernel),
            rings: Rings::new(readers.runs, config.slice_ns),
            events: Events::new(readers.whole),
            warnings: readers.warnings,
            told: 0,
            order: Order::default(),
            attached: Vec::new(),
            flusher: None,
        })
    }

    /// Attaches to an interface. [`Mode::Auto`] tries native, then generic; answers which it got.
    ///
    /// # Errors
    /// [`Error::Occupied`] when another program is there, which is left alone; else the kernel's
    /// reason.
    pub fn attach(&mut self, interface: u32, mode: Mode) -> Result<Mode, Error> {
        let (attached, mode) = link::attach(self.kernel.program()?.as_fd(), interface, mode)?;
        self.attached.push(attached);
        Ok(mode)
    }

    /// Begins to visit the CPUs. From here on no capability is needed.
    ///
    /// # Errors
    /// A CPU that is closed to this process.
    pub fn start(&mut self) -> Result<(), Error> {
        self.flusher = Some(Flusher::start(Arc::clone(&self.kernel))?);
        Ok(())
    }

    /// What runs are made by; `tick_ns` and `epoch_offset_ns` are those of this machine.
    #[must_use]
    pub fn config(&self) -> Config {
        self.kernel.config()
    }

    /// Takes over what may change while frames pass: see [`Config::adopt`]. Each packet is judged
    /// by the one configuration or by the other as a whole; when this returns, all of them are by
    /// this one. Takes a grace period of the kernel, some milliseconds.
    ///
    /// # Errors
    /// The map cannot be written; then the former configuration holds.
    pub fn reconfigure(&self, config: &Config) -> Result<(), Error> {
        self.kernel.reconfigure(config)
    }

    /// Now, on the clock of the runs: nanoseconds since the epoch.
    ///
    /// # Errors
    /// The clock cannot be read.
    pub fn now_ns(&self) -> Result<u64, Error> {
        Ok(clock::monotonic_ns()?.wrapping_add(self.kernel.config().epoch_offset_ns))
    }

    /// Takes what lies in the rings and hands over what is complete: every run that began before
    /// the watermark, which is answered, by its first time. Never waits; `false` when the rings were
    /// empty.
    ///
    /// # Errors
    /// The flush thread has failed.
    pub fn poll(&mut self, mut sink: impl FnMut(CaptureEvent<'_>)) -> Result<(u64, bool), Error> {
        let watermark = match &mut self.flusher {
            Some(flusher) => flusher.watermark()?,
            None => 0,
        };
        // In this order: what the watermark promises lies in the rings already.
        let some = self.rings.drain(&mut self.order) | self.events.drain();
        self.hand_over(watermark, &mut sink);
        Ok((watermark, some))
    }

    /// What is complete, and first of all where something is missing.
    fn hand_over(&mut self, watermark: u64, sink: &mut impl FnMut(CaptureEvent<'_>)) {
        for warning in self.warnings.take() {
            sink(CaptureEvent::Warning(&warning));
        }
        let losses = self.rings.losses();
        let new = losses.intervals - self.told;
        self.told = losses.intervals;
        let known = losses.blind.len() as u64;
        for blind in losses.blind.iter().skip(known.saturating_sub(new) as usize) {
            sink(CaptureEvent::Blind(blind));
        }
        self.events
            .release(watermark, &mut |event| sink(CaptureEvent::Whole(event)));
        for runs in self.order.ready(watermark).chunks(AT_ONCE) {
            for run in runs {
                sink(CaptureEvent::Run(run));
            }
            // A slice may hold more runs than a ring does.
            self.rings.drain(&mut self.order);
        }
    }

    /// The exact counters of all CPUs.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        self.kernel.counters()
    }

    /// What the rings lost so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        self.rings.losses()
    }

    /// Runs that wait for their turn.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.order.len()
    }

    /// Detaches, publishes what the caches hold, hands it over, and answers the final counters.
    ///
    /// # Errors
    /// The kernel refuses; what was handed over before stands.
    pub fn finish(
        mut self,
        mut sink: impl FnMut(CaptureEvent<'_>),
    ) -> Result<(Counters, Losses), Error> {
        self.attached.clear();
        // Frames that were under way are through when every CPU has passed a quiescent state.
        clock::wait_for_readers();
        if let Some(flusher) = self.flusher.take() {
            flusher.stop()?;
        }
        self.kernel.drain(true)?;
        for cpu in cpu::online()? {
            cpu::pinned(cpu, || self.kernel.flush())??;
            self.rings.drain(&mut self.order);
        }
        self.events.drain();
        let counters = self.kernel.counters()?;
        let end = clock::monotonic_ns()?.wrapping_add(self.kernel.config().epoch_offset_ns);
        self.rings.finish(&counters, end);
        self.hand_over(u64::MAX, &mut sink);
        let mut losses = self.rings.losses().clone();
        losses.unreadable += self.events.unreadable();
        Ok((counters, losses))
    }
}
