//! Seals several journals in parallel.
//!
//! Sealing mostly waits for the disk: for a file and a rename, each a commit of the file system's journal. The file
//! system combines concurrent commits, so four tables take about as long as one.

use crate::Error;
use crate::journal::Journal;
use crate::seal::Closed;
use std::io;
use std::thread::Builder;

/// Seals every journal, and calls `step` between steps; returns the results in the same order.
pub(crate) fn seal_in_parallel(journals: &[Journal], step: fn()) -> Vec<Result<Closed, Error>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = journals
            .iter()
            .map(|journal| {
                let path = journal.path().to_owned();
                let name = Builder::new().name("seal".into());
                let thread = name.spawn_scoped(scope, move || journal.seal(step));
                (path, thread)
            })
            .collect();
        let joined = threads.into_iter().map(|(path, thread)| {
            let failed = |source| Error::io("seal", &path, source);
            let sealed = thread.map_err(failed)?.join();
            sealed.unwrap_or_else(|_| Err(failed(io::Error::other("the sealing thread panicked"))))
        });
        joined.collect()
    })
}
