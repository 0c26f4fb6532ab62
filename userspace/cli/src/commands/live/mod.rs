//! `rocescope capture -i`: frames of interfaces in, the same summary and dataset out.
//!
//! | module | what it does |
//! |---|---|
//! | `plan` | which way frames are taken, and what that takes |
//! | `watch` | what ends a capture: signals, time, a command, the last interface |
//! | `reload` | the configuration, read again |
//! | `service` | what systemd hears |
//! | `xdp` | run records of the kernel, into the intake |
//! | `packet` | frames of packet sockets, into a session |

mod packet;
mod plan;
mod reload;
mod service;
mod watch;
mod xdp;

use super::capture::{self, Origin};
use crate::arguments::CaptureArguments;
use crate::intake::{Outcome, Outlet, Tap};
use crate::metrics::{self, Metrics};
use crate::output::{Live, Source};
use crate::signals::Signals;
use anyhow::{Context, Result, ensure};
use plan::{Plan, Way};
use rocescope_capture::interface::{Interface, Promiscuous};
use rocescope_capture::privileges;
use rocescope_pipeline::Settings;
use rocescope_pipeline::filter::words;
use rocescope_record::Config;
use std::process::ExitCode;
use watch::Watch;

/// Live captures mark one PSN in sixteen: as many round trips as are needed, few extra runs.
const MARK_MASK: u32 = 15;

pub(super) fn run(arguments: &CaptureArguments) -> Result<ExitCode> {
    let live = &arguments.live;
    let signals = Signals::install()?;
    let interfaces = find(&live.interfaces)?;
    let settings = capture::chosen(arguments);
    let config = capture::config(arguments, &settings)?;

    let plan = Plan::make(arguments, &interfaces, config)?;
    let promiscuous = promiscuous(&interfaces)?;
    let origin = Origin {
        source: names(&interfaces),
        mode: plan.mode_names(),
        clock_source: plan.clock_source(),
    };
    let dataset = capture::dataset(&arguments.dataset, &origin, &settings)?;
    let dropped_before: Vec<_> = interfaces.iter().map(Interface::dropped).collect();
    let mut report = plan.report(&interfaces);
    for (name, mode) in &report.interfaces {
        eprintln!("capturing on {name} by {mode}");
    }
    if matches!(plan.way, Way::Xdp(_)) {
        filtered(&settings, &config);
    }
    let outlet = Outlet::from(dataset).with_tap(metrics(arguments)?);
    let mut watch = Watch::begin(signals, interfaces.clone(), arguments)?;
    // From here on this process can do no more than any other; what it needs it holds open.
    privileges::drop_all().context("capabilities")?;
    let outcome = match plan.way {
        Way::Xdp(source) => xdp::drive(*source, settings, outlet, &mut watch, &mut report)?,
        Way::Packet(sockets) => {
            packet::drive(sockets, settings, config, outlet, &mut watch, &mut report)?
        }
    };
    drop(promiscuous);
    watch.end()?;
    report.nic_dropped = dropped_since(&interfaces, &dropped_before);
    finish(arguments, &origin.source, report, &outcome)
}

/// Says which part of a filter is applied in the kernel.
fn filtered(settings: &Settings, config: &Config) {
    if settings.filter.is_none() {
        return;
    }
    match words(&config.filter) {
        Some(words) => eprintln!("filter: `{words}` in the kernel, all of it behind it"),
        None => eprintln!("filter: nothing of it in the kernel, all of it behind it"),
    }
}

/// Begins to show figures, where that is asked for.
fn metrics(arguments: &CaptureArguments) -> Result<Option<Tap>> {
    let Some(address) = arguments.live.metrics else {
        return Ok(None);
    };
    let metrics = Metrics::new(arguments.live.metrics_flows);
    let bound = metrics::serve(address, metrics.clone(), &arguments.measure.observer)?;
    eprintln!("figures at http://{bound}/metrics");
    Ok(Some(Box::new(move |rows| {
        metrics.add(rows);
        Ok(())
    })))
}

fn finish(
    arguments: &CaptureArguments,
    name: &str,
    report: Live,
    outcome: &Outcome,
) -> Result<ExitCode> {
    let source = Source {
        name: name.into(),
        out: arguments.dataset.out.as_deref(),
        window: arguments.measure.window,
        verify_icrc: arguments.verify_icrc,
        input_error: None,
        live: Some(report),
    };
    capture::print(arguments.output, &source, outcome)?;
    capture::verdict(outcome)?;
    Ok(ExitCode::SUCCESS)
}

fn find(names: &[String]) -> Result<Vec<Interface>> {
    let mut found: Vec<Interface> = Vec::new();
    for name in names {
        let interface = Interface::find(name)
            .with_context(|| format!("{name}: no such interface (`ip link` lists them)"))?;
        ensure!(!found.contains(&interface), "{name} is given twice");
        found.push(interface);
    }
    Ok(found)
}

fn promiscuous(interfaces: &[Interface]) -> Result<Vec<Promiscuous>> {
    interfaces
        .iter()
        .map(|interface| {
            interface
                .promiscuous()
                .with_context(|| format!("{}: promiscuous mode", interface.name))
        })
        .collect()
}

fn names(interfaces: &[Interface]) -> String {
    let names: Vec<&str> = interfaces
        .iter()
        .map(|interface| interface.name.as_str())
        .collect();
    names.join(",")
}

/// What all interfaces dropped meanwhile; nothing is known where one does not tell.
fn dropped_since(interfaces: &[Interface], before: &[Option<u64>]) -> Option<u64> {
    let mut sum = 0;
    for (interface, before) in interfaces.iter().zip(before) {
        sum += interface.dropped()?.saturating_sub((*before)?);
    }
    Some(sum)
}
