//! A process in the background.

use crate::wait::{until, until_some};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

/// A process whose messages a thread collects: it never waits for a reader of its standard error.
#[derive(Debug)]
pub struct Running {
    child: Child,
    messages: Arc<Mutex<String>>,
    /// Bytes of the messages that [`line`](Self::line) has returned.
    read: usize,
    reader: Option<JoinHandle<()>>,
}

/// What a process left.
#[derive(Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed on standard output.
    pub stdout: String,
    /// Its messages after those that [`Running::line`] returned.
    pub stderr: String,
}

impl Running {
    /// Starts a process without input.
    pub fn spawn(command: &mut Command) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let messages = Arc::new(Mutex::new(String::new()));
        let all = Arc::clone(&messages);
        let reader = std::thread::spawn(move || {
            let mut line = Vec::new();
            while stderr.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                all.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        Self {
            child,
            messages,
            read: 0,
            reader: Some(reader),
        }
    }

    /// Starts it and waits for its first message, which must begin with `first`.
    #[track_caller]
    pub fn begin(command: &mut Command, first: &str) -> Self {
        let mut running = Self::spawn(command);
        let line = running.line();
        assert!(line.starts_with(first), "{line}");
        running
    }

    /// The next message; empty after the last.
    #[track_caller]
    pub fn line(&mut self) -> String {
        let line = until_some("another message", || {
            let has_ended = self.reader.as_ref().is_none_or(JoinHandle::is_finished);
            let messages = self.messages.lock().unwrap();
            let rest = &messages[self.read..];
            let line = rest.split_inclusive('\n').next();
            line.map(str::to_owned).or_else(|| has_ended.then(String::new))
        });
        self.read += line.len();
        line
    }

    /// All messages so far.
    pub fn messages(&self) -> String {
        self.messages.lock().unwrap().clone()
    }

    /// Waits until a message has this text.
    #[track_caller]
    pub fn until_said(&self, text: &str) {
        until(text, || self.messages.lock().unwrap().contains(text));
    }

    /// The number of the process. `ip netns exec` becomes the program that it starts.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal, such as `-INT`.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the end.
    pub fn end(mut self) -> Ended {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let status = self.child.wait().unwrap();
        self.reader.take().unwrap().join().unwrap();
        let stderr = self.messages.lock().unwrap()[self.read..].to_owned();
        Ended { status, stdout, stderr }
    }

    /// Ends it with a signal.
    pub fn stop(self, signal: &str) -> Ended {
        self.signal(signal);
        self.end()
    }

    /// `kill -9`.
    pub fn kill(self) {}
}

impl Drop for Running {
    /// Nothing runs on after its test.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// It must have succeeded.
    #[track_caller]
    pub fn success(self) -> Self {
        assert!(self.status.success(), "{}: {}", self.status, self.stderr);
        self
    }

    /// The JSON that it printed.
    #[track_caller]
    pub fn json(&self) -> Value {
        let Ok(json) = serde_json::from_str(&self.stdout) else {
            panic!("{}: {}", self.status, self.stderr);
        };
        json
    }
}
