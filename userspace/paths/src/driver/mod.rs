//! How a switch is asked for the egress port of a flow: a command to fill in, and patterns for its answer.
//!
//! Every driver is a TOML file, those of rocescope too: `linux`, `eos`, `cumulus`, `sonic`, `nxos` and `junos`.
//!
//! | module | what it does |
//! |---|---|
//! | `read` | reads a driver, and checks it |
//! | `template` | commands with names to fill in |
//! | `pattern` | patterns of lines |
//! | `hash` | what a device hashes |
//! | `channel` | members of port channels |

mod channel;
mod hash;
mod pattern;
mod read;
mod template;

pub use channel::PORT_CHANNEL;
pub use hash::{HASH_BEYOND, HASH_FIELDS_UNKNOWN, HashFields};
pub(crate) use hash::{Hash, unknown as hash_unknown};
pub use pattern::Pattern;

use crate::Flow;
use crate::transport::Reply;
use channel::Channel;
use serde::Deserialize;
use std::collections::BTreeMap;
use template::{Subject, Template};

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
    ask: Ask,
    /// The commands at the host where a flow starts; default: a switch cannot be one.
    start: Option<Ask>,
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
struct Ask {
    ipv4: Option<Template>,
    ipv6: Option<Template>,
}

impl Ask {
    const fn commands(&self) -> Commands<'_> {
        Commands(&self.ipv4, &self.ipv6)
    }
}

/// The commands for IPv4 and IPv6.
#[derive(Clone, Copy)]
struct Commands<'a>(&'a Option<Template>, &'a Option<Template>);

impl<'a> Commands<'a> {
    const fn of(self, flow: &Flow) -> Option<&'a Template> {
        match flow.src.is_ipv4() {
            true => self.0.as_ref(),
            false => self.1.as_ref(),
        }
    }

    fn all(self) -> impl Iterator<Item = &'a Template> {
        [self.0, self.1].into_iter().flatten()
    }
}

/// What a node answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The flow leaves by this port.
    Port(String),
    /// The flow leaves by a member of this port channel, and which one is unknown.
    Channel(String),
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
        let template = commands.commands().of(flow).ok_or_else(|| {
            let family = if flow.src.is_ipv4() { "IPv4" } else { "IPv6" };
            Refusal::new("no_question", format!("the driver has no command for {family}"))
        })?;
        let subject = Subject {
            flow,
            ingress,
            channel: None,
        };
        template.fill(subject, &self.values)
    }

    /// Reads the answer to [`question`](Self::question). A port counts only in the output of a command that succeeded.
    ///
    /// # Errors
    /// No pattern fits, or the command failed.
    pub fn answer(&self, reply: &Reply) -> Result<Answer, Refusal> {
        let success = reply.succeeded();
        if success.is_ok() {
            if line(&self.delivered, &reply.output).is_some() {
                return Ok(Answer::Delivered);
            }
            if let Some(port) = only(&self.egress, &reply.output)? {
                return Ok(match self.tunnel.iter().any(|name| name.fits(&port)) {
                    true => Answer::Tunnel(port),
                    false => Answer::Port(port),
                });
            }
        }
        let all = reply.all();
        if let Some(line) = line(&self.no_route, &all) {
            return Ok(Answer::NoRoute(shown(line)));
        }
        success?;
        Err(Refusal::new(
            "unreadable_answer",
            format!("no pattern of the driver fits the answer: {}", shown(&all)),
        ))
    }

    /// The source port of the VXLAN header, if the answer to [`question`](Self::question) names it.
    #[must_use]
    pub fn outer_src_port(&self, reply: &Reply) -> Option<u16> {
        only(&self.outer_src_port, &reply.output).ok()??.parse().ok()
    }

    /// The fields in the answer to a command that prints what the device hashes; `None` if it names none.
    #[must_use]
    pub fn hash_fields(&self, reply: &Reply) -> Option<HashFields> {
        self.hash.as_ref()?.read(reply)
    }

    /// What the device hashes when it chooses an egress port.
    pub(crate) const fn hash(&self) -> Option<&Hash> {
        self.hash.as_ref()
    }

    /// What the device hashes when it chooses a member of a port channel.
    pub(crate) fn channel_hash(&self) -> Option<&Hash> {
        self.channel.as_ref()?.hash.as_ref()
    }
}

/// The first line that fits.
fn line<'t>(patterns: &[Pattern], text: &'t str) -> Option<&'t str> {
    text.lines().find(|line| patterns.iter().any(|one| one.fits(line)))
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
pub(crate) fn shown(text: &str) -> String {
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
