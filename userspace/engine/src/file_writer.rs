//! Writes the rows of a capture file: many windows at once, on a thread of its own.
//!
//! A file can be read again, so its windows need not be safe one by one, as those of a live capture. A day of 86,400
//! windows is a hundred appends, and windows are encoded, sealed and synced while later frames are analyzed.

use crate::notice::Notices;
use rocescope_model::WindowRows;
use rocescope_model::time::HOUR_NS;
use rocescope_runtime::dataset::Dataset;
use rocescope_store::{Error, Retained, Summary};
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Windows, rows and bytes of sketches that wait at most: a few megabytes. As many again are being written, and as many
/// may wait between the two.
const WINDOWS: usize = 1_024;
const ROWS: usize = 8_192;
const SKETCH_BYTES: usize = 2 << 20;

/// Appends rows to a dataset, and finishes it.
#[derive(Debug)]
pub(crate) struct FileWriter {
    waiting: WindowRows,
    sketch_bytes: usize,
    /// The hour of the waiting windows: segments of all tables end with it, together.
    hour: Option<i64>,
    batches: Option<SyncSender<WindowRows>>,
    writer: Option<JoinHandle<Result<Dataset, Error>>>,
}

impl FileWriter {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(crate) fn start(dataset: Dataset, notices: Notices) -> io::Result<Self> {
        let (batches, received) = sync_channel(1);
        let writer = Builder::new().name("write".into());
        Ok(Self {
            waiting: WindowRows::default(),
            sketch_bytes: 0,
            hour: None,
            batches: Some(batches),
            writer: Some(writer.spawn(move || write(dataset, received, &notices))?),
        })
    }

    /// Takes the rows of a window.
    ///
    /// # Errors
    /// Those of [`Dataset::append`], after which nothing more is written.
    pub(crate) fn append(&mut self, rows: &mut WindowRows) -> Result<(), Error> {
        let hour = rows.windows.first().map(|row| row.window_start_ns.div_euclid(HOUR_NS));
        if hour.is_some() && hour != self.hour {
            self.hand_over()?;
            self.hour = hour;
        }
        let sketches = rows.windows.iter().flat_map(|row| {
            let sketches = [
                &row.hll_flows,
                &row.linear_counting,
                &row.count_min_packets,
                &row.count_min_bytes,
            ];
            sketches.into_iter().flatten()
        });
        self.sketch_bytes += sketches.map(|sketch| sketch.packed().len()).sum::<usize>();
        self.waiting.append(rows);
        let waiting: usize = self.waiting.tables().iter().map(|cells| cells.rows()).sum();
        if self.waiting.windows.len() < WINDOWS && waiting < ROWS && self.sketch_bytes < SKETCH_BYTES {
            return Ok(());
        }
        self.hand_over()
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        self.sketch_bytes = 0;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let batches = self.batches.as_ref();
        let waiting = std::mem::take(&mut self.waiting);
        if batches.is_some_and(|batches| batches.send(waiting).is_err()) {
            return self.written().map(|_| ());
        }
        Ok(())
    }

    /// Waits for the thread.
    fn written(&mut self) -> Result<Option<Dataset>, Error> {
        self.batches = None;
        let Some(writer) = self.writer.take() else {
            return Ok(None);
        };
        writer.join().unwrap_or_else(|payload| resume_unwind(payload)).map(Some)
    }

    /// Writes what waits, seals everything, and applies the retention.
    ///
    /// # Errors
    /// The first error of an append, or those of [`Dataset::finish`].
    pub(crate) fn finish(mut self) -> Result<(Summary, Retained), Error> {
        self.hand_over()?;
        match self.written()? {
            Some(dataset) => dataset.finish(),
            None => Ok(Default::default()),
        }
    }
}

fn write(mut dataset: Dataset, batches: Receiver<WindowRows>, notices: &Notices) -> Result<Dataset, Error> {
    for mut rows in batches {
        dataset.append_windows(&mut rows, &notices.dataset())?;
    }
    Ok(dataset)
}
