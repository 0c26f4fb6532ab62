use super::*;
use std::io::{self, Read};

/// Two frames of 4 bytes, one and two seconds after the epoch plus a fraction.
const FRAMES: [([u8; 4], u64); 2] = [([1, 2, 3, 4], 1_000_007_000), ([5, 6, 7, 8], 2_000_009_000)];

fn bytes32(value: u32, big_endian: bool) -> [u8; 4] {
    if big_endian {
        value.to_be_bytes()
    } else {
        value.to_le_bytes()
    }
}

fn pcap(big_endian: bool, nanoseconds: bool, link: u32) -> Vec<u8> {
    let word = |value| bytes32(value, big_endian);
    let mut file = Vec::new();
    file.extend(word(if nanoseconds { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
    file.extend(if big_endian { [0, 2, 0, 4] } else { [2, 0, 4, 0] });
    for value in [0, 0, 65_535, link] {
        file.extend(word(value));
    }
    for (frame, time_ns) in FRAMES {
        let fraction = (time_ns % 1_000_000_000) as u32 / if nanoseconds { 1 } else { 1_000 };
        for value in [(time_ns / 1_000_000_000) as u32, fraction, 4, 60] {
            file.extend(word(value));
        }
        file.extend(frame);
    }
    file
}

fn block(kind: u32, body: &[u8], big_endian: bool) -> Vec<u8> {
    let length = bytes32(12 + body.len() as u32, big_endian);
    let mut block = bytes32(kind, big_endian).to_vec();
    block.extend(length);
    block.extend(body);
    block.extend(length);
    block
}

/// A section with an unread block, two interfaces (microseconds, nanoseconds) and a frame of each.
fn pcapng(big_endian: bool) -> Vec<u8> {
    let word = |value| bytes32(value, big_endian);
    let half = |value: u16| {
        if big_endian {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let mut body = word(0x1a2b_3c4d).to_vec();
    body.extend(half(1));
    body.extend(half(0));
    body.extend([0xff; 8]);
    let mut file = block(0x0a0d_0d0a, &body, big_endian);
    file.extend(block(0x0000_0bad, &[0; 8], big_endian));
    let mut interface = half(1).to_vec();
    interface.extend([0, 0, 0, 0, 1, 0]);
    file.extend(block(1, &interface, big_endian));
    interface.extend(half(9));
    interface.extend(half(1));
    interface.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(block(1, &interface, big_endian));
    for (index, (frame, time_ns)) in FRAMES.iter().enumerate() {
        let units = if index == 0 { time_ns / 1_000 } else { *time_ns };
        let mut body = Vec::new();
        for value in [index as u32, (units >> 32) as u32, units as u32, 4, 60] {
            body.extend(word(value));
        }
        body.extend(frame);
        file.extend(block(6, &body, big_endian));
    }
    file
}

/// An interface whose time counts in 2^-30 s, and a frame in the obsolete packet block.
#[test]
fn binary_times_and_obsolete_blocks_are_read() {
    for big_endian in [false, true] {
        let word = |value| bytes32(value, big_endian);
        let half = |value: u16| {
            if big_endian {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        let mut file = pcapng(big_endian);
        let mut interface = half(1).to_vec();
        interface.extend([0, 0, 0, 0, 1, 0]);
        interface.extend(half(9));
        interface.extend(half(1));
        interface.extend([0x9e, 0, 0, 0, 0, 0, 0, 0]);
        file.extend(block(1, &interface, big_endian));
        let units = 3u64 << 30 | 1 << 29;
        let mut body = half(2).to_vec();
        body.extend(half(0));
        for value in [(units >> 32) as u32, units as u32, 4, 60] {
            body.extend(word(value));
        }
        body.extend([9, 9, 9, 9]);
        file.extend(block(2, &body, big_endian));
        let (frames, error) = read_all(file.as_slice());
        assert!(error.is_none(), "{error:?}");
        assert_eq!(frames.last(), Some(&(vec![9; 4], 3_500_000_000, 2)));
    }
}

fn every_variant() -> Vec<Vec<u8>> {
    let mut files = vec![pcapng(false), pcapng(true)];
    for big_endian in [false, true] {
        for nanoseconds in [false, true] {
            files.push(pcap(big_endian, nanoseconds, 1));
        }
    }
    files
}

/// Returns one byte at a time, with occasional interruptions.
struct Trickle<'a>(&'a [u8], bool);

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        self.0.read(&mut buf[..1])
    }
}

/// Bytes, time and interface of each frame.
type Frames = Vec<(Vec<u8>, u64, u32)>;

fn read_all(input: impl Read) -> (Frames, Option<FileError>) {
    let mut frames = Vec::new();
    let mut reader = match FrameReader::new(input) {
        Ok(reader) => reader,
        Err(error) => return (frames, Some(error)),
    };
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => {
                assert_eq!((frame.lengths.captured, frame.lengths.original), (4, 60));
                frames.push((frame.bytes.to_vec(), frame.time_ns, frame.interface));
            }
            Ok(None) => return (frames, None),
            Err(error) => return (frames, Some(error)),
        }
    }
}

#[test]
fn every_variant_yields_the_same_frames() {
    for file in every_variant() {
        for frames in [read_all(file.as_slice()), read_all(Trickle(&file, false))] {
            assert!(frames.1.is_none(), "{:?}", frames.1);
            let frames: Vec<_> = frames
                .0
                .iter()
                .map(|(bytes, time_ns, _)| (bytes.as_slice(), *time_ns))
                .collect();
            assert_eq!(frames, FRAMES.each_ref().map(|(bytes, time)| (bytes.as_slice(), *time)));
        }
    }
}

#[test]
fn interfaces_of_different_sections_are_distinct() {
    let twice = [pcapng(false), pcapng(true)].concat();
    let (frames, error) = read_all(twice.as_slice());
    assert!(error.is_none());
    let interfaces: Vec<_> = frames.iter().map(|(_, _, interface)| *interface).collect();
    assert_eq!(interfaces, [0, 1, 2, 3]);
}

#[test]
fn a_truncated_file_yields_its_whole_frames_and_an_error() {
    for file in every_variant() {
        for cut in 0..file.len() {
            let (frames, error) = read_all(&file[..cut]);
            assert!(frames.len() <= FRAMES.len());
            match error {
                None | Some(FileError::CutShort { .. } | FileError::Empty) => {}
                Some(FileError::NotACapture(_)) => assert!(cut < 4),
                Some(other) => panic!("cut at {cut}: {other}"),
            }
        }
    }
}

#[test]
fn damage_is_an_error_after_the_whole_frames() {
    let mut file = pcap(false, false, 1);
    let second = 24 + 20;
    file[second + 8..second + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let (frames, error) = read_all(file.as_slice());
    assert_eq!(frames.len(), 1);
    assert!(
        matches!(error, Some(FileError::Corrupt { frames: 1, at: 44, .. })),
        "{error:?}"
    );
}

/// The error used to depend on the number of buffered bytes.
#[test]
fn damage_is_the_same_in_a_file_and_in_a_pipe() {
    for claimed in [100, 1 << 20, (1 << 20) + 1, (1 << 20) + 30, u32::MAX] {
        let mut file = pcap(false, false, 1);
        file[32..36].copy_from_slice(&u32::to_le_bytes(claimed));
        let text = |error: Option<FileError>| error.expect("an error").to_string();
        let at_once = text(read_all(file.as_slice()).1);
        assert_eq!(at_once, text(read_all(Trickle(&file, false)).1));
    }
}

#[test]
fn a_file_that_is_not_a_capture_fails_at_once() {
    let error = |bytes: &[u8]| read_all(bytes).1.expect("an error").to_string();
    assert_eq!(error(b""), "the file is empty");
    assert!(error(b"hello, this is text\n").starts_with("not a capture file"));
    assert!(error(&pcap(false, false, 147)).starts_with("link type 147 is not supported"));
}

/// Reads a few bytes at a time, as a pipe may deliver them.
struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    at_once: usize,
}

impl Read for Pieces {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = buf.len().min(self.at_once);
        self.bytes.read(&mut buf[..count])
    }
}

/// A thread that reads ahead changes nothing: records that span buffers, records longer than the room in front of a
/// buffer, reads of any length, and files that end inside a record.
#[test]
fn reading_ahead_yields_the_same_frames() {
    let mut file = pcap(false, false, 1)[..24].to_vec();
    // 9 MB: frames of a few bytes up to the longest that is accepted.
    for (number, length) in [60, 1_500, 9_000, 70_000, 1 << 20]
        .into_iter()
        .cycle()
        .take(40)
        .enumerate()
    {
        for word in [number as u32, 0, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend((0..length).map(|at| (at + number as u32) as u8));
    }
    let read = |mut reader: FrameReader<Pieces>| {
        let mut frames = Vec::new();
        let end = loop {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push((frame.time_ns, frame.bytes.to_vec())),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        (frames, end, reader.consumed_bytes())
    };
    for (length, at_once) in [
        (file.len(), usize::MAX),
        (file.len(), 40_001),
        (file.len() - 1, usize::MAX),
        (40_000, 7),
    ] {
        let pieces = || Pieces {
            bytes: io::Cursor::new(file[..length].to_vec()),
            at_once,
        };
        let direct = read(FrameReader::new(pieces()).unwrap());
        assert!(
            direct == read(FrameReader::ahead(pieces()).unwrap()),
            "{length}, {at_once}"
        );
    }
}

/// The frames of a file, with their times and original lengths.
fn frames_of(file: &[u8]) -> Vec<(Vec<u8>, u64, u32)> {
    let mut reader = FrameReader::new(file).unwrap();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        assert_eq!(frame.link, Some(rocescope_wire::LinkType::Ethernet));
        frames.push((frame.bytes.to_vec(), frame.time_ns, frame.lengths.original));
    }
    frames
}

fn expected(step_ns: u64) -> Vec<(Vec<u8>, u64, u32)> {
    let frames = FRAMES.iter();
    frames
        .map(|(frame, time_ns)| (frame.to_vec(), time_ns / step_ns * step_ns, 60))
        .collect()
}

/// A record of ERF around a frame: with an extension header and two bytes of padding.
fn erf(frame: [u8; 4], time_ns: u64) -> Vec<u8> {
    let seconds = time_ns / 1_000_000_000 + 1_700_000_000;
    let fraction = ((time_ns % 1_000_000_000) << 32).div_ceil(1_000_000_000);
    let mut record = (seconds << 32 | fraction).to_le_bytes().to_vec();
    record.extend([0x82, 4, 0, 32, 0, 0, 0, 60]);
    record.extend([3; 8]);
    record.extend([0, 0]);
    record.extend(frame);
    record.extend([0, 0]);
    record
}

#[test]
fn records_of_capture_cards_are_read_alone_and_in_pcap() {
    let records: Vec<Vec<u8>> = FRAMES.iter().map(|(frame, time_ns)| erf(*frame, *time_ns)).collect();
    // Something else than Ethernet is left out.
    let mut other = erf([9; 4], 1);
    other[8] = 0x80 | 21;
    let file = [&records[0][..], &other, &records[1]].concat();
    let padded = |(frame, time_ns, original): (Vec<u8>, u64, u32)| ([frame, vec![0, 0]].concat(), time_ns, original);
    let later =
        |(frame, time_ns, original): (Vec<u8>, u64, u32)| (frame, time_ns + 1_700_000_000_000_000_000, original);
    let alone: Vec<_> = expected(1).into_iter().map(padded).map(later).collect();
    assert_eq!(frames_of(&file), alone);

    let mut in_pcap = pcap(false, true, 197)[..24].to_vec();
    for (record, (_, time_ns)) in records.iter().zip(FRAMES) {
        let (seconds, fraction) = ((time_ns / 1_000_000_000) as u32, (time_ns % 1_000_000_000) as u32);
        for value in [seconds, fraction, record.len() as u32, record.len() as u32] {
            in_pcap.extend(value.to_le_bytes());
        }
        in_pcap.extend(record);
    }
    let expected: Vec<_> = expected(1).into_iter().map(padded).collect();
    assert_eq!(frames_of(&in_pcap), expected);
}

#[test]
fn the_modified_pcap_and_snoop_are_read() {
    for big_endian in [false, true] {
        let word = |value| bytes32(value, big_endian);
        let mut file = word(0xa1b2_cd34).to_vec();
        file.extend(&pcap(big_endian, false, 1)[4..24]);
        for (frame, time_ns) in FRAMES {
            let fraction = (time_ns % 1_000_000_000) as u32 / 1_000;
            for value in [(time_ns / 1_000_000_000) as u32, fraction, 4, 60, 2, 0] {
                file.extend(word(value));
            }
            file.extend(frame);
        }
        assert_eq!(frames_of(&file), expected(1_000));
    }
    let mut file = b"snoop\0\0\0".to_vec();
    file.extend([0, 0, 0, 2, 0, 0, 0, 4]);
    for (frame, time_ns) in FRAMES {
        let fraction = (time_ns % 1_000_000_000) as u32 / 1_000;
        for value in [60, 4, 32, 0, (time_ns / 1_000_000_000) as u32, fraction] {
            file.extend(value.to_be_bytes());
        }
        file.extend(frame);
        file.extend([0; 4]);
    }
    assert_eq!(frames_of(&file), expected(1_000));
    for kept in 1..file.len() {
        let Ok(mut reader) = FrameReader::new(&file[..kept]) else {
            continue;
        };
        while let Ok(Some(_)) = reader.next_frame() {}
    }
}
