//! Numbered mirrored frames: the number of missing ones is exact, on however many CPUs the others passed.

use crate::corpus::Frames;
use crate::exact;
use crate::pair::{Pair, load};
use rocescope_capture::xdp::Options;
use rocescope_generate::{Generator, Scenario};

/// Sessions over the same addresses, with truncation, and a mirror without numbers.
const SCENARIO: &str = r#"
name = "sessions"
duration = "50ms"

[[flows]]
name = "second type"
src = "10.0.0.1"
dst = "10.0.0.2"
rate = "100Mbit/s"
message = "4KiB"
encapsulation = { kind = "erspan_ii", src = "192.0.2.1", dst = "192.0.2.2", session = 12, truncate = 128 }

[[flows]]
name = "third type"
src = "10.0.0.3"
dst = "10.0.0.4"
rate = "100Mbit/s"
message = "4KiB"
vlan = [7]
encapsulation = { kind = "erspan_iii", src = "192.0.2.1", dst = "192.0.2.2", session = 12 }

[[flows]]
name = "first type"
src = "10.0.0.5"
dst = "10.0.0.6"
rate = "10Mbit/s"
message = "4KiB"
encapsulation = { kind = "erspan_i", src = "192.0.2.1", dst = "192.0.2.2" }
"#;

/// The remaining frames, and the count of removed frames that a mirror had numbered.
fn thinned() -> (Frames, u64) {
    let scenario = Scenario::parse(SCENARIO).unwrap();
    let mut generator = Generator::new(&scenario, 1);
    let (mut frames, mut bytes) = (Frames::new(), Vec::new());
    while let Some(made) = generator.next_frame(&mut bytes) {
        frames.push((made.at_ns, bytes.clone()));
    }
    // Not at the ends: frames before the first seen or after the last seen are unknown.
    let (from, to, mut at, mut lost) = (frames.len() / 4, frames.len() / 2, 0, 0);
    frames.retain(|(_, frame)| {
        at += 1;
        let goes = (from..to).contains(&at) && at % 3 == 0;
        let is_numbered = frame[34] & 0x10 != 0;
        lost += u64::from(goes && is_numbered);
        !goes
    });
    (frames, lost)
}

#[test]
fn kernel_and_user_space_find_the_true_gaps() {
    let Some(mut pair) = Pair::new(exact(), 4_096) else {
        return;
    };
    let (frames, lost) = thinned();
    let counters = pair.compare("sessions", &frames).counters;
    assert!(lost > 100, "{lost}");
    assert_eq!((counters.mirror_lost, counters.mirror_unfollowed), (lost, 0));
    let numbered = frames.iter().filter(|(_, frame)| frame[34] & 0x10 != 0);
    assert_eq!(counters.mirrored_frames, numbered.count() as u64);
    assert!(counters.truncated_packets > 100);
    assert!(counters.truncated_packets < counters.roce_packets);
}

#[test]
fn gaps_are_exact_where_a_session_is_spread_over_cpus() {
    let options = Options {
        slots: 256,
        ..Options::default()
    };
    let Some(mut kernel) = load(options, exact()) else {
        return;
    };
    let (frames, lost) = thinned();
    for (at, (now, frame)) in frames.iter().enumerate() {
        // In stretches, so that each CPU misses many in a row.
        kernel.go_to(at / 50).unwrap();
        kernel.observe(frame, *now, *now).unwrap();
    }
    assert_eq!(kernel.counters().unwrap().mirror_lost, lost);
}

#[test]
fn sessions_beyond_capacity_are_counted() {
    let Some(mut pair) = Pair::new(exact(), 4_096) else {
        return;
    };
    let (frames, _) = thinned();
    let (now, frame) = frames.iter().find(|(_, frame)| frame[34] & 0x10 != 0).unwrap();
    let sessions: Frames = (0..2_000u16)
        .map(|session| {
            let mut frame = frame.clone();
            // The outer source address.
            frame[28..30].copy_from_slice(&session.to_be_bytes());
            (*now, frame)
        })
        .collect();
    let counters = pair.compare("many sessions", &sessions).counters;
    assert!(counters.mirror_unfollowed >= 2_000 - 512);
    assert_eq!(
        counters.mirrored_frames + counters.mirror_unfollowed,
        sessions.len() as u64
    );
    assert_eq!(counters.mirror_lost, 0);
}
