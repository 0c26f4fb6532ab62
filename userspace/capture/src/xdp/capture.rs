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
use super::rings::{Losses, Rings};
use super::warnings::Warnings;
use super::{clock, cpu};
use rocescope_record::{Config, Counters};
use std::os::fd::AsFd;
use std::sync::Arc;

/// An XDP capture on any number of interfaces.
pub struct Capture {
    kernel: Arc<Kernel>,
    rings: Rings,
    order: Order,
    control_packets: ControlPackets,
    warnings: Warnings,
    /// Blind intervals already reported.
    reported: u64,
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

/// Runs delivered between two reads of the rings: well below the capacity of one.
const RUNS_PER_READ: usize = 4_096;

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
        let (kernel, readers) = Kernel::load(OBJECT, options, config, false)?;
        Ok(Self {
            kernel: Arc::new(kernel),
            rings: Rings::new(readers.runs, config.slice_ns),
            control_packets: ControlPackets::new(readers.control_packets),
            warnings: readers.warnings,
            reported: 0,
            order: Order::default(),
            attached: Vec::new(),
            flusher: None,
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

    /// Starts to flush the CPUs. From here on no capability is needed.
    ///
    /// # Errors
    /// This process may not run on a CPU.
    pub fn start(&mut self) -> Result<(), Error> {
        self.flusher = Some(Flusher::start(Arc::clone(&self.kernel))?);
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

    /// Reads the rings and delivers every run that began before the watermark, sorted by first timestamp.
    /// Never waits. Returns the watermark, and whether the rings held anything.
    ///
    /// # Errors
    /// The flush thread has failed.
    pub fn poll(&mut self, mut sink: impl FnMut(CaptureEvent<'_>)) -> Result<(u64, bool), Error> {
        let watermark = match &mut self.flusher {
            Some(flusher) => flusher.watermark()?,
            None => 0,
        };
        // In this order: the rings already hold every run below the watermark.
        let some = self.rings.drain(&mut self.order) | self.control_packets.drain();
        self.hand_over(watermark, &mut sink);
        Ok((watermark, some))
    }

    /// Delivers warnings and blind intervals, then the complete events.
    fn hand_over(&mut self, watermark: u64, sink: &mut impl FnMut(CaptureEvent<'_>)) {
        for warning in self.warnings.take() {
            sink(CaptureEvent::Warning(&warning));
        }
        let losses = self.rings.losses();
        let new = losses.intervals - self.reported;
        self.reported = losses.intervals;
        let known = losses.blind.len() as u64;
        for blind in losses.blind.iter().skip(known.saturating_sub(new) as usize) {
            sink(CaptureEvent::Blind(blind));
        }
        self.control_packets.release(watermark, &mut |packet| {
            sink(CaptureEvent::ControlPacket(packet));
        });
        for runs in self.order.ready(watermark).chunks(RUNS_PER_READ) {
            for run in runs {
                sink(CaptureEvent::Run(run));
            }
            // A slice may have more runs than a ring holds.
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
        self.attached.clear();
        // All frames in flight are done once every CPU has passed a quiescent state.
        clock::wait_for_readers();
        if let Some(flusher) = self.flusher.take() {
            flusher.stop()?;
        }
        self.kernel.drain(true)?;
        for cpu in cpu::online()? {
            cpu::pinned(cpu, || self.kernel.flush())??;
            self.rings.drain(&mut self.order);
        }
        self.control_packets.drain();
        let counters = self.kernel.counters()?;
        let end_ns = self.now_ns();
        self.rings.finish(&counters, end_ns);
        self.hand_over(u64::MAX, &mut sink);
        let mut losses = self.rings.losses().clone();
        losses.unreadable += self.control_packets.unreadable();
        Ok((counters, losses))
    }
}
