//! `verdicts`: what the analysis of probes found, and where.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a problem and window: what fails, where, since when, on what evidence, and what to do. A
    /// problem that lasts has a row in every window.
    VerdictRow = "verdicts" {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window exact";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// What was seen: `loss`, `latency` of the network above its usual, `asymmetry` (above that of the way back),
        /// or `delay` in a host.
        symptom: Text, None, [same], hide "Symptom";
        /// What it looks like: `link_down`, `flapping`, `loss`, `corruption`, `no_route`, `acl`, `blackhole`,
        /// `congestion_drops`, `congestion`, `slow_receiver`, `asymmetric_path`, `slow_host`.
        class: Text, None, [last], show "Class";
        /// Number of the problem in Hostmesh, section 5; null where the paper has none.
        problem: Option<u8>, None, [last], hide "Problem";
        /// What kind of place it is: `nic` (the NIC, its link or its switch port), `link`, `switch`, `route`
        /// (from a switch to a NIC), `pair` of NICs, `tuple`, `host`.
        place_kind: Text, None, [same], hide "Kind";
        /// The place in words; several links that the evidence cannot part are all named.
        place: Text, None, [same], show "Place";
        /// The NIC, as `host/nic`, where one is concerned: the receiving one of a pair, route or 5-tuple.
        nic: Option<Text>, None, [last], hide "NIC";
        /// The link, as `from>to`; several are separated by spaces.
        link: Option<Text>, None, [last], hide "Link";
        /// The switch.
        switch: Option<Text>, None, [last], hide "Switch";
        /// The host.
        host: Option<Text>, None, [last], hide "Host";
        /// Which way probes suffer: `to` and `from` the NIC, or `both`; null where the place has one way.
        direction: Option<Text>, None, [last], hide "Direction";
        /// Address of the sending NIC of a pair or 5-tuple.
        src: Option<IpAddr>, None, [last], hide "Source";
        /// Address of the receiving NIC of a pair, route or 5-tuple.
        dst: Option<IpAddr>, None, [last], hide "Destination";
        /// UDP source port of a 5-tuple.
        udp_src_port: Option<u16>, None, [last], hide "Port";
        /// The 5-tuples that suffer most, at most 8, as `source>destination:port`, separated by spaces; null for
        /// a host.
        worst_tuples: Option<Text>, None, [last], hide "5-tuples";
        /// When the first probe was lost; of latency, asymmetry and delay, the start of the first window.
        since_ns: i64, UnixNanoseconds, [min], hide "Since";
        /// Probes of this window that crossed the place.
        probes: u64, None, [sum], show "Probes";
        /// How many of them suffered.
        anomalous: u64, None, [sum], show "Anomalous";
        /// `anomalous` of `probes`.
        anomalous_ratio: f64, Ratio, [anomalous / probes], show "Share";
        /// Logarithm (natural) of how much likelier the window is with this fault than without.
        score: f64, None, [max], hide "Score";
        /// Votes of the place in Algorithm 1 of Hostmesh, among drops that are switch problems by its rules.
        votes: u64, None, [sum], hide "Votes";
        /// The same votes, each divided by the links of its path, as in 007.
        weighted_votes: f64, None, [sum], hide "Weighted";
        /// What the paper's own rules say of the place: `rnic` (anomalous by the 10 % rule, or still within the
        /// minute), `first` by votes, `weighted` (first by weighted votes alone), or `silent`.
        paper: Text, None, [last], hide "Paper";
        /// One sentence for people; not meant to be parsed.
        sentence: Text, None, [last], show "Finding";
        /// What an operator should do next.
        action: Text, None, [last], hide "Action";
    }
}
