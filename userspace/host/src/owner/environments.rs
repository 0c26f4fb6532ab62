//! Environments of processes of other users.
//!
//! To read one takes the right to trace the process (`cap_sys_ptrace`), with which a program could change it. An agent gives
//! up its capabilities once all is open: one thread keeps this one, and does nothing but read.

use super::process::Process;
use crate::privileges::{TRACE, keep, missing};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;

/// Reads environments.
#[derive(Debug)]
pub(super) struct Environments(Option<Reader>);

#[derive(Debug)]
struct Reader {
    wanted: Sender<Process>,
    read: Receiver<io::Result<Vec<u8>>>,
}

impl Environments {
    /// With the rights that this thread has now.
    pub(super) fn open() -> Self {
        let has_right = missing(&[TRACE]).is_ok_and(|missing| missing.is_empty());
        // Without the thread, what others may read is read.
        Self(has_right.then(Reader::start).and_then(Result::ok))
    }

    /// The environment that a process began with.
    ///
    /// # Errors
    /// Permission is denied without the right to trace it.
    pub(super) fn read(&self, process: &Process) -> io::Result<Vec<u8>> {
        match &self.0 {
            Some(reader) => reader.read(process),
            None => process.environment(),
        }
    }
}

impl Reader {
    /// The thread ends with the reader.
    fn start() -> io::Result<Self> {
        let (wanted, processes) = channel::<Process>();
        let (found, read) = channel();
        Builder::new().name("environments".into()).spawn(move || {
            if keep(&[TRACE]).is_err() {
                return;
            }
            for process in processes {
                if found.send(process.environment()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { wanted, read })
    }

    fn read(&self, process: &Process) -> io::Result<Vec<u8>> {
        let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.wanted.send(process.clone()).map_err(|_| ended())?;
        self.read.recv().map_err(|_| ended())?
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Both ways read the same; the thread exists only where the tests run with the capability.
    #[test]
    fn the_thread_reads_what_a_caller_may() {
        let own = Process::new(Path::new("/proc"), std::process::id());
        let expected = own.environment().unwrap();
        assert_eq!(Environments(None).read(&own).unwrap(), expected);
        assert_eq!(Environments::open().read(&own).unwrap(), expected);
        let none = Process::new(Path::new("/proc"), u32::MAX);
        let environments = Environments::open();
        assert_eq!(environments.read(&none).unwrap_err().kind(), io::ErrorKind::NotFound);
        // It goes on after an error.
        assert_eq!(environments.read(&own).unwrap(), expected);
    }
}
