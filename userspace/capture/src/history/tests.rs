use super::{History, RING_MIN, SLICE_MAX};
use crate::file::Frame;
use rocescope_sketches::random::SplitMix64;
use rocescope_wire::{FrameLengths, LinkType};
use std::collections::VecDeque;

fn frame(bytes: &[u8], time_ns: u64, number: u32) -> Frame<'_> {
    Frame {
        bytes,
        link: Some(match number % 4 {
            0 => LinkType::Ethernet,
            1 => LinkType::Raw,
            2 => LinkType::LinuxCooked,
            _ => LinkType::LinuxCooked2,
        }),
        lengths: FrameLengths {
            captured: bytes.len() as u32,
            original: bytes.len() as u32 + number,
        },
        time_ns,
        interface: number,
    }
}

/// Compares with an unbounded queue: the history is its end, in order, byte for byte; no frame is older
/// than the span, the ring is never exceeded, and no frame was removed without need.
#[test]
fn it_holds_the_most_recent_frames() {
    for seed in 1..=24_u64 {
        let mut random = SplitMix64::new(seed);
        let ring = RING_MIN + (random.bits() % 50_000) as usize;
        let span_ns = [200, 5_000, u64::MAX][seed as usize % 3];
        let mut history = History::new(ring, span_ns).unwrap();
        let mut all: VecDeque<(Vec<u8>, u64, u32, u8)> = VecDeque::new();
        let mut time_ns = 1_000_000;
        for number in 0..4_000_u32 {
            time_ns += random.bits() % 5;
            let length = (random.bits() % 700) as usize;
            let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
            let slice = (random.bits() % 700) as usize;
            let mark = random.bits() as u8;
            history.push(&frame(&bytes, time_ns, number), slice, mark);
            let kept = slice.min(length).min(SLICE_MAX);
            all.push_back((bytes[..kept].to_vec(), time_ns, length as u32 + number, mark));

            let held = history.next.frames - history.first.frames;
            let used = history.next.at - history.first.at;
            assert!(used <= history.ring.len() as u64, "seed {seed}");
            let overdue = |at: usize| all[at].1.saturating_add(span_ns) < time_ns;
            let first = all.len() - held as usize;
            assert!(!overdue(first), "seed {seed}");
            // The last removed frame was too old, or there was no space: a record and a piece at the end.
            let room = history.ring.len() as u64 - used;
            let slack = 2 * super::record_bytes(SLICE_MAX) as u64;
            assert!(first == 0 || overdue(first - 1) || room < slack, "seed {seed}");
            if number % 97 == 0 {
                let found = history.since(history.oldest());
                let mut count = 0;
                for (found, expected) in found.zip(all.iter().skip(first)) {
                    let (bytes, time_ns, original, mark) = expected;
                    assert_eq!(found.frame.bytes, &bytes[..], "seed {seed}");
                    assert_eq!(found.frame.time_ns, *time_ns);
                    assert_eq!(found.frame.lengths.original, *original);
                    assert_eq!(found.mark, *mark);
                    count += 1;
                    let of = found.after.frames as u32 - 1;
                    assert_eq!(found.frame.interface, of);
                    assert_eq!(found.frame.link, frame(&[], 0, of).link);
                }
                assert_eq!(count, held);
            }
        }
        if span_ns == u64::MAX {
            let gone = history.first.frames;
            assert_eq!(history.overwritten(), gone);
            assert!(history.shortest_ns().unwrap() > 0);
        }
    }
}

#[test]
fn too_little_memory_is_an_error() {
    assert!(History::new(usize::MAX, 1).is_err());
}

#[test]
fn an_overwritten_position_continues_with_the_oldest_frame() {
    let mut history = History::new(0, u64::MAX).unwrap();
    let position = history.oldest();
    for number in 0..2_000 {
        history.push(&frame(&[7; 100], number, number as u32), 100, 0);
    }
    let first = history.since(position).next().unwrap();
    assert_eq!(first.after.frames_since(position), first.frame.time_ns + 1);
    assert!(first.frame.time_ns > 1_000);
    let last = history.since(position).last().unwrap();
    assert_eq!(last.frame.time_ns, 1_999);
    assert!(history.since(last.after).next().is_none());
}

/// Guards against a clock that jumps: frames after the odd one are held all the same.
#[test]
fn a_frame_dated_far_ahead_costs_the_past_and_not_the_future() {
    let mut history = History::new(0, 1_000).unwrap();
    for (number, time_ns) in [1, 2, u64::MAX, 3, 4].into_iter().enumerate() {
        history.push(&frame(&[1; 10], time_ns, number as u32), 10, 0);
    }
    let times: Vec<u64> = history.since(history.oldest()).map(|held| held.frame.time_ns).collect();
    assert_eq!(times, [u64::MAX - 1, 3, 4]);
}
