//! Interfaces, as their frames come.

use super::file::settings;
use crate::arguments::{CaptureArguments, TopArguments};
use crate::commands::{capture, live};
use crate::intake::Tap;
use crate::signals::Signals;
use anyhow::Result;
use rocescope_pipeline::Settings;
use rocescope_view::{Header, Losses, Motion, Pane};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// What `capture` would be given for it, and what that means.
pub(in crate::commands) fn wanted(
    arguments: &TopArguments,
) -> Result<(CaptureArguments, Settings)> {
    let settings = settings(arguments, arguments.connections)?;
    let wanted = live::arguments(
        &arguments.live,
        &arguments.measure,
        &arguments.udp_ports,
        arguments.connections,
    );
    Ok((wanted, settings))
}

pub(super) fn run(arguments: &TopArguments, signals: Signals) -> Result<()> {
    let (wanted, settings) = wanted(arguments)?;
    let ender = signals.ender();
    let begun = live::Begun::new(&wanted, signals, &settings)?;
    let header = Header {
        source: begun.origin.source.clone(),
        mode: begun.origin.mode.clone(),
        motion: Motion::Live,
        losses: Losses {
            live: true,
            ..Losses::default()
        },
        no_connections: (!arguments.connections)
            .then(|| "connections are not followed: start with --connections".into()),
        ..Header::default()
    };
    let feed = super::feed(arguments, header, false, Pane::Flows)?;
    let feed = Rc::new(RefCell::new(feed));
    let drops = Arc::clone(&begun.drops);
    feed.borrow_mut().begin(ender, Some(drops))?;
    let tapped = Rc::clone(&feed);
    let mut metrics = live::metrics(&wanted, &begun)?;
    let tap: Tap = Box::new(move |rows| {
        if let Some(metrics) = &mut metrics {
            metrics(rows)?;
        }
        tapped.borrow_mut().window(rows)
    });
    let captured = begun.drive(&wanted, settings, tap.into());
    let captured = captured.and_then(|(_, outcome)| capture::verdict(&outcome));
    feed.borrow_mut().finish(captured)
}
