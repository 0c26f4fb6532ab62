//! `verdicts`: problems that the probe analysis found, and their places.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each problem and window: what fails, where, since when, on what evidence, and what to do. A problem
    /// that persists has a row in every window.
    VerdictRow = "verdicts" [kept] {
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
        /// Symptom: `loss`, `latency` (of the network, above its baseline), `asymmetry` (latency above that of the
        /// opposite direction), `delay` in a host, `unsent` (probes that could not be sent, while none was dropped), or
        /// `silence`: no probes of a host arrive.
        symptom: Text, None, [same], hide "Symptom";
        /// Class of the problem: `link_down`, `flapping`, `loss`, `corruption`, `no_route`, `acl`, `blackhole`,
        /// `congestion_drops`, `congestion`, `slow_receiver`, `asymmetric_path`, `slow_host`, `unsent`, `silent`,
        /// `unlocated_loss`.
        class: Text, None, [last], show "Class";
        /// Number of the problem in Hostmesh, section 5; null if the paper does not list it.
        problem: Option<u8>, None, [last], hide "Problem";
        /// Kind of the place: `nic` (the NIC, its link or its switch port), `link`, `ports` of a switch that are of one
        /// line card or of one split transceiver, `switch`, `route` (from a switch to a NIC), `pair` of NICs, `tuple`,
        /// `host`, the `collector` when most hosts are silent, or the `mesh` as a whole: somewhere in it.
        place_kind: Text, None, [same], hide "Place kind";
        /// The place in words; names several links if the evidence cannot separate them.
        place: Text, None, [same], show "Place";
        /// The affected NIC, as `host/nic`: the receiving one of a pair, route or 5-tuple.
        nic: Option<Text>, None, [last], hide "NIC";
        /// The affected link, as `from>to`; several are separated by spaces.
        link: Option<Text>, None, [last], hide "Link";
        /// The affected switch.
        switch: Option<Text>, None, [last], hide "Switch";
        /// The affected host.
        host: Option<Text>, None, [last], hide "Host";
        /// Direction in which probes are affected: `to` or `from` the NIC, or `both`; null if the place has only one
        /// direction.
        direction: Option<Text>, None, [last], hide "Direction";
        /// Address of the sending NIC of a pair or 5-tuple.
        src: Option<IpAddr>, None, [last], hide "Source";
        /// Address of the receiving NIC of a pair, route or 5-tuple.
        dst: Option<IpAddr>, None, [last], hide "Destination";
        /// UDP source port of a 5-tuple.
        udp_src_port: Option<u16>, None, [last], hide "Port";
        /// The most affected 5-tuples, at most 8, as `source>destination:port`, separated by spaces; null for a host.
        worst_tuples: Option<Text>, None, [last], hide "5-tuples";
        /// Time of the first lost probe; for latency, asymmetry and delay, the start of the first window; for silence, the
        /// time of the last probe.
        since_ns: i64, UnixNanoseconds, [min], hide "Since";
        /// Probes of this window that crossed the place; for silence, those that the host sends in a window; for the
        /// mesh, those that no other verdict on loss is about.
        probes: u64, None, [sum], show "Probes";
        /// Number of these probes that were affected; for silence, those that did not come.
        anomalous: u64, None, [sum], show "Anomalous";
        /// `anomalous` as a share of `probes`.
        anomalous_ratio: f64, Ratio, [anomalous / probes], show "Share";
        /// Log-likelihood ratio (natural logarithm) of the window with this fault against without.
        score: f64, None, [max], hide "Score";
        /// Votes for the place in Algorithm 1 of Hostmesh, from drops that its rules attribute to switches.
        votes: u64, None, [sum], hide "Votes";
        /// Weighted votes as in 007: each vote divided by the number of links of its path.
        weighted_votes: f64, None, [sum], hide "Weighted votes";
        /// Result of the paper's own rules for the place: `rnic` (anomalous by the 10 % rule, or still within its
        /// minute), `first` (first by votes), `weighted` (first by weighted votes only), or `silent`.
        paper: Text, None, [last], hide "Hostmesh result";
        /// Description in one sentence; its wording may change.
        sentence: Text, None, [last], show "Finding";
        /// What an operator should do next.
        action: Text, None, [last], hide "Action";
    }
}
