//! Queue pairs of a dataset, as agents report them in the table `queue_pairs`.
//!
//! The workload is that of one moment: the queue pairs that are connected then.

use super::Workload;
use super::connected::{Connected, QueuePair, is_connected};
use rocescope_model::QueuePairRow;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// An agent writes the row of a queue pair again every five minutes by default. Without one for an hour, it is not believed to
/// live: its agent may have ended.
const HOLD_NS: i64 = 3_600_000_000_000;

/// The last row of each queue pair: host, device and number have one at a time.
#[derive(Debug, Default)]
pub struct Agents {
    last: BTreeMap<(String, String, u32), QueuePairRow>,
    newest_ns: i64,
}

impl Agents {
    /// Whether it reads a column; the others may be null, zero or empty.
    #[must_use]
    pub fn is_read(column: &str) -> bool {
        matches!(
            column,
            "observer"
                | "device"
                | "time_ns"
                | "first_ns"
                | "local_qpn"
                | "remote_qpn"
                | "qp_type"
                | "state"
                | "event"
                | "ended_ns"
                | "local_address"
                | "port_addresses"
                | "remote_address"
                | "udp_src_port"
        )
    }

    /// Adds a row, in any order.
    pub fn row(&mut self, row: QueuePairRow) {
        self.newest_ns = self.newest_ns.max(row.time_ns);
        let age = |row: &QueuePairRow| (row.first_ns, row.time_ns);
        let place = (row.observer.to_string(), row.device.to_string(), row.local_qpn);
        match self.last.get(&place) {
            Some(known) if age(known) > age(&row) => {}
            _ => drop(self.last.insert(place, row)),
        }
    }

    /// Whether there was no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// The flows of the queue pairs that are connected after the last row.
    #[must_use]
    pub fn flows(&self) -> Workload {
        let mut workload = Workload::default();
        let mut connected = Connected::default();
        let oldest_ns = self.newest_ns.saturating_sub(HOLD_NS);
        let living = self.last.values().filter(|row| !has_ended(row));
        for row in living {
            let peer = row.remote_qpn.filter(|_| is_connected(&row.qp_type, &row.state));
            match peer.filter(|peer| *peer > 0) {
                None => workload.skip("not_connected"),
                Some(_) if row.time_ns < oldest_ns => workload.skip("not_reported_for_an_hour"),
                Some(peer_qpn) => connected.add(QueuePair {
                    place: format!("{}/{}", row.observer, row.device),
                    qpn: row.local_qpn,
                    peer_qpn,
                    addresses: addresses(row),
                    peer: row.remote_address,
                    src_port: row.udp_src_port,
                }),
            }
        }
        connected.flows(&mut workload);
        workload
    }
}

fn has_ended(row: &QueuePairRow) -> bool {
    row.ended_ns.is_some() || row.event.as_deref() == Some("gone")
}

/// Its address, else those of its port, IPv4 first. Link-local addresses are no RoCE addresses in a routed fabric.
fn addresses(row: &QueuePairRow) -> Vec<IpAddr> {
    if let Some(known) = row.local_address {
        return vec![known];
    }
    let listed = row.port_addresses.as_deref().unwrap_or_default().split(',');
    let all = listed.filter_map(|address| address.parse().ok());
    let mut global: Vec<IpAddr> = all.filter(|address| !is_link_local(address)).collect();
    global.sort_by_key(IpAddr::is_ipv6);
    global
}

