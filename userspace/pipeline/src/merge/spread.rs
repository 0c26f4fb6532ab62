//! Merges the ports of sprayed directions, and computes the imbalance again.

use super::part::Part;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_model::{FlowRow, Over, Row, SpreadRow};

/// The ports of the directions that every part knows whole. Over observers, sets the imbalance of their rows in `flows`,
/// and clears that of all others.
pub(super) fn merge(parts: &[Part], flows: &mut [FlowRow], over: Over) -> Vec<SpreadRow> {
    let mut directions: BTreeMap<i64, BTreeMap<u16, SpreadRow>> = BTreeMap::new();
    for row in parts.iter().flat_map(|part| &part.spread) {
        directions
            .entry(row.direction_key)
            .or_default()
            .entry(row.udp_src_port)
            .and_modify(|sum| sum.merge(row, over))
            .or_insert_with(|| row.clone());
    }
    let mut merged = Vec::new();
    for flow in flows {
        if over == Over::Observers {
            flow.port_imbalance_ratio = None;
        }
        let key = flow.direction_key.filter(|_| flow.udp_src_port.is_none());
        let Some(ports) = key.and_then(|key| directions.get_mut(&key)) else {
            continue;
        };
        let packets: u64 = ports.values().map(|row| row.packets).sum();
        if packets != flow.packets || flow.error_packets > 0 {
            continue;
        }
        let ideal = packets as f64 / ports.len() as f64;
        let mut sum = 0.0;
        for row in ports.values_mut() {
            row.deviation_ratio = (row.packets as f64 - ideal) / ideal;
            sum += row.deviation_ratio.abs();
        }
        // Over time, both are those of the window with the most.
        if over == Over::Observers {
            flow.udp_src_ports = Some(ports.len() as u64);
            flow.port_imbalance_ratio = Some(sum / ports.len() as f64);
        }
        merged.extend(ports.values().cloned());
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::{Part, merge};
    use alloc::vec;
    use alloc::vec::Vec;
    use rocescope_model::{FlowRow, Over, SpreadRow};

    fn part(ports: &[(u16, u64)]) -> Part {
        let row = |(udp_src_port, packets): &(u16, u64)| SpreadRow {
            direction_key: 5,
            udp_src_port: *udp_src_port,
            packets: *packets,
            ..SpreadRow::default()
        };
        Part {
            spread: ports.iter().map(row).collect(),
            ..Part::default()
        }
    }

    #[test]
    fn ports_add_up_only_where_every_point_knows_them() {
        let parts = [part(&[(1, 2), (2, 3)]), part(&[(2, 2), (3, 5)])];
        let row = |packets: u64| FlowRow {
            direction_key: Some(5),
            packets,
            port_imbalance_ratio: Some(9.0),
            ..FlowRow::default()
        };
        let mut flows = vec![row(12)];
        let packets: Vec<u64> = merge(&parts, &mut flows, Over::Observers)
            .iter()
            .map(|row| row.packets)
            .collect();
        assert_eq!(packets, [2, 5, 5]);
        // The mean is 4: 2, 1 and 1 from it.
        let imbalance = flows[0].port_imbalance_ratio.unwrap();
        assert!((imbalance - 1.0 / 3.0).abs() < 1e-12, "{imbalance}");
        let mut flows = vec![row(13)];
        assert!(merge(&parts, &mut flows, Over::Observers).is_empty());
        assert_eq!(flows[0].port_imbalance_ratio, None);
    }
}
