//! Frames cut at every length and files cut at every byte: no panic, no hang, and every damage
//! named.

use crate::captures::{self, Capture};
use crate::traffic;
use rocescope_capture::file::{FileError, FrameReader};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, RunRecord, Sink, Slot};
use rocescope_wire::{Class, FrameLengths, LinkType};
use std::cell::Cell;
use std::io::{self, Read};

/// How many frames of each capture are cut.
const FRAMES: usize = 200;

#[test]
fn a_frame_cut_at_any_length_is_counted_with_a_reason() {
    struct Nowhere;
    impl Sink for Nowhere {
        fn publish(&mut self, _: &RunRecord, _: &mut Counters) {}
    }
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(Config::exact(1_000_000_000), [[slot; 2]; 8]);
    let mut expected_malformed = 0;
    for capture in captures::all(&captures::ours()) {
        let mut left = FRAMES;
        capture.frames(|frame| {
            if left == 0 {
                return;
            }
            left -= 1;
            let mut observe = |bytes, lengths| {
                let clock = FrameTime(frame.time_ns);
                let class =
                    observer.observe(bytes, LinkType::Ethernet, lengths, 0, &clock, &mut Nowhere);
                class.map(|_| ())
            };
            let is_roce = matches!(observe(frame.bytes, frame.lengths), Class::Roce(()));
            let original = frame.bytes.len() as u32;
            for captured in 0..original {
                let cut = &frame.bytes[..captured as usize];
                // The wire lost the rest: a frame that contradicts itself.
                let class = observe(cut, FrameLengths::whole(captured));
                if is_roce {
                    assert!(matches!(class, Class::Malformed(..)), "{class:?}");
                }
                expected_malformed += u64::from(matches!(class, Class::Malformed(..)));
                // The capture left the rest out: nothing is wrong with the frame.
                let class = observe(cut, FrameLengths { captured, original });
                if is_roce {
                    assert!(
                        matches!(class, Class::Roce(()) | Class::Snapped(_)),
                        "{class:?}"
                    );
                }
            }
        });
    }
    let counters = observer.counters();
    assert_eq!(counters.frames, counters.frames_accounted());
    // By reason, and each of them once.
    assert_eq!(counters.malformed.iter().sum::<u64>(), expected_malformed);
    assert!(expected_malformed > 100_000);
}

#[test]
fn a_file_cut_at_any_byte_yields_what_is_whole_and_says_where_it_ends() {
    for capture in captures::all(&captures::ours()) {
        let end = traffic::bytes_of_first(&capture.pcap, FRAMES);
        cut_everywhere(&capture.name, &capture.pcap[..end]);
    }
}

#[test]
fn a_pcapng_file_cut_at_any_byte_does_so_too() {
    for name in ["cm_rping", "ipv6_cm_rping", "vlan100_write_bw"] {
        cut_everywhere(name, &traffic::pcapng(&captures::named(name), FRAMES));
    }
}

/// That a reader which met the end and went on is no other than a fresh one.
#[test]
fn a_cut_file_read_afresh_ends_the_same() {
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

/// Cuts `file` at every byte. The reader is asked at each of them whether there is a frame, and
/// given one byte more: what it does at a cut may not depend on what follows.
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
            // A file header that is not whole is read again.
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

/// Reads to the end of what there is.
fn end<R: Read>(reader: &mut FrameReader<R>, frames: &mut u64) -> Result<(), FileError> {
    while reader.next_frame()?.is_some() {
        *frames += 1;
    }
    Ok(())
}

/// A file that ends at `cut`, for now.
struct Growing<'a> {
    file: &'a [u8],
    cut: &'a Cell<usize>,
    at: usize,
    /// How often its end was met since it last grew.
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
