//! `flows`: the top flows of each window.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a window and top flow, largest first. A flow is one way: outer identifiers,
    /// addresses, UDP source port and destination QP. Sizes never fall short of the truth, and
    /// exceed it by at most their `error_` column.
    FlowRow = "flows" {
        /// Name of the capture point.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, included.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Place among the flows of the window: 1 is the largest by frame bytes.
        rank: u32, None, [none], show "#";
        /// The 64-bit hash of the flow's key that the sketches use, as a signed number.
        flow_hash: i64, None, [same], hide "Hash";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// UDP source port.
        udp_src_port: u16, None, [same], show "Port";
        /// Destination queue pair number.
        dst_qpn: u32, None, [same], show "QP";
        /// VLAN id, the outer of two; null when untagged.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// Inner VLAN id; null unless tagged twice.
        inner_vlan: Option<u16>, None, [same], hide "Inner VLAN";
        /// VXLAN network identifier; null when not encapsulated.
        vni: Option<u32>, None, [same], hide "VNI";
        /// Transport service: `RC`, `UC`, `RD`, `UD`, `XRC`, `CNP`, or `VENDOR` for the
        /// opcodes that are left to manufacturers.
        service: Text, None, [first], show "Service";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes: without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Packets that end a message (opcode with LAST or ONLY).
        messages: u64, Messages, [sum], show "Messages";
        /// Frame bits a second over the length of the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
        /// Payload bits a second over the length of the window.
        payload_bps: f64, BitsPerSecond, [rate payload_bytes], hide "Payload rate";
        /// Most by which `packets` may exceed the truth; 0 when exact.
        error_packets: u64, Packets, [sum], hide "Packets error";
        /// Most by which `frame_bytes` may exceed the truth; 0 when exact.
        error_frame_bytes: u64, Bytes, [sum], hide "Frame bytes error";
        /// Whether the flow's rate reached the elephant threshold.
        elephant: bool, None, [any], show "Elephant";
        /// Packets with ECN congestion experienced (CE) in the IP header.
        ecn_ce_packets: u64, Packets, [sum], hide "ECN CE";
        /// Packets sent again; null where connections are not followed, and of datagrams.
        retransmitted_packets: Option<u64>, Packets, [sum | whole], hide "Retransmitted";
        /// Packets that others overtook before the tap; null as `retransmitted_packets`.
        out_of_order_packets: Option<u64>, Packets, [sum | whole], hide "Out of order";
        /// Time of the flow's first packet in the window.
        first_ns: i64, UnixNanoseconds, [min], hide "First";
        /// Time of the flow's last packet in the window.
        last_ns: i64, UnixNanoseconds, [max], hide "Last";
    }
}
