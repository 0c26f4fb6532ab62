//! The thread of a part: how it starts, ends and fails.

use crate::error::{AgentError, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

/// A thread that gets messages, and ends when there is no one left who sends them. `T` is what it leaves behind.
#[derive(Debug)]
pub struct Worker<M, T> {
    name: &'static str,
    messages: Sender<M>,
    thread: JoinHandle<T>,
}

impl<M: Send + 'static, T: Send + 'static> Worker<M, T> {
    /// Starts it. `run` ends when its receiver is disconnected.
    ///
    /// # Errors
    /// The operating system refuses.
    pub fn start(name: &'static str, run: impl FnOnce(Receiver<M>) -> T + Send + 'static) -> Result<Self> {
        let (messages, received) = channel();
        let thread = Builder::new().name(name.into()).spawn(move || run(received));
        Ok(Self {
            name,
            messages,
            thread: thread.map_err(|error| AgentError::Thread(name, error))?,
        })
    }

    /// Sends it a message. A thread that failed is reported at the end.
    pub fn send(&self, message: M) {
        let _ = self.messages.send(message);
    }

    /// Ends it.
    ///
    /// # Errors
    /// It panicked.
    pub fn end(self) -> Result<T> {
        drop(self.messages);
        self.thread.join().map_err(|_| AgentError::Defect(self.name))
    }
}
