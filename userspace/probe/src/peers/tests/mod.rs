//! Agents of several hosts in a network that loses what a test chooses.

mod handed_out;

use super::list::{PeerList, PeerRails, Plan};
use super::{PeerCounters, PeerSettings};
use crate::agent::{Agent, Settings};
use crate::payload::Payload;
use crate::types::{Clock, DatagramKind, Event, Nanos, Nic, NicIndex, Outgoing, Refusal};
use rocescope_model::{PathRow, ProbeRow};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
/// One way.
const DELAY: Nanos = Nanos(20_000);
const BEGIN: Nanos = Nanos(1_795_228_200 * SECOND);

/// A datagram on its way: source, destination, source port, and whether it is an answer.
type Way = (IpAddr, IpAddr, u16, bool);

/// Why a host cannot send a datagram, if it cannot.
type Refuses = dyn FnMut(usize, &Outgoing) -> Option<Refusal>;

struct Network {
    hosts: Vec<Vec<Nic>>,
    agents: Vec<Option<Agent>>,
    settings: Settings,
    peers: (u16, u16, Nanos),
    now: Nanos,
    ahead: BTreeMap<(Nanos, u64), (usize, Event)>,
    count: u64,
    loses: Box<dyn FnMut(Way) -> bool>,
    refuses: Box<Refuses>,
    /// Agents that do nothing for a while.
    stalled: BTreeSet<usize>,
    /// Agents have no list of peers.
    is_unlisted: bool,
    /// By 5-tuple and number: whether the probe, and its answer, arrived.
    truth: BTreeMap<(IpAddr, IpAddr, u16, u64), [bool; 2]>,
    rows: Vec<ProbeRow>,
    paths: Vec<PathRow>,
}

fn address(host: usize, nic: usize) -> IpAddr {
    [10, nic as u8, 0, host as u8].into()
}

impl Network {
    /// Hosts of this number of NICs, each with all others as peers at once.
    fn new(hosts: usize, nics: usize) -> Self {
        let nic = |host, nic| Nic {
            name: format!("rail{nic}"),
            address: address(host, nic),
        };
        let of_host = |host| (0..nics).map(|at| nic(host, at)).collect();
        let mut network = Self {
            hosts: (0..hosts).map(of_host).collect(),
            agents: Vec::new(),
            settings: Settings {
                traces_per_second: 0.0,
                ..Settings::new("", 1)
            },
            peers: (hosts as u16 - 1, 2, Nanos(200 * MS)),
            now: BEGIN,
            ahead: BTreeMap::new(),
            count: 0,
            loses: Box::new(|_| false),
            refuses: Box::new(|_, _| None),
            stalled: BTreeSet::new(),
            is_unlisted: false,
            truth: BTreeMap::new(),
            rows: Vec::new(),
            paths: Vec::new(),
        };
        network.agents = (0..hosts).map(|host| Some(network.agent(host, host as u64))).collect();
        network
    }

    /// Hosts without peers.
    fn unlisted(hosts: usize, nics: usize) -> Self {
        let mut network = Self::new(hosts, nics);
        network.is_unlisted = true;
        network.again();
        network
    }

    fn plan(&self, host: usize) -> Plan {
        let line = |nics: &Vec<Nic>| nics.iter().map(|nic| format!("{} ", nic.address)).collect::<String>() + "\n";
        let list: String = self.hosts.iter().map(line).collect();
        Plan::new(PeerList::parse(&list).unwrap(), &self.hosts[host], PeerRails::Same).unwrap()
    }

    fn agent(&self, host: usize, seed: u64) -> Agent {
        let (at_once, ports, interval) = self.peers;
        let settings = Settings {
            observer: format!("h{host}").into(),
            peers: (!self.is_unlisted).then(|| PeerSettings {
                plan: self.plan(host),
                at_once,
                ports,
                period: Nanos(600 * SECOND),
            }),
            peer_interval: interval,
            seed,
            port_seed: host as u64,
            ..self.settings.clone()
        };
        let clock = Clock {
            source: "simulated",
            error: Nanos(0),
            own: false,
        };
        Agent::new(settings, &self.hosts[host], clock, self.now)
    }

