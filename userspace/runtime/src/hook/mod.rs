//! Messages to the outside when something happens, beside a program that must not wait for their delivery.
//!
//! | module | what it does |
//! |---|---|
//! | [`command`] | delivers a message to a command of the shell |
//! | [`counts`] | what happened to the messages |

pub mod command;
pub mod counts;

use crate::error::{Result, RuntimeError};
use crate::status;
use counts::Counts;
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Messages that wait for their delivery; more of them are dropped, and counted.
pub const WAITING: usize = 256;
/// How long a delivery may take.
pub const LONGEST: Duration = Duration::from_secs(30);
/// How long it waits after each failure, before it tries again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(5)];
/// At the end of the program, messages that still wait after this time are not delivered, and counted.
const END: Duration = Duration::from_secs(30);

/// Where messages go.
pub trait Target<M>: Send {
    /// Delivers a message.
    ///
    /// # Errors
    /// Why it failed, in words.
    fn deliver(&mut self, message: &M) -> std::result::Result<(), String>;

    /// How long without a message until [`remind`](Self::remind); `None` for never.
    fn reminds_after(&self) -> Option<Duration> {
        None
    }

    /// Repeats what receivers would forget.
    ///
    /// # Errors
    /// Why it failed, in words.
    fn remind(&mut self) -> std::result::Result<(), String> {
        Ok(())
    }
}

/// Delivers messages in a thread of its own, each three times at most.
pub struct Hook<M> {
    messages: Option<SyncSender<M>>,
    thread: Option<JoinHandle<()>>,
    counts: Arc<Counts>,
    /// When the deliveries end.
    until: Arc<OnceLock<Instant>>,
    end: Duration,
}

impl<M> fmt::Debug for Hook<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

/// The thread that delivers.
struct Work<M> {
    target: Box<dyn Target<M>>,
    received: Receiver<M>,
    counts: Arc<Counts>,
    until: Arc<OnceLock<Instant>>,
    pauses: [Duration; 2],
}

impl<M: Send + 'static> Hook<M> {
    /// Starts the thread that delivers, and counts what happens to the messages.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn open(target: Box<dyn Target<M>>, counts: Arc<Counts>) -> Result<Self> {
        Self::with(target, counts, PAUSES, END)
    }

    fn with(target: Box<dyn Target<M>>, counts: Arc<Counts>, pauses: [Duration; 2], end: Duration) -> Result<Self> {
        let (messages, received) = sync_channel(WAITING);
        let until = Arc::default();
        let work = Work {
            target,
            received,
            counts: Arc::clone(&counts),
            until: Arc::clone(&until),
            pauses,
        };
        let thread = std::thread::Builder::new()
            .name("hook".into())
            .spawn(move || work.run());
        Ok(Self {
            messages: Some(messages),
            thread: Some(thread.map_err(RuntimeError::Thread)?),
            counts,
            until,
            end,
        })
    }

    /// Passes a message on; never waits.
    pub fn send(&self, message: M) {
        let sent = self.messages.as_ref().map(|messages| messages.try_send(message));
        if let Some(Err(TrySendError::Full(_) | TrySendError::Disconnected(_))) = sent {
            self.counts.no_room.add();
        }
    }

    /// Waits until all messages are delivered, half a minute at most.
    pub fn end(mut self) {
        self.messages = None;
        // Set once: the hook is gone afterwards.
        let _ = self.until.set(Instant::now() + self.end);
        if let Some(thread) = self.thread.take() {
            // A panic is in the counts: the messages that it took.
            let _ = thread.join();
        }
    }
}

