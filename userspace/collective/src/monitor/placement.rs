//! Which rank is where: its agent, and the address of its NIC. A file with a line for each rank,
//!
//! ```text
//! # rank agent address
//! 0 gpu-node-1 10.0.0.1
//! 0x7f3a 5 gpu-node-2 10.0.0.2
//! ```
//!
//! A line with four words is for one communicator: the name of its collectives begins with the first word.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use core::net::IpAddr;
use rocescope_model::Text;

/// The place of a rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The agent of its host: the name in the agent's certificate.
    pub agent: Text,
    /// The address of its NIC.
    pub address: IpAddr,
}

/// The places of all ranks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Placement {
    /// By rank, and communicator if it is for one.
    places: BTreeMap<(u32, Option<String>), Place>,
}

impl Placement {
    /// Reads the file.
    ///
    /// # Errors
    /// The first line that is none, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut places = BTreeMap::new();
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let mut words = line.split_whitespace();
            let mut four = [words.next(), words.next(), words.next(), words.next()];
            let wrong = |why: &str| format!("line {}: {why}; expected RANK AGENT ADDRESS", at + 1);
            if four[0].is_none() {
                continue;
            }
            let communicator = match four[3] {
                Some(_) => {
                    four.rotate_left(1);
                    four[3].map(ToString::to_string)
                }
                None => None,
            };
            let [Some(rank), Some(agent), Some(address), _] = four else {
                return Err(wrong("too few words"));
            };
            if words.next().is_some() {
                return Err(wrong("too many words"));
            }
            let rank = rank.parse().map_err(|_| wrong("no rank"))?;
            let address = address.parse().map_err(|_| wrong("no IP address"))?;
            let agent = Text::from(agent.to_string());
            if places.insert((rank, communicator), Place { agent, address }).is_some() {
                return Err(wrong("a rank that has a place already"));
            }
        }
        Ok(Self { places })
    }

    /// The place of a rank in a collective.
    #[must_use]
    pub fn of(&self, collective: &str, rank: u32) -> Option<&Place> {
        let communicator = collective.split(':').next().unwrap_or_default();
        let of_one = self.places.get(&(rank, Some(communicator.to_string())));
        of_one.or_else(|| self.places.get(&(rank, None)))
    }

    /// Whether an agent has a rank.
    #[must_use]
    pub fn has_agent(&self, agent: &str) -> bool {
        self.places.values().any(|place| &*place.agent == agent)
    }

    /// How many ranks have a place.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Placement;

    #[test]
    fn a_line_may_be_for_one_communicator() {
        let text = "# ranks\n0 h0 10.0.0.1 # the first\n\n0xa 0 h7 10.0.0.8\n1 h1 fd00::1\n";
        let placement = Placement::parse(text).unwrap();
        let agent = |collective, rank| placement.of(collective, rank).map(|place| &*place.agent);
        assert_eq!(agent("0xa:AllReduce:1", 0), Some("h7"));
        assert_eq!(agent("0xb:AllReduce:1", 0), Some("h0"));
        assert_eq!(agent("0xa:AllReduce:1", 1), Some("h1"));
        assert_eq!(agent("0xa:AllReduce:1", 2), None);
        assert!(placement.has_agent("h7") && !placement.has_agent("h2"));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let why = |text: &str| Placement::parse(text).unwrap_err();
        assert!(why("0 h0\n").starts_with("line 1: too few words"));
        assert!(why("\nx h0 10.0.0.1\n").starts_with("line 2: no rank"));
        assert!(why("0 h0 host\n").starts_with("line 1: no IP address"));
        assert!(why("0 h0 ::1\n0 h1 ::2\n").starts_with("line 2: a rank that has a place"));
        assert!(why("a 0 h0 ::1 b\n").starts_with("line 1: too many words"));
    }
}