    /// Makes all agents again, with the settings of now.
    fn again(&mut self) {
        self.agents = (0..self.hosts.len())
            .map(|host| Some(self.agent(host, host as u64)))
            .collect();
    }

    fn happens(&mut self, at: Nanos, host: usize, event: Event) {
        self.ahead.insert((at, self.count), (host, event));
        self.count += 1;
    }

    fn send(&mut self, host: usize, outgoing: &Outgoing) {
        let src = self.hosts[host][outgoing.src.at()].address;
        let dst = outgoing.remote.unwrap_or(self.hosts[host][outgoing.dst.at()].address);
        let mut payload = Payload::from(outgoing);
        let is_answer = matches!(outgoing.kind, DatagramKind::PeerAnswer { .. });
        self.happens(
            self.now,
            host,
            Event::Sent {
                payload,
                nic_sent: self.now,
            },
        );
        let is_lost = (self.loses)((src, dst, outgoing.port, is_answer));
        match outgoing.kind {
            DatagramKind::PeerProbe(_) => {
                let key = (src, dst, outgoing.port, outgoing.sequence.0 & u64::from(u32::MAX));
                self.truth.insert(key, [!is_lost, false]);
            }
            DatagramKind::PeerAnswer { .. } => {
                let key = (dst, src, outgoing.port, outgoing.sequence.0 & u64::from(u32::MAX));
                self.truth.entry(key).or_default()[1] = !is_lost;
            }
            _ => {}
        }
        if is_lost {
            return;
        }
        let to = |host: usize| self.hosts[host].iter().position(|nic| nic.address == dst);
        let Some((to, nic)) = (0..self.hosts.len()).find_map(|host| Some((host, to(host)?))) else {
            return;
        };
        // Of the bytes.
        let mut bytes = payload.write().to_vec();
        bytes.extend(payload.write_message().into_iter().flatten());
        payload = Payload::read(&bytes).unwrap();
        let at = self.now + DELAY;
        self.happens(
            at,
            to,
            Event::Arrived {
                nic: NicIndex(nic as u16),
                payload,
                from: Some(src),
                intact: true,
                nic_received: Some(at),
                received: at,
            },
        );
    }

    /// Runs for some time.
    fn run(&mut self, time: Nanos) {
        let end = self.now + time;
        while self.now < end {
            for host in 0..self.agents.len() {
                while let Some(outgoing) = self.next_packet(host) {
                    match (self.refuses)(host, &outgoing) {
                        None => self.send(host, &outgoing),
                        Some(why) => self.agents[host].as_mut().unwrap().refused(&outgoing, why),
                    }
                }
            }
            let dues = (0..self.agents.len()).filter(|host| !self.stalled.contains(host));
            let dues = dues.filter_map(|host| self.agents[host].as_ref()?.next_due());
            let ahead = self.ahead.iter().find(|(_, (host, _))| !self.stalled.contains(host));
            let next = dues.chain(ahead.map(|((at, _), _)| *at)).min().unwrap_or(end);
            self.now = next.max(self.now + Nanos(1)).min(end);
            self.deliver();
        }
        for agent in self.agents.iter_mut().flatten() {
            let (rows, paths) = agent.rows();
            self.rows.append(rows);
            self.paths.append(paths);
            assert!(agent.counters().is_balanced());
            assert!(agent.peer_counters().is_none_or(|counters| counters.is_balanced()));
        }
    }

    fn next_packet(&mut self, host: usize) -> Option<Outgoing> {
        let agent = self.agents[host].as_mut().filter(|_| !self.stalled.contains(&host))?;
        agent.next_packet(self.now)
    }

