//! Plays a capture file.

use super::feed::TappedFeed;
use crate::arguments::TopArguments;
use crate::commands::input;
use crate::requests;
use anyhow::Result;
use rocescope_engine::origin::Origin;
use rocescope_engine::{EngineError, Notices, Session, replay};
use rocescope_model::Time;
use rocescope_runtime::Signals;
use rocescope_view::{Header, Motion, Pane};
use std::cell::Cell;
use std::path::PathBuf;
use std::rc::Rc;

pub(super) fn run(files: &[PathBuf], arguments: &TopArguments, signals: &Signals) -> Result<()> {
    let request = requests::top(arguments, true)?.intake;
    let mut reader = input::open(files, signals)?;
    let origin = Origin::files(&reader);
    let header = Header {
        source: origin.source.clone(),
        mode: origin.mode.clone(),
        motion: Motion::Speed(arguments.speed),
        no_counters: Some("a capture file has no counters of hosts".into()),
        no_loopback: Some(super::NO_LOOPBACK.into()),
        ..Header::default()
    };
    let mut feed = super::feed(arguments, header, false, Pane::Flows)?;
    feed.begin(signals.ender(), None)?;
    let feed = TappedFeed::new(feed);
    let at_ns = arguments.at.map(|time| time.0);
    let last_ns = Rc::new(Cell::new(None));
    let newest_ns = Rc::clone(&last_ns);
    let tap = feed.tap(
        &arguments.appearance.hosts.names(),
        arguments.measure.mirror_sampling,
        move |rows| {
            if let Some(window) = rows.windows.first() {
                newest_ns.set(Some(window.window_start_ns));
                let end_ns = window.window_start_ns.saturating_add(window.window_ns);
                if at_ns.is_some_and(|at| end_ns <= at) {
                    // Connections are tracked from the first frame.
                    rows.windows.clear();
                    rows.flows.clear();
                    rows.opcodes.clear();
                }
            }
            None
        },
    );
    let play = || -> Result<()> {
        let mut session = Session::open(&request, &origin, &Notices::default())?;
        session.tap(tap);
        let read = replay::replay(&mut reader, &mut session, signals, |_| {});
        if let Err(EngineError::Stopped) = read {
            return Ok(read?);
        }
        // Results from before the input error are still valid.
        let outcome = session.finish()?;
        read?;
        outcome.check()?;
        let window_ns = i64::try_from(request.settings.window_ns).unwrap_or(i64::MAX);
        let is_late = |at: Time| last_ns.get().is_none_or(|last| last + window_ns <= at.0);
        match arguments.at.filter(|at| is_late(*at)) {
            Some(at) => Err(super::too_late(at, last_ns.get())),
            None => Ok(()),
        }
    };
    feed.finish(play())
}
