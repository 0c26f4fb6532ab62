//! The fuzzer's first inputs: frames of the captures, in the format of each target.

use super::{mirrored, traces, transports};
use crate::captures;
use crate::pcap::Pcap;
use crate::process::root;
use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashSet;
use std::fs;
use std::io::Write;

/// Frames of each capture.
const FRAMES: usize = 24;
/// Longer frames only add payload, which no code reads.
const LONGEST_FRAME: usize = 400;

/// Seeds of a target by file name.
pub(super) fn of(target: &str) -> Result<Vec<(String, Vec<u8>)>> {
    match target {
        "hostping" => return hostping(),
        "trace" => return traces::all(),
        _ => {}
    }
    if matches!(target, "collective" | "texts") {
        // No frames: the archive has all of them.
        return Ok(Vec::new());
    }
    let captures = captures::ours()?;
    let mut seeds = Vec::new();
    let mut seen = HashSet::new();
    for (name, capture) in &captures {
        match target {
            "decode" => {
                for (at, frame) in short(capture).enumerate() {
                    // One frame of each length and opcode; the offset of the opcode over IPv4 is sufficient.
                    if seen.insert((frame.len(), frame.get(42).copied())) {
                        seeds.push((format!("{name}-{at}"), decodable(frame)));
                    }
                }
                if let Some(frame) = short(capture).last() {
                    let mirrored = mirrored::all(frame).into_iter();
                    seeds.extend(mirrored.map(|(kind, frame)| (format!("{name}-{kind}"), decodable(&frame))));
                }
            }
            "reader" => {
                let file = capture.first(6);
                seeds.push((name.clone(), file.to_vec()));
                let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
                gzip.write_all(file)?;
                seeds.push((format!("{name}-gz"), gzip.finish()?));
                for big_endian in [false, true] {
                    let file = next_generation(short(capture).take(6), big_endian);
                    seeds.push((format!("{name}-ng-{big_endian}"), file));
                }
            }
            _ => {
                let mut seed = START.to_vec();
                for frame in short(capture) {
                    timed(&mut seed, frame)?;
                }
                seeds.push((name.clone(), seed));
            }
        }
    }
    if target == "decode" {
        for (name, frame) in transports::all() {
            let routed = mirrored::all(&frame)
                .into_iter()
                .filter(|(kind, _)| kind.ends_with("v6"));
            seeds.extend(routed.map(|(kind, frame)| (format!("{name}-{kind}"), decodable(&frame))));
            seeds.push((name, decodable(&frame)));
        }
    } else if target != "reader" {
        let mut seed = START.to_vec();
        for (_, frame) in transports::all() {
            timed(&mut seed, &frame)?;
        }
        seeds.push(("transports".to_owned(), seed));
    }
    Ok(seeds)
}

/// The trees and measurements of the tests, and each tree with each measurement.
fn hostping() -> Result<Vec<(String, Vec<u8>)>> {
    let read = |kind: &str| -> Result<Vec<(String, Vec<u8>)>> {
        let folder = root().join("userspace/diagnose/tests/hostping").join(kind);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            files.push((name, fs::read(entry.path())?));
        }
        Ok(files)
    };
    let (trees, measured) = (read("trees")?, read("measured")?);
    let mut seeds = Vec::new();
    for (tree, topology) in &trees {
        for (file, values) in &measured {
            let both = [topology.as_slice(), b"\n=====\n", values].concat();
            seeds.push((format!("{tree}-{file}"), both));
        }
    }
    seeds.extend(trees);
    seeds.extend(measured);
    Ok(seeds)
}

/// Windows of a second, all PSNs marked, two sets, no rejected run.
const START: [u8; 8] = [0x00, 0xca, 0x9a, 0x3b, 0, 1, 0, 0];

/// A frame with its length, 100 ns after the one before.
fn timed(seed: &mut Vec<u8>, frame: &[u8]) -> Result<()> {
    let length = u16::try_from(frame.len())?.to_le_bytes();
    seed.extend([length[0], length[1], 100, 0, 0, 0, 0, 0]);
    seed.extend(frame);
    Ok(())
}

/// Ethernet, a complete frame, no further UDP ports.
fn decodable(frame: &[u8]) -> Vec<u8> {
    [&[0; 10], frame].concat()
}

pub(super) fn short(capture: &Pcap) -> impl Iterator<Item = &[u8]> {
    capture
        .frames()
        .filter(|frame| frame.len() <= LONGEST_FRAME)
        .take(FRAMES)
}

/// Frames as pcapng: a section, an interface in nanoseconds, enhanced and simple packets in turn.
pub(super) fn next_generation<'a>(frames: impl Iterator<Item = &'a [u8]>, big_endian: bool) -> Vec<u8> {
    let word = |value: u32| match big_endian {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    };
    let half = |value: u16| match big_endian {
        true => value.to_be_bytes(),
        false => value.to_le_bytes(),
    };
    let block = |kind: u32, parts: &[&[u8]]| {
        let mut body = parts.concat();
        body.resize(body.len().next_multiple_of(4), 0);
        let length = word(12 + body.len() as u32);
        [&word(kind), &length, body.as_slice(), &length].concat()
    };
    let mut file = block(0x0a0d_0d0a, &[&word(0x1a2b_3c4d), &half(1), &half(0), &[0xff; 8]]);
    let resolution = [&half(9)[..], &half(1), &[9, 0, 0, 0], &[0; 4]].concat();
    file.extend(block(1, &[&half(1), &[0; 6], &resolution]));
    for (at, frame) in (0..).zip(frames) {
        let length = word(frame.len() as u32);
        let enhanced = [word(0), word(0x18a0_0000), word(at), length, length].concat();
        file.extend(match at % 2 {
            0 => block(6, &[&enhanced, frame]),
            _ => block(3, &[&length, frame]),
        });
    }
    file
}
