//! The connections of a scenario: their endpoints, queue pairs and PSNs.

use super::connection::Connection;
use super::frame::{End, Header, Layout};
use super::random::Random;
use super::rules::Rules;
use super::scenario::{Group, Scenario};
use super::session::{Ends, Session};
use super::tally::{Ledger, Volume};
use super::truth::FlowId;
use std::collections::HashMap;
use std::net::IpAddr;

/// UDP source port of datagrams between queue pairs 1.
pub(super) const GSI_PORT: u16 = 55_410;
/// The first queue pair to assign.
const FIRST_QPN: u32 = 0x100;
/// Random streams besides those of connections.
const ADDRESSES: u64 = 1;
const CONNECTIONS: u64 = 2;

/// A flow and its counts.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) id: FlowId,
    pub(super) volume: Volume,
    pub(super) messages: u64,
    /// The last window in which it was seen, from 1; 0 for none.
    pub(super) window: u64,
    /// Its counts in each window, only for the first flows.
    pub(super) series: Vec<(u64, Volume)>,
}

/// The constants of a connection; of both sides, the requester's first.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) group: usize,
    pub(super) ends: Ends,
    pub(super) headers: [Header; 2],
    /// Which flows the sides' packets belong to, and their datagrams to queue pair 1.
    pub(super) flows: [u32; 2],
    pub(super) gsi_flows: [u32; 2],
    pub(super) hosts: [u32; 2],
}

/// All connections.
#[derive(Clone, Debug, Default)]
pub(super) struct Endpoints {
    pub(super) groups: Vec<Group>,
    pub(super) layouts: Vec<Layout>,
    /// Of the requests of either side.
    pub(super) rules: Vec<[Rules; 2]>,
    pub(super) links: Vec<Link>,
    pub(super) connections: Vec<Connection>,
    pub(super) ledgers: Vec<Ledger>,
    pub(super) flows: Vec<Flow>,
    /// The next PSN of each host's queue pair 1.
    pub(super) gsi_psns: Vec<u32>,
}

/// The state while connections are created.
struct Maker {
    seed: u64,
    random: Random,
    hosts: HashMap<IpAddr, u32>,
    flows: HashMap<FlowId, u32>,
    next_qpn: u32,
}

impl Endpoints {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut endpoints = Self::default();
        let mut maker = Maker {
            seed: Random::new(seed, CONNECTIONS).next(),
            random: Random::new(seed, ADDRESSES),
            hosts: HashMap::new(),
            flows: HashMap::new(),
            next_qpn: FIRST_QPN,
        };
        for group in scenario.groups() {
            let layout = Layout::new(group);
            let duration = scenario.duration.map(|duration| duration.0);
            let forward = Rules::new(group, duration, layout.header_bytes as u32);
            let backward = forward.turned();
            let index = endpoints.groups.len();
            let weights = weights(group);
            for (number, weight) in weights.into_iter().enumerate() {
                endpoints.connect(&mut maker, index, group, &layout, &forward, number, weight);
            }
            endpoints.groups.push(group.clone());
            endpoints.layouts.push(layout);
            endpoints.rules.push([forward, backward]);
        }
        endpoints
    }

    #[expect(clippy::too_many_arguments, reason = "a connection needs all of them")]
    fn connect(
        &mut self,
        maker: &mut Maker,
        index: usize,
        group: &Group,
        layout: &Layout,
        rules: &Rules,
        number: usize,
        weight: f64,
    ) {
        let columns = group.src.len();
        let addresses = [
            group.src.get(number),
            // Along one diagonal, then the next: all pairs before one repeats.
            group.dst.get(number % columns + number / columns),
        ];
        let hosts = addresses.map(|address| maker.host(address, &mut self.gsi_psns));
        let ends = addresses.map(End::new);
        let qpns = [group.src_qpn, group.qpn].map(|first| maker.qpn(first, number));
        let [low, high] = group.src_ports.map(u64::from);
        let ports = [(); 2].map(|()| maker.random.between(low, high) as u16);
        let start_psns = [(); 2].map(|()| {
            let drawn = maker.random.below(1 << 24) as u32;
            group.start_psn.unwrap_or(drawn)
        });
        let mut vlans = group.vlan.iter().copied();
        let [vlan, inner_vlan] = [vlans.next(), vlans.next()];
        let id = |from: usize, udp_src_port, dst_qpn| FlowId {
            src: addresses[from],
            dst: addresses[1 - from],
            udp_src_port,
            dst_qpn,
            vlan,
            inner_vlan,
            vni: layout.outer.as_ref().and_then(super::frame::Outer::vni),
        };
        let flows = [0, 1].map(|side| maker.flow(id(side, ports[side], qpns[1 - side]), &mut self.flows));
        let gsi_flows = if group.cm {
            [0, 1].map(|side| maker.flow(id(side, GSI_PORT, 1), &mut self.flows))
        } else {
            flows
        };
        let spread = group
            .spread
            .map_or_else(|| rules.natural_spread(weight), |spread| spread.0);
        let start = rules.start.saturating_add(maker.random.below(spread));
        let session = group.cm.then(|| Session::new(start, rules));
        let own = self.connections.len();
        let seed = Random::new(maker.seed, own as u64).next();
        self.connections
            .push(Connection::new(seed, start, weight, session, group.bidirectional));
        self.ledgers.push(Ledger::default());
        self.links.push(Link {
            group: index,
            ends: Ends {
                qpns,
                start_psns,
                gids: addresses.map(gid),
                service: group.service,
                mtu: group.mtu,
                port: group.service_port,
                number: own as u32,
            },
            headers: [
                layout.header(ends, ports[0], group),
                layout.header([ends[1], ends[0]], ports[1], group),
            ],
            flows,
            gsi_flows,
            hosts,
        });
    }
}

impl Maker {
    fn host(&mut self, address: IpAddr, gsi_psns: &mut Vec<u32>) -> u32 {
        *self.hosts.entry(address).or_insert_with(|| {
            gsi_psns.push(0);
            gsi_psns.len() as u32 - 1
        })
    }

    fn flow(&mut self, id: FlowId, flows: &mut Vec<Flow>) -> u32 {
        *self.flows.entry(id).or_insert_with(|| {
            flows.push(Flow {
                id,
                volume: Volume::default(),
                messages: 0,
                window: 0,
                series: Vec::new(),
            });
            flows.len() as u32 - 1
        })
    }

    fn qpn(&mut self, first: Option<u32>, number: usize) -> u32 {
        if let Some(first) = first {
            return first + number as u32;
        }
        let qpn = self.next_qpn;
        self.next_qpn = if qpn == 0x00ff_ffff { FIRST_QPN } else { qpn + 1 };
        qpn
    }
}

/// Each flow's share of the group's rate; the whole rate if `rate` is set.
fn weights(group: &Group) -> Vec<f64> {
    let count = group.count;
    if group.rate.is_some() {
        return vec![1.0; count];
    }
    // `libm`, because the powers of the standard library differ between platforms.
    let ranks: Vec<f64> = (1..=count).map(|rank| libm::pow(rank as f64, -group.zipf)).collect();
    let total: f64 = ranks.iter().sum();
    ranks.into_iter().map(|rank| rank / total).collect()
}

fn gid(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    }
}
