//! A command that runs when something happens, beside a program that must not wait for it.

use crate::error::{Result, RuntimeError};
use crate::status;
use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Messages that wait for the command; more of them are dropped, and counted.
const WAITING: usize = 256;
/// How long the command may take.
const LONGEST: Duration = Duration::from_secs(30);
/// How long it waits after each failure, before it runs the command again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// Time between two looks at a command that runs.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a command of the shell for each message, which it reads from its standard input.
#[derive(Debug)]
pub struct Hook {
    messages: Option<SyncSender<String>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl Hook {
    /// Starts the thread that runs the command.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(command: &str) -> Result<Self> {
        Self::with(command.to_owned(), PAUSES, LONGEST)
    }

    fn with(command: String, pauses: [Duration; 2], longest: Duration) -> Result<Self> {
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        let (messages, received) = sync_channel(WAITING);
        let run = move || work(&command, &received, &counted, pauses, longest);
        let thread = std::thread::Builder::new().name("hook".into()).spawn(run);
        Ok(Self {
            messages: Some(messages),
            thread: Some(thread.map_err(RuntimeError::Thread)?),
            counts,
        })
    }

    /// Passes a message on; never waits.
    pub fn send(&self, message: String) {
        let sent = self.messages.as_ref().map(|messages| messages.try_send(message));
        if let Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) = sent {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until the command has had all messages, and states in a line if one was lost.
    #[must_use]
    pub fn end(mut self) -> Option<String> {
        self.messages = None;
        if let Some(thread) = self.thread.take() {
            // A panic is in the counts: the messages that it took.
            let _ = thread.join();
        }
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { done, failed, dropped } = &*self.counts;
        let (done, failed, dropped) = (read(done), read(failed), read(dropped));
        (failed + dropped > 0).then(|| {
            format!(
                "the command of --on-incident had {done} messages; it failed for {failed}, and {dropped} found no room"
            )
        })
    }
}

fn work(command: &str, received: &Receiver<String>, counts: &Counts, pauses: [Duration; 2], longest: Duration) {
    for message in received {
        let mut ended = run(command, &message, longest);
        for pause in pauses {
            if ended.is_ok() {
                break;
            }
            std::thread::sleep(pause);
            ended = run(command, &message, longest);
        }
        match ended {
            Ok(()) => counts.done.fetch_add(1, Ordering::Relaxed),
            Err(why) => {
                status!("rocescope: warning: --on-incident: {why}");
                counts.failed.fetch_add(1, Ordering::Relaxed)
            }
        };
    }
}

/// Runs the command once; why it failed, in words.
fn run(command: &str, message: &str, longest: Duration) -> std::result::Result<(), String> {
    let mut child = Command::new("/bin/sh");
    let child = child.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = child.spawn().map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A command that reads nothing closes it early.
        let _ = input.write_all(message.as_bytes());
    }
    let begun = Instant::now();
    let ended: ExitStatus = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < longest => std::thread::sleep(LOOK),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("stopped after {} s", longest.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    match ended.success() {
        true => Ok(()),
        false => Err(format!("`{command}`: {ended}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{Hook, WAITING};
    use std::time::Duration;

    const AT_ONCE: [Duration; 2] = [Duration::ZERO; 2];
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn the_command_gets_each_message_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let hook = Hook::with(format!("cat >> {}", log.display()), AT_ONCE, LONG).unwrap();
        for number in 0..5 {
            hook.send(format!("{number}\n"));
        }
        assert_eq!(hook.end(), None);
        assert_eq!(std::fs::read_to_string(log).unwrap(), "0\n1\n2\n3\n4\n");
    }

    #[test]
    fn a_command_that_fails_is_tried_three_times_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let hook = Hook::with(format!("echo x >> {}; false", log.display()), AT_ONCE, LONG).unwrap();
        hook.send("a".into());
        let said = hook.end().unwrap();
        assert!(said.contains("failed for 1,"), "{said}");
        assert_eq!(std::fs::read_to_string(log).unwrap(), "x\nx\nx\n");
    }

    #[test]
    fn messages_beyond_those_that_wait_are_counted_and_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let go = folder.path().join("go");
        // The command waits until the test has sent all.
        let wait = format!("while [ ! -e {} ]; do sleep 0.01; done", go.display());
        let hook = Hook::with(wait, AT_ONCE, LONG).unwrap();
        for _ in 0..WAITING + 10 {
            hook.send(String::new());
        }
        std::fs::write(go, "").unwrap();
        let said = hook.end().unwrap();
        // One may be in the hands of the command.
        assert!(
            said.ends_with("and 10 found no room") || said.ends_with("and 9 found no room"),
            "{said}"
        );
    }

    #[test]
    fn a_command_that_hangs_is_stopped() {
        let hook = Hook::with("sleep 600".into(), AT_ONCE, Duration::from_millis(50)).unwrap();
        hook.send(String::new());
        assert!(hook.end().unwrap().contains("failed for 1,"));
    }
}