    fn deliver(&mut self) {
        let (now, stalled) = (self.now, self.stalled.clone());
        let due = |(at, _): &(Nanos, u64), (host, _): &(usize, Event)| *at <= now && !stalled.contains(host);
        let events: Vec<_> = self.ahead.extract_if(.., |key, event| due(key, event)).collect();
        for (_, (host, mut event)) in events {
            let Some(agent) = &mut self.agents[host] else {
                continue;
            };
            if let Event::Arrived { received, .. } = &mut event {
                *received = now;
            }
            agent.handle(&event);
        }
        for (host, agent) in self.agents.iter_mut().enumerate() {
            if let Some(agent) = agent.as_mut().filter(|_| !self.stalled.contains(&host)) {
                agent.expire(now);
            }
        }
    }

    fn counters(&self, host: usize) -> PeerCounters {
        self.agents[host].as_ref().unwrap().peer_counters().unwrap()
    }

    /// The rows of a host about other hosts.
    fn of(&self, host: usize) -> impl Iterator<Item = &ProbeRow> {
        let observer = format!("h{host}");
        let is_remote = |row: &&ProbeRow| row.src_nic.is_empty() || row.dst_nic.is_empty();
        self.rows
            .iter()
            .filter(move |row| *row.observer == *observer)
            .filter(is_remote)
    }

    /// The rows of a way with an outcome.
    fn count(&self, src: IpAddr, dst: IpAddr, outcome: &str) -> usize {
        let is_there = |row: &&ProbeRow| (row.src, row.dst) == (src, dst) && &*row.outcome == outcome;
        self.rows.iter().filter(is_there).count()
    }

    fn outcomes(&self) -> BTreeSet<String> {
        let remote = (0..self.hosts.len()).flat_map(|host| self.of(host));
        remote.map(|row| row.outcome.to_string()).collect()
    }
}

#[test]
fn in_a_quiet_network_both_ways_of_every_probe_have_a_row() {
    let mut network = Network::new(3, 2);
    network.run(Nanos(20 * SECOND));
    for agent in network.agents.iter_mut().flatten() {
        agent.stop();
    }
    network.run(Nanos(2 * SECOND));
    let counters = network.counters(0);
    // Two NICs, five a second.
    assert_eq!((counters.probes, counters.answered), (200, 200));
    assert_eq!(network.agents[0].as_ref().unwrap().next_due(), None);
    let (mut there, mut back) = (0, 0);
    for row in network.of(0) {
        assert_eq!(&*row.outcome, "received");
        assert_eq!((row.network_latency_ns, row.processing_delay_ns), (None, None));
        match row.dst_nic.is_empty() {
            true => {
                there += 1;
                assert_eq!(row.round_trip_ns, Some(2 * DELAY.0));
                assert!(!row.src_nic.is_empty() && row.src.to_string().ends_with(".0"));
            }
            false => {
                back += 1;
                assert_eq!((row.round_trip_ns, row.nic_send_ns), (None, None));
                assert!(row.src_nic.is_empty() && row.dst.to_string().ends_with(".0"));
            }
        }
    }
    assert_eq!((there, back), (200, 200));
    // Within a rail: 2 peers with 2 ports each.
    let tuples: BTreeSet<_> = network.of(0).map(|row| (row.src, row.dst, row.udp_src_port)).collect();
    assert_eq!(tuples.len(), 2 * (2 * 2 * 2));
    let answers = network.agents[0].as_ref().unwrap().answer_counters();
    assert_eq!((answers.answered, answers.unsent, answers.too_many), (200, 0, 0));
}

