//! How a switch is asked for the egress port of a flow: a command to fill in, and patterns for its answer.
//!
//! Every driver is a TOML file, those of rocescope too: `linux`, `eos`, `cumulus`, `sonic`, `nxos` and `junos`.

mod hash;
mod pattern;

pub(crate) use hash::unknown as hash_unknown;
pub use hash::{HASH_BEYOND, HASH_FIELDS_UNKNOWN, HashFields};
pub use pattern::Pattern;

use crate::Flow;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The drivers of rocescope by name.
const BUILT_IN: [(&str, &str); 6] = [
    ("linux", include_str!("linux.toml")),
    ("eos", include_str!("eos.toml")),
    ("cumulus", include_str!("cumulus.toml")),
    ("sonic", include_str!("sonic.toml")),
    ("nxos", include_str!("nxos.toml")),
    ("junos", include_str!("junos.toml")),
];

/// How commands are passed to a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// Each command in a channel of its own: for the command lines of switches.
    #[default]
    Exec,
    /// A POSIX shell that runs one command after the other: faster.
    Sh,
}

/// A driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Driver {
    /// How commands are passed.
    #[serde(default)]
    pub session: SessionKind,
    /// The commands for IPv4 and IPv6.
    ask: Commands,
    /// The commands at the host where a flow starts; default: a switch cannot be one.
    start: Option<Commands>,
    /// Lines that name the egress port.
    egress: Vec<Pattern>,
    /// Names of ports that are VXLAN tunnels.
    #[serde(default)]
    tunnel: Vec<Pattern>,
    /// Lines that name the source port of the VXLAN header.
    #[serde(default)]
    outer_src_port: Vec<Pattern>,
    /// Lines by which the node itself is the destination.
    #[serde(default)]
    delivered: Vec<Pattern>,
    /// Lines by which the node has no route.
    #[serde(default)]
    no_route: Vec<Pattern>,
    /// What the switch hashes.
    hash: Option<hash::Hash>,
    /// Port channels.
    channel: Option<Channel>,
    /// Other names in commands, such as `vrf = "default"`.
    #[serde(default)]
    values: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    ipv4: Option<String>,
    ipv6: Option<String>,
}

/// A command that resolves a port channel.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Channel {
    ipv4: Option<String>,
    ipv6: Option<String>,
    names: Vec<Pattern>,
    egress: Vec<Pattern>,
}

/// What a node answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The flow leaves by this port.
    Port(String),
    /// The flow leaves through this VXLAN tunnel.
    Tunnel(String),
    /// The node itself is the destination.
    Delivered,
    /// The node has no way to the destination, in its words.
    NoRoute(String),
}

/// Why a question cannot be asked, or an answer not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, by which flows are counted.
    pub reason: &'static str,
    /// What happened.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
        }
    }
}

