//! The binary, capturing in a namespace.

use crate::live::namespace::{Namespace, RECEIVER};
use rocescope_testkit::{Running, binary};
use serde_json::Value;
use std::process::Command;

/// A running capture.
pub(crate) struct Live(Running);

impl Live {
    /// Captures on the receiver; returns when the first line reports that the capture has started.
    pub(crate) fn begin(namespace: &Namespace, arguments: &[&str]) -> Self {
        let mut command = namespace.command(binary());
        command.args(["capture", "-o", "json", "-i", RECEIVER]);
        Self::spawn(command.args(arguments))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        Self(Running::begin(command, "capturing on "))
    }

    pub(crate) fn of(running: Running) -> Self {
        Self(running)
    }

    /// The next line on standard error.
    pub(crate) fn line(&mut self) -> String {
        self.0.line()
    }

    /// Sends a signal to the binary.
    pub(crate) fn signal(&self, name: &str) {
        self.0.signal(name);
    }

    /// Waits for the end, which must be successful. Returns the summary and the other lines.
    pub(crate) fn end(self) -> (Value, String) {
        let ended = self.0.end().success();
        (ended.json(), ended.stderr)
    }

    /// As [`end`](Self::end), with any exit status.
    pub(crate) fn end_with(self) -> (Value, String, Option<i32>) {
        let ended = self.0.end();
        (ended.json(), ended.stderr, ended.status.code())
    }

    /// Ends the capture with SIGINT; returns the summary and the other lines.
    pub(crate) fn stop(self) -> (Value, String) {
        self.signal("-INT");
        self.end()
    }

    /// As [`stop`](Self::stop), with any exit status.
    pub(crate) fn end_with_signal(self) -> (Value, String, Option<i32>) {
        self.signal("-INT");
        self.end_with()
    }

    /// The process of the binary.
    pub(crate) fn process(&self) -> u32 {
        self.0.id()
    }

    /// `kill -9`.
    pub(crate) fn kill(self) {
        self.0.kill();
    }
}
