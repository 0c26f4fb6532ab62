//! Reads a dataset: the frames in all its windows, and its largest flows.
//!
//! `cargo run --release -- demo` writes one; then
//! `cargo run -p rocescope-store --example read_dataset -- rocescope-demo`

use rocescope_model::{Cells, FlowRow, Value};
use rocescope_store::Scan;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let root = std::env::args_os().nth(1).map(PathBuf::from);
    let root = root.ok_or("usage: read_dataset DIR")?;

    // Reads only the footers. Damaged files are listed; rows that a running capture has not sealed yet are in
    // `found.open`.
    let found = rocescope_store::open(&root)?;
    for file in &found.unreadable {
        eprintln!("{}: {}", file.path.display(), file.reason);
    }

    println!("{} frames in {} windows", frames(&found)?, found.row_count("windows"));
    for flow in top_flows(&found, 5)? {
        println!(
            "{} to {} QP {}: {} packets, {} bytes",
            flow.src, flow.dst, flow.dst_qpn, flow.packets, flow.frame_bytes
        );
    }
    Ok(())
}

/// Sums one column without reading the others from disk: in `windows`, sketches are most of the bytes.
fn frames(found: &Scan) -> Result<i64, Box<dyn Error>> {
    let mut sum = 0;
    for segment in found.table("windows") {
        for batch in segment.batches(|column| column.name == "frames")? {
            let batch = batch?;
            let columns = batch.table().columns;
            let frames = columns.iter().position(|column| column.name == "frames");
            let frames = frames.ok_or("no column frames")?;
            for row in 0..batch.rows() {
                // A column that is missing in an older file is null.
                if let Value::I64(frames) = batch.value(row, frames) {
                    sum += frames;
                }
            }
        }
    }
    Ok(sum)
}

/// The flows with the most bytes in one window. Rows are typed when every column is read.
fn top_flows(found: &Scan, count: usize) -> Result<Vec<FlowRow>, Box<dyn Error>> {
    let mut top: Vec<FlowRow> = Vec::new();
    for segment in found.table("flows") {
        for batch in segment.batches(|_| true)? {
            top.extend(batch?.typed::<FlowRow>()?);
            // A batch has at most a few thousand rows, so memory stays bounded.
            top.sort_by_key(|flow| std::cmp::Reverse(flow.frame_bytes));
            top.truncate(count);
        }
    }
    Ok(top)
}
