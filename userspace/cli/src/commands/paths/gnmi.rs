//! `rocescope paths gnmi`: counters of switches, as their gNMI servers send them.

use super::mappings::mappings;
use super::secret;
use super::switch_rows::Rows;
use crate::arguments::{GnmiArguments, Output};
use crate::commands::topology;
use anyhow::{Context, Result, bail};
use rocescope_collector::grpc::{Conversation, Event, Security, Settings, Streams};
use rocescope_paths::document::subscribed::{Asked, Subscribed, document, text};
use rocescope_paths::gnmi::{
    Address, CAPABILITIES, Gnmi, Mapping, PRESETS, Requests, SUBSCRIBE, capabilities, list, names,
};
use rocescope_paths::switch::Names;
use rocescope_runtime::clock::now;
use rocescope_runtime::{Signals, status};
use std::fs;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often a signal is looked for, and rows are written.
const STRIDE: Duration = Duration::from_millis(200);

/// The longest wait before a switch is connected again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

pub(super) fn run(arguments: &GnmiArguments) -> Result<ExitCode> {
    let known = match &arguments.topology {
        Some(path) => Names::of(&topology::read_and_warn(path)?),
        None => Names::default(),
    };
    let addresses = addresses(arguments)?;
    let names = names(&addresses, &known)?;
    let requests = Requests::new(
        mappings(
            &arguments.mappings,
            &arguments.presets,
            // Without a choice the first, that of OpenConfig.
            (&PRESETS, &PRESETS[..1]),
            Mapping::parse,
        )?,
        (!arguments.once).then_some(arguments.interval),
    );
    let mut reader = Reader {
        source: Gnmi::new(&names, &requests),
        paths: requests.paths().map(str::to_owned).collect(),
        subscribed: Subscribed::default(),
    };
    for (name, address) in names.iter().zip(&addresses) {
        let address = format!("{}:{}", address.host, address.port);
        reader.subscribed.asked.push(Asked::of(name.to_string(), address));
    }
    let servers: Vec<(String, u16)> = addresses
        .into_iter()
        .map(|address| (address.host, address.port))
        .collect();
    let mut streams = Streams::start(&servers, &settings(arguments)?, conversation(requests))?;
    let signals = Signals::install()?;
    let shown = match servers.as_slice() {
        [(host, port)] => format!("{host}:{port}"),
        several => format!("{} switches", several.len()),
    };
    let mut rows = Rows::open(
        Some(&arguments.out),
        &arguments.retention,
        &arguments.observer,
        ("gnmi", shown.clone()),
    )?;
    if !arguments.once {
        let interval = humantime::format_duration(arguments.interval);
        status!("rocescope: reading {shown} every {interval}");
    }
    let started = Instant::now();
    let mut written = started;
    let is_over = || signals.ended() || arguments.duration.is_some_and(|duration| started.elapsed() >= duration);
    while !streams.is_over() && !is_over() {
        if let Some((switch, event)) = streams.next(STRIDE) {
            reader.take(switch, event);
        }
        if written.elapsed() >= STRIDE {
            written = Instant::now();
            rows.write(&mut reader.source, &[], now().0)?;
        }
        // A wrong address or password is no outage.
        if reader.has_only_failed() {
            break;
        }
    }
    rows.write(&mut reader.source, &[], now().0)?;
    reader.finish(rows, arguments)
}

/// Takes what switches send.
struct Reader {
    source: Gnmi,
    paths: Vec<String>,
    subscribed: Subscribed,
}

impl Reader {
    fn take(&mut self, switch: usize, event: Event) {
        let Some(asked) = self.subscribed.asked.get_mut(switch) else {
            return;
        };
        let name = &asked.switch;
        match event {
            Event::Message(request, message) => {
                asked.messages += 1;
                self.source.message(switch, request, &message, now().0);
            }
            Event::Connected => {
                if asked.connected() {
                    status!("rocescope: {} answers again", asked.switch);
                }
            }
            Event::Refused(request, why) => {
                self.source.answered(switch, request);
                let path = self.paths.get(request).map_or("", String::as_str);
                let line = format!("rocescope: {name} does not serve {path}: {why}");
                if asked.refused(path, why) {
                    status!("{line}");
                }
            }
            Event::Failed { failure, again } => {
                self.source.ended(switch);
                let again = again.map_or_else(String::new, |wait| {
                    format!("; it is connected again in {}", humantime::format_duration(wait))
                });
                let line = format!("rocescope: {name}: {failure}{again}");
                // If nothing else is known, this is the error at the end.
                if asked.failed(failure.reason.name(), failure.why) && !self.has_only_failed() {
                    status!("{line}");
                }
            }
            Event::Ended => self.source.ended(switch),
        }
    }

    fn has_only_failed(&self) -> bool {
        self.subscribed.asked.iter().all(Asked::has_only_failed)
    }

    fn finish(mut self, rows: Rows, arguments: &GnmiArguments) -> Result<ExitCode> {
        (0..self.subscribed.asked.len()).for_each(|switch| self.source.ended(switch));
        self.subscribed.samples = self.source.samples();
        self.subscribed.switches = rows.finish(0)?;
        if self.has_only_failed()
            && let Some(asked) = self.subscribed.asked.last()
        {
            let why = format!(
                "{}: {}",
                asked.switch,
                asked.last_failure.as_deref().unwrap_or_default()
            );
            match self.subscribed.asked.len() {
                1 => bail!(why),
                _ => bail!("none of the switches answers; {why}"),
            }
        }
        crate::print(&match arguments.output {
            Output::Json => document(&self.subscribed),
            Output::Table => text(&self.subscribed),
        })?;
        // Who asks once has to know that something is missing.
        let is_whole = !arguments.once || self.subscribed.asked.iter().all(|asked| asked.failures.is_empty());
        Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn conversation(requests: Requests) -> Conversation {
    Conversation {
        question: (CAPABILITIES, capabilities()),
        method: SUBSCRIBE,
        requests: Box::new(move |answer| requests.messages(answer)),
    }
}

fn settings(arguments: &GnmiArguments) -> Result<Settings> {
    let metadata = match (&arguments.user, &arguments.password_file) {
        (Some(user), Some(file)) => vec![("username", user.clone()), ("password", secret(file)?)],
        _ => Vec::new(),
    };
    Ok(Settings {
        security: match arguments.insecure {
            true => Security::Plain,
            false => Security::Tls(arguments.ca.clone()),
        },
        metadata,
        timeout: arguments.timeout,
        silence: arguments.timeout + 3 * arguments.interval,
        longest_wait: LONGEST_WAIT,
        is_once: arguments.once,
    })
}

fn addresses(arguments: &GnmiArguments) -> Result<Vec<Address>> {
    let mut addresses = arguments.addresses.clone();
    if let Some(path) = &arguments.switches {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        addresses.extend(list(&text).with_context(|| path.display().to_string())?);
        if addresses.is_empty() {
            bail!("{} has no switches", path.display());
        }
    }
    Ok(addresses)
}
