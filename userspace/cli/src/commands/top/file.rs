//! A capture file, played.

use super::Stopped;
use crate::arguments::TopArguments;
use crate::commands::capture;
use crate::intake::Tap;
use crate::progress::Progress;
use crate::session::Session;
use crate::signals::Signals;
use anyhow::{Context, Result};
use rocescope_capture::file::FrameReader;
use rocescope_model::Time;
use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::ConnectionSettings;
use rocescope_pipeline::filter::RunFilter;
use rocescope_record::Config;
use rocescope_view::{Header, Motion, Pane};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

/// Connections are reported this often at most, in event time: half of how often it is looked for those
/// that are due, so that each is at every look.
const REPORT_NS: u64 = 500_000_000;

pub(super) fn run(path: &Path, arguments: &TopArguments, signals: &Signals) -> Result<()> {
    let settings = settings(arguments, true)?;
    let mut config = Config::exact(settings.window_ns);
    config.udp_ports = capture::ports(&arguments.udp_ports)?;
    let open = || -> Result<_> { Ok(FrameReader::new(capture::open(path, signals)?)?) };
    let mut reader = open().with_context(|| path.display().to_string())?;
    let piped = path == Path::new("-");
    let header = Header {
        source: path.display().to_string(),
        mode: if piped { "stdin" } else { "file" }.into(),
        motion: Motion::Speed(arguments.speed),
        ..Header::default()
    };
    let feed = Rc::new(RefCell::new(super::feed(
        arguments,
        header,
        false,
        Pane::Flows,
    )?));
    feed.borrow_mut().begin(signals.ender(), None)?;
    let (tapped, at_ns) = (Rc::clone(&feed), arguments.at.map(|time| time.0));
    let last_ns = Rc::new(Cell::new(None));
    let newest_ns = Rc::clone(&last_ns);
    let tap: Tap = Box::new(move |rows| {
        if let Some(window) = rows.windows.first() {
            newest_ns.set(Some(window.window_start_ns));
            let end_ns = window.window_start_ns.saturating_add(window.window_ns);
            if at_ns.is_some_and(|at| end_ns <= at) {
                // Connections are followed from the first frame.
                rows.windows.clear();
                rows.flows.clear();
                rows.opcodes.clear();
            }
        }
        tapped.borrow_mut().window(rows)
    });
    let play = || -> Result<()> {
        let mut session = Session::new(settings.clone(), config, crate::intake::Outlet::from(tap))?;
        let progress = Progress::new(None, true);
        let read = capture::drive(&mut reader, &mut session, &progress, signals);
        let read = read.with_context(|| path.display().to_string());
        if read.as_ref().is_err_and(anyhow::Error::is::<Stopped>) {
            return read;
        }
        // What was read before the file broke is worth as much as ever.
        let outcome = session.finish()?;
        read?;
        capture::verdict(&outcome)?;
        let window_ns = i64::try_from(settings.window_ns).unwrap_or(i64::MAX);
        let is_late = |at: Time| last_ns.get().is_none_or(|last| last + window_ns <= at.0);
        match arguments.at.filter(|at| is_late(*at)) {
            Some(at) => Err(super::too_late(at, last_ns.get())),
            None => Ok(()),
        }
    };
    let played = play();
    feed.borrow_mut().finish(played)
}

/// What is measured; connections too, and reported while they live.
pub(super) fn settings(arguments: &TopArguments, connections: bool) -> Result<Settings> {
    let measured = capture::settings(&arguments.measure, false);
    let connections = connections.then(|| ConnectionSettings {
        report_ns: REPORT_NS,
        ..ConnectionSettings::default()
    });
    Ok(Settings {
        connections,
        filter: arguments.filter.as_ref().map(RunFilter::new).transpose()?,
        ..measured
    })
}
