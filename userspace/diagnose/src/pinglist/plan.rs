//! The pinglists of all hosts.
//!
//! A NIC probes NICs of its own rail: those that stand at the same place in the lists of their hosts. Two of its targets are
//! at its own switch and [`FAR`] at others, as far as there are any. Each stays for a period, and they change one after the
//! other. A choice follows from the addresses and the time, so a controller that starts again makes the same plan, and a
//! host that comes or goes changes the targets of few others.

use super::attachments::Attachments;
use super::ring::{Ring, hash};
use super::{FAR, NicPinglist, PORTS, Pinglist, TARGETS, Target, chance, tuples_for};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// The probability that a link is probed in a window, as R-Pingmesh has it.
const CHANCE: f64 = 0.99;

/// A host whose agent probes and answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The addresses of its NICs, in the order of the rails.
    pub nics: Vec<IpAddr>,
}

/// The pinglists of all hosts, and what they cover.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// In the order of the hosts.
    pub pinglists: Vec<Pinglist>,
    /// What they cover.
    pub coverage: Coverage,
}

/// How well the pinglists cover the links between switches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// NICs with a target.
    pub nics: usize,
    /// NICs whose switch is unknown: their traces show no router, or have not come.
    pub without_switch: usize,
    /// Switches with NICs.
    pub switches: usize,
    /// The switch whose ways on are covered worst; `None` while no ways are known.
    pub least: Option<Least>,
}

/// The 5-tuples over the ways on from a switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Least {
    /// The switch.
    pub switch: String,
    /// The ways on that are known.
    pub ways: usize,
    /// The 5-tuples from its NICs to those of other switches.
    pub tuples: usize,
}

impl Least {
    /// The probability that at least one of the 5-tuples crosses a way.
    #[must_use]
    pub fn chance(&self) -> f64 {
        chance(self.ways, self.tuples)
    }
}

/// A NIC of a host.
struct Nic<'a> {
    host: u32,
    rail: usize,
    address: IpAddr,
    switch: Option<&'a str>,
}

/// Which NICs a NIC may probe: rail, whether they have IPv4 addresses, and the switch, if only those of one count.
type Among<'a> = (usize, bool, Option<&'a str>);

/// Plans whom the NICs of these hosts probe at a time (Unix nanoseconds); each target stays for `period_ns`.
#[must_use]
pub fn plan(hosts: &[Host], attachments: &Attachments, now_ns: i64, period_ns: i64) -> Plan {
    let nics = nics(hosts, attachments);
    let mut members: BTreeMap<Among<'_>, Vec<(u32, IpAddr)>> = BTreeMap::new();
    for (number, nic) in (0..).zip(&nics) {
        let one = (number, nic.address);
        members.entry(nic.among(false)).or_default().push(one);
        if nic.switch.is_some() {
            members.entry(nic.among(true)).or_default().push(one);
        }
    }
    let rings: BTreeMap<Among<'_>, Ring> = members
        .into_iter()
        .map(|(among, members)| (among, Ring::new(members.into_iter())))
        .collect();
    let turns = turns(now_ns, period_ns);
    let mut at_switch: BTreeMap<&str, usize> = BTreeMap::new();
    for switch in nics.iter().filter_map(|nic| nic.switch) {
        *at_switch.entry(switch).or_default() += 1;
    }
    let mut pinglists: Vec<Pinglist> = hosts.iter().map(|_| Pinglist::default()).collect();
    let mut tuples: BTreeMap<&str, usize> = BTreeMap::new();
    let mut coverage = Coverage {
        switches: at_switch.len(),
        without_switch: nics.iter().filter(|nic| nic.switch.is_none()).count(),
        ..Coverage::default()
    };
    for nic in &nics {
        let targets = targets(nic, &nics, &rings, &turns);
        let ports = nic.switch.map_or(PORTS.1, |switch| {
            let senders = at_switch.get(switch).copied().unwrap_or(1);
            ports(attachments.ways(switch), senders)
        });
        if let Some(switch) = nic.switch {
            let is_elsewhere = |number: &&u32| nics[**number as usize].switch.is_some_and(|other| other != switch);
            let elsewhere = targets.iter().filter(is_elsewhere).count();
            *tuples.entry(switch).or_default() += elsewhere * usize::from(ports);
        }
        let target = |(slot, number): (usize, &u32)| Target {
            address: nics[*number as usize].address,
            host: host_number(&hosts[nics[*number as usize].host as usize].name),
            turn: turns[slot],
        };
        if !targets.is_empty() {
            coverage.nics += 1;
            pinglists[nic.host as usize].nics.push(NicPinglist {
                nic: nic.address,
                ports,
                targets: targets.iter().enumerate().map(target).collect(),
            });
        }
    }
    let covered = tuples.into_iter().map(|(switch, tuples)| Least {
        switch: switch.into(),
        ways: attachments.ways(switch),
        tuples,
    });
    let covered = covered.filter(|least| least.ways > 0 && least.tuples > 0);
    coverage.least = covered.min_by(|a, b| a.chance().total_cmp(&b.chance()));
    Plan { pinglists, coverage }
}

