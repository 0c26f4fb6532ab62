//! This process, for the thread that draws: signals, privileges, losses and resource usage.

use rocescope_engine::drops::Drops;
use rocescope_host::privileges;
use rocescope_model::Time;
use rocescope_runtime::resources::{Meter, resident_bytes};
use rocescope_runtime::signals::{Ender, JobControl};
use rocescope_view::{Losses, Process, ProcessError, ProcessUsage};
use std::sync::Arc;
use std::time::Duration;

/// Minimum time between two measurements of processor time.
const SPAN: Duration = Duration::from_secs(1);

pub(super) struct ThisProcess {
    ender: Ender,
    drops: Option<Arc<Drops>>,
    jobs: JobControl,
    meter: Meter,
}

impl ThisProcess {
    /// `ender` ends the source; `drops` counts the losses of a live capture.
    pub(super) fn new(ender: Ender, drops: Option<Arc<Drops>>) -> Self {
        Self {
            ender,
            drops,
            jobs: JobControl::default(),
            meter: Meter::default(),
        }
    }
}

impl Process for ThisProcess {
    fn begin(&mut self) -> Result<(), ProcessError> {
        // Capabilities belong to a thread, so this thread must drop its own.
        privileges::drop_all().map_err(|error| format!("capabilities: {error}"))?;
        Ok(self.jobs.install()?)
    }

    fn is_ended(&self) -> bool {
        self.ender.ended()
    }

    fn end(&self) -> Result<(), ProcessError> {
        self.ender.end();
        Ok(self.ender.exit_on_next_signal()?)
    }

    fn take_stop(&self) -> bool {
        self.jobs.take_stop()
    }

    fn take_continue(&self) -> bool {
        self.jobs.take_continue()
    }

    fn suspend(&self) -> Result<(), ProcessError> {
        Ok(self.jobs.suspend()?)
    }

    fn usage(&mut self) -> Option<ProcessUsage> {
        let cpu_ratio = self.meter.share_after(SPAN)?;
        Some(ProcessUsage {
            cpu_ratio,
            resident_bytes: resident_bytes().unwrap_or(0),
        })
    }

    fn now(&self) -> Time {
        rocescope_runtime::clock::now()
    }

    fn losses(&self, losses: &mut Losses) {
        if let Some(drops) = &self.drops {
            losses.interface_frames = drops.interface_frames();
            losses.socket_frames = Some(drops.socket_frames());
        }
    }
}
