//! One flipped bit in a capture file of any form, plain or compressed, or in a recording.
//!
//! What can be noticed is what the format protects:
//!
//! - pcap and pcapng have no checksum. Lengths, block types and link types contradict each other when they change, mostly;
//!   times and the lengths on the wire do not.
//! - A RoCEv2 packet has the ICRC, which `--verify-icrc` compares. It covers everything but the Ethernet header, TTL,
//!   the type of service with its ECN bits, the checksums of IP and UDP, and the reserved byte of the BTH.
//! - gzip has a CRC-32 of the content, zstd one unless its writer omitted it.
//! - A recording has headers only, so its ICRCs cannot be verified.
//!
//! So for every flip: nothing panics, every identity holds, every byte read is accounted for, and either nothing changes,
//! or an error or a count with a reason states it, or the bit is one of those that nothing protects.

use crate::product::captures::{self, Capture};
use crate::product::recorder::{files, keep};
use crate::product::rocescope;
use crate::product::traffic;
use flate2::write::GzEncoder;
use rocescope_capture::file::{FileError, FrameReader, Input};
use rocescope_engine::Session;
use rocescope_model::{Over, Row, WindowRow};
use rocescope_pipeline::Settings;
use rocescope_record::{Config, Counters};
use rocescope_runtime::dataset::Dataset;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::cell::RefCell;
use std::fs;
use std::io::{Cursor, Write};
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

/// Frames of each file.
const FRAMES: usize = 40;
/// Flips in a file of each form.
const FLIPS: usize = 250;

/// What a capture of a file reports.
#[derive(Clone, Debug, PartialEq)]
struct Figures {
    counters: Box<Counters>,
    /// Totals, flows, connections.
    summary: String,
    /// The sums over all windows.
    windows: WindowRow,
    /// Why the file could not be read to its end.
    error: Option<String>,
}

impl Figures {
    /// Frames and packets that are counted with a reason: all that no flow has, and packets with a wrong ICRC.
    fn reasons(&self) -> [u64; 7] {
        let counters = &self.counters;
        [
            counters.not_roce(),
            counters.malformed(),
            counters.fragments,
            counters.snapped,
            counters.snapped_packets,
            self.windows.icrc_bad_packets.unwrap_or(0),
            self.windows.icrc_unverifiable_packets.unwrap_or(0),
        ]
    }
}

/// Captures a file with every check. Each identity must hold, whatever the file contains.
///
/// # Errors
/// The file is refused: not one frame is counted.
fn count(file: &[u8]) -> Result<Figures, FileError> {
    let mut reader = FrameReader::new(Input::new(Box::new(Cursor::new(file.to_vec())))?)?;
    let settings = Settings {
        verify_icrc: true,
        exact_flows: 1_024,
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let mut session = Session::new(settings, config, None::<Dataset>).unwrap();
    let sums = Rc::new(RefCell::new(WindowRow::default()));
    let into = Rc::clone(&sums);
    session.tap(Box::new(move |rows| {
        for row in &rows.windows {
            into.borrow_mut().merge(row, Over::Time);
        }
        ControlFlow::Continue(())
    }));
    let (mut frames, mut bytes) = (0, 0);
    let error = loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                frames += 1;
                bytes += frame.bytes.len() as u64;
                session.frame(&frame).unwrap();
            }
            Ok(None) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    assert!(bytes <= reader.consumed_bytes());
    let outcome = session.finish().unwrap();
    outcome.check().unwrap();
    assert_eq!(outcome.counters.frames, frames);
    let windows = sums.borrow().clone();
    assert_eq!(windows.frames, frames);
    Ok(Figures {
        counters: Box::new(outcome.counters),
        summary: format!("{:?} {:?}", outcome.summary, outcome.connections),
        windows,
        error,
    })
}

/// What happened to a file of one form when its bits were flipped.
#[derive(Default, Debug, PartialEq)]
struct Tally {
    /// The file is refused.
    refused: usize,
    /// An error after whole frames, or frames counted with a reason.
    noticed: usize,
    /// All figures are the same.
    harmless: usize,
    /// A figure changed, and nothing in the file can tell.
    unprotected: usize,
}

