//! The truth in the frames, read from untagged IPv4 frames by offsets alone.

use rocescope_pipeline::flow_table::flow_hash;
use rocescope_sketches::FlowHash;
use rocescope_wire::FlowKey;
use rocescope_wire::link::NO_VLAN;
use rocescope_wire::tunnel::NO_VNI;
use std::collections::HashMap;
use std::net::Ipv4Addr;

const ADDRESSES: usize = 26;
const UDP: usize = 34;
const OPCODE: usize = 42;
const QUEUE_PAIR: usize = 47;

/// Source and destination address, UDP source port, destination queue pair.
pub(super) type Flow = ([u8; 8], u16, u32);

/// One window.
#[derive(Debug, Default)]
pub(super) struct Truth {
    pub(super) flow_bytes: HashMap<Flow, u64>,
    pub(super) opcode_bytes: HashMap<u8, u64>,
}

impl Truth {
    /// Counts a frame with its length on the wire. `None` when it is too short.
    pub(super) fn count(&mut self, frame: &[u8], bytes: u32) -> Option<()> {
        let flow = (
            frame.get(ADDRESSES..UDP)?.try_into().ok()?,
            u16::from_be_bytes(frame.get(UDP..UDP + 2)?.try_into().ok()?),
            u32::from_be_bytes(frame.get(QUEUE_PAIR - 1..QUEUE_PAIR + 3)?.try_into().ok()?) & 0xff_ffff,
        );
        *self.flow_bytes.entry(flow).or_default() += u64::from(bytes);
        *self.opcode_bytes.entry(*frame.get(OPCODE)?).or_default() += u64::from(bytes);
        Some(())
    }
}

/// The hash of a flow in the sketches.
pub(super) fn hash((addresses, udp_src_port, dst_qpn): &Flow) -> FlowHash {
    let [a, b, c, d, e, f, g, h] = *addresses;
    let mapped = |address: [u8; 4]| Ipv4Addr::from(address).to_ipv6_mapped().octets();
    flow_hash(&FlowKey {
        src: mapped([a, b, c, d]),
        dst: mapped([e, f, g, h]),
        vni: NO_VNI,
        dst_qpn: *dst_qpn,
        udp_src_port: *udp_src_port,
        vlan: NO_VLAN,
        inner_vlan: NO_VLAN,
        reserved: 0,
    })
}
