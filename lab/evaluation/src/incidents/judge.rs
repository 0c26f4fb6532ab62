//! A scenario, generated, analyzed and compared with what was planted.

use super::cases::{ALL_TO_ALL, Case};
use super::judged::{Judged, Planted};
use rocescope_diagnose::incidents::{Captured, Incident};
use rocescope_generate::{Generator, Scenario};
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Clock, Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};

pub(super) fn judge(case: &Case, seed: u64) -> Judged {
    let text = format!("{ALL_TO_ALL}{}", case.groups.concat());
    let found = incidents(&Scenario::parse(&text).unwrap(), seed);
    let planted: Vec<Planted<'_>> = case
        .expected
        .iter()
        .map(|(class, place)| -> Planted<'_> {
            let is_it = move |one: &Incident| one.class == *class && one.place.name == *place;
            (format!("{class} {place}"), Box::new(is_it))
        })
        .collect();
    Judged::of(&planted, found)
}

struct At(u64);

impl Clock for At {
    fn tick(&self) -> u64 {
        self.0
    }

    fn now(&self) -> u64 {
        self.0
    }
}

/// As a capture of a file reports them.
fn incidents(scenario: &Scenario, seed: u64) -> Vec<Incident> {
    let settings = Settings {
        sketches: false,
        observer: "local".into(),
        connections: Some(ConnectionSettings::default()),
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let slot: Slot = bytemuck::Zeroable::zeroed();
    let mut observer = Observer::new(config, vec![[slot; 2]; 4_096]);
    let mut pipeline = Pipeline::new(settings).unwrap();
    let mut captured = Captured::default();
    let (mut generator, mut bytes) = (Generator::new(scenario, seed), Vec::new());
    while let Some(frame) = generator.next_frame(&mut bytes) {
        let clock = At(frame.at_ns);
        if !pipeline.is_current(clock.0) {
            observer.flush(Some(clock.tick()), &mut pipeline);
            pipeline.turn(clock.0, observer.counters());
            captured.rows(&std::mem::take(pipeline.rows()));
        }
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: frame.original_bytes,
        };
        observer.observe(&bytes, LinkType::Ethernet, lengths, 0, &clock, &mut pipeline);
    }
    observer.flush(None, &mut pipeline);
    pipeline.finish(observer.counters());
    captured.rows(&std::mem::take(pipeline.rows()));
    captured.document().incidents
}
