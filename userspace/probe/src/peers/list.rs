//! The hosts that probe each other: one line for each, with the addresses of its NICs in the order of the rails.
//!
//! ```text
//! # host   rail 0      rail 1
//! h0       10.0.0.1    10.1.0.1
//! h1       10.0.0.2    10.1.0.2
//! h2       10.0.0.3    -
//! ```
//!
//! The first word of a line may be a name, which only a reader needs. The same list is right on all hosts: each finds
//! its own line by the addresses of its NICs.

use super::receipt_message::hash;
use crate::types::Nic;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Which NICs of the other hosts a NIC probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PeerRails {
    /// Those of its own rail.
    #[default]
    Same,
    /// Those of all rails.
    All,
}

/// A line that is not a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A word is no address.
    #[error("line {line}: `{word}` is no IP address and no `-`")]
    Word {
        /// The line, from 1.
        line: usize,
        /// The word.
        word: String,
    },
    /// A line has a name and no address.
    #[error("line {line} has no address")]
    Empty {
        /// The line, from 1.
        line: usize,
    },
    /// Two NICs have one address.
    #[error("line {line}: {address} is on line {first} too")]
    Twice {
        /// The line, from 1.
        line: usize,
        /// The address.
        address: IpAddr,
        /// Where it was before.
        first: usize,
    },
    /// This host has addresses of several lines.
    #[error("this host has addresses of lines {first} and {second}: write one line for each host")]
    TwoLines {
        /// A line, from 1.
        first: usize,
        /// Another one.
        second: usize,
    },
    /// There is no other host.
    #[error("it names no other host")]
    Alone,
}

/// The hosts of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerList {
    hosts: Vec<Host>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    line: usize,
    /// By rail; `None` where it has no NIC.
    nics: Vec<Option<IpAddr>>,
}

impl PeerList {
    /// Parses a list.
    ///
    /// # Errors
    /// The first line that is not a host.
    pub fn parse(text: &str) -> Result<Self, ListError> {
        let mut hosts = Vec::new();
        let mut seen = BTreeMap::new();
        for (line, words) in (1..).zip(text.lines()) {
            let words = words.split('#').next().unwrap_or_default();
            let mut words = words.split_whitespace().peekable();
            let Some(first) = words.peek() else {
                continue;
            };
            if *first != "-" && first.parse::<IpAddr>().is_err() {
                words.next();
            }
            let nic = |word: &str| match (word, word.parse()) {
                ("-", _) => Ok(None),
                (_, Ok(address)) => Ok(Some(address)),
                _ => Err(ListError::Word {
                    line,
                    word: word.to_owned(),
                }),
            };
            let nics: Vec<Option<IpAddr>> = words.map(nic).collect::<Result<_, _>>()?;
            if nics.iter().all(Option::is_none) {
                return Err(ListError::Empty { line });
            }
            for address in nics.iter().flatten() {
                if let Some(first) = seen.insert(*address, line) {
                    let address = *address;
                    return Err(ListError::Twice { line, address, first });
                }
            }
            hosts.push(Host { line, nics });
        }
        Ok(Self { hosts })
    }
}

/// The list as one host uses it: whom its NICs may probe.
#[derive(Clone, Debug)]
pub struct Plan {
    hosts: Vec<Host>,
    /// The line of this host; of one that is not in the list, a line that follows from its first address.
    own: usize,
    is_listed: bool,
    rails: u32,
    /// The rail of each NIC of this host.
    rail: Vec<usize>,
    /// The address family of each.
    is_v4: Vec<bool>,
}

/// A NIC of another host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its host, by its place in the list.
    pub host: usize,
    /// Its address.
    pub address: IpAddr,
}

impl Plan {
    /// Finds this host, which has these NICs, in the list.
    ///
    /// # Errors
    /// The host has addresses of several lines, or there is no other host.
    pub fn new(list: PeerList, nics: &[Nic], rails: PeerRails) -> Result<Self, ListError> {
        let PeerList { hosts } = list;
        let rail_in = |host: &Host, nic: &Nic| host.nics.iter().position(|address| *address == Some(nic.address));
        let mut own = hosts
            .iter()
            .enumerate()
            .filter(|(_, host)| nics.iter().any(|nic| rail_in(host, nic).is_some()));
        let first = own.next();
        if let (Some((_, first)), Some((_, second))) = (first, own.next()) {
            return Err(ListError::TwoLines {
                first: first.line,
                second: second.line,
            });
        }
        if hosts.len() <= usize::from(first.is_some()) {
            return Err(ListError::Alone);
        }
        let rail = |(at, nic): (usize, &Nic)| first.and_then(|(_, host)| rail_in(host, nic)).unwrap_or(at);
        let start = nics.first().map_or(0, |nic| hash(nic.address) as usize);
        Ok(Self {
            own: first.map_or(start % hosts.len(), |(own, _)| own),
            is_listed: first.is_some(),
            rails: match rails {
                PeerRails::Same => 1,
                PeerRails::All => hosts.iter().map(|host| host.nics.len() as u32).max().unwrap_or(1),
            },
            rail: nics.iter().enumerate().map(rail).collect(),
            is_v4: nics.iter().map(|nic| nic.address.is_ipv4()).collect(),
            hosts,
        })
    }

    /// How many peers a NIC may have: the other hosts, on each rail that it probes.
    #[must_use]
    pub fn candidates(&self) -> u32 {
        let others = self.hosts.len() - usize::from(self.is_listed);
        (others as u32).saturating_mul(self.rails)
    }

