//! `rocescope compare`: what changed between two datasets, or two times of one.

use super::report::{collect, origin, selected, terminal_width, unknown};
use super::span::{self, CONNECTIONS_NS};
use crate::arguments::{CompareArguments, Output, SpanArguments};
use anyhow::{Result, bail};
use rocescope_model::hosts::Hosts;
use rocescope_model::{ConnectionRow, Time, json};
use rocescope_report::Scope;
use rocescope_report::compare::connections::ConnectionSpan;
use rocescope_report::compare::{Comparison, Side, text};
use rocescope_store::{Query, TimeRange};
use std::path::Path;
use std::process::ExitCode;

/// Every flow of both sides is compared, not only the largest.
const ALL_FLOWS: usize = rocescope_report::collect::FOLLOWED_FLOWS;

pub(super) fn run(arguments: &CompareArguments) -> Result<ExitCode> {
    let of_b = SpanArguments {
        from: arguments.with_from,
        to: arguments.with_to,
        last: None,
    };
    let b = arguments.b.as_deref().unwrap_or(&arguments.a);
    let observer = arguments.observer.as_deref();
    let a = side(&arguments.a, &arguments.span, observer)?;
    let b = side(b, &of_b, observer)?;
    let comparison = Comparison::of(&a, &b, arguments.top);
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => hosts.json(&(json::pretty(&comparison) + "\n")),
        Output::Table => text::document(&comparison, &hosts, terminal_width()),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn side(root: &Path, span: &SpanArguments, observer: Option<&str>) -> Result<Side> {
    let time = span::range(span)?;
    // Connections: the last row before the span, and the one after its end.
    let wide = TimeRange {
        from: time.from.map(|from| Time(from.0.saturating_sub(CONNECTIONS_NS))),
        ..time.extended(CONNECTIONS_NS)
    };
    let found = Query::default().within(wide).open(root)?;
    let scope = Scope {
        top: ALL_FLOWS,
        from: time.from,
        to: time.to,
        observer: observer.map(str::to_owned),
        ..Scope::default()
    };
    let report = collect((&found, &found), scope, || {
        origin(root, observer, &Hosts::default(), &found)
    })?;
    if let Some(observer) = observer
        && report.observers.is_empty()
    {
        unknown(observer, &rocescope_store::scan(root)?)?;
    }
    if report.is_empty() && report.mesh.is_none() {
        match span::nothing(root, span)? {
            Some(nothing) => return Err(nothing),
            None => bail!("{} has no windows and no probes", root.display()),
        }
    }
    let bound = |time: Option<Time>| time.map(|time| time.0);
    let mut connections = ConnectionSpan::new(bound(time.from), bound(time.to));
    for rows in selected::<ConnectionRow>(&found, observer, wide).batches() {
        rows?.iter().for_each(|row| connections.add(row));
    }
    Ok(Side { report, connections })
}
