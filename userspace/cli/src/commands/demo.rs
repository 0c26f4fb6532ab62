//! `rocescope demo`: the whole pipeline, without privileges or input.

use super::judging::judging;
use crate::arguments::DemoArguments;
use crate::color;
use anyhow::{Context, Result};
use rocescope_analysis::incidents::{Judging, Reports};
use rocescope_capture::file::{self, FrameReader};
use rocescope_engine::document::{Source, text};
use rocescope_engine::origin::Origin;
use rocescope_engine::{Session, replay};
use rocescope_generate::{self as generate, Generator, Scenario};
use rocescope_model::footer;
use rocescope_model::hosts::Hosts;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::settings::Jitter;
use rocescope_record::Config;
use rocescope_runtime::Signals;
use rocescope_runtime::dataset::Dataset;
use rocescope_runtime::retention::Retention;
use rocescope_store::Query;
use rocescope_wire::{FrameLengths, LinkType};
use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

/// Recorded from the soft-RoCE driver of Linux: a server that posts its receives late answers with
/// RNR NAKs, and a client that goes back and gives up.
const CAPTURE: &[u8] = include_bytes!("../../assets/rnr_nak.pcap");
const CAPTURE_NAME: &str = "rnr_nak.pcap";
const SCENARIO_NAME: &str = "demo.toml";
const SEED: u64 = 1;
/// The observers of the demo: a run replaces only their segments.
const OBSERVERS: [&str; 2] = ["soft-roce", "scenario"];

pub(super) fn run(arguments: &DemoArguments) -> Result<ExitCode> {
    let out = &arguments.out;
    remove_earlier(out)?;

    crate::print("A capture of real traffic with a receiver that is not ready:\n\n")?;
    let mut session = session(out, OBSERVERS[0], CAPTURE_NAME)?;
    let captured = judged(&mut session);
    let mut reader = FrameReader::new(CAPTURE).context(CAPTURE_NAME)?;
    replay::replay(&mut reader, &mut session, &Signals::install()?, |_| {})?;
    finish(session, &captured, CAPTURE_NAME, out)?;

    crate::print("\nA generated scenario with elephants, mice, loss and congestion:\n\n")?;
    let scenario = Scenario::parse(generate::DEMO).context(SCENARIO_NAME)?;
    let mut session = self::session(out, OBSERVERS[1], SCENARIO_NAME)?;
    let captured = judged(&mut session);
    play(&scenario, &mut session)?;
    finish(session, &captured, SCENARIO_NAME, out)?;

    crate::print(&format!(
        "\n{0} has the rows of both captures. Query it with DuckDB:\n\n  \
         duckdb -c \"SELECT observer, opcode, sum(packets) AS packets FROM \
         read_parquet('{0}/opcodes/**/*.parquet') GROUP BY ALL ORDER BY packets DESC\"\n\n\
         Next: `rocescope diagnose FILE` with your own capture.\n",
        out.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// A rail of the demo carries 100 Mbit/s, not 400 Gbit/s: the thresholds are set to match.
fn session(out: &Path, observer: &'static str, source: &str) -> Result<Session> {
    let settings = Settings {
        observer: observer.into(),
        top: 10,
        connections: Some(ConnectionSettings::default()),
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

/// Judges the rows of a session.
fn judged(session: &mut Session) -> Rc<RefCell<Judging>> {
    let (tap, captured) = judging(Reports::default(), None);
    session.tap(tap);
    captured
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

fn finish(session: Session, captured: &RefCell<Judging>, name: &str, out: &Path) -> Result<()> {
    let outcome = session.finish()?;
    let incidents = captured.borrow_mut().finish();
    outcome.check()?;
    let source = Source {
        name: name.into(),
        out: Some(out),
        window: Duration::from_secs(1),
        udp_ports: &[4791],
        hosts: &Hosts::default(),
        verify_icrc: false,
        files: &[],
        live: None,
        incidents: Some(&incidents),
        width: super::report::terminal_width(),
    };
    crate::print(&text::summary(&source, &outcome, color::of_stdout()))
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
