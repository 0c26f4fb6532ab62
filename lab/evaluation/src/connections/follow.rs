//! Generates a class and analyzes it.

use rocescope_generate::{self as generate, Generator, Scenario, Truth};
use rocescope_model::{ConnectionRow, EventRow};
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Clock, Config, Observer, Slot};
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
        // Headers suffice.
        scenario.snaplen = 96;
    }
    let settings = Settings {
        sketches: false,
        window_ns,
        ..Settings::default()
    };
    let config = config(settings.window_ns);
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(config, vec![[slot; 2]; 4_096]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let (mut generator, mut bytes) = (Generator::new(&scenario, seed), Vec::new());
    while let Some(frame) = generator.next_frame(&mut bytes) {
        let clock = Ticks {
            now_ns: frame.at_ns,
            tick_ns: config.tick_ns,
        };
        if !pipeline.is_current(clock.now_ns) {
            observer.flush(Some(clock.tick()), &mut pipeline);
            pipeline.turn(clock.now_ns, observer.counters());
        }
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: frame.original_bytes,
        };
        observer.observe(&bytes, LinkType::Ethernet, lengths, 0, &clock, &mut pipeline);
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    let rows = std::mem::take(pipeline.rows());
    let mut losses: Vec<EventRow> = rows.events;
    losses.retain(|event| &*event.kind == "loss");
    Followed {
        truth: generator.truth(),
        connections: connections(rows.connections),
        losses,
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
