//! The flight recorder: which frames its files have, and what happens to the others.
//!
//! | module | what it holds |
//! |---|---|
//! | `around` | the frames of every event, compared with a second pass over the whole capture |
//! | `limits` | too little memory, too many files, a full disk |
//! | `places` | where files go, and what they must not contain |

mod around;
mod limits;
mod places;

use crate::product::captures::Capture;
use rocescope_capture::file::{self, FrameReader};
use rocescope_wire::Stream;
use rocescope_wire::extension::Acknowledgement;
use rocescope_wire::{Class, Packet, decode};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) const SECOND: u64 = 1_000_000_000;

/// A frame in a file of the recorder: time, length on the wire, bytes.
pub(super) type Kept = (u64, u32, Vec<u8>);

/// A frame of the input as the recorder should keep it, and whether it is a NAK or RNR NAK.
pub(super) struct Expected {
    pub(super) kept: Kept,
    pub(super) refuses: bool,
    /// It is RoCEv2 and not an acknowledgement.
    pub(super) goes_forward: bool,
}

pub(super) fn expected(capture: &Capture) -> Vec<Expected> {
    let mut all = Vec::new();
    capture.frames(|frame| {
        let class = decode(frame.bytes, frame.link.unwrap(), frame.lengths, [4791, 0, 0, 0]);
        let packet = match class {
            Class::Roce(packet) => Some(packet),
            _ => None,
        };
        let headers = match &packet {
            // The last four bytes are the ICRC.
            Some(packet) if packet.payload_bytes == 0 => packet.payload_at() + 4,
            Some(packet) => packet.payload_at(),
            None => 64,
        };
        let bytes = frame.bytes[..headers.min(frame.bytes.len())].to_vec();
        let is = |holds: fn(&Packet) -> bool| packet.as_ref().is_some_and(holds);
        all.push(Expected {
            kept: (frame.time_ns, frame.lengths.original, bytes),
            refuses: is(|packet| {
                packet.stream() == Stream::Acknowledge
                    && matches!(
                        packet.syndrome.meaning(),
                        Acknowledgement::Nak(_) | Acknowledgement::RnrNak { .. }
                    )
            }),
            goes_forward: is(|packet| packet.stream() != Stream::Acknowledge),
        });
    });
    all
}

/// The options that record frames into `place`.
pub(super) fn keep<'a>(seconds: &'a str, place: &'a Path) -> [&'a str; 4] {
    let place = place.to_str().unwrap();
    ["--keep-frames", seconds, "--keep-frames-dir", place]
}

/// The files of a directory by name, which is by time.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every frame of every file; all must be whole.
pub(super) fn kept(folder: &Path) -> Vec<Kept> {
    let mut frames = Vec::new();
    for path in files(folder) {
        let mut reader = FrameReader::new(file::open(&path).unwrap()).unwrap();
        while let Some(frame) = reader.next_frame().unwrap() {
            let bytes = frame.bytes.to_vec();
            frames.push((frame.time_ns, frame.lengths.original, bytes));
        }
    }
    frames
}

/// Frames of `all` within one of the spans, ends included.
pub(super) fn within(all: &[Expected], spans: &[(u64, u64)]) -> Vec<Kept> {
    let is_in = |time: u64| spans.iter().any(|(from, until)| (*from..=*until).contains(&time));
    let frames = all.iter().map(|frame| &frame.kept);
    frames.filter(|kept| is_in(kept.0)).cloned().collect()
}

pub(super) fn sum(counts: &Value) -> u64 {
    let counts = counts.as_object().unwrap().values();
    counts.map(|count| count.as_u64().unwrap()).sum()
}

/// Asserts that events are recorded or refused, and that the counts match the files.
pub(super) fn identities_hold(recorder: &Value, folder: &Path) {
    let recorded = recorder["recorded_events"].as_u64().unwrap();
    let refused = sum(&recorder["refused_events"]);
    assert_eq!(sum(&recorder["events"]), recorded + refused, "{recorder}");
    let files = files(folder);
    let bytes: u64 = files.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
    assert_eq!(recorder["bytes"], bytes, "{recorder}");
    assert_eq!(recorder["frames"], kept(folder).len(), "{recorder}");
}
