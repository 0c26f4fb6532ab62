//! Frames: recorded, generated, damaged.

use rocescope_capture::file::{self, FrameReader};
use rocescope_generate::{Generator, Scenario};
use rocescope_sketches::random::SplitMix64;
use rocescope_wire::LinkType;
use rocescope_wire::ip::PROTOCOL_UDP;
use std::path::{Path, PathBuf};

/// Times and bytes.
pub(crate) type Frames = Vec<(u64, Vec<u8>)>;

/// The minimum of `BPF_PROG_TEST_RUN`: an Ethernet header.
const SHORTEST: usize = 14;
/// Frames taken of each scenario.
const SCENARIO_FRAMES: usize = 20_000;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The captures beside the project if they exist, else those in it.
pub(crate) fn captures() -> impl Iterator<Item = (String, Frames)> {
    let beside = here().join("../../../shared/captures");
    let directory = std::fs::read_dir(beside).or_else(|_| std::fs::read_dir(here().join("../cli/tests/captures")));
    let mut paths: Vec<PathBuf> = directory
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".pcap"))
        .collect();
    paths.sort();
    paths.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, read(&path))
    })
}

fn read(path: &Path) -> Frames {
    let mut reader = FrameReader::new(file::open(path).unwrap()).unwrap();
    let mut frames = Frames::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        if frame.link == Some(LinkType::Ethernet) && frame.bytes.len() >= SHORTEST {
            frames.push((frame.time_ns, frame.bytes.to_vec()));
        }
    }
    frames
}

