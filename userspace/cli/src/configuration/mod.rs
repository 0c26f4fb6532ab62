//! The layers below the command line: environment, file, defaults.
//!
//! Every option is defined once, in [`Arguments`]. Every long option of the commands in
//! [`keys::TABLES`] is also a key of the configuration file, in the table of its command or,
//! for all commands that have it, above the first table (there [`keys::SHARED`] also for
//! [`keys::READERS`]); and an environment variable,
//! `ROCESCOPE_` and its name. A value in the file becomes the option's default, so the command
//! line and the environment override it, and the parser of the option rejects an invalid value.
//!
//! | module | what it does |
//! |---|---|
//! | [`controlled`] | the layer of a controller, for agents and captures |
//! | [`keys`] | which options can be set, and their names |
//! | [`mod@file`] | a configuration file, with the line of every value |
//! | [`text`] | settings as TOML: the template, and the settings in effect |

pub mod controlled;
pub mod file;
pub mod keys;
pub mod text;

use crate::Arguments;
use crate::arguments::{
    AgentArguments, CollectivePartArguments, Command, FILE_VARIABLE, HostpingPartArguments, Parts, ProbeBackend,
    QueuePairsPartArguments, SendMethod, settle,
};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use file::ConfigurationFile;
use rocescope_host::owner::environment::RUN;
use rocescope_model::nearest::nearest;
use rocescope_runtime::clock::now;
use rocescope_runtime::status;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The default configuration file.
pub const SYSTEM_FILE: &str = "/etc/rocescope/rocescope.toml";

