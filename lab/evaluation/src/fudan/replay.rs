//! Replays a scenario through run cache and pipeline like a capture.

use super::truth::Truth;
use rocescope_generate::{Generator, Scenario};
use rocescope_model::{EventRow, FlowRow, OpcodeRow, WindowRow};
use rocescope_pipeline::sketch_columns::CountMinColumns;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Observer, Slot};
use rocescope_sketches::CountMin;
use rocescope_wire::{FrameLengths, LinkType};
use std::error::Error;

const SETS: usize = 4_096;

/// A finished window: its truth and its rows.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) truth: Truth,
    pub(super) totals: WindowRow,
    pub(super) flows: Vec<FlowRow>,
    pub(super) opcodes: Vec<OpcodeRow>,
}

impl Window {
    /// The Count-Min table of frame bytes.
    pub(super) fn frame_bytes(&self) -> Result<CountMin, Box<dyn Error>> {
        let columns = CountMinColumns::stored(&self.totals, &self.flows).ok_or("no table")?;
        Ok(CountMin::from_spark(&columns.frame_bytes.to_vec())?)
    }
}

/// All windows of a scenario.
#[derive(Debug)]
pub(super) struct Replay {
    pub(super) windows: Vec<Window>,
    pub(super) events: Vec<EventRow>,
    pub(super) frames: u64,
}

/// Replays `seconds` of a scenario, given as text; omits messages that end later.
pub(super) fn replay(scenario: &str, seed: u64, seconds: f64, settings: &Settings) -> Result<Replay, Box<dyn Error>> {
    let scenario = Scenario::parse(scenario)?;
    let start_ns = scenario.start_unix_s * 1_000_000_000;
    let end_ns = start_ns + (seconds * 1e9) as u64;
    let mut generator = Generator::new(&scenario, seed);
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(Config::exact(settings.window_ns), vec![[slot; 2]; SETS]);
    let mut pipeline = Pipeline::new(settings.clone())?;
    let mut truths: Vec<Truth> = Vec::new();
    let mut bytes = Vec::new();
    let mut frames = 0;
    while let Some(made) = generator.next_frame(&mut bytes)
        && made.at_ns < end_ns
    {
        let window = ((made.at_ns - start_ns) / settings.window_ns) as usize;
        if truths.len() <= window {
            truths.resize_with(window + 1, Truth::default);
        }
        if let Some(truth) = truths.get_mut(window) {
            truth.count(&bytes, made.original_bytes).ok_or("a frame is too short")?;
        }
        if !pipeline.is_current(made.at_ns) {
            observer.flush(Some(made.at_ns), &mut pipeline);
            pipeline.turn(made.at_ns, observer.counters());
        }
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: made.original_bytes,
        };
        observer.observe(
            &bytes,
            LinkType::Ethernet,
            lengths,
            0,
            &FrameTime(made.at_ns),
            &mut pipeline,
        );
        frames += 1;
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    let rows = std::mem::take(pipeline.rows());
    let of = |row_ns: i64, totals: &WindowRow| row_ns == totals.window_start_ns;
    // A window without a frame has no row.
    let truths = truths.into_iter().filter(|t| !t.flow_bytes.is_empty());
    let windows = rows.windows.into_iter().zip(truths);
    let windows = windows.map(|(totals, truth)| Window {
        flows: rows
            .flows
            .iter()
            .filter(|row| of(row.window_start_ns, &totals))
            .cloned()
            .collect(),
        opcodes: rows
            .opcodes
            .iter()
            .filter(|row| of(row.window_start_ns, &totals))
            .cloned()
            .collect(),
        truth,
        totals,
    });
    Ok(Replay {
        windows: windows.collect(),
        events: rows.events,
        frames,
    })
}
