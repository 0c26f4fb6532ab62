//! What the fuzzer begins with: frames of the captures, in the form that each target takes.

use super::mirrored;
use crate::captures;
use crate::pcap::Pcap;
use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::collections::HashSet;
use std::io::Write;

/// Frames of each capture.
const FRAMES: usize = 24;
/// A frame that is longer adds payload, and payload is never looked at.
const LONGEST_FRAME: usize = 400;

/// Seeds of a target by file name.
pub(super) fn of(target: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let captures = captures::ours()?;
    let mut seeds = Vec::new();
    let mut seen = HashSet::new();
    for (name, capture) in &captures {
        match target {
            "decode" => {
                for (at, frame) in short(capture).enumerate() {
                    // One of each length and opcode; where the opcode lies over IPv4 is enough.
                    if seen.insert((frame.len(), frame.get(42).copied())) {
                        seeds.push((format!("{name}-{at}"), decodable(frame)));
                    }
                }
                if let Some(frame) = short(capture).last() {
                    let mirrored = mirrored::all(frame).into_iter();
                    seeds.extend(
                        mirrored.map(|(kind, frame)| (format!("{name}-{kind}"), decodable(&frame))),
                    );
                }
            }
            "reader" => {
                let file = capture.first(6);
                seeds.push((name.clone(), file.to_vec()));
                let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
                gzip.write_all(file)?;
                seeds.push((format!("{name}-gz"), gzip.finish()?));
            }
            _ => {
                // Windows of a second, all PSNs marked, two sets, nothing refused.
                let mut seed = vec![0x00, 0xca, 0x9a, 0x3b, 0, 1, 0, 0];
                for frame in short(capture) {
                    let length = u16::try_from(frame.len())?.to_le_bytes();
                    seed.extend([length[0], length[1], 100, 0, 0, 0, 0, 0]);
                    seed.extend(frame);
                }
                seeds.push((name.clone(), seed));
            }
        }
    }
    Ok(seeds)
}

/// Ethernet, whole, no further ports.
fn decodable(frame: &[u8]) -> Vec<u8> {
    [&[0; 10], frame].concat()
}

fn short(capture: &Pcap) -> impl Iterator<Item = &[u8]> {
    capture
        .frames()
        .filter(|frame| frame.len() <= LONGEST_FRAME)
        .take(FRAMES)
}