/// Why the arguments are invalid.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentsError {
    /// An error in the command line or the environment; also a request for help.
    #[error(transparent)]
    CommandLine(#[from] clap::Error),
    /// Errors in the configuration file.
    #[error(transparent)]
    File(#[from] file::FileErrors),
}

/// The arguments: command line over environment over file over defaults.
///
/// # Errors
/// The first error.
pub fn arguments(line: &[OsString]) -> Result<Arguments, ArgumentsError> {
    arguments_with(&with_present_name(line), None)
}

/// The arguments as they would be with this text of a controller, checked as the host's own configuration is.
///
/// # Errors
/// The first error, in one line.
pub fn controlled_arguments(line: &[OsString], text: &str) -> Result<Arguments, String> {
    let one_line = |error: &dyn std::fmt::Display| {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join("; ")
    };
    let controlled = controlled::parse(text).map_err(|errors| {
        let reasons: Vec<String> = errors.0.iter().map(controlled::reason).collect();
        one_line(&reasons.join("\n"))
    })?;
    arguments_with(line, Some(controlled)).map_err(|error| one_line(&error))
}

/// The arguments; without `controlled`, what a member keeps is the layer of the controller.
fn arguments_with(line: &[OsString], controlled: Option<ConfigurationFile>) -> Result<Arguments, ArgumentsError> {
    let (matches, file) = matches(line, controlled)?;
    let mut arguments = Arguments::from_arg_matches(&matches)?;
    let usage = |kind, message: String| usage_error(matches.subcommand_name(), kind, &message);
    settle(&mut arguments.command, is_explicit(&matches, "filter"))
        .map_err(|message| usage(ErrorKind::ValueValidation, message))?;
    if let Some(why) = unusable(&arguments.command, &matches) {
        return Err(usage(ErrorKind::MissingRequiredArgument, why).into());
    }
    if let Command::Agent(agent) = &mut arguments.command {
        agent.parts = parts(agent, file.as_ref())?;
    }
    Ok(arguments)
}

/// What an agent runs: the commands whose tables the file has, with the layers that they have alone. What the agent
/// does for all of them is not theirs: name, end, connection.
fn parts(agent: &AgentArguments, file: Option<&ConfigurationFile>) -> Result<Parts, ArgumentsError> {
    let unusable = |why: &str| usage_error(Some("agent"), ErrorKind::MissingRequiredArgument, why);
    let mut parts = Parts::default();
    let Some(file) = file else {
        let why = "an agent runs what its configuration file asks for: set --config";
        return Err(unusable(why).into());
    };
    for name in ["probe", "counters", "queue-pairs", "hostping", "collective"]
        .into_iter()
        .filter(|name| file.has_table(name))
    {
        if let Some(part) = keys::table(name, Some(file)).filter(|_| keys::PARTS.contains(&name)) {
            let matches = part.try_get_matches_from([name])?;
            if name == "hostping" {
                let hostping = HostpingPartArguments::from_arg_matches(&matches)?;
                if hostping.every.is_none() {
                    let why = "[hostping]: set `every`, the time from one run on an idle host to the next";
                    return Err(unusable(why).into());
                }
                parts.hostping = Some(hostping.into());
            } else if name == "queue-pairs" {
                parts.queue_pairs = Some(QueuePairsPartArguments::from_arg_matches(&matches)?.into());
            } else {
                let collective = CollectivePartArguments::from_arg_matches(&matches)?;
                let probes = parts.probe.as_ref().filter(|probe| probe.backend == ProbeBackend::Raw);
                if collective.ranks.is_some() && (probes.is_none() || agent.flow_probes == 0) {
                    let why = "[collective]: `ranks` needs probes to other hosts: add [probe] with the backend `raw`, and \
                               `flow-probes` above 0";
                    return Err(unusable(why).into());
                }
                parts.collective = Some(collective.into());
            }
            continue;
        }
        let matches = keys::command(Some(file)).try_get_matches_from(["rocescope", name])?;
        match Arguments::from_arg_matches(&matches)?.command {
            Command::Probe(mut probe) => {
                if probe.interfaces.is_empty() && !probe.all {
                    let why = "[probe]: nothing to probe between: set `interface` or `all`";
                    return Err(unusable(why).into());
                }
                if probe.out.is_some() {
                    let why = "[probe]: an agent sends its rows to the collector: remove `out`";
                    return Err(unusable(why).into());
                }
                probe.observer.clone_from(&agent.observer);
                (probe.duration, probe.quiet, probe.output) = (agent.duration, agent.quiet, agent.output);
                parts.probe = Some(probe);
            }
            Command::Counters(counters) => {
                if counters.out.is_some() {
                    let why = "[counters]: an agent sends its rows to the collector: remove `out`";
                    return Err(unusable(why).into());
                }
                if counters.queue_pairs {
                    let why = "[counters]: queue pairs have a table of their own: remove `queue-pairs`, and add [queue-pairs]";
                    return Err(unusable(why).into());
                }
                parts.counters = Some(counters);
            }
            _ => {}
        }
    }
    match parts {
        Parts {
            probe: None,
            counters: None,
            queue_pairs: None,
            hostping: None,
            collective: None,
        } => Err(unusable(
            "nothing to do: the configuration file has none of the tables [probe], [counters], [queue-pairs], [hostping] and \
             [collective]",
        )
        .into()),
        parts => Ok(parts),
    }
}

/// Why `rocescope agent` refuses a file that names its collector, in a line: what it refuses in the other tables, and no
/// option of its command line can change. Without a collector, other commands may use these tables, and state on their
/// command lines what is missing.
#[must_use]
pub fn refused_by_agent(file: &ConfigurationFile) -> Option<String> {
    if !file.has_table("agent") || file.values("agent", "collector").is_none() {
        return None;
    }
    let error = agent_of(file).err()?;
    let why = match &error {
        ArgumentsError::CommandLine(error) => file::message_of(error),
        ArgumentsError::File(errors) => errors.to_string(),
    };
    let why = why.split("\n\nUsage").next().unwrap_or_default();
    // clap names missing options on lines of their own.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(format!("{}: `rocescope agent`: {why}", file.path().display()))
}

fn agent_of(file: &ConfigurationFile) -> Result<Parts, ArgumentsError> {
    let matches = keys::command(Some(file)).try_get_matches_from(["rocescope", "agent"])?;
    match Arguments::from_arg_matches(&matches)?.command {
        Command::Agent(agent) => parts(&agent, Some(file)),
        _ => Ok(Parts::default()),
    }
}

/// An error with the usage of a subcommand, not with that of the program.
fn usage_error(subcommand: Option<&str>, kind: ErrorKind, message: &str) -> clap::Error {
    let mut program = Arguments::command();
    // The usage of a subcommand begins with the name of the program only once it is built.
    program.build();
    match subcommand.and_then(|name| program.find_subcommand_mut(name)) {
        Some(command) => command.error(kind, message),
        None => program.error(kind, message),
    }
}

/// What clap cannot check, because a file may set an option, or because it concerns several. It is a usage error with
/// exit code 2, so systemd does not restart a service without an interface forever.
fn unusable(command: &Command, matches: &ArgMatches) -> Option<String> {
    match command {
        Command::Top(top) if top.read.is_empty() && top.inputs.is_empty() && top.live.interfaces.is_empty() => {
            Some("no input: set --interface or --read, or name a dataset".to_owned())
        }
        Command::Report(report) => report.span.range(now()).err().map(|error| error.to_string()),
        Command::Generate(generate)
            if generate.onto.by == SendMethod::Live && generate.onto.pps.is_none() && !generate.onto.full_speed =>
        {
            Some("--by live requires --pps or --full-speed".to_owned())
        }
        Command::Capture(capture) if capture.list_interfaces => None,
        Command::Capture(capture) if capture.read.is_empty() && capture.live.interfaces.is_empty() => {
            let missing = "no input: set --interface or --read";
            Some(missing.to_owned())
        }
        Command::Capture(capture) if capture.read.is_empty() && capture.subscription.missing().is_some() => {
            capture.subscription.missing()
        }
        Command::Capture(capture) if capture.recorder.keep_frames.is_none() => {
            let idle = idle_recorder_option(matches)?;
            Some(format!("--{idle} has no effect without --keep-frames SECONDS"))
        }
        Command::Probe(probe) if probe.interfaces.is_empty() && !probe.all => {
            let missing = "nothing to probe between: set --interface or --all";
            Some(missing.to_owned())
        }
        Command::Agent(agent) if agent.send.collector.is_none() => {
            Some("an agent sends its rows: set --collector".to_owned())
        }
        Command::Agent(agent) => agent.send.missing(),
        Command::Collector(action) => action.missing(),
        Command::Connections(connections)
            if connections.inputs.is_empty()
                && connections.read.is_empty()
                && connections.live.interfaces.is_empty() =>
        {
            Some("no input: name a dataset, or set --read or --interface".to_owned())
        }
        Command::Generate(generate) if generate.write.is_none() && generate.onto.iface.is_none() => {
            Some("no destination: set --write FILE, or --iface IFACE to send the frames".to_owned())
        }
        Command::Extract(extract) if extract.filter.is_none() => {
            let missing = "no filter: add one, such as `host 10.0.0.1`";
            Some(missing.to_owned())
        }
        _ => None,
    }
}

/// Whether an option of the subcommand is on the command line.
fn is_explicit(matches: &ArgMatches, option: &str) -> bool {
    let Some((_, matches)) = matches.subcommand() else {
        return false;
    };
    let known = matches.try_contains_id(option).unwrap_or(false);
    known && matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// An option of the flight recorder from the command line or environment. In a file it is harmless.
fn idle_recorder_option(matches: &ArgMatches) -> Option<String> {
    let (command, matches) = matches.subcommand()?;
    let explicit = |option: &clap::Arg| {
        let source = matches.value_source(option.get_id().as_str());
        let is_explicit = matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable));
        let long = option.get_long().filter(|_| is_explicit)?;
        long.starts_with("keep-frames-").then(|| long.to_owned())
    };
    file::options(command).find_map(|option| explicit(&option))
}

