//! Frames: recorded, generated, damaged.

use rocescope_capture::file::{self, FrameReader};
use rocescope_generate::{Generator, Scenario};
use rocescope_wire::LinkType;
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
    let mut paths: Vec<PathBuf> = std::fs::read_dir(here().join("../generate/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
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
    let mut random = seed;
    // SplitMix64.
    let mut next = move |below: u64| {
        random = random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (random ^ random >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % below
    };
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
