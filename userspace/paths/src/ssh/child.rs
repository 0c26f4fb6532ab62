//! Processes of the client: their output, and their end within a limit.

use crate::transport::{Failure, Reply, SESSION_REFUSED};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of an answer, at most.
const MAX_ANSWER: usize = 1 << 20;
/// Lines that wait to be read; beyond them the device waits. A line has at most [`MAX_ANSWER`] bytes.
const MAX_LINES: usize = 16;

/// The last line that is not empty, without what controls a terminal.
pub(super) fn last_line(text: &str) -> String {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

fn cannot_start(error: &std::io::Error) -> Failure {
    Failure::new(
        "no_ssh",
        format!("cannot start `ssh`: {error}: install the OpenSSH client"),
    )
}

/// The session ended, with the last line that it printed, or was never opened.
pub(super) fn session_over(text: &str) -> Failure {
    // The client prints that of the control master, and other lines behind it.
    if text.contains("refused by peer") {
        let message = "the device refuses another session (`MaxSessions` of sshd): it is asked over fewer";
        return Failure::new(SESSION_REFUSED, message);
    }
    let line = last_line(text);
    let why = if line.is_empty() {
        String::new()
    } else {
        format!(": {line}")
    };
    Failure::new("session_over", format!("the session ended{why}"))
}

pub(super) fn time_limit(limit: Duration) -> Failure {
    Failure::new("time_limit", format!("no answer within {limit:?}"))
}

/// Runs a client to its end.
///
/// # Errors
/// The channel or the connection failed: the client's own status is 255, or a signal ended it.
pub(super) fn collect(command: &mut Command, limit: Duration) -> Result<Reply, Failure> {
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot_start(&error))?;
    let (sender, receiver) = channel();
    read_all(child.stdout.take(), 0, &sender);
    read_all(child.stderr.take(), 1, &sender);
    drop(sender);
    let ends = Instant::now() + limit;
    let mut texts = [String::new(), String::new()];
    for _ in 0..2 {
        match receiver.recv_timeout(ends.saturating_duration_since(Instant::now())) {
            Ok((place, text)) => {
                let place: usize = place;
                texts[place] = text;
            }
            Err(_) => {
                end(&mut child);
                return Err(time_limit(limit));
            }
        }
    }
    // It has closed its outputs: it is about to end.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code(),
            Ok(None) if Instant::now() < ends => thread::sleep(Duration::from_millis(1)),
            _ => {
                end(&mut child);
                return Err(time_limit(limit));
            }
        }
    };
    let [output, errors] = texts;
    // The end of an answer that is too long is that of a closed pipe.
    let is_cut = output.len().max(errors.len()) >= MAX_ANSWER;
    match status {
        _ if is_cut => Ok(Reply::new(&output, &errors, 0)),
        None | Some(255) => Err(session_over(&format!("{output}\n{errors}"))),
        Some(status) => Ok(Reply::new(&output, &errors, status)),
    }
}

fn read_all(source: Option<impl Read + Send + 'static>, place: usize, sender: &Sender<(usize, String)>) {
    let sender = sender.clone();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(source) = source {
            // A cut answer does not fit a pattern; nothing else to do about an error.
            let _ = source.take(MAX_ANSWER as u64).read_to_end(&mut bytes);
        }
        let _ = sender.send((place, String::from_utf8_lossy(&bytes).into_owned()));
    });
}

/// Ends a process and collects it.
pub(super) fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// A process that is written to and read from line by line.
pub(super) struct Channel {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What the client prints about the session, once it ends.
    errors: Receiver<(usize, String)>,
}

/// How long an ended client takes to print why, at most.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Channel {
    pub(super) fn spawn(command: &mut Command) -> Result<Self, Failure> {
        let pipes = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = pipes.spawn().map_err(|error| cannot_start(&error))?;
        let (sender, lines) = sync_channel(MAX_LINES);
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || {
                let mut output = BufReader::new(output);
                let mut line = Vec::new();
                loop {
                    line.clear();
                    let limit = MAX_ANSWER as u64;
                    match output.by_ref().take(limit).read_until(b'\n', &mut line) {
                        Ok(length) if length > 0 => {}
                        _ => return,
                    }
                    let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                    if sender.send(text).is_err() {
                        return;
                    }
                }
            });
        }
        let (sender, errors) = channel();
        read_all(child.stderr.take(), 1, &sender);
        let input = child.stdin.take();
        Ok(Self {
            child,
            input,
            lines,
            errors,
        })
    }

    /// The session ended after it printed this.
    fn over(&self, printed: &str) -> Failure {
        let errors = self.errors.recv_timeout(LAST_WORDS);
        let errors = errors.map_or_else(|_| String::new(), |(_, text)| text);
        session_over(&format!("{printed}\n{errors}"))
    }

    pub(super) fn send(&mut self, text: &str) -> Result<(), Failure> {
        let sent = self
            .input
            .as_mut()
            .map(|input| input.write_all(text.as_bytes()).and_then(|()| input.flush()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.over("")),
        }
    }

    /// The reply to a command: lines of the output up to `mark`, those of errors up to a second one, which has the exit
    /// status behind it.
    pub(super) fn reply(&mut self, mark: &str, limit: Duration) -> Result<Reply, Failure> {
        let ends = Instant::now() + limit;
        let (output, _) = self.read_to(mark, (ends, limit))?;
        let (errors, status) = self.read_to(mark, (ends, limit))?;
        // A shell has a status for each command.
        Ok(Reply::new(&output, &errors, status.parse().unwrap_or(1)))
    }

    /// The lines before one that begins with `mark`, and what that one has behind it.
    fn read_to(&mut self, mark: &str, (ends, limit): (Instant, Duration)) -> Result<(String, String), Failure> {
        let mut text = String::new();
        loop {
            let rest = ends.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                // A device that prints without end always has another line.
                return Err(time_limit(limit));
            }
            match self.lines.recv_timeout(rest) {
                Ok(line) => {
                    let mut words = line.split(' ');
                    if words.next() == Some(mark) {
                        return Ok((text, words.collect()));
                    }
                    // Not the rest of an answer that is too long.
                    if text.len() + line.len() <= MAX_ANSWER {
                        text.push_str(&line);
                        text.push('\n');
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(time_limit(limit)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.over(&text)),
            }
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.input = None;
        end(&mut self.child);
    }
}

#[cfg(test)]
mod tests {
    use super::Channel;
    use std::process::Command;
    use std::time::Duration;

    /// Lines came faster than they were read: memory grew, and the time limit never came.
    #[test]
    fn a_session_that_prints_without_end_has_a_time_limit_and_waits_for_its_reader() {
        let mut command = Command::new("sh");
        command.args(["-c", "n=0; while :; do n=$((n+1)); echo $n; done"]);
        let mut channel = Channel::spawn(&mut command).unwrap();
        let failure = channel.reply("mark", Duration::from_millis(50)).unwrap_err();
        assert_eq!(failure.reason, "time_limit");
        let failure = channel.reply("mark", Duration::ZERO).unwrap_err();
        assert_eq!(failure.reason, "time_limit");
    }
}