impl<'a> Nic<'a> {
    const fn among(&self, at_own_switch: bool) -> Among<'a> {
        let switch = if at_own_switch { self.switch } else { None };
        (self.rail, self.address.is_ipv4(), switch)
    }
}

fn nics<'a>(hosts: &[Host], attachments: &'a Attachments) -> Vec<Nic<'a>> {
    let of_host = |(host, Host { nics, .. }): (u32, &Host)| {
        let nic = move |(rail, address): (usize, &IpAddr)| Nic {
            host,
            rail,
            address: *address,
            switch: attachments.switch(*address),
        };
        nics.iter().enumerate().map(nic).collect::<Vec<_>>()
    };
    (0..).zip(hosts).flat_map(of_host).collect()
}

/// The turn of each target: they change one after the other.
fn turns(now_ns: i64, period_ns: i64) -> [i64; TARGETS] {
    let slots = TARGETS as i64;
    let latest = now_ns.div_euclid((period_ns / slots).max(1));
    core::array::from_fn(|slot| latest - (latest - slot as i64).rem_euclid(slots))
}

/// The numbers of the NICs that a NIC probes: those of other switches first, then those of its own.
fn targets(nic: &Nic<'_>, nics: &[Nic<'_>], rings: &BTreeMap<Among<'_>, Ring>, turns: &[i64; TARGETS]) -> Vec<u32> {
    let mut chosen = Vec::with_capacity(TARGETS);
    let mut choose = |among: Among<'_>, most: usize, far: bool| {
        let Some(ring) = rings.get(&among) else {
            return;
        };
        while chosen.len() < most {
            let slot = chosen.len();
            let is_wanted = |number: &u32| {
                let other = &nics[*number as usize];
                let is_near = nic.switch.is_some() && other.switch == nic.switch;
                other.host != nic.host && is_near != far && !chosen.contains(number)
            };
            let place = hash(nic.address, &[slot as u64, turns[slot].cast_unsigned()]);
            match ring.from(place).find(is_wanted) {
                Some(number) => chosen.push(number),
                None => return,
            }
        }
    };
    let is_attached = nic.switch.is_some();
    choose(nic.among(false), if is_attached { FAR } else { TARGETS }, true);
    if is_attached {
        choose(nic.among(true), TARGETS, false);
        // Where the own switch has too few.
        choose(nic.among(false), TARGETS, true);
    }
    chosen
}

/// The source ports for each target that let the NICs of a switch cross each of its ways.
fn ports(ways: usize, nics: usize) -> u16 {
    match ways {
        0 => PORTS.1,
        ways => {
            let needed = tuples_for(ways, CHANCE).div_ceil((nics * FAR).max(1));
            u16::try_from(needed).unwrap_or(u16::MAX).clamp(PORTS.0, PORTS.1)
        }
    }
}

