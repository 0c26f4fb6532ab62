//! The words without an option: more inputs, as the shell expands `-r cap_*.pcap`, and a filter, as for tcpdump.

use super::Command;
use rocescope_host::interface::Interface;
use rocescope_model::filter::{FilterError, Names, Prefix};
use rocescope_model::hosts::Hosts;
use rocescope_pipeline::filter::RunFilter;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the words of a command go.
struct Inputs<'a> {
    hosts: Option<Arc<Hosts>>,
    words: &'a mut Vec<String>,
    read: &'a mut Vec<PathBuf>,
    interfaces: Option<&'a mut Vec<String>>,
    filter: &'a mut Option<RunFilter>,
}

/// Moves the words of a command to its inputs and its filter, and resolves names of hosts in the filter. `has_filter`: `--filter` is on the command line.
///
/// # Errors
/// The words are no filter, there are two, or the hosts file lacks a name.
pub(crate) fn settle(command: &mut Command, has_filter: bool) -> Result<(), String> {
    let inputs = match command {
        Command::Capture(capture) => Inputs {
            hosts: Some(capture.hosts.names()),
            words: &mut capture.words,
            read: &mut capture.read,
            interfaces: Some(&mut capture.live.interfaces),
            filter: &mut capture.filter,
        },
        Command::Extract(extract) => Inputs {
            hosts: None,
            words: &mut extract.words,
            read: &mut extract.read,
            interfaces: None,
            filter: &mut extract.filter,
        },
        Command::Connections(connections) => {
            return resolve(&mut connections.filter, |filter| {
                filter.resolve(&connections.hosts.names())
            });
        }
        Command::Report(report) => return resolve(&mut report.filter, |filter| filter.resolve(&report.hosts.names())),
        Command::Top(top) => {
            let hosts = top.appearance.hosts.names();
            return resolve(&mut top.filter, |filter| filter.resolve(&hosts));
        }
        _ => return Ok(()),
    };
    inputs.settle(has_filter)
}

/// Replaces a filter by the one with addresses for names.
fn resolve<F>(filter: &mut Option<F>, with: impl FnOnce(&F) -> Result<F, FilterError>) -> Result<(), String> {
    if let Some(named) = filter {
        *filter = Some(with(named).map_err(|error| error.to_string())?);
    }
    Ok(())
}

impl Inputs<'_> {
    fn settle(self, has_filter: bool) -> Result<(), String> {
        let Self {
            hosts,
            words,
            read,
            interfaces,
            filter,
        } = self;
        let names = hosts.as_deref().map_or(Names::None, Names::Of);
        resolve(filter, |filter| RunFilter::parse(filter.filter().text(), names))?;
        let mut words = VecDeque::from(std::mem::take(words));
        let mut interfaces = interfaces.filter(|interfaces| !interfaces.is_empty());
        while let Some(word) = words.front() {
            let rest: Vec<&str> = words.iter().map(String::as_str).collect();
            let rest = rest.join(" ");
            match RunFilter::parse(&rest, names) {
                Ok(_) if has_filter => {
                    return Err(format!("two filters, --filter and `{rest}`: join them with `and`"));
                }
                Ok(wanted) => {
                    *filter = Some(wanted);
                    return Ok(());
                }
                Err(error) => match &mut interfaces {
                    Some(interfaces) if Interface::find(word).is_ok() => interfaces.extend(words.pop_front()),
                    None if Path::new(word).exists() => read.extend(words.pop_front().map(PathBuf::from)),
                    interfaces => return Err(neither(&rest, word, interfaces.is_some(), &error)),
                },
            }
        }
        Ok(())
    }
}

/// The message for a word that is no input, and does not begin a filter.
fn neither(rest: &str, word: &str, is_live: bool, error: &FilterError) -> String {
    let input = if is_live { "interface" } else { "file" };
    for text in [rest, word] {
        if let Some(term) = meant(text) {
            return format!("`{text}` is no {input}, and no filter: write `{term}`");
        }
    }
    let is_path = word.contains(['/', '.']) && !is_live;
    match (is_path, is_live) {
        (true, _) => format!("{word}: no such file"),
        (false, true) => format!("`{word}` is no interface (`ip link` lists them), and this is no filter: {error}"),
        (false, false) => format!("`{word}` is no file, and this is no filter: {error}"),
    }
}

/// The term that a user of another tool means by an address alone, or by a display filter about an address or a port.
fn meant(text: &str) -> Option<String> {
    let (field, value) = text
        .split_once("==")
        .map_or((None, text), |(field, value)| (Some(field.trim()), value.trim()));
    let is_network = value.contains('/');
    let prefix = Prefix::read(value);
    let word = match (field, prefix.is_ok()) {
        (None | Some("ip.addr" | "ipv6.addr"), true) if is_network => "net",
        (None | Some("ip.addr" | "ipv6.addr"), true) => "host",
        (Some("ip.src" | "ipv6.src"), true) => "src host",
        (Some("ip.dst" | "ipv6.dst"), true) => "dst host",
        (Some("infiniband.bth.destqp"), _) => "dst qp",
        (Some("infiniband.bth.psn"), _) => "psn",
        _ => return None,
    };
    Some(format!("{word} {value}"))
}
