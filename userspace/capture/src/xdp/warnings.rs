//! Warnings of the programs for the operator.

use super::error::Error;
use aya::Ebpf;
use aya_log::EbpfLogger;
use log::{Log, Metadata, Record};
use std::sync::{Arc, Mutex, PoisonError};

/// The ring of `aya-log`. A program logs each of its few warnings once a CPU at most, so its 128 KiB
/// never fill.
pub(super) struct Warnings {
    logger: EbpfLogger<Lines>,
    lines: Lines,
}

impl Warnings {
    /// Takes the log ring of programs before they are loaded.
    pub(super) fn new(programs: &mut Ebpf) -> Result<Self, Error> {
        let lines = Lines::default();
        let logger = EbpfLogger::init_with_logger(programs, lines.clone()).map_err(|_| Error::Missing("AYA_LOGS"))?;
        Ok(Self { logger, lines })
    }

    /// The warnings since the last call.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.logger.flush();
        std::mem::take(&mut *self.lines.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Collects log lines, in place of a logger of the process.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(record.args().to_string());
    }

    fn flush(&self) {}
}
