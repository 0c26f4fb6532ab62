//! `paths`: the hops that probes of one 5-tuple cross.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a hop of a path, as a traceroute on the probe's own 5-tuple found it. A path is written when it
    /// is first known, when it changes, and again from time to time; it holds from `time` until the next path of
    /// the same 5-tuple.
    PathRow = "paths" {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// From when on the path holds: when its traceroute ended.
        time: Time, None, [last], show "Time";
        /// From when on the path holds, exact.
        time_ns: i64, UnixNanoseconds, [last], hide "Time exact";
        /// Name of the NIC that the path begins at.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC that it leads to.
        dst_nic: Text, None, [same], show "To";
        /// Source IP address.
        src: IpAddr, None, [same], hide "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], hide "Destination";
        /// UDP source port.
        udp_src_port: u16, None, [same], show "Port";
        /// UDP destination port.
        udp_dst_port: u16, None, [same], hide "To port";
        /// Why the row was written: `first`, `changed`, or `refresh`.
        reason: Text, None, [last], show "Why";
        /// Hops of the path, the destination among them.
        hops: u16, None, [last], hide "Hops";
        /// Number of this hop, from 1: the TTL that ended there.
        hop: u16, None, [same], show "Hop";
        /// Address that answered; null where nobody did. The last hop is the destination itself.
        address: Option<IpAddr>, None, [last], show "Address";
        /// Time from the packet to its answer; null without one.
        round_trip_ns: Option<i64>, Nanoseconds, [none], hide "Round trip";
    }
}
