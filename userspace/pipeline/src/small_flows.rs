//! The smallest flows of a window, for probes along their paths.
//!
//! They are the smallest of those below the elephant threshold, and not the same ones forever: a flow that was named
//! rests while others wait.

use crate::flow_table::{Flow, FlowTable};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use rocescope_model::{FIRST_PROBE_QPN, PROBE_PAYLOAD_BYTES};
use rocescope_wire::Transport;

/// Windows that a named flow rests.
const REST: u64 = 10;
/// Queue pairs of probes: an agent has at most this many NICs.
const PROBE_QPNS: u32 = 1024;

/// The flows that were named lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct SmallFlows {
    /// The number of the window in which a flow was named last, by the hash of its key.
    named: BTreeMap<u64, u64>,
}

impl SmallFlows {
    /// Names at most `count` flows of the window of this number that `is_small`, smallest first. While fewer are rested,
    /// those are named again that were named the longest ago.
    pub(crate) fn name<'a>(
        &mut self,
        flows: &'a FlowTable,
        (number, count): (u64, usize),
        is_small: impl Fn(&Flow) -> bool,
    ) -> Vec<&'a Flow> {
        self.named.retain(|_, last| number.saturating_sub(*last) < REST);
        let is_candidate = |flow: &&Flow| flow.key.udp_src_port != 0 && !is_probe(flow) && is_small(flow);
        let key = |flow: &Flow| {
            (
                self.named.get(&flow.hash().0).copied(),
                flow.counts.frame_bytes,
                flow.key,
            )
        };
        let mut all: Vec<(_, &Flow)> = flows
            .flows()
            .iter()
            .filter(is_candidate)
            .map(|flow| (key(flow), flow))
            .collect();
        let count = count.min(all.len());
        if count < all.len() && count > 0 {
            all.select_nth_unstable_by_key(count - 1, |(key, _)| *key);
        }
        all.truncate(count);
        all.sort_unstable_by_key(|(key, _)| *key);
        let chosen: Vec<&Flow> = all.into_iter().map(|(_, flow)| flow).collect();
        for flow in &chosen {
            self.named.insert(flow.hash().0, number);
        }
        chosen
    }
}

/// Whether it is a flow of probes: they would be the smallest forever. Those that leave as frames have numbers of queue pairs
/// of their own, those over queue pairs payloads of their own.
fn is_probe(flow: &Flow) -> bool {
    let numbers = FIRST_PROBE_QPN..FIRST_PROBE_QPN + PROBE_QPNS;
    let has_payloads = flow.counts.payload_bytes == flow.counts.packets * PROBE_PAYLOAD_BYTES;
    flow.opcode.transport() == Transport::Ud && (numbers.contains(&flow.key.dst_qpn) || has_payloads)
}

#[cfg(test)]
mod tests {
    use super::{REST, SmallFlows};
    use crate::flow_table::{FlowCounts, FlowTable, flow_hash};
    use alloc::vec::Vec;
    use rocescope_model::{FIRST_PROBE_QPN, PROBE_PAYLOAD_BYTES};
    use rocescope_wire::{FlowKey, Opcode};

    const SEND_ONLY: Opcode = Opcode(0x04);
    /// The queue pair of an RDMA NIC that probes.
    const OF_DEVICE: u32 = 4_711;

    /// Flows of 100, 200, ... bytes with the ports 1, 2, ..., and one of a probe.
    fn table(count: u16) -> FlowTable {
        let mut table = FlowTable::new(1000);
        let mut add = |port: u16, qpn: u32, opcode: Opcode, bytes: u64| {
            let key = FlowKey {
                src: [0; 16],
                dst: [0; 16],
                vni: 0,
                dst_qpn: qpn,
                udp_src_port: port,
                vlan: 0,
                inner_vlan: 0,
                reserved: 0,
            };
            let counts = FlowCounts {
                packets: 1,
                frame_bytes: bytes,
                payload_bytes: if qpn == OF_DEVICE { PROBE_PAYLOAD_BYTES } else { 0 },
                messages: 0,
                congestion_experienced: 0,
                first_ns: 0,
                last_ns: 0,
            };
            assert!(table.add(flow_hash(&key), &key, opcode, &counts));
        };
        for port in 1..=count {
            add(port, 17, SEND_ONLY, 100 * u64::from(port));
        }
        add(900, FIRST_PROBE_QPN + 1, Opcode::UD_SEND_ONLY, 1);
        add(901, OF_DEVICE, Opcode::UD_SEND_ONLY, 1);
        // A sprayed direction has no path of its own.
        add(0, 18, SEND_ONLY, 1);
        table
    }

    fn named(small: &mut SmallFlows, table: &FlowTable, number: u64) -> Vec<u16> {
        let flows = small.name(table, (number, 3), |flow| flow.counts.frame_bytes < 1000);
        flows.iter().map(|flow| flow.key.udp_src_port).collect()
    }

    #[test]
    fn the_smallest_below_the_threshold_are_named_and_others_after_them() {
        let table = table(20);
        let mut small = SmallFlows::default();
        assert_eq!(named(&mut small, &table, 0), [1, 2, 3]);
        assert_eq!(named(&mut small, &table, 1), [4, 5, 6]);
        assert_eq!(named(&mut small, &table, 2), [7, 8, 9]);
        // All nine below the threshold rest: the longest ago first.
        assert_eq!(named(&mut small, &table, 3), [1, 2, 3]);
        // After their rest the smallest come first again.
        assert_eq!(named(&mut small, &table, 3 + REST), [1, 2, 3]);
        assert!(small.named.len() <= 9);
    }

    #[test]
    fn fewer_flows_than_wanted_are_named_every_time() {
        let table = table(2);
        let mut small = SmallFlows::default();
        for number in 0..3 {
            assert_eq!(named(&mut small, &table, number), [1, 2]);
        }
        assert!(small.name(&table, (9, 0), |_| true).is_empty());
    }
}
