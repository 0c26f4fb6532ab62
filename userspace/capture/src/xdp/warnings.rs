//! What the programs say in words: conditions that an operator must hear of.

use super::error::Error;
use aya::Ebpf;
use aya_log::EbpfLogger;
use log::{Log, Metadata, Record};
use std::sync::{Arc, Mutex, PoisonError};

/// The ring of `aya-log`. A program says each of its few sentences once a CPU at most, so 128 KiB are
/// never full.
pub(super) struct Warnings {
    logger: EbpfLogger<Lines>,
    lines: Lines,
}

impl Warnings {
    /// Takes the ring of programs that are not loaded yet.
    pub(super) fn new(programs: &mut Ebpf) -> Result<Self, Error> {
        let lines = Lines::default();
        let logger = EbpfLogger::init_with_logger(programs, lines.clone())
            .map_err(|_| Error::Missing("AYA_LOGS"))?;
        Ok(Self { logger, lines })
    }

    /// What was said since the last call, a sentence each.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.logger.flush();
        std::mem::take(&mut *self.lines.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Keeps lines for who asks, in place of a logger of the process.
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
