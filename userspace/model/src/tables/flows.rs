//! `flows`: the top flows of each window.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each window and top flow, largest first. A flow is unidirectional: outer identifiers, addresses, UDP
    /// source port and destination QP. A direction whose sender sprays packets over many ports is one flow. Sizes are never below the true value, and above it by at most their `error_`
    /// column.
    FlowRow = "flows" [merged] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Rank among the flows of the window by frame bytes: 1 is the largest.
        rank: u32, None, [none], show "#";
        /// The 64-bit hash of the flow's key that the sketches use, as a signed number.
        flow_hash: i64, None, [same], hide "Hash";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// UDP source port; null if the direction is sprayed over several.
        udp_src_port: Option<u16>, None, [same], show "Port";
        /// Number of UDP source ports; a lower bound where the capture does not look at the port of every packet, null
        /// where it does not count them.
        udp_src_ports: Option<u64>, None, [max], hide "Ports";
        /// Imbalance of a sprayed direction over its UDP source ports: the mean deviation of their packets from the mean,
        /// relative to it (Flow Imbalance Metric); 0 if all ports carry the same, null if a port is unknown.
        port_imbalance_ratio: Option<f64>, Ratio, [max | none], hide "Port imbalance";
        /// Destination queue pair number.
        dst_qpn: u32, None, [same], show "QP";
        /// VLAN ID, the outer one if the frame has two tags; null for untagged frames.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// Inner VLAN ID; null unless the frame has two tags.
        inner_vlan: Option<u16>, None, [same], hide "Inner VLAN";
        /// VXLAN network identifier; null for packets without VXLAN encapsulation.
        vni: Option<u32>, None, [same], hide "VNI";
        /// Transport service of the flow's first packet: `RC`, `UC`, `RD`, `UD`, `XRC`, `MRC`, `CNP`, or
        /// `VENDOR` for the opcodes reserved for manufacturers. CNPs and acknowledgements with the same addresses, port
        /// and QP share a row; events of the kind `cnp_burst` and the table `opcodes` count CNPs exactly.
        service: Text, None, [first], show "Service";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes, without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Messages: packets whose opcode has LAST or ONLY.
        messages: u64, Messages, [sum], show "Messages";
        /// Frame rate, averaged over the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
        /// Payload rate, averaged over the window.
        payload_bps: f64, BitsPerSecond, [rate payload_bytes], hide "Payload rate";
        /// Upper bound of how far `packets` exceeds the true value; 0 if exact.
        error_packets: u64, Packets, [sum], hide "Packets error";
        /// Upper bound of how far `frame_bytes` exceeds the true value; 0 if exact.
        error_frame_bytes: u64, Bytes, [sum], hide "Frame bytes error";
        /// Whether the flow's rate reached the elephant threshold.
        elephant: bool, None, [any], show "Elephant";
        /// Packets with ECN congestion experienced (CE) in the IP header.
        ecn_ce_packets: u64, Packets, [sum], hide "ECN CE";
        /// Packets that the sender retransmitted; null for datagrams and if the capture does not track connections.
        retransmitted_packets: Option<u64>, Packets, [sum | whole], hide "Retransmitted";
        /// Packets that later packets overtook upstream of the tap; null like `retransmitted_packets`.
        out_of_order_packets: Option<u64>, Packets, [sum | whole], hide "Out of order";
        /// Time of the flow's first packet in the window.
        first_ns: i64, UnixNanoseconds, [min], hide "First packet";
        /// Time of the flow's last packet in the window.
        last_ns: i64, UnixNanoseconds, [max], hide "Last packet";
        /// Key of the flow's direction, the flow without its UDP source port: the same in `flows`, `connections` and
        /// `events`, in all windows and for all observers that see the same outer identifiers.
        direction_key: Option<i64>, None, [same], hide "Direction key";
    }
}