#[test]
fn a_loss_is_of_the_way_that_lost_it() {
    let mut network = Network::new(3, 2);
    let mut rng = fastrand::Rng::with_seed(4);
    network.loses = Box::new(move |_| rng.u8(..10) == 0);
    network.run(Nanos(200 * SECOND));
    let (mut lost_there, mut lost_back, mut unknown) = (0, 0, 0);
    for row in (0..3).flat_map(|host| network.of(host)) {
        let is_there = row.dst_nic.is_empty();
        let ends = if is_there {
            (row.src, row.dst)
        } else {
            (row.dst, row.src)
        };
        let truth = network.truth[&(ends.0, ends.1, row.udp_src_port, row.sequence)];
        match (is_there, &*row.outcome) {
            (_, "unknown") => unknown += 1,
            (true, "received") => assert!(truth[0], "{row:?}"),
            (true, _) => {
                lost_there += 1;
                assert!(!truth[0], "{row:?}");
            }
            (false, "received") => assert!(truth[1], "{row:?}"),
            (false, _) => {
                lost_back += 1;
                assert_eq!(truth, [true, false], "{row:?}");
            }
        }
    }
    // Of 6,000 probes, a tenth is lost on each way, and few stay without a receipt.
    assert!((500..700).contains(&lost_there), "{lost_there}");
    assert!((440..640).contains(&lost_back), "{lost_back}");
    assert!(unknown < 20, "{unknown}");
}

#[test]
fn a_way_that_is_dead_is_named_by_the_receipts_of_others() {
    for dead_is_answer in [false, true] {
        let mut network = Network::new(2, 2);
        network.run(Nanos(10 * SECOND));
        let before = network.rows.len();
        // One way of rail 0, for the probes of both hosts.
        let (src, dst) = (address(0, 0), address(1, 0));
        let dead = if dead_is_answer { (dst, src) } else { (src, dst) };
        network.loses = Box::new(move |way| (way.0, way.1) == dead);
        network.run(Nanos(20 * SECOND));
        let rows = network.rows.split_off(before);
        network.rows = rows;
        assert!(network.count(dead.0, dead.1, "timeout") > 150);
        // Answers to probes that arrive the other way are lost; those that do not arrive have none.
        assert_eq!(network.outcomes(), ["received", "timeout"].map(String::from).into());
        for other in [
            (dead.1, dead.0),
            (address(0, 1), address(1, 1)),
            (address(1, 1), address(0, 1)),
        ] {
            assert_eq!(network.count(other.0, other.1, "timeout"), 0);
            assert!(network.count(other.0, other.1, "received") > 30);
        }
    }
}

#[test]
fn a_dead_nic_is_known_to_the_other_nics_of_its_host() {
    let mut network = Network::new(2, 2);
    let dead = address(1, 0);
    network.loses = Box::new(move |way| way.0 == dead || way.1 == dead);
    network.run(Nanos(30 * SECOND));
    // Never an answer from there: the receipt is of the other NIC.
    assert!(network.count(address(0, 0), dead, "timeout") > 100);
    let counters = network.counters(0);
    // The other agent counts since it began, like the first probe.
    assert!(counters.lost_back == 0 && counters.unknown < 3, "{counters:?}");
}

#[test]
fn an_agent_that_does_not_answer_is_no_loss() {
    let mut network = Network::new(3, 2);
    network.run(Nanos(10 * SECOND));
    network.agents[1] = None;
    network.run(Nanos(20 * SECOND));
    // It begins again, with another number and no memory.
    network.agents[1] = Some(network.agent(1, 99));
    network.run(Nanos(20 * SECOND));
    assert_eq!(network.outcomes(), ["received", "unknown"].map(String::from).into());
    let counters = network.counters(0);
    assert_eq!((counters.lost_there, counters.lost_back), (0, 0));
    assert!((90..110).contains(&counters.unknown), "{counters:?}");
    // One that answers no one, and a host that nothing reaches and nothing leaves.
    let mut network = Network::new(3, 2);
    network.loses = Box::new(|way| {
        [way.0, way.1]
            .iter()
            .any(|end| [address(2, 0), address(2, 1)].contains(end))
    });
    let clock = Clock {
        source: "simulated",
        error: Nanos(0),
        own: false,
    };
    let settings = network.settings.clone();
    network.agents[1] = Some(Agent::new(settings, &network.hosts[1], clock, BEGIN));
    network.run(Nanos(20 * SECOND));
    for host in [0, 2] {
        let counters = network.counters(host);
        assert_eq!((counters.answered, counters.lost_there, counters.lost_back), (0, 0, 0));
        assert!(counters.unknown > 100);
    }
    let answers = network.agents[1].as_ref().unwrap().answer_counters();
    assert!(answers.ignored_requests > 50 && answers.answered == 0);
}

