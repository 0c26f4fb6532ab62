//! Looks for the incidents of a dataset while the caller does something else.

use super::Settings;
use super::dataset::diagnose;
use crate::Error;
use rocescope_diagnose::incidents::Document;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// The search in a thread of its own.
#[derive(Debug)]
pub struct Background(Receiver<Result<Document, Error>>);

impl Background {
    /// Begins. Where no thread can start, the search ends without a result.
    #[must_use]
    pub fn begin(settings: Settings) -> Self {
        let (sender, receiver) = channel();
        let search = move || {
            // The caller may have ended.
            let _ = sender.send(diagnose(&settings));
        };
        let thread = Builder::new().name("incidents".into()).spawn(search);
        drop(thread);
        Self(receiver)
    }

    /// The incidents, if they are found within this time.
    ///
    /// # Errors
    /// The search itself if it is not over; `diagnose` as in [`diagnose`].
    pub fn within(self, time: Duration) -> Result<Result<Document, Error>, Self> {
        match self.0.recv_timeout(time) {
            Ok(found) => Ok(found),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(self),
        }
    }

    /// Calls `found` with the result when the search is over, from the thread of the search.
    pub fn then(self, found: impl FnOnce(Result<Document, Error>) + Send + 'static) {
        let wait = move || {
            if let Ok(result) = self.0.recv() {
                found(result);
            }
        };
        drop(Builder::new().name("incidents found".into()).spawn(wait));
    }
}
