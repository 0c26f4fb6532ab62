//! Generates a class and analyzes it.

use rocescope_generate::{self as generate, Generator, Scenario, Truth};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::{FrameClock, Pipeline, Settings};
use rocescope_record::{Clock, Config, Observer, Set, Slot};
use rocescope_wire::{FrameLengths, LinkType};
use std::collections::BTreeMap;

/// A scenario with CM keeps this many bytes of a frame.
const HEADERS_AND_MAD: u32 = 400;

/// The two directions of a connection, each with its latest row: rows are cumulative.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    pub(super) a_to_b: Option<ConnectionRow>,
    pub(super) b_to_a: Option<ConnectionRow>,
}

/// A scenario, generated and analyzed.
pub(super) struct Followed {
    pub(super) truth: Truth,
    pub(super) connections: Vec<Connection>,
    pub(super) losses: Vec<EventRow>,
}

pub(super) fn class(name: &str) -> Scenario {
    Scenario::parse(generate::class(name).unwrap()).unwrap()
}

/// The clock of frames with a tick as coarse as that of the kernel.
struct Ticks {
    now_ns: u64,
    tick_ns: u64,
}

impl Clock for Ticks {
    fn tick(&self) -> u64 {
        self.now_ns / self.tick_ns
    }

    fn now(&self) -> u64 {
        self.now_ns
    }
}

/// As from a file: the exact time of every packet.
pub(super) fn follow(scenario: &Scenario, seed: u64) -> Followed {
    follow_with(scenario, seed, Config::exact)
}

/// With the configuration of records that `config` makes for a length of windows.
pub(super) fn follow_with(scenario: &Scenario, seed: u64, config: fn(u64) -> Config) -> Followed {
    follow_in(scenario, seed, config, Settings::default().window_ns)
}

/// The same in windows of this length.
pub(super) fn follow_in(scenario: &Scenario, seed: u64, config: fn(u64) -> Config, window_ns: u64) -> Followed {
    let mut scenario = scenario.clone();
    if scenario.snaplen > HEADERS_AND_MAD {
        // Headers suffice, those of a mirror's tunnel with them.
        scenario.snaplen = 160;
    }
    let mut analysis = Analysis::new(config, window_ns);
    let (mut generator, mut bytes) = (Generator::new(&scenario, seed), Vec::new());
    while let Some(frame) = generator.next_frame(&mut bytes) {
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: frame.original_bytes,
        };
        analysis.frame(frame.at_ns, &bytes, lengths);
    }
    let (connections, losses) = analysis.finish();
    Followed {
        truth: generator.truth(),
        connections,
        losses,
    }
}

/// Frames on their way through the observer and the pipeline, as a capture takes them.
pub(super) struct Analysis {
    clock: FrameClock,
    latest_ns: u64,
    mirror_lost: u64,
    tick_ns: u64,
    observer: Observer<Vec<Set>>,
    pipeline: Pipeline,
}

impl Analysis {
    pub(super) fn new(config: fn(u64) -> Config, window_ns: u64) -> Self {
        let settings = Settings {
            sketches: false,
            window_ns,
            ..Settings::default()
        };
        let config = config(settings.window_ns);
        let slot: Slot = bytemuck::Zeroable::zeroed();
        Self {
            clock: FrameClock::default(),
            latest_ns: 0,
            mirror_lost: 0,
            tick_ns: config.tick_ns,
            observer: Observer::new(config, vec![[slot; 2]; 4_096]),
            pipeline: Pipeline::new(settings).unwrap(),
        }
    }

    pub(super) fn frame(&mut self, at_ns: u64, bytes: &[u8], lengths: FrameLengths) {
        let clock = Ticks {
            now_ns: self.clock.correct(at_ns, 0),
            tick_ns: self.tick_ns,
        };
        if !self.pipeline.is_current(clock.now_ns) {
            self.observer.flush(Some(clock.tick()), &mut self.pipeline);
            self.pipeline.turn(clock.now_ns, self.observer.counters());
        }
        self.observer
            .observe(bytes, LinkType::Ethernet, lengths, 0, &clock, &mut self.pipeline);
        let before_ns = std::mem::replace(&mut self.latest_ns, clock.now_ns);
        let mirror_lost = self.observer.counters().mirror_lost;
        if std::mem::replace(&mut self.mirror_lost, mirror_lost) < mirror_lost {
            self.pipeline.mirror_lost(before_ns, clock.now_ns);
        }
    }

    /// The connections, and the losses that were reported.
    pub(super) fn finish(mut self) -> (Vec<Connection>, Vec<EventRow>) {
        self.observer.flush(None, &mut self.pipeline);
        self.pipeline.finish(self.observer.counters());
        let rows = std::mem::take(self.pipeline.rows());
        let mut losses: Vec<EventRow> = rows.events;
        losses.retain(|event| &*event.kind == "loss");
        (connections(rows.connections), losses)
    }
}

/// One row of each direction: the latest.
fn connections(rows: Vec<ConnectionRow>) -> Vec<Connection> {
    let mut found: BTreeMap<_, Connection> = BTreeMap::new();
    for row in rows {
        let connection = found.entry(row.connection).or_default();
        let direction = match &*row.role {
            "b_to_a" => &mut connection.b_to_a,
            _ => &mut connection.a_to_b,
        };
        if direction.as_ref().is_none_or(|known| known.time_ns <= row.time_ns) {
            *direction = Some(row);
        }
    }
    found.into_values().collect()
}
