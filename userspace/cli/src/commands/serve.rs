//! `rocescope serve`: a dataset as a page for browsers, and the page of commands that make rows.

use crate::arguments::{PageArguments, ServeArguments};
use anyhow::{Context, Result};
use rocescope_engine::intake::Tap;
use rocescope_model::hosts::Hosts;
use rocescope_page::{Feed, Page, Settings};
use rocescope_runtime::Signals;
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Interval between two checks of signals.
const POLL: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &ServeArguments) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let page = Page::start(&Settings {
        address: arguments.listen,
        access: arguments.access.access(),
        title: arguments.dataset.display().to_string(),
        dataset: Some(arguments.dataset.clone()),
        is_fed: false,
        names: arguments.hosts.names(),
        mirror_sampling: None,
        clock: Arc::new(now),
    })?;
    status!("page at {}", page.url());
    while !signals.ended() {
        thread::sleep(POLL);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a command that makes rows shows.
pub(super) struct Shown {
    pub(super) title: String,
    pub(super) dataset: Option<PathBuf>,
    pub(super) is_fed: bool,
    pub(super) names: Arc<Hosts>,
    pub(super) mirror_sampling: Option<u64>,
}

/// Serves the page of a command that makes rows, if one is asked for.
pub(super) fn page(arguments: &PageArguments, shown: Shown) -> Result<Option<Page>> {
    let Some(address) = arguments.page else { return Ok(None) };
    let page = Page::start(&Settings {
        address,
        access: arguments.access.access(),
        title: shown.title,
        dataset: shown.dataset,
        is_fed: shown.is_fed,
        names: shown.names,
        mirror_sampling: shown.mirror_sampling,
        clock: Arc::new(now),
    });
    let page = page.context("--page")?;
    status!("page at {}", page.url());
    Ok(Some(page))
}

/// Shows the rows of windows before a tap passes them on.
pub(super) fn tap(feed: Feed, mut next: Option<Tap>) -> Tap {
    Box::new(move |rows| {
        feed.rows(rows);
        next.as_mut().map_or(ControlFlow::Continue(()), |next| next(rows))
    })
}
