//! `rocescope paths prometheus`: counters of switches from a Prometheus server.

use super::mappings::mappings;
use super::secret;
use super::switch_rows::Rows;
use crate::arguments::{Output, PrometheusArguments};
use crate::commands::{span, topology};
use anyhow::{Result, anyhow, bail};
use rocescope_collector::http::{Access, Client};
use rocescope_paths::document::polled::{Polled, document, text};
use rocescope_paths::prometheus::{Mapping, PRESETS, Prometheus};
use rocescope_paths::switch::Names;
use rocescope_runtime::clock::now;
use rocescope_runtime::{Signals, status};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Bytes of an answer, at most: a metric of 250,000 queues has some 60 MB.
const MAX_ANSWER: usize = 256 << 20;

/// The span that is read at the start: it has a scrape, after which rows have growth.
const BEFORE: Duration = Duration::from_secs(30);

pub(super) fn run(arguments: &PrometheusArguments) -> Result<ExitCode> {
    let names = match &arguments.topology {
        Some(path) => Names::of(&topology::read_and_warn(path)?),
        None => Names::default(),
    };
    let delay_ns = nanoseconds(arguments.delay);
    let range = span::range(&arguments.span)?;
    let is_past = arguments.span.is_set();
    let latest = || now().0 - delay_ns;
    let from_ns = match range.from {
        Some(from) => from.0,
        None if is_past => bail!("--to needs --from or --last: the server does not tell when its samples begin"),
        None => latest() - nanoseconds(BEFORE),
    };
    if is_past && from_ns >= latest() {
        bail!(
            "nothing is read that is younger than --delay ({})",
            humantime::format_duration(arguments.delay)
        );
    }
    let to_ns = || range.to.map_or(i64::MAX, |to| to.0).min(latest());
    let mut client = Client::with(arguments.url.clone(), access(arguments)?);
    let mut source = Prometheus::new(
        mappings(
            &arguments.mappings,
            &arguments.presets,
            (&PRESETS, &PRESETS),
            Mapping::parse,
        )?,
        arguments.select.clone(),
        names,
        from_ns,
    );
    let signals = Signals::install()?;
    let address = client.url().to_string();
    let mut rows = Rows::open(
        Some(&arguments.out),
        &arguments.retention,
        &arguments.observer,
        ("prometheus", address.clone()),
    )?;
    let mut polled = Polled::default();
    if !is_past {
        status!(
            "rocescope: reading switches from {address} every {}",
            humantime::format_duration(arguments.interval)
        );
    }
    let end_ns = if is_past { Some(to_ns()) } else { None };
    let started = Instant::now();
    while !signals.ended() && arguments.duration.is_none_or(|duration| started.elapsed() < duration) {
        let poll = source.poll(end_ns.unwrap_or_else(to_ns), &mut |path| client.get(path, MAX_ANSWER));
        match poll {
            Ok(is_all) => {
                if polled.succeeded() {
                    status!("rocescope: {address} answers again");
                }
                rows.write(&mut source, &[], now().0)?;
                match (is_all, is_past) {
                    (false, _) => continue,
                    (true, true) => break,
                    (true, false) => {}
                }
            }
            // A wrong address or password is no outage.
            Err(error) if polled.polls == 0 || is_past => return Err(anyhow!(error)),
            Err(error) => {
                let why = error.to_string();
                if polled.failed(why.clone()) {
                    status!("rocescope: {why}; its span is asked for again");
                }
            }
        }
        signals.wait(arguments.interval);
    }
    polled.samples = source.samples().clone();
    polled.until_ns = source.until_ns();
    polled.switches = rows.finish(0)?;
    crate::print(&match arguments.output {
        Output::Json => document(&polled),
        Output::Table => text(&polled),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What the server is shown.
fn access(arguments: &PrometheusArguments) -> Result<Access> {
    let authorization = match (&arguments.user, &arguments.password_file, &arguments.token_file) {
        (Some(user), Some(file), _) => Some(Access::basic(user, &secret(file)?)),
        (_, _, Some(file)) => Some(format!("Bearer {}", secret(file)?)),
        _ => None,
    };
    Ok(Access {
        authorization,
        authorities: arguments.ca.clone(),
        timeout: Some(arguments.timeout),
    })
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