const fn is_link_local(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::connected::port_of;

    const SECOND_NS: i64 = 1_000_000_000;

    /// A queue pair of host `10.0.0.HOST` as netlink reports it.
    fn listed(host: u8, qpn: u32, peer: u32) -> QueuePairRow {
        QueuePairRow {
            observer: format!("h{host}").into(),
            device: "mlx5_0".into(),
            local_qpn: qpn,
            remote_qpn: Some(peer),
            qp_type: "RC".into(),
            state: "RTS".into(),
            port_addresses: Some(format!("fe80::{host},fd00::{host},10.0.0.{host}").into()),
            first_ns: SECOND_NS,
            time_ns: 2 * SECOND_NS,
            ..QueuePairRow::default()
        }
    }

    /// The same as events of the kernel report it, connected to host `10.0.0.PEER`.
    fn of_kernel(host: u8, qpn: u32, peer: u8, peer_qpn: u32, src_port: Option<u16>) -> QueuePairRow {
        QueuePairRow {
            local_address: Some([10, 0, 0, host].into()),
            remote_address: Some([10, 0, 0, peer].into()),
            udp_src_port: src_port,
            ..listed(host, qpn, peer_qpn)
        }
    }

    fn of(rows: &[QueuePairRow]) -> Workload {
        let mut agents = Agents::default();
        rows.iter().for_each(|row| agents.row(row.clone()));
        agents.flows()
    }

    fn flows(workload: &Workload) -> Vec<String> {
        workload.flows.iter().map(|rated| rated.flow.to_string()).collect()
    }

    #[test]
    fn the_kernel_names_both_ends_and_the_port() {
        let both = [of_kernel(1, 7, 2, 8, Some(50_001)), of_kernel(2, 8, 1, 7, Some(50_002))];
        let workload = of(&both);
        let expected = ["10.0.0.1:50001>10.0.0.2:4791", "10.0.0.2:50002>10.0.0.1:4791"];
        assert_eq!(flows(&workload), expected);
        assert_eq!((workload.skipped.len(), workload.computed_ports), (0, 0));
        assert_eq!(workload.flows[0].flow.dst_qpn, Some(8));
        // What the end without an agent sends is not known.
        let workload = of(&both[..1]);
        assert_eq!(flows(&workload), expected[..1]);
        assert_eq!(workload.skipped["direction_of_a_peer_without_agent"], 1);
    }

    #[test]
    fn netlink_names_the_peer_by_its_numbers_and_the_port_is_computed() {
        let workload = of(&[listed(1, 7, 8), listed(2, 8, 7), listed(3, 9, 10)]);
        let port = port_of(7, 8);
        let expected = [
            format!("10.0.0.1:{port}>10.0.0.2:4791"),
            format!("10.0.0.2:{port}>10.0.0.1:4791"),
        ];
        assert_eq!(flows(&workload), expected);
        assert_eq!((workload.skipped["peer_unknown"], workload.computed_ports), (1, 2));
        // One end that knows its peer knows the address of the other.
        let addressed = QueuePairRow {
            port_addresses: Some("10.9.9.9,10.0.0.2".into()),
            ..listed(2, 8, 7)
        };
        let workload = of(&[of_kernel(1, 7, 2, 8, Some(50_001)), addressed]);
        assert_eq!(
            flows(&workload),
            ["10.0.0.1:50001>10.0.0.2:4791".to_owned(), expected[1].clone()]
        );
    }

    /// Hosts 1 and 3 list the same numbers, and host 2 the other way round.
    #[test]
    fn addresses_separate_what_numbers_do_not() {
        let numbers = of(&[listed(1, 7, 8), listed(2, 8, 7), listed(3, 7, 8)]);
        assert_eq!((numbers.flows.len(), numbers.skipped["ambiguous"]), (0, 3));
        assert_eq!(numbers.ambiguous[0].places, ["h1/mlx5_0", "h3/mlx5_0"]);
        assert_eq!(numbers.ambiguous[0].peers, ["h2/mlx5_0"]);
        let separate = of(&[
            of_kernel(1, 7, 2, 8, Some(50_001)),
            of_kernel(2, 8, 1, 7, Some(50_002)),
            of_kernel(3, 7, 4, 8, Some(50_003)),
            of_kernel(4, 8, 3, 7, Some(50_004)),
        ]);
        assert_eq!(
            flows(&separate),
            [
                "10.0.0.1:50001>10.0.0.2:4791",
                "10.0.0.3:50003>10.0.0.4:4791",
                "10.0.0.2:50002>10.0.0.1:4791",
                "10.0.0.4:50004>10.0.0.3:4791"
            ]
        );
        assert!(separate.skipped.is_empty());
    }

    #[test]
    fn the_workload_is_what_is_connected_after_the_last_row() {
        let gone = QueuePairRow {
            time_ns: 3 * SECOND_NS,
            event: Some("gone".into()),
            ..of_kernel(1, 7, 2, 8, Some(50_001))
        };
        // The number is used again, and its row comes first.
        let next = QueuePairRow {
            first_ns: 4 * SECOND_NS,
            time_ns: 4 * SECOND_NS,
            ..of_kernel(1, 7, 3, 9, Some(50_009))
        };
        let workload = of(&[next.clone(), of_kernel(1, 7, 2, 8, Some(50_001)), gone.clone()]);
        assert_eq!(flows(&workload), ["10.0.0.1:50009>10.0.0.3:4791"]);
        assert!(of(&[gone]).flows.is_empty());
        let state = |state: &'static str| QueuePairRow {
            state: state.into(),
            ..next.clone()
        };
        assert_eq!(of(&[state("INIT")]).skipped["not_connected"], 1);
        let late = QueuePairRow {
            time_ns: next.time_ns + HOLD_NS + 1,
            ..of_kernel(5, 70, 6, 80, Some(50_001))
        };
        let workload = of(&[next, late]);
        assert_eq!(flows(&workload), ["10.0.0.5:50001>10.0.0.6:4791"]);
        assert_eq!(workload.skipped["not_reported_for_an_hour"], 1);
    }

    #[test]
    fn a_queue_pair_of_one_host_sends_nothing_over_the_fabric() {
        let to_itself = of_kernel(1, 7, 1, 7, Some(50_001));
        let workload = of(&[to_itself, of_kernel(1, 20, 1, 21, None), of_kernel(1, 21, 1, 20, None)]);
        assert_eq!((workload.flows.len(), workload.skipped["loopback"]), (0, 3));
    }
}
