//! The cases of the paper's evaluation (§IV-A), from seeds.

use rocescope_collective::steps::FlowKey;
use rocescope_fabric::packets::{Algorithm, Background, Collective, Network, Node, Port, Scenario, Settings, Storm};
use rocescope_fabric::random::{Draws, mix};
use rocescope_model::Text;
use std::collections::BTreeSet;

/// What is wrong in a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Contention,
    Incast,
    Storm,
    Backpressure,
    /// Nothing: not part of the paper's cases.
    Healthy,
}

impl Class {
    pub(super) const ALL: [Self; 5] = [
        Self::Contention,
        Self::Incast,
        Self::Storm,
        Self::Backpressure,
        Self::Healthy,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Contention => "flow contention",
            Self::Incast => "incast",
            Self::Storm => "PFC storm",
            Self::Backpressure => "PFC backpressure",
            Self::Healthy => "nothing",
        }
    }

    /// How many cases there are.
    pub(super) fn cases(self) -> u64 {
        match self {
            Self::Contention | Self::Incast | Self::Backpressure => 60,
            Self::Storm => 40,
            Self::Healthy => 20,
        }
    }
}

/// A case.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) class: Class,
    pub(super) scenario: Scenario,
    /// Where pauses begin: switch and port.
    pub(super) root: Option<(Text, Text)>,
}

impl Case {
    /// The key of a flow outside the collective.
    pub(super) fn key(&self, flow: &Background) -> FlowKey {
        FlowKey {
            src: self.scenario.network.address(flow.src),
            dst: self.scenario.network.address(flow.dst),
            src_port: Some(flow.src_port),
        }
    }

    /// Draws a case. `scale` divides sizes, times and epochs alike: 1 is the paper's.
    pub(super) fn draw(class: Class, seed: u64, scale: u64) -> Self {
        let mut draws = Draws::new(mix(&[class as u64, seed]));
        let network = Network::fat_tree(4);
        let ecmp = draws.bits();
        let (collective, paths) = collective(&network, ecmp, &mut draws, scale);
        let mut case = Self {
            class,
            scenario: Scenario {
                network,
                settings: Settings {
                    epoch_ns: 1_000_000 / scale as i64,
                    ..Settings::default()
                },
                collective,
                background: Vec::new(),
                storms: Vec::new(),
                taps: Vec::new(),
                seed: ecmp,
                until_ns: 3_000_000_000 / scale as i64,
            },
            root: None,
        };
        let of_collective: Vec<Port> = paths.iter().flatten().copied().collect();
        match class {
            Class::Contention => case.contention(&mut draws, &of_collective, scale),
            Class::Incast => case.incast(&mut draws, scale),
            Class::Storm => case.storm(&mut draws, &paths, scale),
            Class::Backpressure => case.backpressure(&mut draws, &of_collective, scale),
            Class::Healthy => {}
        }
        case
    }

    pub(super) fn route(&self, flow: &Background) -> Vec<Port> {
        let scenario = &self.scenario;
        scenario.network.route(flow.src, flow.dst, flow.src_port, scenario.seed)
    }

    /// 1 to 6 flows of 20 MB to 1 GB that share a port of a switch with a flow of the collective and begin within 200 ms.
    fn contention(&mut self, draws: &mut Draws, of_collective: &[Port], scale: u64) {
        let count = 1 + draws.below(6) as usize;
        while self.scenario.background.len() < count {
            let flow = Background {
                src: host(draws),
                dst: host(draws),
                src_port: port(draws),
                bytes: megabytes(draws, 20, 1_000) / scale,
                start_ns: ms(draws, 0, 200) / scale as i64,
                path: Vec::new(),
            };
            if flow.src != flow.dst
                && self
                    .route(&flow)
                    .iter()
                    .skip(1)
                    .any(|port| of_collective.contains(port))
            {
                self.scenario.background.push(flow);
            }
        }
    }

    /// 3 to 8 flows of 20 to 200 MB to one host, which begin together.
    fn many_to_one(&mut self, draws: &mut Draws, dst: Node, scale: u64) {
        let count = 3 + draws.below(6) as usize;
        let start_ns = ms(draws, 0, 200) / scale as i64;
        let mut senders = all_hosts();
        senders.retain(|sender| *sender != dst);
        shuffle(&mut senders, draws);
        self.scenario.background = senders[..count]
            .iter()
            .map(|src| Background {
                src: *src,
                dst,
                src_port: port(draws),
                bytes: megabytes(draws, 20, 200) / scale,
                start_ns,
                path: Vec::new(),
            })
            .collect();
    }

    fn incast(&mut self, draws: &mut Draws, scale: u64) {
        let ranks = &self.scenario.collective.ranks;
        let dst = ranks[draws.below(ranks.len() as u32) as usize];
        self.many_to_one(draws, dst, scale);
    }