impl Driver {
    /// The driver with a name: one of rocescope's, or the path of a TOML file, seen from `folder`.
    ///
    /// # Errors
    /// There is none, or the file is wrong.
    pub fn find(name: &str, folder: &Path) -> Result<Self, String> {
        if let Some((_, text)) = BUILT_IN.iter().find(|(built_in, _)| *built_in == name) {
            return Self::parse(text);
        }
        if !name.ends_with(".toml") {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "no driver `{name}`: choose one of {}, or name a TOML file",
                names.join(", ")
            ));
        }
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Reads a driver.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The command that asks for the egress port of a flow.
    ///
    /// # Errors
    /// The driver has no command for it, or a name cannot be part of a command.
    pub fn question(&self, flow: &Flow, ingress: Option<&str>) -> Result<String, Refusal> {
        let commands = match (ingress, &self.start) {
            (Some(_), _) => &self.ask,
            (None, Some(start)) => start,
            (None, None) => {
                return Err(Refusal::new(
                    "no_question",
                    "the driver has no `start`: it cannot be asked where a flow starts",
                ));
            }
        };
        let template = pick(flow, &commands.ipv4, &commands.ipv6)?;
        self.fill(template, flow, ingress, None)
    }

    /// Reads the answer to [`question`](Self::question).
    ///
    /// # Errors
    /// No pattern fits.
    pub fn answer(&self, text: &str) -> Result<Answer, Refusal> {
        let fits = |patterns: &[Pattern]| text.lines().find(|line| patterns.iter().any(|one| one.fits(line)));
        if fits(&self.delivered).is_some() {
            return Ok(Answer::Delivered);
        }
        if let Some(port) = only(&self.egress, text)? {
            return Ok(match self.tunnel.iter().any(|name| name.fits(&port)) {
                true => Answer::Tunnel(port),
                false => Answer::Port(port),
            });
        }
        match fits(&self.no_route) {
            Some(line) => Ok(Answer::NoRoute(shown(line))),
            None => Err(Refusal::new(
                "unreadable_answer",
                format!("no pattern of the driver fits the answer: {}", shown(text)),
            )),
        }
    }

    /// The source port of the VXLAN header, if the answer to [`question`](Self::question) names it.
    #[must_use]
    pub fn outer_src_port(&self, text: &str) -> Option<u16> {
        only(&self.outer_src_port, text).ok()??.parse().ok()
    }

    /// The commands that print what the device hashes, to be asked in turn; `None` if questions carry all of it.
    #[must_use]
    pub fn hash_commands(&self) -> Option<&[String]> {
        self.hash.as_ref().map_or(Some(&[]), hash::Hash::commands)
    }

    /// The fields in the answer to one of [`hash_commands`](Self::hash_commands); `None` if it names none.
    #[must_use]
    pub fn hash_fields(&self, text: &str) -> Option<HashFields> {
        self.hash.as_ref()?.read(text)
    }

    /// The command that asks for the member of a port channel; `None` if the port is none.
    ///
    /// # Errors
    /// Same as [`question`](Self::question).
    pub fn channel_question(&self, flow: &Flow, ingress: Option<&str>, port: &str) -> Result<Option<String>, Refusal> {
        let Some(channel) = self
            .channel
            .as_ref()
            .filter(|channel| channel.names.iter().any(|name| name.fits(port)))
        else {
            return Ok(None);
        };
        let template = pick(flow, &channel.ipv4, &channel.ipv6)?;
        self.fill(template, flow, ingress, Some(port)).map(Some)
    }

    /// Reads the answer to [`channel_question`](Self::channel_question).
    ///
    /// # Errors
    /// No pattern fits.
    pub fn channel_answer(&self, text: &str) -> Result<String, Refusal> {
        let patterns = self.channel.as_ref().map_or(&[][..], |channel| &channel.egress);
        only(patterns, text)?.ok_or_else(|| {
            let message = format!("the answer names no member of the port channel: {}", shown(text));
            Refusal::new("port_channel", message)
        })
    }

    /// Fills in `{src}`, `{dst}` and the others; `{{` and `}}` are braces.
    fn fill(
        &self,
        template: &str,
        flow: &Flow,
        ingress: Option<&str>,
        channel: Option<&str>,
    ) -> Result<String, Refusal> {
        let mut out = String::with_capacity(template.len() + 64);
        let mut rest = template;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                out.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                out.push('}');
                rest = after;
            } else {
                let wrong = || Refusal::new("wrong_command", format!("`{template}` has a brace without a name"));
                let inner = from.strip_prefix('{').ok_or_else(wrong)?;
                let (name, after) = inner.split_once('}').ok_or_else(wrong)?;
                out.push_str(&self.value(name, flow, ingress, channel)?);
                rest = after;
            }
        }
        out.push_str(rest);
        Ok(out)
    }

    fn value(&self, name: &str, flow: &Flow, ingress: Option<&str>, channel: Option<&str>) -> Result<String, Refusal> {
        Ok(match name {
            "src" => flow.src.to_string(),
            "dst" => flow.dst.to_string(),
            "protocol" => flow.protocol.to_string(),
            "protocol_name" => flow.protocol_name(),
            "src_port" => flow.src_port.to_string(),
            "dst_port" => flow.dst_port.to_string(),
            "dst_qpn" => match flow.dst_qpn {
                Some(qpn) => qpn.to_string(),
                None => {
                    return Err(Refusal::new(
                        "dst_qpn_unknown",
                        "the switch hashes the queue pair, which is unknown",
                    ));
                }
            },
            "ingress" => port(ingress.unwrap_or_default())?,
            "channel" => port(channel.unwrap_or_default())?,
            other => match self.values.get(other) {
                Some(value) => value.clone(),
                None => {
                    return Err(Refusal::new(
                        "wrong_command",
                        format!("`{{{other}}}` has no value: add it to `values`"),
                    ));
                }
            },
        })
    }
}

fn pick<'c>(flow: &Flow, ipv4: &'c Option<String>, ipv6: &'c Option<String>) -> Result<&'c str, Refusal> {
    let (command, family) = match flow.src.is_ipv4() {
        true => (ipv4, "IPv4"),
        false => (ipv6, "IPv6"),
    };
    command
        .as_deref()
        .ok_or_else(|| Refusal::new("no_question", format!("the driver has no command for {family}")))
}

/// The name in the lines that fit; an answer with several names is none.
fn only(patterns: &[Pattern], text: &str) -> Result<Option<String>, Refusal> {
    let name_in = |line| patterns.iter().find_map(|pattern| pattern.egress(line));
    let mut names: Vec<String> = text.lines().filter_map(name_in).collect();
    names.dedup();
    match names.len() {
        0 | 1 => Ok(names.pop()),
        _ => Err(Refusal::new(
            "unreadable_answer",
            format!("the answer names {} and {}: only one can be right", names[0], names[1]),
        )),
    }
}

/// What a device printed, on one line: what it reports of an error, or else its first and last lines.
fn shown(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_error = |line: &&&str| {
        let line = line.to_ascii_lowercase();
        line.starts_with('%') || line.contains("error") || line.contains("invalid")
    };
    let shown = match (lines.iter().find(is_error), &lines[..]) {
        (Some(error), _) => (*error).to_owned(),
        (None, []) => "nothing".to_owned(),
        (None, [first, .., last]) if first != last => format!("{first} … {last}"),
        (None, [first, ..]) => (*first).to_owned(),
    };
    shown.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// Names of ports come from topologies, which LLDP neighbors may have written: only harmless ones get into a command.
fn port(name: &str) -> Result<String, Refusal> {
    let is_harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | ':' | '_' | '-');
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(is_harmless) {
        true => Ok(name.to_owned()),
        false => Err(Refusal::new(
            "port_name",
            format!("`{name}` cannot be part of a command"),
        )),
    }
}
