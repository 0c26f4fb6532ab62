//! Generated traffic as a capture box takes it.

use bytemuck::Zeroable;
use rocescope_generate::{Generator, Scenario, Truth};
use rocescope_model::WindowRows;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::observer::FrameTime;
use rocescope_record::{Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};

/// Captures the traffic of a scenario, and passes the rows of each window on. Returns the truth.
pub(crate) fn capture(
    scenario: &str,
    seed: u64,
    connections: ConnectionSettings,
    mut take: impl FnMut(WindowRows),
) -> Truth {
    let scenario = Scenario::parse(scenario).unwrap();
    let mut generator = Generator::new(&scenario, seed);
    let settings = Settings {
        sketches: false,
        observer: "local".into(),
        connections: Some(connections),
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let mut observer = Observer::new(config, vec![[Slot::zeroed(); 2]; 4_096]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut bytes = Vec::new();
    while let Some(frame) = generator.next_frame(&mut bytes) {
        if !pipeline.is_current(frame.at_ns) {
            observer.flush(Some(frame.at_ns), &mut pipeline);
            pipeline.turn(frame.at_ns, observer.counters());
            take(std::mem::take(pipeline.rows()));
        }
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: frame.original_bytes,
        };
        let clock = FrameTime(frame.at_ns);
        observer.observe(&bytes, LinkType::Ethernet, lengths, 0, &clock, &mut pipeline);
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    take(std::mem::take(pipeline.rows()));
    generator.truth()
}
