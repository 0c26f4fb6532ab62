//! `incidents`: faults, each with all that is known of it from every analysis.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each fault and each change of it: what, where, since when, who suffers, what to do. Of rows with the
    /// same `observer` and `id`, the latest is valid.
    IncidentRow = "incidents" [kept] {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Event time at which the row was written.
        time: Time, None, [last], hide "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Name of the incident: the same in every analysis that finds this fault of this class, place and start.
        id: Text, None, [same], show "ID";
        /// `open`, `ended`, or `withdrawn`: a later analysis does not show it.
        state: Text, None, [last], show "State";
        /// Class of the fault, such as `network_loss`. `docs/incidents.md` lists all.
        class: Text, None, [same], show "Class";
        /// Kind of the place: `nic`, `port`, `link`, `switch`, `host`, `pcie`, `pair` of addresses, `address`,
        /// `connection`, `group` of flows, `mirror`, `capture`, or as in `verdicts`.
        place_kind: Text, None, [same], hide "Place kind";
        /// The place in words.
        place: Text, None, [same], show "Place";
        /// The host at fault; null if it is unknown, or no host.
        host: Option<Text>, None, [last], hide "Host";
        /// The NIC at fault, as `host/nic`.
        nic: Option<Text>, None, [last], hide "NIC";
        /// The link at fault, as `from>to`; several are separated by spaces.
        link: Option<Text>, None, [last], hide "Link";
        /// The switch at fault.
        switch: Option<Text>, None, [last], hide "Switch";
        /// Source address of a pair or connection.
        src: Option<IpAddr>, None, [last], hide "Source";
        /// Destination address of a pair or connection; the address itself if its port is unknown.
        dst: Option<IpAddr>, None, [last], hide "Destination";
        /// Destination queue pair number of a connection.
        dst_qpn: Option<u32>, None, [last], hide "QP";
        /// When it began.
        since_ns: i64, UnixNanoseconds, [min], show "Since";
        /// When it was seen last; null while it goes on.
        until_ns: Option<i64>, UnixNanoseconds, [max], show "Until";
        /// `certain`, `likely` or `possible`.
        certainty: Text, None, [last], show "Certainty";
        /// Why it is as sure as that.
        reason: Text, None, [last], hide "Reason";
        /// The analyses that saw it, separated by commas: `capture`, `counters`, `mesh`, `loopback`, `collectives`,
        /// `paths`, `switches`.
        sources: Text, None, [last], show "Sources";
        /// Connections that suffer from it; null if no capture shows them.
        victims: Option<u64>, None, [last], show "Victims";
        /// The connections that suffer most, as `source>destination QP number`, separated by commas.
        worst_victims: Option<Text>, None, [last], hide "Worst victims";
        /// Whose these are, as far as `queue_pairs` names them: jobs with their ranks, pods, units or processes,
        /// separated by semicolons; null if it is unknown.
        owners: Option<Text>, None, [last], show "Whose";
        /// Packets that its victims lost; null if that is unknown.
        lost_packets: Option<u64>, Packets, [last], show "Lost";
        /// Packets that its victims retransmitted; null if that is unknown.
        retransmitted_packets: Option<u64>, Packets, [last], hide "Retransmitted";
        /// The rows that it rests on: table, name, value, unit, place.
        evidence: Text, None, [last], hide "Evidence";
        /// Findings of other analyses that are effects of it; null if there are none.
        explains: Option<Text>, None, [last], hide "Explains";
        /// What is unknown or contradicts, and what would separate it; null if there is nothing.
        unknown: Option<Text>, None, [last], hide "Unknown";
        /// The incident in a sentence; its wording may change.
        sentence: Text, None, [last], show "Incident";
        /// What an operator should do next.
        action: Text, None, [last], hide "Action";
    }
}

impl IncidentRow {
    /// State of an incident that goes on.
    pub const OPEN: &'static str = "open";
    /// State of an incident that is over.
    pub const ENDED: &'static str = "ended";
    /// State of an incident that a later analysis does not show.
    pub const WITHDRAWN: &'static str = "withdrawn";
}
