//! `rocescope top`: finished windows in the terminal, or printed.
//!
//! The main thread drives the source; a player of the view draws and reads keys in other threads.
//!
//! | module | what it does |
//! |---|---|
//! | `file`, `live`, `dataset` | the sources: each feeds windows |
//! | `this_host` | the counters of this host, beside a live capture |
//! | `feed` | the destination of windows: the screen, or standard output |
//! | `process` | this process, as the thread that draws uses it |
//! | `once` | prints windows as text, JSON and CSV |
//! | `appearance` | theme, characters and keys from arguments and environment |

mod appearance;
mod dataset;
mod feed;
mod file;
mod live;
mod once;
mod process;
mod this_host;

use super::readable::files;
use crate::arguments::TopArguments;
use anyhow::{Context, Result, anyhow, bail, ensure};
use feed::Feed;
use once::Printer;
use rocescope_model::Time;
use rocescope_runtime::signals::{SIGHUP, SIGQUIT, Signals};
use rocescope_view::once::Arrival;
use rocescope_view::{Control, Header, Motion, Pane, Stage, Stopped};
use std::io::IsTerminal;
use std::process::ExitCode;

pub(super) fn run(arguments: &TopArguments) -> Result<ExitCode> {
    let is_printed = arguments.once.is_printed()?;
    if !is_printed {
        on_a_terminal()?;
    }
    let signals = Signals::install_persistent()?;
    if is_printed {
        signals.ender().exit_on_next_signal()?;
    } else {
        // These would end the process without restoring the terminal. A live capture reloads its
        // configuration on SIGHUP.
        signals.end_at(SIGQUIT)?;
        if arguments.live.interfaces.is_empty() {
            signals.end_at(SIGHUP)?;
        }
    }
    let files = files(&arguments.inputs, &arguments.read, &arguments.span)?;
    let done = if !files.is_empty() {
        file::run(files, arguments, &signals)
    } else if let Some(root) = arguments.inputs.first() {
        dataset::run(root, arguments, &signals)
    } else {
        live::run(arguments, signals)
    };
    match done {
        // Quitting is not an error.
        Err(error) if error.is::<Stopped>() => Ok(ExitCode::SUCCESS),
        done => done.map(|()| ExitCode::SUCCESS),
    }
}

/// Checks that there is a terminal to draw on.
fn on_a_terminal() -> Result<()> {
    const INSTEAD: &str = "--once -o table|json|csv prints a window instead, -o jsonl every window";
    ensure!(
        std::io::stdout().is_terminal(),
        "standard output is not a terminal: {INSTEAD}"
    );
    if std::env::var("TERM").is_ok_and(|term| term == "dumb") {
        bail!("TERM=dumb: the terminal cannot draw a screen: {INSTEAD}");
    }
    if !std::io::stdin().is_terminal() {
        // Keys come from the terminal itself if standard input is the capture.
        std::fs::File::open("/dev/tty").with_context(|| format!("no terminal to read keys from: {INSTEAD}"))?;
    }
    Ok(())
}

/// Why a capture has no loopback tests.
const NO_LOOPBACK: &str = "only a dataset has loopback tests inside hosts: `rocescope hostping run --out` writes them";

/// The error for `--at` after the last window.
fn too_late(at: Time, last_ns: Option<i64>) -> anyhow::Error {
    match last_ns {
        Some(last) => anyhow!("--at {at} is after the last window, which starts at {}", Time(last)),
        None => anyhow!("--at {at}: no windows"),
    }
}

/// A feed for the source that `header` describes: the screen, which starts with the pane, or standard output.
fn feed(arguments: &TopArguments, header: Header, seekable: bool, pane: Pane) -> Result<Feed> {
    if arguments.once.is_printed()? {
        // A capture has applied the filter to packets already.
        let filter = arguments.filter.as_ref().filter(|_| seekable);
        let arrival = match header.motion {
            Motion::Live => Arrival::Live,
            _ if seekable => Arrival::Whole,
            _ => Arrival::Later,
        };
        let printer = Printer::new(arguments, filter, arrival)?;
        return Ok(Feed::printed(printer));
    }
    let motion = header.motion;
    let control = match motion {
        Motion::Live => Control::new(1.0, false),
        _ => Control::new(arguments.speed, motion == Motion::Paused),
    };
    let options = appearance::options(&arguments.appearance, seekable);
    let mut view = rocescope_view::View::new(header, options);
    view.turn_to_pane(pane);
    if let Some(by) = arguments.appearance.by {
        view.group_by(by);
    }
    if let Some(column) = &arguments.appearance.sort {
        view.sort(Pane::Flows, column)
            .map_err(|error| anyhow!("--sort: {error}"))?;
    }
    if let (Some(filter), true) = (&arguments.filter, seekable) {
        view.set_filter(filter.text())?;
    }
    Ok(Feed::screen(
        Stage {
            view,
            fps: arguments.appearance.fps,
            mouse: arguments.appearance.mouse,
        },
        control,
        motion == Motion::Live,
    ))
}