/// The raw values in effect of every option that can be set, by name.
///
/// # Errors
/// Those of [`arguments`].
pub fn effective(line: &[OsString]) -> Result<BTreeMap<String, Vec<OsString>>, ArgumentsError> {
    let (matches, _) = matches(line, None)?;
    let Some((command, matches)) = matches.subcommand() else {
        return Ok(BTreeMap::new());
    };
    let value = |option: clap::Arg| {
        let values = matches.get_raw(option.get_id().as_str());
        let values = values.into_iter().flatten().map(OsStr::to_owned);
        Some((option.get_long()?.to_owned(), values.collect()))
    };
    Ok(file::options(command).filter_map(value).collect())
}

/// Warnings about environment variables with our prefix that set no option.
pub fn unknown_variables(names: impl Iterator<Item = OsString>) -> Vec<String> {
    let mut known: Vec<String> = keys::TABLES
        .into_iter()
        .flat_map(file::options)
        .map(|option| keys::variable(&option))
        .collect();
    known.extend([FILE_VARIABLE.into(), RUN.into()]);
    let names = names.filter_map(|name| name.into_string().ok());
    let unknown = names.filter(|name| name.starts_with(keys::PREFIX) && !known.contains(name));
    let warning = |name: String| {
        let hint = match nearest(&name, known.iter().map(String::as_str)) {
            Some(near) => format!("; did you mean {near}?"),
            None => "; `rocescope config template` lists all settings".into(),
        };
        format!("unknown environment variable {name}{hint}")
    };
    unknown.map(warning).collect()
}