    /// A port on the paths of four flows of the collective is paused for 10 to 100 ms within the first 150 ms.
    fn storm(&mut self, draws: &mut Draws, paths: &[Vec<Port>], scale: u64) {
        let ports: Vec<Port> = paths[..4].iter().flat_map(|path| &path[1..]).copied().collect();
        let paused = ports[draws.below(ports.len() as u32) as usize];
        self.scenario.storms.push(Storm {
            paused,
            start_ns: ms(draws, 0, 150) / scale as i64,
            duration_ns: ms(draws, 10, 100) / scale as i64,
        });
        self.root = Some(self.name(paused));
    }

    /// An incast to a host outside the collective, whose port no flow of the collective crosses, over ports that some do.
    fn backpressure(&mut self, draws: &mut Draws, of_collective: &[Port], scale: u64) {
        loop {
            let dst = host(draws);
            if self.scenario.collective.ranks.contains(&dst) {
                continue;
            }
            self.many_to_one(draws, dst, scale);
            let shares = |flow: &Background| self.route(flow).iter().skip(1).any(|port| of_collective.contains(port));
            let last_switch = |flow: &Background| self.route(flow).iter().rev().nth(1).copied();
            let flows = &self.scenario.background;
            // Over one link to the last switch they would queue before it.
            if flows.windows(2).all(|two| last_switch(&two[0]) == last_switch(&two[1])) {
                continue;
            }
            if let Some(port) = self.scenario.background.first().and_then(|flow| self.route(flow).pop())
                && self.scenario.background.iter().any(shares)
            {
                self.root = Some(self.name(port));
                return;
            }
        }
    }

    /// Some of the flows outside the collective, in groups: those of a group share ports of switches, one by one.
    pub(super) fn groups(&self, some: &[FlowKey]) -> Vec<Vec<FlowKey>> {
        let mut groups: Vec<(BTreeSet<Port>, Vec<FlowKey>)> = Vec::new();
        let background = self.scenario.background.iter();
        for flow in background.filter(|flow| some.contains(&self.key(flow))) {
            let mut ports: BTreeSet<Port> = self.route(flow).into_iter().skip(1).collect();
            let mut flows = vec![self.key(flow)];
            groups.retain(|(other, of_other)| {
                let is_apart = other.is_disjoint(&ports);
                if !is_apart {
                    ports.extend(other);
                    flows.extend(of_other);
                }
                is_apart
            });
            groups.push((ports, flows));
        }
        groups.into_iter().map(|(_, flows)| flows).collect()
    }

    pub(super) fn name(&self, port: Port) -> (Text, Text) {
        let network = &self.scenario.network;
        (
            network.name(network.node(port)),
            Text::from(network.number(port).to_string()),
        )
    }
}

/// A ring of 8 of the 16 hosts, whose flows meet each other at no port.
fn collective(network: &Network, seed: u64, draws: &mut Draws, scale: u64) -> (Collective, Vec<Vec<Port>>) {
    const RANKS: usize = 8;
    let mut hosts = all_hosts();
    shuffle(&mut hosts, draws);
    let mut ranks = hosts[..RANKS].to_vec();
    ranks.sort_unstable();
    'again: loop {
        let (mut ports, mut paths) = (Vec::new(), Vec::<Vec<Port>>::new());
        for (rank, host) in ranks.iter().enumerate() {
            let to = ranks[(rank + 1) % RANKS];
            let free = (0..64).find_map(|_| {
                let src_port = port(draws);
                let path = network.route(*host, to, src_port, seed);
                let is_free = !path
                    .iter()
                    .any(|port| paths.iter().flatten().any(|other| other == port));
                is_free.then_some((src_port, path))
            });
            let Some((src_port, path)) = free else { continue 'again };
            ports.push(src_port);
            paths.push(path);
        }
        let collective = Collective {
            algorithm: Algorithm::RingAllGather,
            ranks,
            src_ports: ports,
            bytes: 360_000_000 / scale,
        };
        return (collective, paths);
    }
}

fn all_hosts() -> Vec<Node> {
    (0..16).map(Node).collect()
}

fn host(draws: &mut Draws) -> Node {
    Node(draws.below(16))
}

fn port(draws: &mut Draws) -> u16 {
    49_152 + draws.below(16_384) as u16
}

fn megabytes(draws: &mut Draws, from: u32, to: u32) -> u64 {
    u64::from(from + draws.below(to - from + 1)) * 1_000_000
}

fn ms(draws: &mut Draws, from: u32, to: u32) -> i64 {
    i64::from(from * 1_000 + draws.below((to - from) * 1_000)) * 1_000
}

fn shuffle(nodes: &mut [Node], draws: &mut Draws) {
    for last in (1..nodes.len()).rev() {
        nodes.swap(last, draws.below(last as u32 + 1) as usize);
    }
}
