//! Frames cut at every length and files cut at every byte: no panic, no hang, and every damage is named.

use crate::product::captures::{self, Capture};
use crate::product::traffic;
use rocescope_capture::file::{FileError, FrameReader};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, RunRecord, Sink, Slot};
use rocescope_wire::{Class, FrameLengths, LinkType};
use std::cell::Cell;
use std::io::{self, Read};

/// The number of frames of each capture to cut.
const FRAMES: usize = 200;

#[test]
fn a_frame_cut_at_any_length_is_counted_with_a_reason() {
    struct Nowhere;
    impl Sink for Nowhere {
        fn publish(&mut self, _: &RunRecord, _: &mut Counters) {}
    }
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(Config::exact(1_000_000_000), [[slot; 2]; 8]);
    let (mut expected_malformed, mut expected_truncated) = (0, 0);
    for capture in captures::all(&captures::ours()) {
        let mut left = FRAMES;
        capture.frames(|frame| {
            if left == 0 {
                return;
            }
            left -= 1;
            let mut observe = |bytes, lengths| {
                let clock = FrameTime(frame.time_ns);
                let class = observer.observe(bytes, LinkType::Ethernet, lengths, 0, &clock, &mut Nowhere);
                class.map(|_| ())
            };
            let is_roce = matches!(observe(frame.bytes, frame.lengths), Class::Roce(()));
            let original = frame.bytes.len() as u32;
            for captured in 0..original {
                let cut = &frame.bytes[..captured as usize];
                // The header promises more than the wire had: a mirror has cut the frame, or its headers are not there.
                let class = observe(cut, FrameLengths::whole(captured));
                expected_truncated += u64::from(is_roce && class == Class::Roce(()));
                expected_malformed += u64::from(matches!(class, Class::Malformed(..)));
                // The capture has only a part of the frame, which is correct.
                let class = observe(cut, FrameLengths { captured, original });
                if is_roce {
                    assert!(matches!(class, Class::Roce(()) | Class::Snapped(_)), "{class:?}");
                }
            }
        });
    }
    let counters = observer.counters();
    assert_eq!(counters.frames, counters.frames_accounted());
    // Each frame is counted once, by reason.
    assert_eq!(counters.malformed.iter().sum::<u64>(), expected_malformed);
    assert_eq!(counters.truncated_packets, expected_truncated);
    assert!(expected_malformed > 100_000 && expected_truncated > 100_000);
}

#[test]
fn a_file_cut_at_any_byte_yields_whole_frames_and_the_place_of_the_cut() {
    for capture in captures::all(&captures::ours()) {
        let end = traffic::bytes_of_first(&capture.pcap, FRAMES);
        cut_everywhere(&capture.name, &capture.pcap[..end]);
    }
}

#[test]
fn a_pcapng_file_cut_at_any_byte_yields_whole_frames_too() {
    for name in ["cm_rping", "ipv6_cm_rping", "vlan100_write_bw"] {
        cut_everywhere(name, &traffic::pcapng(&captures::named(name), FRAMES));
    }
}

/// A reader that met the end and continued gives the same result as a new one.
#[test]
fn a_new_reader_of_a_cut_file_gives_the_same_result() {
    let Capture { name, pcap, .. } = captures::named("ipv6_cm_rping");
    let grown = cut_everywhere(&name, &pcap);
    for (cut, expected) in grown.into_iter().enumerate() {
        let mut frames = 0;
        let found = FrameReader::new(&pcap[..cut])
            .and_then(|mut reader| end(&mut reader, &mut frames))
            .map_err(|error| error.to_string());
        assert_eq!((frames, found), expected, "{name} cut at {cut}");
    }
}

/// Frames before the cut, and how reading ended there.
type Ending = (u64, Result<(), String>);

/// Cuts `file` at every byte. After each cut the reader gets one byte more: its result at a cut must not depend on the
/// rest.
fn cut_everywhere(name: &str, file: &[u8]) -> Vec<Ending> {
    let cut = Cell::new(0);
    let mut endings = Vec::with_capacity(file.len());
    let mut grown: Option<FrameReader<Growing<'_>>> = None;
    let mut frames = 0;
    for at in 0..=file.len() {
        cut.set(at);
        let growing = Growing {
            file,
            cut: &cut,
            at: 0,
            ends: 0,
        };
        let ended = match &mut grown {
            Some(reader) => end(reader, &mut frames),
            // The reader reads an incomplete file header again.
            None => FrameReader::new(growing).and_then(|reader| {
                let reader = grown.insert(reader);
                end(reader, &mut frames)
            }),
        };
        match &ended {
            Ok(()) => {}
            Err(FileError::CutShort {
                frames: before,
                at: record,
                left,
            }) => assert_eq!((*before, record + left), (frames, at as u64), "{name}"),
            Err(FileError::Empty) => assert_eq!(at, 0, "{name}"),
            Err(FileError::NotACapture(_)) => assert!(at < 4, "{name} cut at {at}"),
            Err(error) => panic!("{name} cut at {at}: {error}"),
        }
        endings.push((frames, ended.map_err(|error| error.to_string())));
    }
    assert!(endings.last().unwrap().1.is_ok(), "{name}");
    assert!(frames > 0, "{name}");
    endings
}

/// Reads to the current end.
fn end<R: Read>(reader: &mut FrameReader<R>, frames: &mut u64) -> Result<(), FileError> {
    while reader.next_frame()?.is_some() {
        *frames += 1;
    }
    Ok(())
}

/// A file that currently ends at `cut`.
struct Growing<'a> {
    file: &'a [u8],
    cut: &'a Cell<usize>,
    at: usize,
    /// How often a read met the end since the file last grew.
    ends: u32,
}

impl Read for Growing<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut rest = &self.file[self.at..self.cut.get()];
        self.ends = if rest.is_empty() { self.ends + 1 } else { 0 };
        assert!(self.ends < 4, "the reader asks again and again");
        let read = rest.read(buf)?;
        self.at += read;
        Ok(read)
    }
}
