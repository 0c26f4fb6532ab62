//! The binary, capturing in a namespace.

use crate::background;
use crate::namespace::{Namespace, RECEIVER};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rocescope");

/// A running capture.
pub(crate) struct Live {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Live {
    /// Captures on the receiver; returns when the first line reports that the capture has started.
    pub(crate) fn begin(namespace: &Namespace, arguments: &[&str]) -> Self {
        let mut command = namespace.command(BINARY);
        command.args(["capture", "-o", "json", "-i", RECEIVER]);
        Self::spawn(command.args(arguments))
    }

    pub(crate) fn spawn(command: &mut Command) -> Self {
        let (child, stderr) = background::begin(command, "capturing on ");
        Self { child, stderr }
    }

    pub(crate) fn of(child: Child, stderr: BufReader<ChildStderr>) -> Self {
        Self { child, stderr }
    }

    /// The next line on standard error.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }

    /// Sends a signal to the binary, which `ip netns exec` has become.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for the end, which must be successful. Returns the summary and the other lines.
    pub(crate) fn end(self) -> (Value, String) {
        let (summary, said, status) = self.end_with();
        assert_eq!(status, Some(0), "{said}");
        (summary, said)
    }

    /// As [`end`](Self::end), with any exit status.
    pub(crate) fn end_with(mut self) -> (Value, String, Option<i32>) {
        let mut summary = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut summary).unwrap();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        let summary = serde_json::from_str(&summary);
        (
            summary.unwrap_or_else(|_| panic!("{status}: {said}")),
            said,
            status.code(),
        )
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
        self.child.id()
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
