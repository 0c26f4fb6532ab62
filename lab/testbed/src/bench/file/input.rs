//! The file: recorded captures, repeated, with advancing times.

use anyhow::{Result, ensure};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use xtask::captures;
use xtask::pcap::{HEADER, RECORD_BYTES};

/// The magic number of a file with times in nanoseconds.
const NANOSECONDS: [u8; 4] = 0xa1b2_3c4d_u32.to_le_bytes();

/// The minimum number of frames; the last capture is complete.
const FRAMES: u64 = 600_000;
/// Time between two frames.
const STEP_US: u64 = 10;
/// 2023-11-14 22:13:20 UTC.
const START_US: u64 = 1_700_000_000_000_000;

/// Returns the benchmark's file in `directory`; creates it if it is missing.
pub(super) fn make(directory: &Path) -> Result<PathBuf> {
    let captures = captures::all()?;
    // The name depends on the content.
    let file = directory.join(format!("{}-captures.pcap", captures.len()));
    if file.exists() {
        return Ok(file);
    }
    let unfinished = file.with_extension("unfinished");
    let mut out = BufWriter::new(File::create(&unfinished)?);
    out.write_all(&HEADER)?;
    let mut frames = 0;
    while frames < FRAMES {
        for record in captures.iter().flat_map(|(_, capture)| capture.records()) {
            frames += 1;
            let time_us = START_US + frames * STEP_US;
            out.write_all(&((time_us / 1_000_000) as u32).to_le_bytes())?;
            out.write_all(&((time_us % 1_000_000) as u32).to_le_bytes())?;
            out.write_all(&record[8..])?;
        }
    }
    out.into_inner()?.sync_all()?;
    fs::rename(unfinished, &file)?;
    Ok(file)
}

/// Reads the whole file into the page cache. Returns its number of frames.
pub(super) fn warm(file: &Path) -> Result<u64> {
    let mut file = BufReader::with_capacity(1 << 20, File::open(file)?);
    let mut header = [0; HEADER.len()];
    file.read_exact(&mut header)?;
    let is_pcap = header[..4] == HEADER[..4] || header[..4] == NANOSECONDS;
    ensure!(is_pcap, "not a little-endian pcap file");
    let mut frames = 0;
    let mut record = [0; RECORD_BYTES];
    while file.read_exact(&mut record).is_ok() {
        let captured = [record[8], record[9], record[10], record[11]];
        file.seek_relative(i64::from(u32::from_le_bytes(captured)))?;
        frames += 1;
    }
    Ok(frames)
}
