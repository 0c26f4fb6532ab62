//! `flow_paths`: the links that flows cross.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each flow and hop of a run of `rocescope paths discover`: the node, and the port by which the flow
    /// leaves it. A flow whose path is not complete has its hops up to the last known one.
    FlowPathRow = "flow_paths" [kept] {
        /// Name of the run.
        observer: Text, None, [same], hide "Observer";
        /// Start of the run.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// Number of the IP protocol: 17 is UDP.
        protocol: u8, None, [same], hide "Protocol";
        /// Source port.
        src_port: u16, None, [same], show "Port";
        /// Destination port.
        dst_port: u16, None, [same], hide "Destination port";
        /// Destination queue pair number; null if it is unknown.
        dst_qpn: Option<u32>, None, [same], hide "QP";
        /// `complete`, or why the path ends early: `loop`, `dead_end`, `contradiction`, `unanswered`, `unknown_node` and others.
        outcome: Text, None, [last], show "Outcome";
        /// What the outcome is about; empty for complete paths.
        detail: Text, None, [last], hide "Detail";
        /// Number of hops that are known.
        hops: u16, None, [last], hide "Hops";
        /// Number of this hop, from 1; 0 in the only row of a flow without known hops.
        hop: u16, None, [same], show "Hop";
        /// The node; empty for hop 0.
        node: Text, None, [same], show "Node";
        /// Port by which the flow enters it; null for the first node.
        ingress: Option<Text>, None, [last], hide "Ingress";
        /// Port by which the flow leaves it; null for hop 0.
        egress: Option<Text>, None, [last], show "Egress";
        /// Rate of the flow as the source of flows stated it; null if it is unknown.
        flow_bps: Option<f64>, BitsPerSecond, [last], show "Rate";
    }
}
