//! Queue pairs of servers: `rdma resource show qp`.
//!
//! The kernel lists the two numbers of a connected queue pair, but not the address of its peer: see
//! [`connected`](super::connected).

use super::Workload;
use super::connected::{Connected, QueuePair, is_connected};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The command that prints a [`Report`] on a server.
pub const COMMAND: &str = r#"echo "{\"qps\": $(rdma -j resource show qp), \"links\": $(rdma -j link show), \"addresses\": $(ip -j address)}""#;

/// What a server reports.
#[derive(Debug, Clone, Deserialize)]
pub struct Report {
    qps: Vec<Listed>,
    links: Vec<Link>,
    addresses: Vec<Interface>,
}

#[derive(Debug, Clone, Deserialize)]
struct Listed {
    ifname: String,
    port: Option<u32>,
    lqpn: u32,
    rqpn: Option<u32>,
    #[serde(rename = "type")]
    kind: String,
    state: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Link {
    ifname: String,
    port: Option<u32>,
    netdev: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Interface {
    ifname: String,
    #[serde(default)]
    addr_info: Vec<Address>,
}

#[derive(Debug, Clone, Deserialize)]
struct Address {
    local: Option<IpAddr>,
    scope: Option<String>,
}

impl Report {
    /// Reads what [`COMMAND`] prints.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The address from which a device sends: the first global one of its interface, IPv4 before IPv6.
    fn address(&self, device: &str, port: Option<u32>) -> Option<IpAddr> {
        let is_port =
            |link: &&Link| link.ifname == device && (port.is_none() || link.port.is_none() || link.port == port);
        let netdev = self.links.iter().find(is_port)?.netdev.as_deref()?;
        let interfaces = self.addresses.iter().filter(|interface| interface.ifname == netdev);
        let global = interfaces.flat_map(|interface| &interface.addr_info).filter(|address| {
            // Link-local addresses are no RoCE addresses in a routed fabric.
            address.scope.as_deref() == Some("global")
        });
        let mut found: Vec<IpAddr> = global.filter_map(|address| address.local).collect();
        found.sort_by_key(IpAddr::is_ipv6);
        found.first().copied()
    }
}

/// The flows of all connected queue pairs, joined with their peers.
#[must_use]
pub fn flows(reports: &BTreeMap<String, Report>) -> Workload {
    let mut workload = Workload::default();
    let mut connected = Connected::default();
    for (server, report) in reports {
        for qp in &report.qps {
            let peer = qp.rqpn.filter(|_| is_connected(&qp.kind, &qp.state));
            match peer.filter(|peer| *peer > 0) {
                Some(peer) => connected.add(QueuePair {
                    place: format!("{server}/{}", qp.ifname),
                    qpn: qp.lqpn,
                    peer_qpn: peer,
                    addresses: report.address(&qp.ifname, qp.port).into_iter().collect(),
                    peer: None,
                    src_port: None,
                }),
                None => workload.skip("not_connected"),
            }
        }
    }
    connected.flows(&mut workload);
    workload
}

#[cfg(test)]
mod tests {
    use super::{Report, flows};
    use crate::workload::connected::port_of;
    use std::collections::BTreeMap;

    fn report(address: &str, qps: &[(u32, u32, &str)]) -> Report {
        let qps: Vec<String> = qps
            .iter()
            .map(|(lqpn, rqpn, state)| {
                format!(
                    r#"{{"ifindex":0,"ifname":"mlx5_0","port":1,"lqpn":{lqpn},"rqpn":{rqpn},"type":"RC","state":"{state}","pid":7,"comm":"python"}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"qps": [{{"ifname":"mlx5_0","lqpn":1,"type":"GSI","state":"RTS"}}, {}],
                "links": [{{"ifindex":0,"ifname":"mlx5_0","port":1,"state":"ACTIVE","netdev":"eth0"}}],
                "addresses": [{{"ifname":"lo","addr_info":[{{"local":"127.0.0.1","scope":"host"}}]}},
                    {{"ifname":"eth0","addr_info":[{{"local":"fe80::1","scope":"link"}},{{"local":"{address}","scope":"global"}}]}}]}}"#,
            qps.join(",")
        );
        Report::parse(&text).unwrap()
    }

    #[test]
    fn peers_are_found_by_the_numbers_of_both_queue_pairs() {
        let reports = BTreeMap::from([
            (
                "h0".to_owned(),
                report("10.0.0.1", &[(100, 200, "RTS"), (101, 201, "RTS"), (102, 1, "INIT")]),
            ),
            (
                "h1".to_owned(),
                report("10.0.0.2", &[(200, 100, "RTS"), (300, 301, "RTS")]),
            ),
        ]);
        let workload = flows(&reports);
        let port = port_of(100, 200);
        let flows: Vec<String> = workload.flows.iter().map(|rated| rated.flow.to_string()).collect();
        let expected = [
            format!("10.0.0.1:{port}>10.0.0.2:4791"),
            format!("10.0.0.2:{port}>10.0.0.1:4791"),
        ];
        assert_eq!(flows, expected);
        assert_eq!(workload.flows[0].flow.dst_qpn, Some(200));
        assert_eq!(
            (workload.skipped["peer_unknown"], workload.skipped["not_connected"]),
            (2, 3)
        );
    }

    /// Name, device, and the queue pairs with their peers.
    type Server<'a> = (&'a str, &'a str, &'a [(u32, u32, &'a str)]);

    fn of(servers: &[Server<'_>]) -> super::Workload {
        let reports = servers
            .iter()
            .map(|(name, address, qps)| ((*name).to_owned(), report(address, qps)));
        flows(&reports.collect())
    }

    /// Two servers list the same numbers, and one server the other way round: either could be its peer.
    #[test]
    fn queue_pairs_that_cannot_be_told_apart_are_no_flows() {
        let workload = of(&[
            ("h0", "10.0.0.1", &[(100, 200, "RTS"), (7, 8, "RTS")]),
            ("h1", "10.0.0.2", &[(200, 100, "RTS"), (8, 7, "RTS")]),
            ("h2", "10.0.0.3", &[(100, 200, "RTS")]),
        ]);
        let found: Vec<_> = workload
            .flows
            .iter()
            .map(|rated| (rated.flow.src, rated.flow.dst))
            .collect();
        let [h0, h1] = ["10.0.0.1", "10.0.0.2"].map(|address| address.parse().unwrap());
        assert_eq!(found, [(h0, h1), (h1, h0)]);
        assert_eq!(workload.skipped["ambiguous"], 3);
        let [ambiguous] = &workload.ambiguous[..] else {
            panic!("{:?}", workload.ambiguous)
        };
        assert_eq!((ambiguous.qpn, ambiguous.peer_qpn), (100, 200));
        assert_eq!(ambiguous.places, ["h0/mlx5_0", "h2/mlx5_0"]);
        assert_eq!(ambiguous.peers, ["h1/mlx5_0"]);
    }

    #[test]
    fn equal_numbers_at_both_ends_are_a_connection_of_two_places() {
        let servers: [Server<'_>; 3] = [
            ("h0", "10.0.0.1", &[(17, 17, "RTS")]),
            ("h1", "10.0.0.2", &[(17, 17, "RTS")]),
            ("h2", "10.0.0.3", &[(17, 17, "RTS")]),
        ];
        assert_eq!(of(&servers[..1]).skipped["peer_unknown"], 1);
        assert_eq!(of(&servers[..2]).flows.len(), 2);
        let three = of(&servers);
        assert_eq!((three.flows.len(), three.skipped["ambiguous"]), (0, 3));
        assert_eq!(three.ambiguous.len(), 1);
        let loopback = of(&[("h0", "10.0.0.1", &[(1, 2, "RTS"), (2, 1, "RTS")])]);
        assert_eq!((loopback.flows.len(), loopback.skipped["loopback"]), (0, 2));
    }
}
