//! `host_verdicts`: faults that the counters of hosts and the captured traffic show together.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row when a fault begins and one when it ends: what, where, since when, on what evidence, and what to do. Of
    /// rows with the same `class`, `place` and `since_ns`, the one with the highest `revision` is valid, and of these the
    /// latest.
    HostVerdictRow = "host_verdicts" [kept] {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// End of the window in which the fault began or ended.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Number of the analysis: 0, or more if rows came late and their windows were analyzed again. Null in rows of
        /// earlier versions: 0.
        revision: Option<u32>, None, [last], hide "Revision";
        /// `began`, `ended`, `open` at the end of the rows, or `withdrawn` if rows that came late show another cause or none.
        state: Text, None, [last], show "State";
        /// Class of the fault: `receiver_died`, `congestion`, `jitter`, `slow_receiver`, `sick_cable`, `link_down`,
        /// `nic_vanished`, `pcie_degraded`, `pause_storm`, `no_cnps`, `cnps_ignored`, `network_loss`, `receiver_drops`,
        /// `mirror_repeats`, `mirror_lacks`.
        class: Text, None, [same], show "Class";
        /// Kind of the place: `port` of a host, `device` of a host, `address` whose port is unknown, `pair` of addresses,
        /// `connection`, `mirror`, or unknown `peer` of ports.
        place_kind: Text, None, [same], hide "Place kind";
        /// The place in words.
        place: Text, None, [same], show "Place";
        /// The host at fault; null if it is unknown, or no host.
        host: Option<Text>, None, [same], hide "Host";
        /// Its RDMA device.
        device: Option<Text>, None, [same], hide "Device";
        /// Port of the device.
        port: Option<u16>, None, [same], hide "Port";
        /// Source address of a pair or connection.
        src: Option<IpAddr>, None, [same], hide "Source";
        /// Destination address of a pair or connection; the address itself if its port is unknown.
        dst: Option<IpAddr>, None, [same], hide "Destination";
        /// Destination queue pair number of a connection.
        dst_qpn: Option<u32>, None, [same], hide "QP";
        /// When the fault began.
        since_ns: i64, UnixNanoseconds, [min], show "Since";
        /// End of the last window in which it showed itself.
        until_ns: i64, UnixNanoseconds, [max], hide "Until";
        /// Windows in which it showed itself.
        windows: u64, None, [max], hide "Windows";
        /// `certain`, `likely` or `possible`, and why.
        confidence: Text, None, [last], show "Confidence";
        /// The rows that it rests on: name, value, unit, place.
        evidence: Text, None, [last], hide "Evidence";
        /// What is unknown, and why; null if there is nothing.
        unknown: Option<Text>, None, [last], hide "Unknown";
        /// The finding in a sentence; its wording may change.
        sentence: Text, None, [last], show "Finding";
        /// What an operator should do next.
        action: Text, None, [last], hide "Action";
    }
}

impl HostVerdictRow {
    /// The state of a fault that a later analysis does not show.
    pub const WITHDRAWN: &str = "withdrawn";
}
