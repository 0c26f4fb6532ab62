//! `pdcs`: the packet delivery contexts of UET, in each window.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each window and direction of a UET packet delivery context (PDC): the requests and control packets that
    /// one side sent, and the ACKs and NACKs that answered them. RUDI and UUD have no PDC: their rows are pairs of
    /// addresses. `docs/transports.md` states what is evidence of a loss. A PSN is judged some round trips after it was
    /// acknowledged, so its losses may count in a later window.
    PdcRow = "pdcs" [merged by src_pdc, dst_pdc, mode] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// IP address of the side that sent the requests.
        src: IpAddr, None, [same], show "Source";
        /// IP address of the side that answered them.
        dst: IpAddr, None, [same], show "Destination";
        /// PDC number (PDCID) at the source; null for RUDI and UUD, and until it is known.
        src_pdc: Option<u16>, None, [last | same], show "PDC from";
        /// PDC number at the destination; null for RUDI and UUD, and until the destination sent a packet.
        dst_pdc: Option<u16>, None, [last | same], show "PDC to";
        /// Delivery mode: `RUD`, `ROD`, `RUDI`, `UUD`, or `unknown` if only answers were seen.
        mode: Text, None, [last | same], show "Mode";
        /// Job, from the first request with a semantic header; null if there was none.
        job: Option<u32>, None, [last | same], show "Job";
        /// VLAN ID, the outer one if the frame has two tags; null for untagged frames.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// Inner VLAN ID; null unless the frame has two tags.
        inner_vlan: Option<u16>, None, [same], hide "Inner VLAN";
        /// VXLAN network identifier; null for packets without VXLAN encapsulation.
        vni: Option<u32>, None, [same], hide "VNI";
        /// Requests and control packets from the source.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of their frames, from the Ethernet header on.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Requests.
        request_packets: u64, Packets, [sum], hide "Requests";
        /// Control packets.
        control_packets: u64, Packets, [sum], hide "Control";
        /// ACKs from the destination; with RUDI its responses.
        ack_packets: u64, Packets, [sum], show "ACKs";
        /// NACKs from the destination.
        nack_packets: u64, Packets, [sum], show "NACKs";
        /// Bytes of the frames of ACKs and NACKs.
        answer_frame_bytes: u64, Bytes, [sum], hide "Answer bytes";
        /// NACKs for packets that arrived trimmed: codes 1 to 3.
        nack_trimmed: u64, None, [sum], hide "NACK trimmed";
        /// NACKs by the name of their code, with their numbers, such as `no_bitmap 1, trimmed 3`; null if there were none.
        nack_reasons: Option<Text>, None, [none], show "NACK reasons";
        /// Messages: requests that end one, without repeated and trimmed ones.
        messages: u64, Messages, [sum], show "Messages";
        /// Messages of WRITE operations.
        write_messages: u64, Messages, [sum], hide "WRITE";
        /// Messages of READ operations: their requests.
        read_messages: u64, Messages, [sum], hide "READ";
        /// Messages of atomic operations.
        atomic_messages: u64, Messages, [sum], hide "Atomic";
        /// Messages of SEND operations: tagged, deferrable, rendezvous and datagram ones included.
        send_messages: u64, Messages, [sum], hide "SEND";
        /// Messages of other operations, and of those without a semantic header that could be read.
        other_messages: u64, Messages, [sum], hide "Other";
        /// Messages by the name of their operation, with their numbers, such as `read 2, write 10`; null if there were none.
        operations: Option<Text>, None, [none], hide "Operations";
        /// Requests and control packets that their sender marked as retransmissions.
        retransmitted_packets: u64, Packets, [sum], show "Retransmitted";
        /// Requests whose PSN, or RUDI number, had passed before, marked or not.
        repeated_packets: u64, Packets, [sum], hide "Repeated";
        /// Requests whose payload a switch upstream of the tap cut, because its queue was full: they did not arrive.
        trimmed_packets: u64, Packets, [sum], show "Trimmed";
        /// Fabric loss upstream of the tap: PSNs of which only retransmissions passed.
        fabric_lost_upstream_packets: u64, Packets, [sum], show "Loss upstream";
        /// Fabric loss downstream of the tap: packets that passed, and that the receiver reported as trimmed or missing.
        fabric_lost_downstream_packets: u64, Packets, [sum], show "Loss downstream";
        /// Packets that passed and were retransmitted, without evidence whether they or their ACKs were lost.
        unanswered_packets: u64, Packets, [sum], show "Unanswered";
        /// Packets that were retransmitted although they had arrived.
        needless_packets: u64, Packets, [sum], hide "Needless";
        /// PSNs that were acknowledged, and did not pass: mirror loss, or another path.
        unseen_packets: u64, Packets, [sum], hide "Unseen";
        /// PSNs that neither passed nor were acknowledged: whether they were lost is unknown.
        unknown_packets: u64, Packets, [sum], hide "Unknown";
        /// Requests and control packets with ECN congestion experienced (CE).
        ecn_ce_packets: u64, Packets, [sum], show "ECN CE";
        /// ACKs and NACKs that report such a mark.
        ecn_echo_packets: u64, Packets, [sum], show "ECN echo";
        /// Round trips from the tap to the destination and back: requests that passed once, with the ACK that names them.
        rtt_samples: u64, None, [sum], hide "RTT samples";
        /// Shortest round trip.
        rtt_min_ns: Option<u64>, Nanoseconds, [min], hide "RTT min";
        /// Median round trip.
        rtt_p50_ns: Option<u64>, Nanoseconds, [none], show "RTT p50";
        /// 99th percentile of the round trips.
        rtt_p99_ns: Option<u64>, Nanoseconds, [none], hide "RTT p99";
        /// Longest round trip.
        rtt_max_ns: Option<u64>, Nanoseconds, [max], hide "RTT max";
        /// Frame rate of requests and control packets, averaged over the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
    }
}
