//! Loopback tests inside the host, run by a thread of their own.
//!
//! | module | what it does |
//! |---|---|
//! | [`settings`] | what to test |
//! | [`source`] | the topology, from a file or from `/sys` |
//! | [`measured`] | measurements, from files |
//! | `backend` | the queue pairs that run the tests |
//! | [`tester`] | one run: tests, diagnosis, rows |
//! | `traffic` | what others send over the NICs, from their counters |
//! | `waiting` | runs when the host is idle or counters call |

mod backend;
pub mod measured;
pub mod settings;
pub mod source;
pub mod tester;
mod traffic;
mod waiting;

pub use backend::Boxed;
pub use settings::HostpingSettings;
pub use tester::{Tested, Tester};

use crate::error::Result;
use crate::part::{Part, Rows};
use crate::settings::Settings;
use crate::worker::Worker;
use rocescope_probe::loopback::schedule::Timing;
use std::sync::mpsc::{Receiver, TryRecvError};
use waiting::wait;

/// The part. Its thread counts its runs.
#[derive(Debug)]
pub struct Testing {
    /// `None` once the thread has it.
    tester: Option<Tester>,
    is_forced: bool,
    timing: Timing,
    worker: Option<Worker<(), u64>>,
}

impl Testing {
    /// Opens what the tests need, and runs none.
    ///
    /// # Errors
    /// Those of [`Tester::open`].
    pub fn open(settings: &HostpingSettings, timing: Timing, observer: &str) -> Result<Self> {
        Ok(Self::new(Tester::open(settings, observer)?, settings.force, timing))
    }

    /// The part of a tester; `is_forced`: it also tests a busy host.
    #[must_use]
    pub fn new(tester: Tester, is_forced: bool, timing: Timing) -> Self {
        Self {
            tester: Some(tester),
            is_forced,
            timing,
            worker: None,
        }
    }
}

impl Part for Testing {
    /// The first run is due when the host was idle long enough.
    fn start(&mut self, rows: Rows) -> Result<()> {
        if let Some(tester) = self.tester.take() {
            let (is_forced, timing) = (self.is_forced, self.timing);
            let run = move |ended: Receiver<()>| test(tester, is_forced, timing, &ended, &rows);
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

fn test(mut tester: Tester, is_forced: bool, timing: Timing, ended: &Receiver<()>, rows: &Rows) -> u64 {
    let mut runs = 0;
    let is_over = || ended.try_recv() == Err(TryRecvError::Disconnected);
    wait(&mut tester, is_forced, timing, &is_over, &mut |tester, tested| {
        let diagnosis = tester.diagnose(tested);
        rows.append(&tester.rows(tested, &diagnosis));
        runs += 1;
    });
    runs
}