/// The beginning of every scenario of the project.
pub(crate) fn scenarios() -> impl Iterator<Item = (String, Frames)> {
    let scenarios = here().join("../generate/scenarios");
    let mut paths: Vec<PathBuf> = [scenarios.join("classes"), scenarios]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths.into_iter().map(|path| {
        let scenario = Scenario::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut generator = Generator::new(&scenario, 1);
        let (mut frames, mut bytes) = (Frames::new(), Vec::new());
        while frames.len() < SCENARIO_FRAMES
            && let Some(made) = generator.next_frame(&mut bytes)
        {
            if bytes.len() >= SHORTEST {
                frames.push((made.at_ns, bytes.clone()));
            }
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        (name, frames)
    })
}

/// Every third frame with some bytes of its headers changed, tagged, or cut short.
pub(crate) fn mutated(frames: &Frames, seed: u64) -> Frames {
    /// All headers, including tunnels, are within this length.
    const HEADERS: u64 = 128;
    let mut next = random(seed);
    let mut frames = frames.clone();
    for (_, frame) in &mut frames {
        match next(9) {
            0 => {
                let length = SHORTEST as u64 + next((frame.len() - SHORTEST) as u64 + 1);
                frame.truncate(length.min(SHORTEST as u64 + HEADERS) as usize);
            }
            1 => {
                for _ in 0..=next(4) {
                    let at = next(HEADERS.min(frame.len() as u64)) as usize;
                    frame[at] = next(256) as u8;
                }
            }
            2 => {
                for _ in 0..=next(3) {
                    let kind = [0x81, 0x88][next(2) as usize];
                    let low = if kind == 0x81 { 0x00 } else { 0xa8 };
                    let tag = [kind, low, next(256) as u8, next(256) as u8];
                    frame.splice(12..12, tag);
                }
            }
            _ => {}
        }
    }
    frames
}

/// IPv6 packets with random chains of extension headers, some longer than all that the program holds of a frame.
pub(crate) fn chains(seed: u64) -> Frames {
    /// Hop-by-hop, routing, authentication, destination options, fragment.
    const KINDS: [u8; 5] = [0, 43, 51, 60, 44];
    let mut next = random(seed);
    let mut frames = Frames::new();
    for time_ns in 0..4_000 {
        let (mut chain, mut kind_at) = (Vec::new(), None);
        let mut first = PROTOCOL_UDP;
        for _ in 0..next(8) {
            let kind = KINDS[next(5) as usize];
            let longest = [4, 16, 256][next(3) as usize];
            let units = if kind == 44 { 0 } else { next(longest) as u8 };
            *kind_at.map_or(&mut first, |at: usize| &mut chain[at]) = kind;
            kind_at = Some(chain.len());
            chain.extend([PROTOCOL_UDP, units]);
            let bytes = if kind == 51 {
                (usize::from(units) + 2) * 4
            } else {
                (usize::from(units) + 1) * 8
            };
            chain.resize(chain.len() + bytes - 2, 0);
        }
        // UDP with an acknowledgement.
        chain.extend([
            0xc0,
            1,
            0x12,
            0xb7,
            0,
            28,
            0,
            0,
            17,
            0,
            0xff,
            0xff,
            0,
            0,
            0,
            17,
            0,
            0,
            0,
            time_ns as u8,
        ]);
        chain.extend([0; 8]);
        let mut frame = vec![2; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
        frame.extend((chain.len() as u16).to_be_bytes());
        frame.extend([first, 64]);
        frame.extend([0xfe; 32]);
        frame.extend(chain);
        frames.push((time_ns, frame));
    }
    frames
}

/// Frames of IPv6 in up to three further IPv6 packets, some with a segment routing header.
pub(crate) fn nested(frames: Frames, seed: u64) -> Frames {
    const SEGMENT_ROUTING: [u8; 24] = [41, 2, 4, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3];
    let mut next = random(seed);
    let nest = |(time_ns, mut frame): (u64, Vec<u8>)| {
        for _ in 0..next(4) {
            let routing = if next(2) == 0 { &SEGMENT_ROUTING[..] } else { &[] };
            let kind = if routing.is_empty() { 41 } else { 43 };
            let bytes = ((routing.len() + frame.len() - 14) as u16).to_be_bytes();
            let header = [
                0x60 | next(16) as u8,
                (next(16) << 4) as u8,
                0,
                0,
                bytes[0],
                bytes[1],
                kind,
                next(256) as u8,
            ];
            frame.splice(14..14, [&header[..], &[0xfd; 32], routing].concat());
        }
        (time_ns, frame)
    };
    frames.into_iter().map(nest).collect()
}

/// MRC packets of all opcodes, some marked as retransmissions, some with timestamps, some cut by a switch.
pub(crate) fn mrc(seed: u64) -> Frames {
    let mut next = random(seed);
    let mut frames = Frames::new();
    for at in 0..6_000u64 {
        let opcode = match next(8) {
            0 => 0xd0 + next(16) as u8,
            1 => 0xc6,
            2 => 0xc8 + next(4) as u8,
            _ => 0xc7,
        };
        let payload = if next(8) == 0 { 4 * next(60) as usize } else { 256 };
        let flags = [0, 0, 0, 0x20, 0x30, 0x10][next(6) as usize];
        let mut packet = vec![opcode, 0, 0xff, 0xff, 0, 0, 0, next(2) as u8, flags, 0];
        packet.extend(((at / 2) as u16).to_be_bytes());
        packet.extend((0..44).map(|_| next(256) as u8));
        packet.resize(60 + payload, 0);
        let udp_bytes = (8 + packet.len() as u16).to_be_bytes();
        let mut frame = vec![2; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, udp_bytes[0], udp_bytes[1], PROTOCOL_UDP, 64]);
        frame.extend([0xfe; 32]);
        frame.extend([0xc0, 1, 0x12, 0xb7, udp_bytes[0], udp_bytes[1], 0, 0]);
        frame.extend(packet);
        if next(9) == 0 {
            frame.truncate(62 + next(120) as usize);
            if next(2) == 0 {
                let bytes = (frame.len() as u16 - 54).to_be_bytes();
                frame[18..20].copy_from_slice(&bytes);
            }
        }
        frames.push((at * 500, frame));
    }
    frames
}

/// UET packets of all PDS types, flags and NACK codes, on UDP and on IP.
pub(crate) fn uet(seed: u64) -> Frames {
    let mut next = random(seed);
    let frame = |at: u64| {
        let is_udp = next(2) == 0;
        let mut frame = vec![2; 12];
        let protocol = if is_udp { PROTOCOL_UDP } else { 253 };
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, protocol, 64]);
        frame.extend([0xfe; 32]);
        frame.extend([0xc0, 1, 0x12, 0xb9]);
        if is_udp {
            frame.extend([0, 32, 0, 0]);
        }
        frame.extend((0..24).map(|byte| match byte {
            0 => next(256) as u8 & 0x7f,
            2 => next(5) as u8,
            _ => next(256) as u8,
        }));
        (at, frame)
    };
    (0..4_000).map(frame).collect()
}

/// Numbers below a limit.
pub(crate) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = SplitMix64::new(seed);
    move |below| random.bits() % below
}
