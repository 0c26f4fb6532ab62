//! Measures the store: writes, seals and syncs a capture of some windows with large sketches.
//!
//! `cargo run --release -p rocescope-store --example timing -- DIR [WINDOWS] [SKETCH_KIB] [FLOWS]`
//!
//! Prints, for five runs, the milliseconds of the appends, of the sealing at the end, and of both, and the size on
//! disk. The sketches of a window have `FLOWS` non-zero counters per row, like those of a window with `FLOWS` flows.

use rocescope_model::time::SECOND_NS;
use rocescope_model::{EventRow, FlowRow, OpcodeRow, Text, Time, WindowRow, WindowRows};
use rocescope_store::{Error, Options, Writer};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const START: i64 = 1_795_228_200 * SECOND_NS;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| "timing-dataset".into()));
    let mut number = |default: u32| -> u32 {
        let argument = arguments.next();
        argument.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (windows, sketch_kib, flows) = (number(10), number(1024), number(1000));
    let sketch_bytes = (sketch_kib as usize) << 10;
    println!("{windows} windows, {sketch_kib} KiB of sketches each, {flows} flows each");
    println!("append ms  seal ms  total ms  disk KiB");
    for run in 0..5 {
        let mut writer = Writer::create(&root.join(run.to_string()), Options::new("timing"))?;
        let mut appending = Duration::ZERO;
        for window in 0..windows {
            let rows = rows(window, sketch_bytes, flows);
            let begin = Instant::now();
            writer.append(&rows, begin)?;
            appending += begin.elapsed();
        }
        let begin = Instant::now();
        let summary = writer.finish()?;
        let sealing = begin.elapsed();
        let bytes: u64 = summary.tables.iter().map(|table| table.bytes).sum();
        println!(
            "{:9.1}  {:7.1}  {:8.1}  {:8}",
            millis(appending),
            millis(sealing),
            millis(appending + sealing),
            bytes >> 10
        );
    }
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn rows(window: u32, sketch_bytes: usize, flows: u32) -> WindowRows {
    let start = START + i64::from(window) * SECOND_NS;
    let observer: Text = String::from("timing").into();
    let mut noise = Noise(u64::from(window) + 1);
    let totals = WindowRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        frames: 600_000,
        linear_counting: Some(noise.sketch(4096, flows).into()),
        count_min_packets: Some(noise.sketch(sketch_bytes / 2, 4 * flows).into()),
        count_min_bytes: Some(noise.sketch(sketch_bytes / 2, 4 * flows).into()),
        ..WindowRow::default()
    };
    let flow = |rank| FlowRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        rank,
        flow_hash: i64::from_le_bytes(noise.next().to_le_bytes()),
        src: [10, 0, 0, (rank % 250) as u8].into(),
        dst: [10, 0, 1, (rank % 250) as u8].into(),
        udp_src_port: Some(49_152),
        dst_qpn: rank,
        service: "RC".into(),
        packets: noise.next() >> 50,
        frame_bytes: noise.next() >> 40,
        first_ns: start,
        last_ns: start + SECOND_NS - 1,
        ..FlowRow::default()
    };
    let flows = (1..=flows.min(1000)).map(flow).collect();
    let opcode = |number| OpcodeRow {
        observer: observer.clone(),
        window_start: Time(start),
        window_start_ns: start,
        window_ns: SECOND_NS,
        opcode: "RC_RDMA_WRITE_MIDDLE".into(),
        opcode_number: number,
        ..OpcodeRow::default()
    };
    let event = EventRow {
        observer: observer.clone(),
        time: Time(start),
        time_ns: start,
        kind: "jitter".into(),
        ..EventRow::default()
    };
    WindowRows {
        windows: vec![totals],
        flows,
        opcodes: (0..12).map(opcode).collect(),
        events: vec![event],
        connections: Vec::new(),
        pdcs: Vec::new(),
        spread: Vec::new(),
        steps: Vec::new(),
        small_flows: Vec::new(),
    }
}

/// xorshift64: the same numbers in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns zeros with `counters` big-endian counters at random positions.
    fn sketch(&mut self, bytes: usize, counters: u32) -> Vec<u8> {
        let mut sketch = vec![0; bytes];
        let slots = (bytes / 8).max(1) as u64;
        for _ in 0..counters {
            let place = (self.next() % slots) as usize * 8;
            if let Some(slot) = sketch.get_mut(place..place + 8) {
                slot.copy_from_slice(&(self.next() >> 48).to_be_bytes());
            }
        }
        sketch
    }
}
