//! `rocescope counters`: what the NICs, their drivers and the host count. `outputs` writes rows to the dataset.

mod outputs;

use crate::arguments::{CountersArguments, Format};
use crate::rows;
use anyhow::{Context, Result, ensure};
use outputs::CounterOutputs;
use rocescope_agent::counters::document::{Lines, once as values};
use rocescope_agent::counters::{CounterMetrics, following, moment, serve, summary, unknown_metrics};
use rocescope_host::counters::queue_pairs::QueuePairs;
use rocescope_host::counters::reader::StatisticsFrom;
use rocescope_host::counters::{Reader, Rows, Sources, Wanted};
use rocescope_host::owner::Privacy;
use rocescope_model::hosts::Hosts;
use rocescope_model::human::plural;
use rocescope_model::{CounterRow, csv, json};
use rocescope_runtime::cost::Cost;
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::resources::allow_most_files;
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use std::process::ExitCode;
use std::time::Instant;

pub(super) fn run(arguments: &CountersArguments) -> Result<ExitCode> {
    // First, because parsing the command line needs the most memory.
    let cost = Cost::new()?;
    // A counter is a file.
    allow_most_files();
    let observer = match &arguments.observer {
        Some(observer) => observer.clone(),
        None => host_name()?,
    };
    let mut reader = reader(arguments, &observer)?;
    if arguments.queue_pairs && arguments.out.is_none() {
        ensure!(
            arguments.duration.is_none(),
            "--duration: queue pairs are printed once; add --out to write them until then"
        );
        let mut none = QueuePairs::default();
        let pairs = reader.queue_pair_rows(&mut none, moment(Instant::now()), arguments.refresh);
        let pairs = pairs.context("the kernel did not list the queue pairs")?;
        crate::print(&rows::text(&pairs, arguments.output, &Hosts::default()))?;
        if let Some(unknown) = reader.owners_notice().filter(|_| !arguments.quiet) {
            status!("{unknown}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.once {
        once(arguments, &mut reader)?;
        return Ok(ExitCode::SUCCESS);
    }
    let signals = Signals::install()?;
    cost.shrink()?;
    let mut outputs = CounterOutputs::open(arguments, &observer)?;
    let metrics = arguments.metrics.map(|address| serve(address, &observer)).transpose()?;
    watch(arguments, &signals, &mut reader, &mut outputs, metrics.as_ref(), &cost)?;
    let stored = outputs.finish()?;
    if !arguments.quiet {
        status!("{}", summary(reader.counts()));
    }
    if let Some(stored) = stored {
        if !arguments.quiet {
            status!(
                "{} in {}",
                plural(stored.rows, "row"),
                plural(stored.segments, "segment")
            );
        }
        ensure!(
            stored.lost == 0,
            "the disk was full or failed: {} rows were not written",
            stored.lost
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// The reader that the arguments ask for.
pub(super) fn reader(arguments: &CountersArguments, observer: &str) -> Result<Reader> {
    let sources = sources(arguments);
    let wanted = Wanted {
        devices: arguments.device.clone(),
        metrics: arguments.metric.clone(),
        interfaces: arguments.interfaces.clone(),
        owners: arguments.queue_pairs.then(|| Privacy {
            no_commands: arguments.no_commands,
            user_key: arguments.hash_users.clone(),
        }),
    };
    let class = sources.class();
    ensure!(
        arguments.sysfs_root.is_none() || class.is_dir(),
        "{} does not exist: --sysfs-root is the directory that replaces /sys",
        class.display()
    );
    for (option, root) in [
        ("--proc-root", &arguments.proc_root),
        ("--ethtool-root", &arguments.ethtool_root),
    ] {
        if let Some(root) = root {
            ensure!(root.is_dir(), "{option}: {} is no directory", root.display());
        }
    }
    let reader = Reader::new(sources, wanted, observer);
    if let Some(nothing) = unknown_devices(&reader, &arguments.device) {
        ensure!(
            !arguments.once || reader.unknown_devices().count() < arguments.device.len(),
            nothing
        );
        status!("{nothing}");
    }
    let absent: Vec<&str> = reader.absent_interfaces().collect();
    if !absent.is_empty() {
        status!(
            "-i {}: no such network interface; `ip link` lists them, and its counters are read once it is there",
            absent.join(" ")
        );
    }
    Ok(reader)
}

/// A line about the patterns of `--device` that no device matches.
fn unknown_devices(reader: &Reader, patterns: &[String]) -> Option<String> {
    let unknown: Vec<&str> = reader.unknown_devices().collect();
    if patterns.is_empty() || unknown.is_empty() {
        return None;
    }
    let names = reader.device_names();
    let known = match names.is_empty() {
        true => "there are no RDMA devices".to_owned(),
        false => format!("there are {}", names.join(", ")),
    };
    Some(format!("--device {}: no such device; {known}", unknown.join(" ")))
}

fn sources(arguments: &CountersArguments) -> Sources {
    let mut sources = match &arguments.sysfs_root {
        Some(root) => Sources::copy(root.clone()),
        None => Sources::this_host(),
    };
    if let Some(root) = &arguments.proc_root {
        sources.proc = Some(root.clone());
        // Users and pods are those of another host.
        sources.owners = None;
    }
    if let Some(root) = &arguments.ethtool_root {
        sources.ethtool = StatisticsFrom::Files(root.clone());
    }
    sources
}

/// Prints every value.
fn once(arguments: &CountersArguments, reader: &mut Reader) -> Result<()> {
    let mut rows = Vec::new();
    let moment = moment(Instant::now());
    reader.read(moment, Rows::All, &mut |row| rows.push(row));
    if let Some(nothing) = unknown_metrics(reader) {
        ensure!(reader.unknown_metrics().count() < arguments.metric.len(), nothing);
        status!("{nothing}");
    }
    crate::print(&match arguments.output {
        Format::Table => values::text(&rows),
        format => rows::text(&rows, format, &Hosts::default()),
    })?;
    if !arguments.quiet {
        if reader.devices().next().is_none() && arguments.device.is_empty() {
            status!("no RDMA device: only the host and the named interfaces are read");
        }
        if reader.counts().unreadable > 0 {
            status!("{}", summary(reader.counts()));
        }
    }
    Ok(())
}

/// Reads at every interval until a signal or the end of the duration.
fn watch(
    arguments: &CountersArguments,
    signals: &Signals,
    reader: &mut Reader,
    outputs: &mut CounterOutputs,
    metrics: Option<&CounterMetrics>,
    cost: &Cost,
) -> Result<()> {
    let mut queue_pairs = arguments.queue_pairs.then(QueuePairs::default);
    let mut service = Service::default();
    let begun = Instant::now();
    let mut lines = Lines::default();
    let mut rows: Vec<CounterRow> = Vec::new();
    let prints = !arguments.quiet && (arguments.out.is_none() || arguments.output != Format::Table);
    let mut next = begun;
    cost.shrink()?;
    loop {
        let read = Instant::now();
        service.alive(read);
        let changed = Rows::Changed(arguments.refresh);
        reader.read(moment(begun), changed, &mut |row| rows.push(row));
        if reader.counts().reads == 1
            && let Some(nothing) = unknown_metrics(reader)
        {
            status!("{nothing}");
        }
        let pairs = match &mut queue_pairs {
            // A failed read is counted, and what was known stays.
            Some(known) => reader
                .queue_pair_rows(known, moment(begun), arguments.refresh)
                .unwrap_or_default(),
            None => Vec::new(),
        };
        cost.shrink()?;
        outputs.append(&rows, &pairs)?;
        if let Some(unknown) = reader.owners_notice() {
            status!("queue pairs: {unknown}");
        }
        if let Some(metrics) = metrics {
            metrics.update(&rows);
        }
        if prints {
            crate::print(&match arguments.output {
                Format::Table => lines.text(&rows),
                Format::Json => json::compact(&json::Rows(&rows, |_: &_| true)) + "\n",
                Format::Csv if reader.counts().reads > 1 => csv::rows(&rows),
                format => rows::text(&rows, format, &Hosts::default()),
            })?;
        }
        rows.clear();
        cost.shrink()?;
        next = following(next, read, arguments.interval);
        let end = arguments.duration.map(|duration| begun + duration);
        loop {
            let left = next.min(end.unwrap_or(next)).saturating_duration_since(Instant::now());
            if signals.ended() || end.is_some_and(|end| Instant::now() >= end) {
                Service::stopping();
                return Ok(());
            }
            if left.is_zero() {
                break;
            }
            signals.wait(left);
        }
    }
}
