//! `links`: the links of the fabric that probes crossed.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each window and discovered link, one direction each: the coverage of the topology. A link that no
    /// probe of the window crossed has a row with 0 probes. The address at its far end, which a traceroute reports,
    /// identifies a link.
    LinkRow = "links" [merged] {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// As in `sla`: rows count if they have the highest number that `sla` has for their window. Null: 0.
        revision: Option<u32>, None, [same], hide "Revision";
        /// Node at its near end: a name from the topology file, a NIC, or the address of the previous hop.
        from: Text, None, [same], show "From";
        /// Node at its far end: a name from the topology file, a NIC, or the address.
        to: Text, None, [same], show "To";
        /// Address of the interface at its far end.
        address: IpAddr, None, [same], show "Address";
        /// Number of 5-tuples of the window whose paths cross the link.
        tuples: u64, None, [max | sum], show "5-tuples";
        /// Probes that crossed the link, or were lost on a path across it.
        probes: u64, None, [sum], show "Probes";
        /// Number of these probes that were lost, anywhere on their paths.
        drops: u64, None, [sum], show "Drops";
        /// Votes in Algorithm 1 of Hostmesh.
        votes: u64, None, [sum], show "Votes";
        /// Weighted votes as in 007: each vote divided by the number of links of its path.
        weighted_votes: f64, None, [sum], hide "Weighted votes";
    }
}
