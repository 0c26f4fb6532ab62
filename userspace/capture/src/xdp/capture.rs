//! The live capture: attaches the programs and delivers their events.

use super::control_packets::ControlPackets;
use super::error::Error;
use super::event::CaptureEvent;
use super::flush::Flusher;
use super::kernel::Kernel;
use super::link::{self, Attached, Mode};
use super::object::OBJECT;
use super::options::Options;
use super::order::Order;
use super::reader::{self, Reader};
use super::rings::{Losses, Rings};
use super::warnings::Warnings;
use super::{clock, cpu};
use rocescope_record::{Config, Counters, UetRecord};
use std::os::fd::AsFd;
use std::sync::Arc;

/// An XDP capture on any number of interfaces.
pub struct Capture {
    kernel: Arc<Kernel>,
    rings: Rings,
    order: Order,
    control_packets: ControlPackets,
    warnings: Warnings,
    attached: Vec<Attached>,
    flusher: Option<Flusher>,
    /// Reads the rings between start and end.
    reader: Option<Reader>,
    /// Whether its full queue was reported.
    has_said_full: bool,
    /// The watermark of the last poll.
    watermark_ns: u64,
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Capture")
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

/// Reported once, when the queue behind the rings is full.
const FULL: &str = "the windows or the disk are slower than the traffic: the queue behind the rings is full, and runs \
    that the rings cannot hold are counted as capture loss; a filter, longer windows, or fewer --flow-rows help";

impl Capture {
    /// Loads the program without attaching it.
    ///
    /// # Errors
    /// The kernel refuses: [`Error::is_permission`] identifies a missing capability.
    pub fn load(options: Options, config: Config) -> Result<Self, Error> {
        let config = Config {
            tick_ns: clock::tick_ns(),
            epoch_offset_ns: clock::epoch_offset_ns(),
            ..config
        };
        let config = options.with_exact_budget(cpu::possible()?, config);
        let (kernel, readers) = Kernel::load(OBJECT, options, config, false)?;
        Ok(Self {
            kernel: Arc::new(kernel),
            rings: Rings::new(readers.runs, config.slice_ns),
            control_packets: ControlPackets::new(readers.control_packets),
            warnings: readers.warnings,
            order: Order::default(),
            attached: Vec::new(),
            flusher: None,
            reader: None,
            has_said_full: false,
            watermark_ns: 0,
        })
    }

    /// Attaches to an interface and returns the mode: [`Mode::Auto`] tries native, then generic.
    ///
    /// # Errors
    /// [`Error::Occupied`] when another program is attached, which stays; else the kernel's
    /// reason.
    pub fn attach(&mut self, interface: u32, mode: Mode) -> Result<Mode, Error> {
        let (attached, mode) = link::attach(self.kernel.program()?.as_fd(), interface, mode)?;
        self.attached.push(attached);
        Ok(mode)
    }

    /// Starts to flush the CPUs and to read the rings. From here on no capability is needed.
    ///
    /// # Errors
    /// This process may not run on a CPU, or a thread cannot be started.
    pub fn start(&mut self) -> Result<(), Error> {
        let flusher = Flusher::start(Arc::clone(&self.kernel))?;
        let reader = Reader::start(self.rings.lend(), flusher.reached(), reader::queue_bytes())?;
        (self.flusher, self.reader) = (Some(flusher), Some(reader));
        Ok(())
    }

    /// The configuration in use; `tick_ns` and `epoch_offset_ns` are those of this machine.
    #[must_use]
    pub fn config(&self) -> Config {
        self.kernel.config()
    }

    /// Applies what may change during a capture: see [`Config::adopt`]. Each packet is judged by either
    /// the old or the new configuration as a whole; once this returns, only by the new one. Waits for a
    /// grace period of the kernel, some milliseconds.
    ///
    /// # Errors
    /// The map cannot be written; the old configuration stays in use.
    pub fn reconfigure(&self, config: &Config) -> Result<(), Error> {
        self.kernel.reconfigure(config)
    }

    /// The current time on the clock of the runs: nanoseconds since the epoch.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        clock::monotonic_ns().wrapping_add(self.kernel.config().epoch_offset_ns)
    }

