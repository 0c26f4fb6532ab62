//! Probes between hosts as a controller hands them out: whether they cross every link, and how soon an uplink of a rack's
//! switch that loses is named. Probes within hosts are left out, so that these stand alone.

use super::{START, WINDOW, analyzer};
use crate::table::{Goal, Line, Size, percent};
use rocescope_diagnose::pinglist::{Attachments, Host, NicPinglist, Plan, plan};
use rocescope_fabric::probing::{Mesh, Names, Probe};
use rocescope_fabric::random::{Draws, mix};
use rocescope_fabric::{
    Fabric, Fault, FaultKind, FaultLocation, FiveTuple, LinkDirection, LinkId, Nic, Outcome, Rails,
};
use rocescope_model::{ProbeRow, ROCE_UDP_PORT, Text, Time};
use rocescope_probe::Settings;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// For how long a NIC has a target.
const PERIOD: i64 = 600_000_000_000;
/// Windows until an uplink must be named.
const WINDOWS: i64 = 3;

/// A fabric, and the probes between its hosts.
struct Between {
    fabric: Fabric,
    plan: Plan,
    seed: u64,
}

pub(super) fn evaluate(size: Size) -> Vec<Line> {
    // 64 hosts at a switch with 8 uplinks, and 4 at one with 12.
    let large = Rails::three_tiers(size.choose(256, 1_600), 8, 64, 8, 16);
    let few = Rails::three_tiers(48, 2, 4, 12, 4);
    let mut lines = Vec::new();
    for (name, rails) in [
        ("64 hosts a rack, 8 uplinks", large),
        ("4 hosts a rack, 12 uplinks", few),
    ] {
        let hosts = rails.hosts;
        let part = |what: &str| format!("pinglists, {hosts} hosts, {name}: {what}");
        let (crossed, all) = coverage(rails, size.choose(5, 20));
        lines.push(Line::new(
            part("links"),
            all,
            "crossed in a window, %",
            percent(crossed, all),
            Goal::AtLeast(99.0),
        ));
        let seeds = size.choose(3, 10);
        let (found, wrong) = uplinks(rails, seeds);
        lines.push(Line::new(
            part("an uplink down"),
            seeds,
            "named in its first window, %",
            percent(found, seeds),
            Goal::AtLeast(95.0),
        ));
        lines.push(Line::new(
            part("an uplink down"),
            seeds,
            "other places",
            wrong as f64,
            Goal::AtMost(0.0),
        ));
    }
    lines
}

impl Between {
    fn new(rails: Rails, seed: u64, at_ns: i64) -> Self {
        let topology = rails.build().unwrap();
        let mut attachments = Attachments::default();
        for nic in (0..topology.nics()).map(Nic) {
            let (_, leaf) = topology.ends(LinkId(nic.0));
            attachments.connect(topology.nic_address(nic), &topology.name(leaf));
        }
        for link in (topology.nics()..topology.links()).map(LinkId) {
            let (lower, upper) = topology.ends(link);
            attachments.lead(&topology.name(lower), &topology.name(upper));
        }
        let host = |host: u32| Host {
            name: format!("h{host}"),
            nics: (0..rails.nics)
                .map(|rail| topology.nic_address(topology.nic(host, rail)))
                .collect(),
        };
        let hosts: Vec<Host> = (0..rails.hosts).map(host).collect();
        Self {
            plan: plan(&hosts, &attachments, at_ns, PERIOD),
            fabric: Fabric::new(topology, seed),
            seed,
        }
    }

    /// Each NIC with its targets.
    fn nics(&self) -> impl Iterator<Item = (Nic, &NicPinglist)> {
        let nics = self.plan.pinglists.iter().flat_map(|list| &list.nics);
        nics.map(|list| (self.nic(list.nic), list))
    }

    fn nic(&self, address: IpAddr) -> Nic {
        Nic(self.fabric.topology.find(address).unwrap().0.0)
    }

    /// The 5-tuples of a NIC.
    fn tuples(&self, src: Nic, list: &NicPinglist) -> Vec<FiveTuple> {
        let targets = list.targets.iter().flat_map(|target| {
            let dst = self.nic(target.address);
            (0..u64::from(list.ports)).map(move |port| (dst, target.turn, port))
        });
        let tuple = |(dst, turn, port): (Nic, i64, u64)| {
            let drawn = mix(&[self.seed, src.0.into(), turn.cast_unsigned(), port]);
            FiveTuple {
                src,
                dst,
                udp_src_port: 0xC000 | (drawn & 0x3FFF) as u16,
                udp_dst_port: ROCE_UDP_PORT,
            }
        };
        targets.map(tuple).collect()
    }

    /// Calls `each` with the 5-tuple of each probe of a window and its time. The 5-tuples of a NIC have turns.
    fn probes(&self, from: i64, mut each: impl FnMut(FiveTuple, i64)) {
        let interval = Settings::new("", 0).peer_interval.0;
        for (nic, list) in self.nics() {
            let tuples = self.tuples(nic, list);
            let phase = (mix(&[self.seed, nic.0.into()]) % interval.unsigned_abs()).cast_signed();
            for turn in 0..WINDOW / interval {
                let at = (from / interval + turn).cast_unsigned() as usize % tuples.len();
                each(tuples[at], from + turn * interval + phase);
            }
        }
    }
}

