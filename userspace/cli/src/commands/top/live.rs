//! Interfaces, as their frames come.

use super::feed::Dropped;
use super::file::settings;
use crate::arguments::{CaptureArguments, DatasetArguments, Output, TopArguments};
use crate::commands::{capture, live};
use crate::intake::Tap;
use crate::signals::Signals;
use anyhow::Result;
use rocescope_capture::interface::Interface;
use rocescope_view::{Header, Losses, Motion};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn run(arguments: &TopArguments, signals: Signals) -> Result<()> {
    let settings = settings(arguments, arguments.connections)?;
    let wanted = capture_arguments(arguments);
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
    let interfaces = begun.interfaces.iter();
    let dropped = Dropped {
        interfaces: interfaces
            .map(|interface| (interface.clone(), Interface::dropped(interface)))
            .collect(),
        socket: Arc::clone(&begun.report.socket_dropped_so_far),
    };
    let feed = Rc::new(RefCell::new(super::feed(arguments, header, false)?));
    feed.borrow_mut().begin(ender, Some(dropped))?;
    let tapped = Rc::clone(&feed);
    let mut metrics = live::metrics(&wanted)?;
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

/// What `capture` would be given for the same.
fn capture_arguments(arguments: &TopArguments) -> CaptureArguments {
    CaptureArguments {
        read: None,
        output: Output::Table,
        check: None,
        filter: None,
        anonymize: None,
        connections: arguments.connections,
        verify_icrc: false,
        udp_ports: arguments.udp_ports.clone(),
        quiet: true,
        live: arguments.live.clone(),
        dataset: DatasetArguments {
            out: None,
            segment_age: Duration::ZERO,
            segment_bytes: 0,
            keep_age: None,
            keep_bytes: None,
            no_sketches: true,
        },
        measure: arguments.measure.clone(),
    }
}
