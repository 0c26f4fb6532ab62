//! `telemetry`: what switches report of their queues.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each egress port of a report (`port`), for each flow at such a port (`flow`), and for each time that a
    /// port was paused (`pause`). `rocescope collective import` writes it.
    TelemetryRow = "telemetry" [raw "each row is part of one report of a switch"] {
        /// Name of the import.
        observer: Text, None, [same], hide "Observer";
        /// Time of the report, or start of the pause. Sources without the time of day count from 1970.
        time: Time, None, [min], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [min], hide "Exact time";
        /// The switch; in rows of pauses also a host.
        node: Text, None, [same], show "Switch";
        /// Number of the report among those of its switch, from 0.
        report: u32, None, [same], hide "Report";
        /// Why the switch reported: `flow`, it was asked along the path of a flow; `pause`, along the spreading of pauses;
        /// empty in rows of pauses.
        trigger: Text, None, [same], hide "Trigger";
        /// Epoch of the counters: 0 is the current one, 1 the one before.
        epoch: u8, None, [same], hide "Epoch";
        /// `port`, `flow` or `pause`.
        kind: Text, None, [same], show "Kind";
        /// The egress port.
        egress: Text, None, [same], show "Port";
        /// Node at the other end of its link; null if unknown.
        peer: Option<Text>, None, [same], hide "Peer";
        /// Port of that node.
        peer_port: Option<Text>, None, [same], hide "Peer's port";
        /// Whether that node is a host; null if unknown.
        peer_is_host: Option<bool>, None, [any], hide "Peer is a host";
        /// Ingress port whose traffic to this port was metered; null if none was.
        ingress: Option<Text>, None, [same], hide "From port";
        /// Node at the other end of that port's link; null if unknown.
        ingress_peer: Option<Text>, None, [same], hide "From";
        /// Port of that node.
        ingress_peer_port: Option<Text>, None, [same], hide "From its port";
        /// Bytes from that ingress port to this port in the epoch.
        ingress_bytes: Option<u64>, Bytes, [sum], hide "From bytes";
        /// Source IP address of the flow; null in other rows.
        src: Option<IpAddr>, None, [same], show "Source";
        /// Its destination IP address.
        dst: Option<IpAddr>, None, [same], show "Destination";
        /// Its source port.
        src_port: Option<u16>, None, [same], show "Source port";
        /// Its destination port.
        dst_port: Option<u16>, None, [same], hide "Destination port";
        /// Number of its IP protocol: 17 is UDP.
        protocol: Option<u8>, None, [same], hide "Protocol";
        /// Packets that entered the queue in the epoch: of the port, or of the flow.
        packets: u64, Packets, [sum], show "Packets";
        /// Sum over these packets of the packets that each found in the queue.
        queued_packets: u64, Packets, [sum], show "Queued before";
        /// Packets that entered while the port was paused.
        paused_packets: u64, Packets, [sum], show "While paused";
        /// Length of the pause; null in other rows, and if it did not end.
        pause_ns: Option<i64>, Nanoseconds, [sum], hide "Paused";
        /// Format that the row comes from.
        format: Text, None, [same], hide "Format";
    }
}
