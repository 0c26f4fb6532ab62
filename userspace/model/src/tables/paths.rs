//! `paths`: the hops that packets of one 5-tuple cross.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each hop of a path, found by a traceroute with the 5-tuple of a probe, or of a captured flow that the
    /// controller asked about. A path is written when it
    /// is first known, when it changes, and periodically; it is valid from `time` until the next path of the same
    /// 5-tuple. While no trace has reached the destination, the rows have the hops up to the last one that answered, and one
    /// for the destination, without an address.
    PathRow = "paths" [raw "hops of two traces must not mix, and only the latest trace is evidence"] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Time from which the path is valid: the end of its traceroute.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Name of the NIC at which the path starts.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC at which the path ends; empty for a flow to another host.
        dst_nic: Text, None, [same], show "To";
        /// Source IP address.
        src: IpAddr, None, [same], hide "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], hide "Destination";
        /// UDP source port.
        udp_src_port: u16, None, [same], show "Port";
        /// UDP destination port.
        udp_dst_port: u16, None, [same], hide "Destination port";
        /// Why the row was written: `first`, `changed`, or `refresh`; or how far traces came that have not reached the
        /// destination: `unreached`, or `unreachable` where the last hop answered that the destination is.
        reason: Text, None, [last], show "Reason";
        /// Number of hops of the path, including the destination.
        hops: u16, None, [last], hide "Hops";
        /// Number of this hop, from 1: the TTL that expired there.
        hop: u16, None, [same], show "Hop";
        /// Address that answered; null if the hop did not answer. The last hop is the destination itself, null if no
        /// trace has reached it.
        address: Option<IpAddr>, None, [last], show "Address";
        /// Time from the packet to its answer; null without an answer.
        round_trip_ns: Option<i64>, Nanoseconds, [none], hide "Round trip";
    }
}
