//! `rocescope compare`: what changed between two datasets, or two times of one.

use super::readable::{Readable, readable};
use super::report::{terminal_width, unknown};
use super::span;
use crate::arguments::{CompareArguments, Format, SpanArguments};
use crate::rows;
use anyhow::{Result, bail};
use rocescope_analysis::report::{CONNECTIONS_NS, collect, incidents_of, last_totals, open, origin, selected};
use rocescope_model::hosts::Hosts;
use rocescope_model::{ConnectionRow, Resolution, Time, json};
use rocescope_report::compare::connections::ConnectionSpan;
use rocescope_report::compare::{Comparison, Side, text};
use rocescope_report::{Origin, Scope};
use rocescope_store::TimeRange;
use std::process::ExitCode;
use std::slice;

/// Every flow of both sides is compared, not only the largest.
const ALL_FLOWS: usize = rocescope_report::collect::FOLLOWED_FLOWS;

pub(super) fn run(arguments: &CompareArguments) -> Result<ExitCode> {
    let of_b = SpanArguments {
        from: arguments.with_from,
        to: arguments.with_to,
        last: None,
    };
    let observer = arguments.observer.as_deref();
    let hosts = arguments.hosts.names();
    let source_a = readable(slice::from_ref(&arguments.a))?;
    let source_b = arguments.b.as_ref().map(|b| readable(slice::from_ref(b))).transpose()?;
    let a = side(&source_a, &arguments.span, arguments.resolution, (observer, &hosts))?;
    let b = side(
        source_b.as_ref().unwrap_or(&source_a),
        &of_b,
        arguments.resolution,
        (observer, &hosts),
    )?;
    let comparison = Comparison::of(&a, &b, arguments.top);
    crate::print(&match arguments.output {
        Format::Json => hosts.json(&(json::pretty(&comparison) + "\n")),
        Format::Table => text::document(&comparison, &hosts, terminal_width()),
        format => rows::text(&comparison.rows(), format, &hosts),
    })?;
    source_a.check()?;
    source_b.map_or(Ok(()), Readable::check)?;
    Ok(ExitCode::SUCCESS)
}

fn side(
    source: &Readable,
    span: &SpanArguments,
    resolution: Option<Resolution>,
    (observer, names): (Option<&str>, &Hosts),
) -> Result<Side> {
    let root = &source.root;
    let time = span::range(span)?;
    // Connections: the last row before the span, and the one after its end.
    let wide = TimeRange {
        from: time.from.map(|from| Time(from.0.saturating_sub(CONNECTIONS_NS))),
        ..time.extended(CONNECTIONS_NS)
    };
    let found = open(root, time, wide, resolution)?;
    let scope = Scope {
        top: ALL_FLOWS,
        from: time.from,
        to: time.to,
        observer: observer.map(str::to_owned),
        ..Scope::default()
    };
    let mut report = collect((&found, &found), scope, || Origin {
        dataset: source.name.clone(),
        ..origin(root, observer, &Hosts::default(), &found)
    })?;
    report.incidents = Some(incidents_of(root, time, names, &found)?);
    if let Some(observer) = observer
        && report.observers.is_empty()
    {
        unknown(observer, &rocescope_store::scan(root)?)?;
    }
    if report.is_empty() && report.mesh.is_none() {
        match span::nothing(root, span)? {
            Some(nothing) => return Err(nothing),
            None => bail!("{} has no windows and no probes", source.name),
        }
    }
    let bound = |time: Option<Time>| time.map(|time| time.0);
    let mut connections = ConnectionSpan::new(bound(time.from), bound(time.to));
    let before = TimeRange {
        from: None,
        to: time.from,
    };
    let last = last_totals(time, time.from.map(|_| before));
    for rows in selected::<ConnectionRow>(&found, observer, wide)
        .last_of_each(last)
        .batches()
    {
        rows?.into_iter().for_each(|row| connections.add(row));
    }
    Ok(Side { report, connections })
}