impl<M> Work<M> {
    fn run(mut self) {
        loop {
            let next = match self.target.reminds_after() {
                Some(pause) => self.received.recv_timeout(pause),
                None => self.received.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(message) => self.deliver(&message),
                Err(RecvTimeoutError::Timeout) => self.remind(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    fn is_late(&self) -> bool {
        self.until.get().is_some_and(|until| Instant::now() >= *until)
    }

    fn deliver(&mut self, message: &M) {
        if self.is_late() {
            self.counts.too_late.add();
            return;
        }
        let mut ended = self.target.deliver(message);
        for pause in self.pauses {
            if ended.is_ok() || self.is_late() {
                break;
            }
            std::thread::sleep(pause);
            ended = self.target.deliver(message);
        }
        match ended {
            Ok(()) => self.counts.delivered.add(),
            Err(why) => {
                status!("rocescope: warning: --on-incident: {why}");
                self.counts.failed.add();
            }
        }
    }

    fn remind(&mut self) {
        if let Err(why) = self.target.remind() {
            status!("rocescope: warning: --on-incident: {why}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Hook, Target, WAITING};
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    const AT_ONCE: [Duration; 2] = [Duration::ZERO; 2];
    const LONG: Duration = Duration::from_secs(600);

    /// Notes each message; fails for those that `fails` names.
    struct Notes {
        seen: Arc<Mutex<Vec<u32>>>,
        fails: fn(u32) -> bool,
        /// Waits for a word before each delivery.
        gate: Option<Receiver<()>>,
    }

    impl Target<u32> for Notes {
        fn deliver(&mut self, message: &u32) -> Result<(), String> {
            if let Some(gate) = &self.gate {
                gate.recv().map_err(|error| error.to_string())?;
            }
            self.seen.lock().unwrap().push(*message);
            match (self.fails)(*message) {
                true => Err("no".into()),
                false => Ok(()),
            }
        }
    }

    /// A hook, what its target saw, its counts, and the gate.
    type Opened = (Hook<u32>, Arc<Mutex<Vec<u32>>>, Arc<Counts>, Sender<()>);

    fn open(fails: fn(u32) -> bool, is_gated: bool, end: Duration) -> Opened {
        let (seen, counts) = (Arc::default(), Arc::<Counts>::default());
        let (word, gate) = channel();
        let target = Notes {
            seen: Arc::clone(&seen),
            fails,
            gate: is_gated.then_some(gate),
        };
        let hook = Hook::with(Box::new(target), Arc::clone(&counts), AT_ONCE, end).unwrap();
        (hook, seen, counts, word)
    }

    #[test]
    fn messages_come_in_order_and_one_that_fails_is_tried_three_times() {
        let (hook, seen, counts, _) = open(|message| message == 1, false, LONG);
        (0..3).for_each(|message| hook.send(message));
        hook.end();
        assert_eq!(*seen.lock().unwrap(), [0, 1, 1, 1, 2]);
        let named: Vec<u64> = counts.named().map(|(_, count)| count).collect();
        assert_eq!(named, [2, 1, 0, 0]);
        let said = counts.problem().unwrap();
        assert!(said.contains("1 failed"), "{said}");
    }

    #[test]
    fn messages_beyond_those_that_wait_are_counted_and_nobody_waits() {
        let (hook, _, counts, word) = open(|_| false, true, LONG);
        let sent = WAITING as u32 + 10;
        (0..sent).for_each(|message| hook.send(message));
        // One may be in the hands of the target.
        assert!((9..=10).contains(&counts.no_room.get()));
        (0..sent).for_each(|_| word.send(()).unwrap());
        hook.end();
        assert_eq!(counts.delivered.get() + counts.no_room.get(), u64::from(sent));
    }

    #[test]
    fn the_end_waits_no_longer_than_it_may() {
        let (hook, seen, counts, word) = open(|_| false, true, Duration::ZERO);
        (0..3).for_each(|message| hook.send(message));
        // The first delivery may be under way; it ends with the gate.
        drop(word);
        hook.end();
        assert_eq!(seen.lock().unwrap().len(), 0);
        assert_eq!(counts.failed.get() + counts.too_late.get(), 3);
    }
}
