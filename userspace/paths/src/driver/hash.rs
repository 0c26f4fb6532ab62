//! What a device hashes, and whether a question carries all of it.
//!
//! A device that computes the egress port of a 5-tuple is right only if it hashes nothing else: with a queue pair or a
//! flow label in the key, its answer is that of another packet. So it is asked for its fields first. Each field that it
//! names must be one that the driver knows; a field that no list has is one that questions do not carry.

use super::{Pattern, Refusal, shown};
use crate::Flow;
use crate::transport::Reply;
use serde::Deserialize;

/// The part `[hash]` of a driver.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Hash {
    /// The author of the driver states that questions carry all that the device hashes: it is not asked.
    complete: bool,
    /// Commands that print the fields, asked in turn until one does.
    commands: Vec<String>,
    /// Whole lines that name hashed fields.
    pub(super) fields: Vec<Pattern>,
    /// Names of fields that questions carry.
    carried: Vec<Pattern>,
    /// Fields that only IPv4 packets have.
    ipv4: Vec<Pattern>,
    /// Fields that only IPv6 packets have.
    ipv6: Vec<Pattern>,
    /// Fields of a packet inside a tunnel: they matter to questions about the outer header.
    inner: Vec<Pattern>,
    /// Fields of other packets, such as labels of MPLS.
    other: Vec<Pattern>,
}

/// The reason of a device that does not state what it hashes.
pub const HASH_FIELDS_UNKNOWN: &str = "hash_fields_unknown";

/// The reason of a device that hashes more than questions carry.
pub const HASH_BEYOND: &str = "hash_beyond_5_tuple";

/// The fields that a device hashes, and which questions carry all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashFields {
    /// Their names, as the device has them; empty if they are not known.
    pub names: Vec<String>,
    /// The fields that a question does not carry, by the packet that it is about.
    beyond: [Vec<String>; PACKETS],
}

/// IPv4 and IPv6, each as the header of the flow and as the outer one of a tunnel.
const PACKETS: usize = 4;

const fn packet(is_ipv6: bool, is_outer: bool) -> usize {
    is_ipv6 as usize * 2 + is_outer as usize
}

impl HashFields {
    /// Whether a question about this header carries all fields.
    ///
    /// # Errors
    /// It does not: the fields that are missing.
    pub fn carried_for(&self, header: &Flow, is_outer: bool) -> Result<(), Refusal> {
        let beyond = &self.beyond[packet(header.src.is_ipv6(), is_outer)];
        match beyond.is_empty() {
            true => Ok(()),
            false => Err(Refusal::new(
                HASH_BEYOND,
                format!("it hashes more than a question carries: {}", beyond.join(", ")),
            )),
        }
    }
}

impl Hash {
    /// The commands; `None` if nothing is to be asked.
    pub(crate) fn commands(&self) -> Option<&[String]> {
        (!self.complete).then_some(&self.commands)
    }

    /// The fields in the answer to a command; `None` if it names none, or failed.
    pub(crate) fn read(&self, reply: &Reply) -> Option<HashFields> {
        reply.succeeded().ok()?;
        let mut names: Vec<String> = Vec::new();
        for line in reply.output.lines() {
            let found = self.fields.iter().find_map(|pattern| pattern.names(line));
            for name in found.unwrap_or_default() {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        if names.is_empty() {
            return None;
        }
        let beyond = |place: usize| {
            let of_family = if place / 2 == 1 { &self.ipv4 } else { &self.ipv6 };
            let inner: &[Pattern] = if place % 2 == 1 { &[] } else { &self.inner };
            let lists = [&self.carried, &self.other, of_family, inner];
            let known = lists.into_iter().flatten();
            names
                .iter()
                .filter(|name| !known.clone().any(|pattern| pattern.is_whole(name)))
                .cloned()
                .collect::<Vec<String>>()
        };
        Some(HashFields {
            beyond: std::array::from_fn(beyond),
            names,
        })
    }
}

/// The device does not state what it hashes. `part` of the driver has the commands; `answer`: one of them, and what it
/// printed.
pub(crate) fn unknown(part: &str, answer: Option<(&str, &Reply)>) -> Refusal {
    let why = match answer {
        Some((command, reply)) => {
            // A script of a shell session is too long for a message.
            let command: String = command.lines().next().unwrap_or_default().chars().take(60).collect();
            format!(
                "it does not state what it hashes: `{command}` answers: {}",
                shown(&reply.all())
            )
        }
        None => format!("its driver does not state what it hashes (`{part}`)"),
    };
    Refusal::new(HASH_FIELDS_UNKNOWN, why)
}