const fn back(tuple: FiveTuple) -> FiveTuple {
    FiveTuple {
        src: tuple.dst,
        dst: tuple.src,
        ..tuple
    }
}

/// The links, each in both directions, that probes and answers of a window crossed, and all that same-rail traffic may cross.
fn coverage(rails: Rails, windows: i64) -> (u64, u64) {
    let (mut crossed, mut all) = (0, 0);
    for window in 0..windows {
        let from = START + window * PERIOD / 4;
        let between = Between::new(rails, window.cast_unsigned(), from);
        let topology = &between.fabric.topology;
        let mut met = BTreeSet::new();
        between.probes(from, |tuple, at| {
            for tuple in [tuple, back(tuple)] {
                let route = between.fabric.route(tuple, at);
                met.extend(route.ways().iter().map(|way| (way.link.0, way.up)));
            }
        });
        // Links above the upper switches of a rail join rails: probes within hosts cross those.
        let leaves = u64::from(rails.groups() * rails.nics);
        let links = u64::from(topology.nics()) + leaves * u64::from(rails.uppers);
        crossed += met.len() as u64;
        all += 2 * links;
    }
    (crossed, all)
}

/// In how many runs an uplink of a rack's switch that loses all packets in one direction is named in its first window, and
/// how many other places are.
fn uplinks(rails: Rails, seeds: u64) -> (u64, u64) {
    let (mut found, mut wrong) = (0, 0);
    for seed in 0..seeds {
        let mut between = Between::new(rails, seed, START);
        let topology = between.fabric.topology;
        let mut draws = Draws::new(seed ^ 0xB7);
        let leaves = rails.groups() * rails.nics;
        let way = LinkDirection {
            link: LinkId(topology.nics() + draws.below(leaves * rails.uppers)),
            up: draws.happens(0.5),
        };
        let (from, to) = topology.from_to(way);
        let truth = format!("{}>{}", topology.name(from), topology.name(to));
        let (first, other) = run(&mut between, way, &truth, seed);
        found += u64::from(first);
        wrong += other;
    }
    (found, wrong)
}

/// Whether the link is named in the first window with the fault, and the other places of all windows.
fn run(between: &mut Between, way: LinkDirection, truth: &str, seed: u64) -> (bool, u64) {
    let names = Names::new(&between.fabric);
    let mut analyzer = analyzer(&between.fabric);
    for (nic, list) in between.nics() {
        for tuple in between.tuples(nic, list) {
            for way in [tuple, back(tuple)] {
                let hops = between.fabric.trace(way, START);
                for mut row in names.path(&between.fabric, way, START, &hops) {
                    row.dst_nic = Text::default();
                    analyzer.path(&row);
                }
            }
        }
    }
    between.fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 1.0 },
        place: FaultLocation::Direction(way),
        from_ns: START + WINDOW,
        until_ns: i64::MAX,
    });
    let mesh = Mesh::default();
    let (mut draws, mut sequence) = (Draws::new(seed), 0);
    let (mut is_first, mut wrong) = (false, 0);
    for window in 0..=WINDOWS {
        let from = START + window * WINDOW;
        between.probes(from, |tuple, at| {
            sequence += 1;
            let mut row = |tuple: FiveTuple, observer: Option<Text>| {
                let probe = Probe {
                    tuple,
                    sent_ns: at,
                    sequence,
                    passage: between.fabric.send(tuple, at, &mut draws),
                };
                let row = between_hosts(names.probe(&between.fabric, &mesh, &probe), observer);
                analyzer.probe(&row);
                (probe.passage.outcome, row.observer)
            };
            let (there, observer) = row(tuple, None);
            if there == Outcome::Received {
                row(back(tuple), Some(observer));
            }
        });
        let found = analyzer.advance(Time(from + WINDOW)).remove(0);
        for verdict in &found.verdicts {
            let place = verdict.link.as_ref().map_or(&*verdict.place, |link| link);
            let is_right = window > 0 && place == truth;
            is_first |= is_right && window == 1;
            wrong += u64::from(!is_right);
            if !is_right {
                eprintln!(
                    "seed {seed}, window {window}: {place} in place of {truth}: {}",
                    verdict.sentence
                );
            }
        }
    }
    (is_first, wrong)
}

/// The row of one way between hosts: the other host's NIC has no name, and two clocks give no latency. That of the way back
/// is of the host that asked.
fn between_hosts(row: ProbeRow, asked: Option<Text>) -> ProbeRow {
    let row = ProbeRow {
        network_latency_ns: None,
        processing_delay_ns: None,
        clock_offset_ns: None,
        ..row
    };
    match asked {
        None => ProbeRow {
            dst_nic: Text::default(),
            ..row
        },
        Some(observer) => ProbeRow {
            observer,
            src_nic: Text::default(),
            ..row
        },
    }
}
