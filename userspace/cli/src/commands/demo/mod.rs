//! `rocescope demo`: every system without privileges or input, and what is wrong in all of it.
//!
//! | module | what it adds to the dataset |
//! |---|---|
//! | here | captures: real traffic, a generated scenario, a generated collective |
//! | `agents` | what agents send: probes of a mesh, counters of hosts, loopback tests |

mod agents;

use super::report::terminal_width;
use crate::arguments::DemoArguments;
use anyhow::{Context, Result};
use rocescope_analysis::report::incidents;
use rocescope_capture::file::{self, FrameReader};
use rocescope_engine::origin::Origin;
use rocescope_engine::{Session, replay};
use rocescope_generate::{self as generate, Generator, Scenario};
use rocescope_model::footer;
use rocescope_model::hosts::Hosts;
use rocescope_model::human::plural;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::settings::Jitter;
use rocescope_record::Config;
use rocescope_runtime::Signals;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::retention::Retention;
use rocescope_store::{Query, TimeRange};
use rocescope_wire::{FrameLengths, LinkType};
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Recorded from the soft-RoCE driver of Linux: a server that posts its receives late answers with
/// RNR NAKs, and a client that goes back and gives up.
const CAPTURE: &[u8] = include_bytes!("../../../assets/rnr_nak.pcap");
const CAPTURE_NAME: &str = "rnr_nak.pcap";
const SCENARIO_NAME: &str = "demo.toml";
const COLLECTIVE: &str = include_str!("../../../../../examples/collective/ring.toml");
const COLLECTIVE_NAME: &str = "ring.toml";
const SEED: u64 = 1;
/// The observers of the demo: a run replaces only their segments.
const OBSERVERS: [&str; 5] = ["soft-roce", "scenario", "ring", agents::FABRIC, agents::HOST];

pub(super) fn run(arguments: &DemoArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    remove_earlier(out)?;
    let dataset = out.display();
    crate::print(&format!("Into {dataset} go:\n"))?;

    let mut session = session(out, OBSERVERS[0], CAPTURE_NAME, false)?;
    let mut reader = FrameReader::new(CAPTURE).context(CAPTURE_NAME)?;
    replay::replay(&mut reader, &mut session, &Signals::install()?, |_| {})?;
    finish(session, "a capture of real traffic with a receiver that is not ready")?;

    let scenario = Scenario::parse(generate::DEMO).context(SCENARIO_NAME)?;
    let mut session = self::session(out, OBSERVERS[1], SCENARIO_NAME, false)?;
    play(&scenario, &mut session)?;
    finish(session, "generated traffic with elephants, mice, loss and congestion")?;

    let scenario = Scenario::parse(COLLECTIVE).context(COLLECTIVE_NAME)?;
    let mut session = self::session(out, OBSERVERS[2], COLLECTIVE_NAME, true)?;
    play(&scenario, &mut session)?;
    finish(session, "a generated all-reduce with a slow rank")?;

    agents::add(out)?;

    let document = incidents(out, TimeRange::default(), &Hosts::default())?;
    crate::print(&format!("\n{}\nNext:\n", document.text(terminal_width())))?;
    for (command, what) in [
        (format!("top {dataset}"), "the same, window by window"),
        (format!("report {dataset} --html report.html"), "one page with charts"),
        ("diagnose FILE".to_owned(), "a capture file of your own"),
    ] {
        crate::print(&format!("  rocescope {command:<44}  {what}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A rail of the demo carries 100 Mbit/s, not 400 Gbit/s: the thresholds are set to match.
fn session(out: &Path, observer: &'static str, source: &str, steps: bool) -> Result<Session> {
    let settings = Settings {
        observer: observer.into(),
        top: 10,
        connections: Some(ConnectionSettings {
            steps,
            ..ConnectionSettings::default()
        }),
        elephant_bps: 10e6,
        jitter: Jitter {
            relative: Some(0.2),
            absolute_bps: Some(2e6),
        },
        ..Settings::default()
    };
    let config = Config::exact(settings.window_ns);
    let options = Origin::file(Path::new(source)).options(&settings);
    let retention = Retention {
        root: out.to_owned(),
        ..Retention::default()
    };
    let dataset = Dataset::open(options, retention, None)?;
    Ok(Session::new(settings, config, Some(dataset))?)
}

fn play(scenario: &Scenario, session: &mut Session) -> Result<()> {
    let mut generator = Generator::new(scenario, SEED);
    let mut bytes = Vec::new();
    while let Some(made) = generator.next_frame(&mut bytes) {
        let lengths = FrameLengths {
            captured: bytes.len() as u32,
            original: made.original_bytes,
        };
        session.frame(&file::Frame {
            bytes: &bytes,
            link: Some(LinkType::Ethernet),
            lengths,
            time_ns: made.at_ns,
            interface: 0,
        })?;
    }
    Ok(())
}

fn finish(session: Session, what: &str) -> Result<()> {
    let outcome = session.finish()?;
    outcome.check()?;
    crate::print(&format!(
        "  {what} ({})\n",
        plural(outcome.counters.roce_packets, "packet")
    ))
}

/// Removes only the segments of an earlier demo.
fn remove_earlier(out: &Path) -> Result<()> {
    if !out.is_dir() {
        return Ok(());
    }
    let earlier = Query::default().observers(OBSERVERS).scan(out)?;
    for segment in &earlier.segments {
        let observer = segment.footer(footer::OBSERVER);
        if observer.is_some_and(|observer| OBSERVERS.contains(&observer)) {
            fs::remove_file(&segment.path).with_context(|| segment.path.display().to_string())?;
        }
    }
    Ok(())
}
