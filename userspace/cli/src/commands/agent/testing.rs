//! Loopback tests inside the host, run by a thread of their own.

use crate::arguments::HostpingRunArguments;
use crate::commands::hostping::run::{Tester, wait};
use crate::commands::relay::Spooler;
use anyhow::{Context, Result};
use rocescope_runtime::status;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The thread.
pub(super) struct Testing {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Testing {
    /// Starts it; the first run is due when the host was idle long enough.
    pub(super) fn start(mut tester: Tester, arguments: HostpingRunArguments, spooler: Spooler) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let run = move || {
            let mut runs = 0;
            let is_over = || over.load(Ordering::Relaxed);
            let ended = wait(&mut tester, &arguments, &is_over, &mut |tester, tested| {
                let diagnosis = tester.diagnose(tested);
                spooler.append(&tester.rows(tested, &diagnosis));
                runs += 1;
                Ok(())
            });
            if let Err(error) = ended {
                status!("loopback tests ended: {error:#}");
            }
            runs
        };
        let thread = std::thread::Builder::new().name("hostping".into()).spawn(run);
        Ok(Self {
            is_over,
            thread: thread.context("a thread that runs loopback tests")?,
        })
    }

    /// Ends it, and a run that goes on; returns what it did, in a line.
    pub(super) fn end(self) -> Result<String> {
        self.is_over.store(true, Ordering::Relaxed);
        let runs = self.thread.join();
        let runs = runs.map_err(|_| anyhow::anyhow!("the thread of the loopback tests failed, which is a defect"))?;
        Ok(format!("hostping: {runs} runs"))
    }
}
