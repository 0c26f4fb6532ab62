//! A thread that flushes every CPU once a slice, so that no run stays in a cache.

use super::error::Error;
use super::kernel::Kernel;
use super::{clock, cpu};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread and its watermark.
#[derive(Debug)]
pub(super) struct Flusher {
    stop: Arc<AtomicBool>,
    /// All CPUs have published every run that began before this; nanoseconds since the epoch.
    watermark: Arc<AtomicU64>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Flusher {
    /// Starts the thread, after a check that this process may run on every CPU.
    pub(super) fn start(kernel: Arc<Kernel>) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let watermark = Arc::new(AtomicU64::new(0));
        for cpu in cpu::online()? {
            cpu::pinned(cpu, || ())?;
        }
        let (stopped, reached) = (Arc::clone(&stop), Arc::clone(&watermark));
        let thread = std::thread::Builder::new()
            .name("flush".into())
            .spawn(move || visit_all(&kernel, &stopped, &reached))
            .map_err(|error| Error::Thread(error.to_string()))?;
        Ok(Self {
            stop,
            watermark,
            thread: Some(thread),
        })
    }

    /// The watermark of all CPUs, for the thread that reads the rings.
    pub(super) fn reached(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.watermark)
    }

    /// Checks that the thread still runs.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        if let Some(thread) = self.thread.take_if(|thread| thread.is_finished()) {
            ended(thread)?;
            return Err(Error::Thread("it has ended".into()));
        }
        Ok(())
    }

    /// Ends the thread.
    pub(super) fn stop(mut self) -> Result<(), Error> {
        self.stop.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        thread.thread().unpark();
        ended(thread)
    }
}

/// The result of the thread.
fn ended(thread: JoinHandle<Result<(), Error>>) -> Result<(), Error> {
    match thread.join() {
        Ok(result) => result,
        Err(_) => Err(Error::Thread("it has panicked".into())),
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Its result no longer matters.
            let _ = thread.join();
        }
    }
}

fn visit_all(kernel: &Kernel, stop: &AtomicBool, watermark: &AtomicU64) -> Result<(), Error> {
    let config = kernel.config();
    // A run may last a slice; ticks round both its start and `now`.
    let slack_ns = config.slice_ns + 2 * config.tick_ns;
    while !stop.load(Ordering::Relaxed) {
        let now = clock::monotonic_ns().wrapping_add(config.epoch_offset_ns);
        for cpu in cpu::online()? {
            match cpu::pin(cpu) {
                Ok(()) => kernel.flush()?,
                // It went offline between the two calls; its runs wait until it is back.
                Err(_) if !cpu::online()?.contains(&cpu) => {}
                Err(error) => return Err(error),
            }
        }
        watermark.store(now.saturating_sub(slack_ns), Ordering::Release);
        std::thread::park_timeout(Duration::from_nanos(config.slice_ns));
    }
    Ok(())
}
