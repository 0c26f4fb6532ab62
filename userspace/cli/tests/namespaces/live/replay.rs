//! Sends the frames of a capture file on the other end.

use crate::live::namespace::{Namespace, RECEIVER, SENDER};
use crate::live::running::Live;
use crate::live::totals::capture;
use rocescope_capture::file::{self, FrameReader};
use rocescope_capture::inject::Injector;
use rocescope_host::interface::Interface;
use rocescope_testkit::until;
use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, LinkNameSpaceType, move_into_link_name_space, sched_getcpu, sched_setaffinity};
use serde_json::Value;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::Path;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The queue of a veth pair holds 256 frames.
const BURST: u64 = 32;
const PAUSE: Duration = Duration::from_millis(1);
/// The sender waits actively at the end of a gap, because the kernel wakes it late.
const LATE_WAKE: Duration = Duration::from_micros(200);

/// When the frames of a file are sent.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// In bursts.
    Fast,
    /// At their times: never sooner after the frame before than in the file. Longer gaps become this long.
    Recorded(Duration),
}

/// Replays each file while the capture that `begin` starts is running. Passes name, file and report to `check`.
pub(crate) fn each(captures: &[&str], begin: impl Fn(&Namespace) -> Live, mut check: impl FnMut(&str, &Path, &Value)) {
    let Some(namespace) = Namespace::new() else {
        return;
    };
    for name in captures {
        let Some(path) = capture(name) else {
            eprintln!("skipped: {name} is not available");
            continue;
        };
        let live = begin(&namespace);
        // An answer right behind its request, as in a burst, is what no receiver sends: at the tick of a packet socket both
        // have one time, and nothing shows which came first.
        replay_at(&namespace, &path, Pace::Recorded(Duration::from_millis(1)));
        let (report, messages) = live.stop();
        assert_eq!(messages, "");
        check(name, &path, &report);
    }
}

/// Sends every frame of the file and waits until the receiver has counted them.
pub(crate) fn replay(namespace: &Namespace, path: &Path) {
    replay_at(namespace, path, Pace::Fast);
}

/// As [`replay`], at a pace.
pub(crate) fn replay_at(namespace: &Namespace, path: &Path, pace: Pace) {
    scope(|scope| {
        // Only this thread enters the namespace, and it ends there.
        let sender = scope.spawn(|| {
            let entry = File::open(format!("/run/netns/{}", namespace.name())).unwrap();
            move_into_link_name_space(entry.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            // Of this thread: nothing else may delay a frame.
            setpriority_process(None, -20).unwrap();
            // Without XDP, a veth pair hands frames over on the processor of their sender. From another one they could
            // overtake those that wait there, and the capture would see an answer before its request.
            let mut here = CpuSet::new();
            here.set(sched_getcpu());
            sched_setaffinity(None, &here).unwrap();
            send(path, pace);
        });
        sender.join().unwrap();
    });
}

fn send(path: &Path, pace: Pace) {
    let before = received();
    let mut injector = Injector::open(&Interface::find(SENDER).unwrap()).unwrap();
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    let (mut sent, mut before_ns, mut sent_at) = (0, None, Instant::now());
    while let Some(frame) = reader.next_frame().unwrap() {
        let time_ns = frame.time_ns;
        if let (Pace::Recorded(longest), Some(before_ns)) = (pace, before_ns) {
            let gap = Duration::from_nanos(time_ns.saturating_sub(before_ns));
            wait_until(sent_at + gap.min(longest));
        }
        (before_ns, sent_at) = (Some(time_ns), Instant::now());
        assert!(injector.send(frame.bytes).unwrap());
        sent += 1;
        if matches!(pace, Pace::Fast) && sent % BURST == 0 {
            sleep(PAUSE);
        }
    }
    until("every frame arrives", || received() >= before + sent);
}

fn wait_until(time: Instant) {
    if let Some(long) = time.checked_duration_since(Instant::now() + LATE_WAKE) {
        sleep(long);
    }
    while Instant::now() < time {
        std::hint::spin_loop();
    }
}

/// Frames that the receiver has counted.
fn received() -> u64 {
    let table = fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let name = format!("{RECEIVER}:");
    let line = table.lines().find(|line| line.trim_start().starts_with(&name));
    line.unwrap().split_whitespace().nth(2).unwrap().parse().unwrap()
}