/// Flips bits of `file`. `unprotected` states whether a changed figure may go unnoticed at a byte.
fn flip(form: &str, file: &[u8], unprotected: impl Fn(usize) -> bool) -> Tally {
    let whole = count(file).unwrap();
    assert_eq!(whole.error, None, "{form}");
    let mut tally = Tally::default();
    let mut state = 7_u64;
    for _ in 0..FLIPS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let bit = (state >> 33) as usize % (file.len() * 8);
        let mut damaged = file.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match count(&damaged) {
            Err(_) => tally.refused += 1,
            Ok(found) if found == whole => tally.harmless += 1,
            Ok(found) if found.error.is_some() || found.reasons() != whole.reasons() => tally.noticed += 1,
            Ok(found) => {
                let byte = bit / 8;
                let (before, after) = (&whole.summary, &found.summary);
                assert!(unprotected(byte), "{form}: bit {bit} changed {before} into {after}");
                tally.unprotected += 1;
            }
        }
    }
    let Tally {
        refused,
        noticed,
        harmless,
        unprotected,
    } = tally;
    assert_eq!(refused + noticed + harmless + unprotected, FLIPS);
    println!(
        "{form:<10} {FLIPS:>4} flips: {noticed:>4} noticed, {refused:>4} refused, {harmless:>4} harmless, \
         {unprotected:>4} unprotected"
    );
    tally
}

/// RoCEv2 over IPv4 without tags: every ICRC can be verified.
fn plain() -> Capture {
    let capture = captures::named("write_bw_rc_mtu256");
    let pcap = traffic::roce(&capture, FRAMES);
    Capture { pcap, ..capture }
}

/// Where the frames of a file are: the first after `header` bytes, and `between` states the bytes after a frame of this
/// length up to the next one.
fn frames_of(capture: &Capture, header: usize, between: impl Fn(usize) -> usize) -> Vec<Range<usize>> {
    let mut at = header;
    let mut frames = Vec::new();
    capture.frames(|frame| {
        let end = at + frame.bytes.len();
        frames.push(at..end);
        at = end + between(frame.bytes.len());
    });
    frames
}

/// Whether nothing protects a byte: it is in the header of the file or of a record, or in a field that the ICRC skips.
fn is_unprotected(frames: &[Range<usize>], byte: usize) -> bool {
    let frame = frames.iter().find(|frame| frame.contains(&byte));
    // Ethernet; type of service; TTL; checksums of IP and UDP; FECN and BECN.
    frame.is_none_or(|frame| matches!(byte - frame.start, 0..=13 | 15 | 22 | 24 | 25 | 40 | 41 | 46))
}

#[test]
fn a_flipped_bit_of_a_capture_file_is_noticed_where_the_format_protects_it() {
    let capture = plain();
    let pcap = capture.pcap.as_slice();
    let figures = count(pcap).unwrap();
    assert_eq!(figures.counters.roce_packets, FRAMES as u64);
    assert_eq!(figures.reasons(), [0; 7], "each packet has a verified ICRC");

    // The header of the file, and of each record.
    let frames = frames_of(&capture, 24 + 16, |_| 16);
    let tally = flip("pcap", pcap, |byte| is_unprotected(&frames, byte));
    assert!(tally.noticed > FLIPS / 2, "{tally:?}");

    // Two blocks, then 28 bytes before each frame, its padding and 4 bytes after it.
    let pcapng = traffic::pcapng(&capture, FRAMES);
    let frames = frames_of(&capture, 28 + 20 + 28, |bytes| {
        bytes.next_multiple_of(4) - bytes + 4 + 28
    });
    assert_eq!(frames[FRAMES - 1].end.next_multiple_of(4) + 4, pcapng.len());
    let tally = flip("pcapng", &pcapng, |byte| is_unprotected(&frames, byte));
    assert!(tally.noticed > FLIPS / 2, "{tally:?}");

    // A checksum of the whole content: every figure is the same, or an error reports it.
    let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(pcap).unwrap();
    flip("gzip", &gzip.finish().unwrap(), |_| false);
    flip("zstd", &compress_to_vec(pcap, CompressionLevel::Fastest), |_| false);
}

/// The files of the flight recorder: headers of frames, which `capture -r` reads like any other file.
#[test]
fn a_flipped_bit_of_a_recording_never_breaks_an_identity() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("recordings");
    rocescope::json(&captures::named("error_naks").path, &keep("250ms", &place));
    let recording = fs::read(&files(&place)[0]).unwrap();
    let tally = flip("recording", &recording, |_| true);
    assert!(tally.noticed + tally.refused > 0, "{tally:?}");
}
