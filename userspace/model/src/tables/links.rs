//! `links`: which links of the fabric the probes crossed.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a window and learnt link, in one direction: the coverage of the topology. A link that no probe
    /// of the window crossed has a row with 0 probes. A link is known by the address that it leads to, which
    /// a traceroute names.
    LinkRow = "links" {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window exact";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Node that it leaves: a name from the topology file, a NIC, or the address of the hop before.
        from: Text, None, [same], show "From";
        /// Node that it leads to: a name from the topology file, a NIC, or the address.
        to: Text, None, [same], show "To";
        /// Address of the interface that it leads to.
        address: IpAddr, None, [same], show "Address";
        /// 5-tuples of the window whose paths cross it.
        tuples: u64, None, [max | sum], show "5-tuples";
        /// Probes that crossed it, or were lost on a path that does.
        probes: u64, None, [sum], show "Probes";
        /// How many of them were lost, anywhere on their paths.
        drops: u64, None, [sum], show "Drops";
        /// Votes in Algorithm 1 of Hostmesh.
        votes: u64, None, [sum], show "Votes";
        /// The same votes, each divided by the links of its path, as in 007.
        weighted_votes: f64, None, [sum], hide "Weighted";
    }
}
