//! Generates a class and analyses it.

use rocescope::output::connections::{Connection, gather};
use rocescope_capture::file::FrameReader;
use rocescope_engine::session::Session;
use rocescope_generate::{self as generate, Scenario, Truth};
use rocescope_model::EventRow;
use rocescope_pipeline::Settings;
use rocescope_record::Config;

/// A scenario, generated and analysed.
pub(super) struct Followed {
    pub(super) truth: Truth,
    pub(super) connections: Vec<Connection>,
    pub(super) losses: Vec<EventRow>,
}

pub(super) fn class(name: &str) -> Scenario {
    Scenario::parse(generate::class(name).unwrap()).unwrap()
}

/// As from a file: the exact time of every packet.
pub(super) fn follow(scenario: &Scenario, seed: u64) -> Followed {
    follow_with(scenario, seed, Config::exact)
}

/// With the configuration of records that `config` makes for a length of windows.
pub(super) fn follow_with(scenario: &Scenario, seed: u64, config: fn(u64) -> Config) -> Followed {
    // Headers suffice.
    let mut scenario = scenario.clone();
    scenario.snaplen = 96;
    let mut capture = Vec::new();
    let truth = generate::write(&scenario, seed, &mut capture).unwrap();
    let settings = Settings {
        sketches: false,
        ..Settings::default()
    };
    let config = config(settings.window_ns);
    let mut session = Session::new(settings, config, None).unwrap();
    session.keep_connections();
    let mut reader = FrameReader::new(&capture[..]).unwrap();
    while let Some(frame) = reader.next_frame().unwrap() {
        session.frame(&frame).unwrap();
    }
    let kept = session.finish().unwrap().kept.unwrap();
    let mut losses: Vec<EventRow> = kept.events;
    losses.retain(|event| &*event.kind == "loss");
    Followed {
        truth,
        connections: gather(kept.connections),
        losses,
    }
}
