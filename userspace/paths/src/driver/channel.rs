//! Port channels: which member carries a flow.

use super::template::{Subject, Template};
use super::{Commands, Driver, Pattern, Refusal, only, shown};
use crate::Flow;
use crate::transport::Reply;
use serde::Deserialize;

/// The part `[channel]` of a driver.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Channel {
    /// Names of port channels, beside those that every driver knows.
    #[serde(default)]
    names: Vec<Pattern>,
    ipv4: Option<Template>,
    ipv6: Option<Template>,
    /// Lines that name the member.
    pub(super) egress: Vec<Pattern>,
    /// What the member is chosen by.
    pub(super) hash: Option<super::hash::Hash>,
}

/// The reason of a port channel whose member is unknown.
pub const PORT_CHANNEL: &str = "port_channel";

/// The letters in names of port channels: of EOS, `SONiC`, NX-OS, Linux and Cumulus, Junos.
const LETTERS: [&str; 7] = ["port-channel", "portchannel", "po", "bond", "team", "ae", "lag"];

/// Whether a port is a port channel by its name, such as `Port-Channel1`, `PortChannel0001`, `bond0` or `ae3.0`.
fn is_channel(port: &str) -> bool {
    let port = port.to_ascii_lowercase();
    let is_number = |rest: &str| {
        let digits = rest.chars().all(|c| c.is_ascii_digit() || c == '.');
        digits && rest.starts_with(|c: char| c.is_ascii_digit())
    };
    LETTERS
        .iter()
        .any(|letters| port.strip_prefix(letters).is_some_and(is_number))
}

impl Channel {
    pub(super) fn commands(&self) -> Commands<'_> {
        Commands(&self.ipv4, &self.ipv6)
    }
}

impl Driver {
    /// Whether a port is a port channel, by its name.
    #[must_use]
    pub fn is_channel(&self, port: &str) -> bool {
        let mut names = self.channel.iter().flat_map(|channel| &channel.names);
        is_channel(port) || names.any(|name| name.fits(port))
    }

    /// The command that asks for the member of a port channel; `None` if the driver has none for the flow.
    ///
    /// # Errors
    /// Same as [`question`](Self::question).
    pub fn channel_question(&self, flow: &Flow, ingress: Option<&str>, port: &str) -> Result<Option<String>, Refusal> {
        let template = self.channel.as_ref().and_then(|channel| channel.commands().of(flow));
        let subject = Subject {
            flow,
            ingress,
            channel: Some(port),
        };
        template
            .map(|template| template.fill(subject, &self.values))
            .transpose()
    }

    /// Reads the answer to [`channel_question`](Self::channel_question).
    ///
    /// # Errors
    /// No pattern fits.
    pub fn channel_answer(&self, reply: &Reply) -> Result<String, Refusal> {
        reply.succeeded()?;
        let patterns = self.channel.as_ref().map_or(&[][..], |channel| &channel.egress);
        only(patterns, &reply.output)?.ok_or_else(|| {
            let message = format!(
                "the answer names no member of the port channel: {}",
                shown(&reply.all())
            );
            Refusal::new(PORT_CHANNEL, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::is_channel;

    #[test]
    fn port_channels_are_known_by_their_names() {
        for port in [
            "Port-Channel12",
            "PortChannel0001",
            "port-channel2",
            "Po1",
            "bond0",
            "ae3.0",
        ] {
            assert!(is_channel(port), "{port}");
        }
        for port in ["Ethernet1", "port2", "ae", "bonding1", "pod1", "Po1/1", "swp1"] {
            assert!(!is_channel(port), "{port}");
        }
    }
}