#[test]
fn an_answer_that_could_not_be_sent_is_no_loss_on_the_way_back() {
    let mut network = Network::new(2, 2);
    network.refuses = Box::new(|host, outgoing| {
        let is_answer = matches!(outgoing.kind, DatagramKind::PeerAnswer { .. });
        (host == 1 && outgoing.src == NicIndex(0) && is_answer).then_some(Refusal::Full)
    });
    network.run(Nanos(20 * SECOND));
    let counters = network.counters(0);
    assert!(counters.not_answered > 30, "{counters:?}");
    assert_eq!((counters.lost_there, counters.lost_back), (0, 0));
    assert_eq!(network.count(address(1, 0), address(0, 0), "timeout"), 0);
    assert!(network.count(address(0, 0), address(1, 0), "received") > 30);
}

#[test]
fn a_probe_that_could_not_be_sent_has_its_reason() {
    let mut network = Network::new(2, 2);
    network.refuses = Box::new(|host, outgoing| {
        let is_probe = matches!(outgoing.kind, DatagramKind::PeerProbe(_));
        (host == 0 && outgoing.src == NicIndex(1) && is_probe).then_some(Refusal::NoRoute)
    });
    network.run(Nanos(10 * SECOND));
    let unsent: Vec<_> = network.of(0).filter(|row| &*row.outcome == "unsent").collect();
    assert_eq!(unsent.len() as u64, network.counters(0).unsent);
    assert!(unsent.len() > 40);
    for row in unsent {
        assert_eq!(
            (&*row.src_nic, row.unsent_reason.as_deref()),
            ("rail1", Some("no_route"))
        );
    }
}

#[test]
fn a_stalled_agent_holds_probes_and_loses_none() {
    let mut network = Network::new(2, 2);
    network.run(Nanos(5 * SECOND));
    network.stalled.insert(1);
    network.run(Nanos(2 * SECOND));
    network.stalled.clear();
    network.run(Nanos(10 * SECOND));
    let counters = network.counters(0);
    assert_eq!((counters.lost_there, counters.lost_back, counters.unknown), (0, 0, 0));
    let trips: BTreeSet<Option<i64>> = network
        .of(0)
        .filter(|row| row.dst_nic.is_empty())
        .map(|row| row.round_trip_ns)
        .collect();
    // The time that it held them is no time of the network.
    assert_eq!(trips, [Some(2 * DELAY.0)].into());
}

#[test]
fn frames_that_were_lost_in_a_host_are_no_loss_of_the_network() {
    for host in [0, 1] {
        let mut network = Network::new(2, 2);
        network.run(Nanos(5 * SECOND));
        // For half a second everything that comes to it is lost in its buffer.
        let addresses = [address(host, 0), address(host, 1)];
        network.loses = Box::new(move |way| addresses.contains(&way.1));
        network.run(Nanos(SECOND / 2));
        network.loses = Box::new(|_| false);
        network.run(Nanos(SECOND / 4));
        let now = network.now;
        network.agents[host].as_mut().unwrap().dropped(9, now);
        network.run(Nanos(10 * SECOND));
        for host in [0, 1] {
            let counters = network.counters(host);
            assert_eq!((counters.lost_there, counters.lost_back), (0, 0), "{counters:?}");
            assert!(counters.unknown > 0);
        }
    }
}

#[test]
fn a_clock_that_is_set_makes_no_loss() {
    for by in [-3_600 * SECOND, 3_600 * SECOND] {
        let mut network = Network::new(2, 2);
        network.run(Nanos(5 * SECOND));
        let by = Nanos(by);
        // The clock of the other host alone; this network has one, so it runs ahead from its start.
        network.agents[1].as_mut().unwrap().handle(&Event::Stepped { by });
        network.agents[1]
            .as_mut()
            .unwrap()
            .handle(&Event::Stepped { by: Nanos(-by.0) });
        network.run(Nanos(10 * SECOND));
        for host in [0, 1] {
            let counters = network.counters(host);
            assert_eq!((counters.lost_there, counters.lost_back), (0, 0), "{counters:?}");
        }
    }
}

