//! A scenario, generated, analyzed and compared with what was planted.

use super::cases::{ALL_TO_ALL, Case};
use rocescope_diagnose::incidents::{Captured, Incident};
use rocescope_generate::{Generator, Scenario};
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::{Pipeline, Settings};
use rocescope_record::{Clock, Config, Observer, Slot};
use rocescope_wire::{FrameLengths, LinkType};
use std::fmt;

/// What was reported of the planted faults.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) planted: u64,
    pub(super) right: u64,
    pub(super) further: u64,
    wrong: Vec<String>,
}

impl Judged {
    pub(super) fn is_perfect(&self) -> bool {
        self.right == self.planted && self.further == 0
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.planted += other.planted;
        self.right += other.right;
        self.further += other.further;
    }
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            planted,
            right,
            further,
            wrong,
        } = self;
        write!(f, "{right} of {planted} right, {further} further{}", wrong.concat())
    }
}

pub(super) fn judge(case: &Case, seed: u64) -> Judged {
    let text = format!("{ALL_TO_ALL}{}", case.groups.concat());
    let mut left = incidents(&Scenario::parse(&text).unwrap(), seed);
    let mut judged = Judged {
        planted: case.expected.len() as u64,
        ..Judged::default()
    };
    for (class, place) in case.expected {
        match left
            .iter()
            .position(|one| one.class == *class && one.place.name == *place)
        {
            Some(at) => {
                left.remove(at);
                judged.right += 1;
            }
            None => judged.wrong.push(format!("\n    not reported: {class} {place}")),
        }
    }
    judged.further = left.len() as u64;
    judged.wrong.extend(
        left.iter()
            .map(|one| format!("\n    further: {} {}", one.class, one.sentence())),
    );
    judged
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
