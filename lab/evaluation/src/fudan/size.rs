//! Section 5.4 (2): bytes of every flow and of every opcode, every two seconds. The error is the
//! paper's: the mean of |measured − true| / true over all flows (opcodes) and windows.

use super::Compared;
use super::replay::{Window, replay};
use super::{truth, workload};
use rocescope_pipeline::Settings;
use rocescope_sketches::hash::hash_words;
use rocescope_sketches::{CountMin, FlowHash};
use std::error::Error;

pub(super) fn flow_and_opcode_size(seconds: u64) -> Result<[Compared; 4], Box<dyn Error>> {
    let settings = Settings {
        window_ns: 2_000_000_000,
        ..Settings::default()
    };
    let play = |scenario: String| replay(&scenario, 1, seconds as f64, &settings);
    let flows = play(workload::flows(seconds))?;
    let operations = play(workload::operations(seconds))?;
    let line = |what, paper, errors: (Mean, Mean), frames, things| Compared {
        what,
        paper,
        sketches: errors.0.value(),
        columns: errors.1.value(),
        cases: u64::from(errors.0.number),
        of: format!("{} {things} in windows of 2 s, {frames} frames", errors.0.number),
    };
    Ok([
        line(
            "flow size, 5.2 (3)",
            0.04,
            flow_errors(&flows.windows)?,
            flows.frames,
            "flows",
        ),
        line(
            "flow size, 5.2 (4)",
            0.04,
            flow_errors(&operations.windows)?,
            operations.frames,
            "flows",
        ),
        line(
            "opcode traffic, 5.2 (3)",
            0.113,
            opcode_errors(&flows.windows)?,
            flows.frames,
            "opcodes",
        ),
        line(
            "opcode traffic, 5.2 (4)",
            0.113,
            opcode_errors(&operations.windows)?,
            operations.frames,
            "opcodes",
        ),
    ])
}

#[derive(Debug, Default)]
struct Mean {
    sum: f64,
    number: u32,
}

impl Mean {
    fn add(&mut self, measured: u64, truth: u64) {
        self.sum += (measured as f64 / truth as f64 - 1.0).abs();
        self.number += 1;
    }

    fn value(&self) -> f64 {
        self.sum / f64::from(self.number.max(1))
    }
}

/// Errors of the Count-Min table and of the rows of `flows`, over all flows, acknowledgements too.
fn flow_errors(windows: &[Window]) -> Result<(Mean, Mean), Box<dyn Error>> {
    let (mut sketched, mut listed) = (Mean::default(), Mean::default());
    for window in windows {
        let table = window.frame_bytes()?;
        for (flow, bytes) in &window.truth.flow_bytes {
            let hash = truth::hash(flow);
            sketched.add(table.estimate(hash), *bytes);
            let row = window.flows.iter().find(|row| row.flow_hash == hash.0.cast_signed());
            listed.add(row.map_or(0, |row| row.frame_bytes), *bytes);
        }
    }
    Ok((sketched, listed))
}

/// Errors of a Count-Min table keyed by opcode, as the paper's (a table is linear: it is the same
/// whether it is fed packets or their sums), and of the rows of `opcodes`.
fn opcode_errors(windows: &[Window]) -> Result<(Mean, Mean), Box<dyn Error>> {
    let (mut sketched, mut listed) = (Mean::default(), Mean::default());
    for window in windows {
        let mut table = CountMin::default();
        for row in &window.opcodes {
            table.add(opcode_hash(row.opcode_number), row.frame_bytes);
        }
        for (opcode, bytes) in &window.truth.opcode_bytes {
            sketched.add(table.estimate(opcode_hash(*opcode)), *bytes);
            let row = window.opcodes.iter().find(|r| r.opcode_number == *opcode);
            listed.add(row.map_or(0, |row| row.frame_bytes), *bytes);
        }
    }
    Ok((sketched, listed))
}

fn opcode_hash(opcode: u8) -> FlowHash {
    hash_words(&[u64::from(opcode)], 0)
}