    /// Takes what the rings held and delivers every run that began before the watermark, sorted by first timestamp.
    /// Never waits. Returns the watermark, and whether there was anything.
    ///
    /// # Errors
    /// A thread of the capture has failed.
    pub fn poll(&mut self, mut sink: impl FnMut(CaptureEvent<'_>)) -> Result<(u64, bool), Error> {
        let mut watermark = self.watermark_ns;
        let mut some = false;
        if let (Some(flusher), Some(reader)) = (&mut self.flusher, &mut self.reader) {
            flusher.check()?;
            some = reader.take(|chunk| {
                self.rings.take(&chunk.batches, &mut self.order);
                self.rings.count_unreadable(chunk.unreadable);
                watermark = watermark.max(chunk.watermark_ns);
            })?;
            if !self.has_said_full && reader.times_full() > 0 {
                self.has_said_full = true;
                sink(CaptureEvent::Warning(FULL));
            }
        }
        some |= self.control_packets.drain();
        if watermark > self.watermark_ns {
            let since_ns = std::mem::replace(&mut self.watermark_ns, watermark);
            self.count_losses(since_ns)?;
        }
        self.hand_over(watermark, &mut sink);
        Ok((watermark, some))
    }

    /// The share of the queue behind the rings that is filled, 0 to 1: what waits for [`poll`](Self::poll).
    #[must_use]
    pub fn queue_filled(&self) -> f64 {
        self.reader.as_ref().map_or(0.0, Reader::filled)
    }

    /// Reports the losses in the counters before the runs that show a gap are delivered. Returns the counters.
    ///
    /// `since_ns` is the watermark when they were read last: runs that began before it had been published then, so
    /// what was lost since began after it. Their age is no bound, because threads of a busy host may stop for long.
    fn count_losses(&mut self, since_ns: u64) -> Result<Counters, Error> {
        let counters = self.kernel.counters()?;
        let now_ns = self.now_ns();
        self.rings.count(&counters, since_ns, now_ns);
        Ok(counters)
    }

    /// Delivers warnings and blind intervals, then the complete events.
    fn hand_over(&mut self, watermark: u64, sink: &mut impl FnMut(CaptureEvent<'_>)) {
        for warning in self.warnings.take() {
            sink(CaptureEvent::Warning(&warning));
        }
        for blind in self.rings.take_blind() {
            sink(CaptureEvent::Blind(&blind));
        }
        self.control_packets.release(watermark, &mut |packet| {
            sink(CaptureEvent::ControlPacket(packet));
        });
        self.order.release(watermark, |run| {
            sink(UetRecord::in_place_of(run).map_or(CaptureEvent::Run(run), CaptureEvent::Uet));
        });
    }

    /// The exact counters of all CPUs.
    ///
    /// # Errors
    /// The map cannot be read.
    pub fn counters(&self) -> Result<Counters, Error> {
        self.kernel.counters()
    }

    /// The losses of the rings so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        self.rings.losses()
    }

    /// The number of runs that wait for the watermark.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.order.len()
    }

    /// Detaches, flushes the caches, delivers their runs, and returns the final counters and losses.
    ///
    /// # Errors
    /// The kernel refuses; events delivered before remain valid.
    pub fn finish(mut self, mut sink: impl FnMut(CaptureEvent<'_>)) -> Result<(Counters, Losses), Error> {
        if let Some(reader) = &self.reader {
            reader.lift_limit();
        }
        self.attached.clear();
        // All frames in flight are done once every CPU has passed a quiescent state.
        clock::wait_for_readers();
        if let Some(flusher) = self.flusher.take() {
            flusher.stop()?;
        }
        self.kernel.drain(true)?;
        for cpu in cpu::online()? {
            cpu::pinned(cpu, || self.kernel.flush())??;
        }
        if let Some(reader) = self.reader.take() {
            let rings = reader.finish(|chunk| {
                self.rings.take(&chunk.batches, &mut self.order);
                self.rings.count_unreadable(chunk.unreadable);
            })?;
            self.rings.give_back(rings);
        }
        self.rings.drain(&mut self.order);
        self.control_packets.drain();
        let counters = self.count_losses(self.watermark_ns)?;
        self.hand_over(u64::MAX, &mut sink);
        let mut losses = self.rings.losses().clone();
        losses.unreadable += self.control_packets.unreadable();
        Ok((counters, losses))
    }
}