fn matches(
    line: &[OsString],
    controlled: Option<ConfigurationFile>,
) -> Result<(ArgMatches, Option<ConfigurationFile>), ArgumentsError> {
    let parsed = Arguments::command().ignore_errors(true).try_get_matches_from(line).ok();
    // An invalid file must not prevent `config check` or `--help`.
    let file = match &parsed {
        Some(parsed)
            if keys::TABLES
                .iter()
                .filter(|name| !keys::PARTS.contains(name))
                .chain(&keys::READERS)
                .any(|name| parsed.subcommand_name() == Some(name)) =>
        {
            file(parsed.get_one::<PathBuf>("config").map(PathBuf::as_path))?
        }
        _ => None,
    };
    let is_member = |parsed: &ArgMatches| {
        let name = parsed.subcommand_name();
        name.is_some_and(|name| controlled::MEMBERS.contains(&name))
    };
    let controlled = match &parsed {
        Some(parsed) if is_member(parsed) => controlled.or_else(|| {
            let place = controlled::place(line, file.as_ref())?;
            controlled::stored(&place)
        }),
        _ => None,
    };
    let file = match controlled {
        Some(controlled) => Some(controlled.above(file)),
        None => file,
    };
    let found = keys::command(file.as_ref()).try_get_matches_from(line);
    let found = found.map_err(|error| {
        let subcommand = parsed.as_ref().and_then(ArgMatches::subcommand_name);
        named_variable(error, line, subcommand)
    })?;
    Ok((found, file))
}

/// Former names of commands, and what they are now.
const FORMER: [(&str, &[&str]); 11] = [
    ("collect", &["collector", "run"]),
    ("control", &["collector"]),
    ("schema", &["dataset", "schema"]),
    ("sql", &["dataset", "sql"]),
    ("merge", &["dataset", "merge"]),
    ("verify", &["dataset", "verify"]),
    ("repair", &["dataset", "repair"]),
    ("compact", &["dataset", "compact"]),
    ("ship", &["dataset", "ship"]),
    ("completions", &["config", "completions"]),
    ("man", &["config", "man"]),
];

/// The line with the name that its command has now. A former name still works, so that units and scripts go on, with a
/// note.
fn with_present_name(line: &[OsString]) -> Cow<'_, [OsString]> {
    let mut words = line.iter().enumerate().skip(1);
    let command = loop {
        match words.next() {
            // Of the options before the command, it alone has a value.
            Some((_, word)) if word == "--config" => drop(words.next()),
            Some((_, word)) if word.as_encoded_bytes().starts_with(b"-") => {}
            found => break found,
        }
    };
    let former = command.and_then(|(at, word)| {
        let (name, present) = FORMER.iter().find(|(name, _)| word == name)?;
        Some((at, name, present))
    });
    let Some((at, name, present)) = former else {
        return Cow::Borrowed(line);
    };
    status!("note: `rocescope {name}` is `rocescope {}` now", present.join(" "));
    let mut line = line.to_vec();
    line.splice(at..=at, present.iter().map(OsString::from));
    Cow::Owned(line)
}

/// Names the environment variable that an invalid value comes from: the operator did not type the option.
fn named_variable(error: clap::Error, line: &[OsString], subcommand: Option<&str>) -> clap::Error {
    let Some(option) = file::invalid_option(&error) else {
        return error;
    };
    // Without the environment the same line is valid, or has another error.
    let typed = Arguments::command().try_get_matches_from(line).err();
    let typed = typed.as_ref().and_then(file::invalid_option);
    let variable = keys::variable_of(&option);
    if typed == Some(option) || std::env::var_os(&variable).is_none() {
        return error;
    }
    let message = format!(
        "{}\n\nThe value is that of the environment variable {variable}.",
        file::message_of(&error)
    );
    usage_error(subcommand, ErrorKind::ValueValidation, &message)
}

/// The named configuration file, or the system's if it exists.
///
/// # Errors
/// The file is unreadable, or all its errors.
pub fn file(named: Option<&Path>) -> Result<Option<ConfigurationFile>, file::FileErrors> {
    match named {
        Some(path) => ConfigurationFile::read(path).map(Some),
        None if Path::new(SYSTEM_FILE).exists() => ConfigurationFile::read(Path::new(SYSTEM_FILE)).map(Some),
        None => Ok(None),
    }
}
