//! Generates a class and analyses it.

use rocescope::output::connections::{Connection, gather};
use rocescope_capture::file::FrameReader;
use rocescope_generate::{self as generate, Scenario, Truth};
use rocescope_model::EventRow;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::Clock;
use rocescope_record::{Config, Observer, Slot};

/// A scenario with CM keeps this many bytes of a frame.
const HEADERS_AND_MAD: u32 = 400;

/// A scenario, generated and analysed.
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
    let mut capture = Vec::new();
    let truth = generate::write(&scenario, seed, &mut capture).unwrap();
    let settings = Settings {
        sketches: false,
        window_ns,
        ..Settings::default()
    };
    let config = config(settings.window_ns);
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(config, vec![[slot; 2]; 4_096]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut reader = FrameReader::new(&capture[..]).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        let clock = Ticks {
            now_ns: frame.time_ns,
            tick_ns: config.tick_ns,
        };
        if !pipeline.is_current(clock.now_ns) {
            observer.flush(Some(clock.tick()), &mut pipeline);
            pipeline.turn(clock.now_ns, observer.counters());
        }
        let link = frame.link.unwrap();
        observer.observe(frame.bytes, link, frame.lengths, 0, &clock, &mut pipeline);
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    let rows = std::mem::take(pipeline.rows());
    let mut losses: Vec<EventRow> = rows.events;
    losses.retain(|event| &*event.kind == "loss");
    Followed {
        truth,
        connections: gather(rows.connections),
        losses,
    }
}
