//! A command with names in braces: `{src}`, `{dst}` and others; `{{` and `}}` are braces.

use super::Refusal;
use crate::Flow;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A command with names to fill in.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Template(Vec<Piece>);

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Name(String),
}

/// What a command is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) flow: &'a Flow,
    pub(super) ingress: Option<&'a str>,
    pub(super) channel: Option<&'a str>,
}

/// Names that every command may contain.
pub(super) const NAMES: [&str; 7] = [
    "src",
    "dst",
    "protocol",
    "protocol_name",
    "src_port",
    "dst_port",
    "dst_qpn",
];

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = &*text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                plain.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                plain.push('}');
                rest = after;
            } else {
                let named = from.strip_prefix('{').and_then(|inner| inner.split_once('}'));
                let (name, after) =
                    named.ok_or_else(|| "a command has a brace without a name: a plain brace is doubled".to_owned())?;
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Name(name.into()));
                rest = after;
            }
        }
        plain.push_str(rest);
        pieces.push(Piece::Text(plain));
        Ok(Self(pieces))
    }
}

impl Template {
    /// The names to fill in.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Name(name) => Some(&**name),
            Piece::Text(_) => None,
        })
    }

    /// The command about a flow. `values` are names of the driver's own.
    ///
    /// # Errors
    /// The flow does not have what a name means, or a name cannot be part of a command.
    pub(super) fn fill(&self, subject: Subject<'_>, values: &BTreeMap<String, String>) -> Result<String, Refusal> {
        let flow = subject.flow;
        let asks_ports = self.names().any(|name| matches!(name, "src_port" | "dst_port"));
        if asks_ports && !flow.has_ports() {
            let message = format!(
                "the question is about ports, and IP protocol {} has none",
                flow.protocol
            );
            return Err(Refusal::new("no_question", message));
        }
        let mut out = String::with_capacity(256);
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Name(name) => out.push_str(&value(name, subject, values)?),
            }
        }
        Ok(out)
    }
}

fn value(name: &str, subject: Subject<'_>, values: &BTreeMap<String, String>) -> Result<String, Refusal> {
    let flow = subject.flow;
    let missing = || {
        Refusal::new(
            "wrong_command",
            format!("`{{{name}}}` has no value: add it to `values`"),
        )
    };
    Ok(match name {
        "src" => flow.src.to_string(),
        "dst" => flow.dst.to_string(),
        "protocol" => flow.protocol.to_string(),
        "protocol_name" => flow.protocol_name(),
        "src_port" => flow.src_port.to_string(),
        "dst_port" => flow.dst_port.to_string(),
        "dst_qpn" => {
            let unknown = || Refusal::new("dst_qpn_unknown", "the switch hashes the queue pair, which is unknown");
            flow.dst_qpn.ok_or_else(unknown)?.to_string()
        }
        "ingress" => port(subject.ingress.unwrap_or_default())?,
        "channel" => port(subject.channel.unwrap_or_default())?,
        other => values.get(other).ok_or_else(missing)?.clone(),
    })
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
