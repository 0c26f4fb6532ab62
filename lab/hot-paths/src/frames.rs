//! Generated frames, and the paths from a frame to rows.

use crate::measured;
use bytemuck::Zeroable;
use rocescope_generate::{Generator, Scenario};
use rocescope_model::WindowRows;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Counters, Observer, RunRecord, Set, Sink, Slot};
use rocescope_wire::{FrameLengths, LinkType};
use std::error::Error;

/// Messages of 64 packets, so that a run has 64 frames, and their acknowledgements.
const MESSAGES: &str = r#"
name = "messages"
frames = 100_000

[[flows]]
count = 32
src = "10.60.0.0/24"
dst = "10.61.0.0/24"
rate = "2Gbit/s"
operation = "write"
message = "64KiB"
mtu = 1024
"#;

/// Messages of one packet on a thousand queue pairs in turn: each frame is a run.
const SINGLE_PACKETS: &str = r#"
name = "single packets"
frames = 100_000

[[flows]]
count = 1000
src = "10.60.0.0/22"
dst = "10.64.0.0/22"
rate = "100Mbit/s"
operation = "send"
message = 512
mtu = 1024
"#;

/// Messages of eight packets, of which one in 500 is lost.
const LOSS: &str = r#"
name = "loss"
frames = 50_000

[[flows]]
count = 32
src = "10.60.0.0/24"
dst = "10.61.0.0/24"
rate = "2Gbit/s"
operation = "write"
message = "8KiB"
mtu = 1024
loss = [{ probability = 0.002 }]
"#;

/// Sets of the cache of runs.
const CACHE_SETS: usize = 16_384;

/// Frames with the times at which a capture sees them.
struct Frames {
    bytes: Vec<u8>,
    /// Time, end in `bytes`, and length on the wire.
    frames: Vec<(u64, usize, u32)>,
}

impl Frames {
    fn generate(scenario: &str) -> Result<Self, Box<dyn Error>> {
        let mut generator = Generator::new(&Scenario::parse(scenario)?, 1);
        let (mut bytes, mut frames, mut bytes_of_one) = (Vec::new(), Vec::new(), Vec::new());
        while let Some(frame) = generator.next_frame(&mut bytes_of_one) {
            bytes.extend_from_slice(&bytes_of_one);
            frames.push((frame.at_ns, bytes.len(), frame.original_bytes));
        }
        Ok(Self { bytes, frames })
    }

    fn count(&self) -> u64 {
        self.frames.len() as u64
    }

    fn each(&self, mut take: impl FnMut(u64, &[u8], FrameLengths)) {
        let mut start = 0;
        for &(at_ns, end, original) in &self.frames {
            let frame = self.bytes.get(start..end).unwrap_or_default();
            let captured = frame.len() as u32;
            take(at_ns, frame, FrameLengths { captured, original });
            start = end;
        }
    }
}

/// Counts runs and drops them.
#[derive(Default)]
struct RunCount(u64);

impl Sink for RunCount {
    fn publish(&mut self, _: &RunRecord, _: &mut Counters) {
        self.0 += 1;
    }
}

fn cache() -> Vec<Set> {
    vec![[Slot::zeroed(); 2]; CACHE_SETS]
}

/// Frames that continue runs: decoding, and the cache of runs.
pub(crate) fn to_long_runs() -> Result<u64, Box<dyn Error>> {
    to_runs(MESSAGES)
}

/// The same where each frame is a run.
pub(crate) fn to_short_runs() -> Result<u64, Box<dyn Error>> {
    to_runs(SINGLE_PACKETS)
}

fn to_runs(scenario: &str) -> Result<u64, Box<dyn Error>> {
    let frames = Frames::generate(scenario)?;
    let mut observer = Observer::new(Config::exact(Settings::default().window_ns), cache());
    let mut runs = RunCount::default();
    measured(|| {
        frames.each(|at_ns, frame, lengths| {
            observer.observe(frame, LinkType::Ethernet, lengths, 0, &FrameTime(at_ns), &mut runs);
        });
        observer.flush(None, &mut runs);
    });
    if runs.0 == 0 {
        return Err("no runs".into());
    }
    Ok(frames.count())
}

/// Windows with their sketches, without connections.
pub(crate) fn to_windows() -> Result<u64, Box<dyn Error>> {
    to_rows(SINGLE_PACKETS, None)
}

/// Connections over frames in order.
pub(crate) fn to_connections() -> Result<u64, Box<dyn Error>> {
    to_rows(SINGLE_PACKETS, Some(ConnectionSettings::default()))
}

/// Connections over frames with losses and retransmissions.
pub(crate) fn to_connections_with_loss() -> Result<u64, Box<dyn Error>> {
    to_rows(LOSS, Some(ConnectionSettings::default()))
}

fn to_rows(scenario: &str, connections: Option<ConnectionSettings>) -> Result<u64, Box<dyn Error>> {
    let frames = Frames::generate(scenario)?;
    let settings = Settings {
        observer: "hot paths".into(),
        connections,
        ..Settings::default()
    };
    let mut observer = Observer::new(Config::exact(settings.window_ns), cache());
    let mut pipeline = Pipeline::new(settings)?;
    let mut rows = 0;
    let mut take = |of_windows: &mut WindowRows| rows += std::mem::take(of_windows).windows.len();
    measured(|| {
        frames.each(|at_ns, frame, lengths| {
            if !pipeline.is_current(at_ns) {
                observer.flush(Some(at_ns), &mut pipeline);
                pipeline.turn(at_ns, observer.counters());
                take(pipeline.rows());
            }
            let clock = FrameTime(at_ns);
            observer.observe(frame, LinkType::Ethernet, lengths, 0, &clock, &mut pipeline);
        });
        observer.flush(None, &mut pipeline);
        pipeline.finish(observer.counters());
        take(pipeline.rows());
    });
    if rows == 0 {
        return Err("no windows".into());
    }
    Ok(frames.count())
}