#[test]
fn peers_take_turns_and_all_pairs_are_probed_at_the_same_rate() {
    let mut network = Network::new(8, 1);
    network.peers = (2, 2, Nanos(200 * MS));
    network.again();
    let mut pairs: BTreeMap<(IpAddr, IpAddr), usize> = BTreeMap::new();
    // A peer stays for 10 minutes, so one of two changes every 5: all seven are probed in 35.
    for _ in 0..35 {
        network.run(Nanos(60 * SECOND));
        for row in network.rows.drain(..).filter(|row| row.dst_nic.is_empty()) {
            *pairs.entry((row.src, row.dst)).or_default() += 1;
        }
        network.truth.clear();
    }
    assert_eq!(pairs.len(), 8 * 7);
    // 5 a second for each NIC over 7 peers.
    let each = 35 * 60 * 5 / 7;
    assert!(
        pairs.values().all(|count| (each - 300..each + 300).contains(count)),
        "{pairs:?}"
    );
}

#[test]
fn both_ends_trace_their_way_of_a_5_tuple() {
    let mut network = Network::new(2, 1);
    network.settings.traces_per_second = 10.0;
    network.again();
    network.run(Nanos(10 * SECOND));
    let ways: BTreeSet<_> = network
        .paths
        .iter()
        .map(|row| (row.src, row.dst, row.udp_src_port))
        .collect();
    let probed: BTreeSet<_> = network
        .rows
        .iter()
        .map(|row| (row.src, row.dst, row.udp_src_port))
        .collect();
    assert_eq!(ways.len(), 8, "2 ports, both ways, of both hosts");
    assert_eq!(ways, probed);
    for row in &network.paths {
        assert_eq!((&*row.src_nic, &*row.dst_nic), ("rail0", ""));
        assert_eq!(row.address, Some(row.dst));
    }
    assert_eq!(network.agents[0].as_ref().unwrap().peer_paths(), (2, 2));
}

#[test]
fn an_agent_that_is_slowed_down_probes_peers_less() {
    let mut network = Network::new(2, 2);
    network.settings.cpu_bound = 0.05;
    network.again();
    network.agents[0].as_mut().unwrap().update_throttle(0.5);
    network.run(Nanos(20 * SECOND));
    assert!((90..110).contains(&network.counters(0).probes));
    let mut settings = network.agents[0].as_ref().unwrap().settings().clone();
    settings.peer_interval = Nanos(SECOND);
    let now = network.now;
    network.agents[0].as_mut().unwrap().reconfigure(&settings, now);
    network.run(Nanos(20 * SECOND));
    assert!(
        (110..135).contains(&network.counters(0).probes),
        "{:?}",
        network.counters(0)
    );
}

#[test]
fn classes_of_service_change_while_the_agent_runs() {
    let mut network = Network::new(2, 2);
    network.run(Nanos(10 * SECOND));
    let mut settings = network.agents[0].as_ref().unwrap().settings().clone();
    settings.dscps = vec![26];
    let now = network.now;
    network.agents[0].as_mut().unwrap().reconfigure(&settings, now);
    network.run(Nanos(20 * SECOND));
    let (before, after): (Vec<&ProbeRow>, Vec<&ProbeRow>) = network
        .rows
        .iter()
        .filter(|row| &*row.observer == "h0")
        .partition(|row| row.time_ns < now.0);
    assert!(before.len() > 100 && before.iter().all(|row| row.dscp == Some(0)));
    assert!(after.len() > 200 && after.iter().all(|row| row.dscp == Some(26)));
    assert_eq!(network.outcomes(), BTreeSet::from(["received".to_owned()]));
}