    /// A peer of a NIC by its number, which counts from this host on: if all hosts take the same number at a time, each
    /// NIC is the peer of as many others as it has. `None` if that host has no such NIC.
    #[must_use]
    pub fn peer(&self, nic: usize, number: u32) -> Option<Peer> {
        let others = self.hosts.len() - usize::from(self.is_listed);
        let (offset, shift) = (number as usize % others.max(1), number as usize / others.max(1));
        let host = (self.own + usize::from(self.is_listed) + offset) % self.hosts.len().max(1);
        let rail = *self.rail.get(nic)?;
        let rail = match self.rails {
            1 => rail,
            rails => (rail + shift) % rails as usize,
        };
        let address = (*self.hosts.get(host)?.nics.get(rail)?)?;
        (address.is_ipv4() == *self.is_v4.get(nic)?).then_some(Peer { host, address })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    const LIST: &str =
        "# host rail0 rail1\nh0 10.0.0.1 10.1.0.1\n\n10.0.0.2 10.1.0.2 # no name\nh2 10.0.0.3 -\nh3 - 10.1.0.4\n";

    fn nics(addresses: &[&str]) -> Vec<Nic> {
        let nic = |address: &&str| Nic {
            name: String::new(),
            address: address.parse().unwrap(),
        };
        addresses.iter().map(nic).collect()
    }

    fn plan(own: &[&str], rails: PeerRails) -> Result<Plan, ListError> {
        Plan::new(PeerList::parse(LIST).unwrap(), &nics(own), rails)
    }

    fn peers(plan: &Plan, nic: usize) -> Vec<Option<String>> {
        let peer = |number| plan.peer(nic, number).map(|peer| peer.address.to_string());
        (0..plan.candidates()).map(peer).collect()
    }

    #[test]
    fn a_nic_probes_the_other_hosts_of_its_rail_from_its_own_on() {
        // The order of the interfaces is not that of the rails.
        let own = plan(&["10.1.0.2", "10.0.0.2"], PeerRails::Same).unwrap();
        let some = |address: &str| Some(address.to_owned());
        assert_eq!(peers(&own, 0), [None, some("10.1.0.4"), some("10.1.0.1")]);
        assert_eq!(peers(&own, 1), [some("10.0.0.3"), None, some("10.0.0.1")]);
        assert_eq!(own.peer(2, 0), None);
    }

    #[test]
    fn across_rails_every_nic_of_every_other_host_is_a_peer_once() {
        let own = plan(&["10.0.0.1", "10.1.0.1"], PeerRails::All).unwrap();
        for nic in 0..2 {
            let mut found: Vec<String> = peers(&own, nic).into_iter().flatten().collect();
            found.sort();
            assert_eq!(found, ["10.0.0.2", "10.0.0.3", "10.1.0.2", "10.1.0.4"]);
        }
    }

    #[test]
    fn a_number_gives_each_nic_as_many_askers_as_peers() {
        let lines: String = (0..7).map(|host| format!("10.0.0.{host} 10.1.0.{host}\n")).collect();
        for rails in [PeerRails::Same, PeerRails::All] {
            for number in 0..6 {
                let mut askers: BTreeMap<IpAddr, u32> = BTreeMap::new();
                for host in 0..7 {
                    let own = nics(&[&format!("10.0.0.{host}"), &format!("10.1.0.{host}")]);
                    let plan = Plan::new(PeerList::parse(&lines).unwrap(), &own, rails).unwrap();
                    for nic in 0..2 {
                        *askers.entry(plan.peer(nic, number).unwrap().address).or_default() += 1;
                    }
                }
                assert!(askers.len() == 14 && askers.values().all(|count| *count == 1));
            }
        }
    }

    #[test]
    fn a_host_that_is_not_listed_probes_all_and_one_of_another_family_none() {
        let own = plan(&["10.0.0.77", "10.1.0.77"], PeerRails::Same).unwrap();
        assert_eq!(own.candidates(), 4);
        assert_eq!(peers(&own, 0).into_iter().flatten().count(), 3);
        let v6 = plan(&["fd00::1"], PeerRails::Same).unwrap();
        assert_eq!(peers(&v6, 0).into_iter().flatten().count(), 0);
    }

    #[test]
    fn a_line_that_is_not_a_host_is_an_error() {
        let error = |text: &str| PeerList::parse(text).unwrap_err().to_string();
        assert_eq!(
            error("h0 10.0.0.1 rail1"),
            "line 1: `rail1` is no IP address and no `-`"
        );
        assert_eq!(error("\nh0\n"), "line 2 has no address");
        assert_eq!(error("h0 10.0.0.1\nh1 10.0.0.1"), "line 2: 10.0.0.1 is on line 1 too");
        let two = plan(&["10.0.0.1", "10.0.0.2"], PeerRails::Same).unwrap_err();
        assert_eq!(two, ListError::TwoLines { first: 2, second: 4 });
        let alone = Plan::new(
            PeerList::parse("10.0.0.1").unwrap(),
            &nics(&["10.0.0.1"]),
            PeerRails::Same,
        );
        assert_eq!(alone.unwrap_err(), ListError::Alone);
        let none = Plan::new(PeerList::default(), &nics(&["10.0.0.1"]), PeerRails::Same);
        assert_eq!(none.unwrap_err(), ListError::Alone);
    }
}