/// The same number for a name on every machine (FNV-1a).
fn host_number(name: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    name.bytes().fold(0x811c_9dc5, mix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use alloc::format;

    const PERIOD: i64 = 600_000_000_000;

    fn address(host: usize, rail: usize) -> IpAddr {
        [10, rail as u8, (host >> 8) as u8, host as u8].into()
    }

    /// Hosts of two NICs, `per` of which share the switches of their rails, which have `ways` ways on.
    fn fabric(hosts: usize, per: usize, ways: usize) -> (Vec<Host>, Attachments) {
        let mut attachments = Attachments::default();
        let host = |host: usize| Host {
            name: format!("h{host}"),
            nics: (0..2).map(|rail| address(host, rail)).collect(),
        };
        for (host, rail) in (0..hosts).flat_map(|host| [(host, 0), (host, 1)]) {
            let switch = format!("leaf{}-{rail}", host / per);
            attachments.connect(address(host, rail), &switch);
            for way in 0..ways {
                attachments.lead(&switch, &format!("spine{way}"));
            }
        }
        ((0..hosts).map(host).collect(), attachments)
    }

    fn pairs(plan: &Plan) -> BTreeSet<(IpAddr, IpAddr)> {
        let nics = plan.pinglists.iter().flat_map(|list| &list.nics);
        nics.flat_map(|nic| nic.targets.iter().map(|target| (nic.nic, target.address)))
            .collect()
    }

    #[test]
    fn a_nic_has_targets_at_its_own_switch_and_at_others_of_its_rail() {
        let (hosts, attachments) = fabric(64, 8, 12);
        let plan = plan(&hosts, &attachments, 0, PERIOD);
        for (host, list) in hosts.iter().zip(&plan.pinglists) {
            assert_eq!(list.nics.len(), 2);
            for nic in &list.nics {
                let addresses: BTreeSet<IpAddr> = nic.targets.iter().map(|target| target.address).collect();
                assert_eq!(addresses.len(), TARGETS);
                assert!(addresses.iter().all(|address| !host.nics.contains(address)));
                let own = attachments.switch(nic.nic);
                let near = addresses.iter().filter(|address| attachments.switch(**address) == own);
                assert_eq!(near.count(), TARGETS - FAR);
                let rail = |address: &IpAddr| match address {
                    IpAddr::V4(address) => address.octets()[1],
                    IpAddr::V6(_) => unreachable!(),
                };
                assert!(addresses.iter().all(|address| rail(address) == rail(&nic.nic)));
            }
        }
        let least = plan.coverage.least.clone().unwrap();
        assert!(least.chance() >= CHANCE && least.ways == 12, "{least:?}");
        assert_eq!((plan.coverage.switches, plan.coverage.without_switch), (16, 0));
        // All are targets about equally often.
        let mut met: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (_, to) in pairs(&plan) {
            *met.entry(to).or_default() += 1;
        }
        assert_eq!(met.len(), 128);
        assert!(met.values().all(|count| *count <= 3 * TARGETS), "{met:?}");
    }

    #[test]
    fn few_senders_before_many_ways_have_more_ports() {
        let ports = |per, ways| {
            let (hosts, attachments) = fabric(4 * per, per, ways);
            plan(&hosts, &attachments, 0, PERIOD).pinglists[0].nics[0].ports
        };
        assert_eq!((ports(16, 2), ports(4, 12), ports(2, 32)), (2, 4, 4));
        assert_eq!(ports(4, 8), 3);
        assert_eq!(ports(4, 0), PORTS.1, "unknown");
    }

    #[test]
    fn a_host_that_goes_changes_few_targets_and_a_turn_one_of_each_nic() {
        let (mut hosts, attachments) = fabric(64, 8, 12);
        let before = pairs(&plan(&hosts, &attachments, 0, PERIOD));
        assert_eq!(before, pairs(&plan(&hosts, &attachments, 1, PERIOD)));
        let later = pairs(&plan(&hosts, &attachments, PERIOD / TARGETS as i64, PERIOD));
        let stayed = before.intersection(&later).count();
        assert!(
            stayed >= 128 * (TARGETS - 1) * 9 / 10 && stayed < before.len(),
            "{stayed}"
        );
        let gone = hosts.remove(20);
        let after = pairs(&plan(&hosts, &attachments, 0, PERIOD));
        let is_of = |pair: &&(IpAddr, IpAddr)| gone.nics.contains(&pair.0) || gone.nics.contains(&pair.1);
        let (concerned, changed) = (before.iter().filter(is_of).count(), before.difference(&after).count());
        assert!(changed <= concerned * 2, "{changed} of {concerned}");
        assert!(!after.iter().any(|pair| is_of(&pair)));
    }

    #[test]
    fn without_switches_targets_are_any_of_the_rail_and_the_coverage_is_not_known() {
        let (hosts, _) = fabric(5, 8, 1);
        let plan = plan(&hosts, &Attachments::default(), 0, PERIOD);
        assert!(plan.pinglists.iter().all(|list| list.nics[0].targets.len() == 4));
        assert_eq!((plan.coverage.without_switch, plan.coverage.least), (10, None));
        let alone = super::plan(&hosts[..1], &Attachments::default(), 0, PERIOD);
        assert_eq!(alone.pinglists, [Pinglist::default()]);
    }
}
