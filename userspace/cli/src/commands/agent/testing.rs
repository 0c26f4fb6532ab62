//! Loopback tests inside the host, run by a thread of their own.

use crate::arguments::HostpingRunArguments;
use crate::commands::hostping::run::{Tester, wait};
use rocescope_agent::worker::Worker;
use rocescope_agent::{Part, Result, Rows, Settings};
use rocescope_runtime::status;
use std::sync::mpsc::{Receiver, TryRecvError};

/// The part. Its thread counts its runs.
pub(super) struct Testing {
    /// `None` once the thread has it.
    tester: Option<(Tester, HostpingRunArguments)>,
    worker: Option<Worker<(), u64>>,
}

impl Testing {
    pub(super) fn open(arguments: &HostpingRunArguments, observer: &str) -> anyhow::Result<Self> {
        Ok(Self {
            tester: Some((Tester::open(arguments, observer)?, arguments.clone())),
            worker: None,
        })
    }
}

impl Part for Testing {
    /// The first run is due when the host was idle long enough.
    fn start(&mut self, rows: Rows) -> Result<()> {
        if let Some((tester, arguments)) = self.tester.take() {
            let run = move |ended: Receiver<()>| test(tester, &arguments, &ended, &rows);
            self.worker = Some(Worker::start("hostping", run)?);
        }
        Ok(())
    }

    fn reconfigure(&mut self, _: &Settings) {}

    /// Ends a run that goes on, too.
    fn end(&mut self) -> Result<String> {
        let runs = self.worker.take().map(Worker::end).transpose()?;
        Ok(format!("hostping: {} runs", runs.unwrap_or_default()))
    }
}

fn test(mut tester: Tester, arguments: &HostpingRunArguments, ended: &Receiver<()>, rows: &Rows) -> u64 {
    let mut runs = 0;
    let is_over = || ended.try_recv() == Err(TryRecvError::Disconnected);
    let finished = wait(&mut tester, arguments, &is_over, &mut |tester, tested| {
        let diagnosis = tester.diagnose(tested);
        rows.append(&tester.rows(tested, &diagnosis));
        runs += 1;
        Ok(())
    });
    if let Err(error) = finished {
        status!("loopback tests ended: {error:#}");
    }
    runs
}
