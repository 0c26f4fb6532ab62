//! `spread`: the UDP source ports of sprayed directions in each window.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each window, sprayed direction and UDP source port (entropy value) of its packets. The packets of the
    /// rows of a direction add up to those of its row in `flows`, which has the imbalance. The largest directions come
    /// first; those of which some port is unknown, or whose ports exceed `--spread-rows`, have no rows.
    SpreadRow = "spread" [merged] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], show "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Key of the direction: the same as in `flows`.
        direction_key: i64, None, [same], hide "Direction key";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// Destination queue pair number.
        dst_qpn: u32, None, [same], show "QP";
        /// VLAN ID, the outer one if the frame has two tags; null for untagged frames.
        vlan: Option<u16>, None, [same], hide "VLAN";
        /// UDP source port.
        udp_src_port: u16, None, [same], show "Port";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Packets with ECN congestion experienced (CE) in the IP header.
        ecn_ce_packets: u64, Packets, [sum], show "ECN CE";
        /// Packets whose payload a switch cut because its queue was full (MRC): they passed, and their payload was lost
        /// upstream of the tap; null if more ports had some than are counted.
        trimmed_packets: Option<u64>, Packets, [sum | whole], show "Trimmed";
        /// How far `packets` is from the mean of the direction's ports, relative to that mean.
        deviation_ratio: f64, Ratio, [none], show "Deviation";
    }
}
