//! Capture files of every format with frames in every tunnel: no capture of the project has them.

use super::seeds::{next_generation, short};
use super::{mirrored, transports};
use crate::captures;
use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Nanoseconds between two frames.
const STEP_NS: u64 = 1_000;
/// Frames of each file.
const FRAMES: usize = 48;

/// Files, named by their format.
pub(super) fn all() -> Result<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for (name, frames) in contents()? {
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let plain = pcap(0xa1b2_3c4d, &frames, &[]);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&plain)?;
        files.extend([
            (format!("gzip-{name}"), gzip.finish()?),
            (format!("pcap-{name}"), plain),
            (format!("modified-{name}"), pcap(0xa1b2_cd34, &frames, &[0; 8])),
            (format!("erf-{name}"), erf(&frames)),
            (format!("snoop-{name}"), snoop(&frames)),
        ]);
        for big_endian in [false, true] {
            let file = next_generation(frames.iter().copied(), big_endian);
            files.push((format!("pcapng-{name}-{big_endian}"), file));
        }
    }
    Ok(files)
}

/// The frames of captures, bare and in tunnels, and those of other transports.
fn contents() -> Result<Vec<(String, Vec<Vec<u8>>)>> {
    let mut contents = Vec::new();
    for (name, capture) in captures::ours()? {
        let bare: Vec<&[u8]> = short(&capture).collect();
        let mut kinds: Vec<(&str, Vec<Vec<u8>>)> = Vec::new();
        for (kind, frame) in bare.iter().take(8).flat_map(|frame| mirrored::all(frame)) {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, frames)) => frames.push(frame),
                None => kinds.push((kind, vec![frame])),
            }
        }
        let mixed = kinds
            .into_iter()
            .flat_map(|(_, frames)| frames)
            .take(3 * FRAMES)
            .collect();
        contents.push((
            name.replace('-', "_"),
            bare.into_iter().map(<[u8]>::to_vec).take(FRAMES).collect(),
        ));
        contents.push((format!("{}_tunnels", name.replace('-', "_")), mixed));
    }
    contents.push((
        "transports".to_owned(),
        transports::all().into_iter().map(|(_, frame)| frame).collect(),
    ));
    Ok(contents)
}

/// With this magic number, and this at the end of each packet's header.
fn pcap(magic: u32, frames: &[&[u8]], more: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [magic, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (frame, at) in frames.iter().zip(0..) {
        let length = frame.len() as u32;
        for word in [0x6530_0000, at * STEP_NS as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(more);
        file.extend(*frame);
    }
    file
}

/// Records of a capture card, of Ethernet.
fn erf(frames: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    for (frame, at) in frames.iter().zip(0..) {
        let fraction = ((at * STEP_NS) << 32) / 1_000_000_000;
        file.extend((0x6530_0000_u64 << 32 | fraction).to_le_bytes());
        // Type and flags; the length of the record, no loss, the length on the wire; two bytes of padding.
        file.extend([2, 4]);
        for half in [frame.len() + 18, 0, frame.len()] {
            file.extend((half as u16).to_be_bytes());
        }
        file.extend([0; 2]);
        file.extend(*frame);
    }
    file
}

/// Version 2, of Ethernet.
fn snoop(frames: &[&[u8]]) -> Vec<u8> {
    let mut file = b"snoop\0\0\0\0\0\0\x02\0\0\0\x04".to_vec();
    for (frame, at) in frames.iter().zip(0..) {
        let length = frame.len() as u32;
        let padded = length.next_multiple_of(4);
        for word in [length, length, 24 + padded, 0, 0x6530_0000, at * STEP_NS as u32 / 1_000] {
            file.extend(word.to_be_bytes());
        }
        file.extend(*frame);
        file.resize(file.len() + (padded - length) as usize, 0);
    }
    file
}
