//! `connections`: one row for each direction of a queue pair's traffic.

use crate::row::table;
use crate::{Text, Time};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::net::IpAddr;

table! {
    /// One row for each direction of a connection, with totals since its first packet. A direction gets a row when the
    /// connection ends, when the capture ends, and once a minute in between: of the rows with the same `connection` and
    /// `role`, the latest is valid. `docs/connections.md` defines the terms. NAKs and CNPs count for the direction that
    /// carried them.
    ConnectionRow = "connections" [merged] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], hide "Observer";
        /// Event time at which the row was written.
        time: Time, None, [last | max], hide "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last | max], hide "Exact time";
        /// Number of the connection, the same in both directions and in all its rows.
        connection: i64, None, [same], hide "Connection";
        /// `a_to_b` or `b_to_a`. `a` is the active side in CM; without CM, the side that sent the first request.
        role: Text, None, [same], show "Role";
        /// `connecting`, `active`, `idle`, or `gone`: silent for 60 s, closed, or out of retries.
        state: Text, None, [last | same], show "State";
        /// Transport service: `RC`, `UC`, `UD`, `XRC`, `MRC`.
        service: Text, None, [first], show "Service";
        /// How the two directions were paired: by `cm`, by `ack`, or `none` if they are not paired.
        paired_by: Text, None, [last | same], show "Paired by";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// Queue pair number at the source; null until the other direction is known.
        src_qpn: Option<u32>, None, [last | same], show "QP from";
        /// Queue pair number at the destination; null if only the other direction sent packets.
        dst_qpn: Option<u32>, None, [last | same], show "QP to";
        /// UDP source port of the first packet; null if there was none.
        udp_src_port: Option<u16>, None, [last | same], hide "Port";
        /// PSN of the first request: from CM, otherwise the lowest in the first round trip; null if there was no
        /// request.
        start_psn: Option<u32>, None, [last | same], hide "First PSN";
        /// VLAN ID, the outer one if the frame has two tags; null for untagged frames.
        vlan: Option<u16>, None, [last | same], hide "VLAN";
        /// Inner VLAN ID; null unless the frame has two tags.
        inner_vlan: Option<u16>, None, [last | same], hide "Inner VLAN";
        /// VXLAN network identifier; null for packets without VXLAN encapsulation.
        vni: Option<u32>, None, [last | same], hide "VNI";
        /// Path MTU: from CM, otherwise the payload size of FIRST and MIDDLE packets; null until there is one.
        path_mtu_bytes: Option<u32>, Bytes, [last | same], hide "MTU";
        /// Time of the first packet; null if there was none.
        first_ns: Option<i64>, UnixNanoseconds, [min], hide "First packet";
        /// Time of the last packet; if there was none, of the CM datagram that named the direction.
        last_ns: i64, UnixNanoseconds, [max], hide "Last packet";
        /// Packets of all opcodes.
        packets: u64, Packets, [last | sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [last | sum], hide "Frame bytes";
        /// Payload bytes, without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [last | sum], show "Payload";
        /// Payload bytes of PSNs seen for the first time.
        unique_payload_bytes: u64, Bytes, [last | sum], hide "Unique payload";
        /// Messages: packets whose opcode has LAST or ONLY, including READ responses.
        messages: u64, Messages, [last | sum], show "Messages";
        /// `messages` without repeated ones.
        unique_messages: u64, Messages, [last | sum], hide "Unique messages";
        /// RDMA READ requests.
        read_packets: u64, Packets, [last | sum], hide "READs";
        /// Atomic requests.
        atomic_packets: u64, Packets, [last | sum], hide "Atomics";
        /// Packets that the sender retransmitted, including READ responses.
        retransmitted_packets: u64, Packets, [last | sum], show "Retransmitted";
        /// Packets that later packets overtook upstream of the tap, including READ responses.
        out_of_order_packets: u64, Packets, [last | sum], show "Out of order";
        /// Packets seen again although their sender transmitted them once, including READ responses.
        duplicate_packets: u64, Packets, [last | sum], show "Duplicate";
        /// Request packets whose PSN was seen before: their part of `duplicate_packets`, and retransmissions of packets
        /// that were not lost upstream of the tap.
        repeated_packets: u64, Packets, [last | sum], hide "Repeated";
        /// Fabric loss upstream of the tap: retransmitted packets that filled a gap, and packets missing within a
        /// retransmitted range. READ responses count as well.
        fabric_lost_upstream_packets: u64, Packets, [last | sum], show "Loss upstream";
        /// Fabric loss downstream of the tap: requests seen at the tap that a NAK requested again, and READ responses
        /// seen at the tap that the requester requested again.
        fabric_lost_downstream_packets: u64, Packets, [last | sum], show "Loss downstream";
        /// Fabric loss downstream of the tap that no NAK shows: request packets retransmitted after a timeout, because they
        /// or their acknowledgement were lost.
        unanswered_packets: u64, Packets, [last | sum], show "Unanswered";
        /// Gaps in the request PSNs that were never filled.
        unfilled_gaps: u64, None, [last | sum], show "Gaps";
        /// Number of PSNs in those gaps.
        unfilled_gap_packets: u64, Packets, [last | sum], hide "Gap packets";
        /// Gaps that the peer acknowledged: mirror loss.
        unfilled_gaps_acknowledged: u64, None, [last | sum], hide "Gaps acknowledged";
        /// Gaps that a NAK requested.
        unfilled_gaps_nak: u64, None, [last | sum], hide "Gaps NAKed";
        /// Gaps that were neither acknowledged nor requested by a NAK.
        unfilled_gaps_unanswered: u64, None, [last | sum], hide "Gaps unanswered";
        /// Gaps during which the capture lost records: their cause is unknown.
        unfilled_gaps_unknown: u64, None, [last | sum], hide "Gaps unknown";
        /// READ response packets whose PSN was seen before.
        repeated_response_packets: u64, Packets, [last | sum], hide "Repeated responses";
        /// Gaps in the PSNs of READ responses that were never filled.
        unfilled_response_gaps: u64, None, [last | sum], hide "Response gaps";
        /// Positive acknowledgements that this direction carried.
        ack_packets: u64, Packets, [last | sum], hide "ACKs";
        /// PSN sequence error NAKs that this direction carried.
        nak_psn_sequence: u64, None, [last | sum], show "NAK";
        /// Receiver-not-ready (RNR) NAKs that this direction carried.
        rnr_nak: u64, None, [last | sum], show "RNR";
        /// Fatal NAKs, which end the connection, that this direction carried.
        nak_fatal: u64, None, [last | sum], show "Fatal";
        /// How often the sender went back to an earlier PSN after a NAK.
        nak_episodes: u64, None, [last | sum], hide "NAK episodes";
        /// How often the sender went back to an earlier PSN after an RNR NAK.
        rnr_episodes: u64, None, [last | sum], hide "RNR episodes";
        /// How often the sender requested a missing response again after it received a later one.
        response_episodes: u64, None, [last | sum], hide "Response episodes";
        /// How often the sender went back to an earlier PSN without a NAK: its timer expired.
        timeouts: u64, None, [last | sum], show "Timeouts";
        /// How often the request PSN wrapped from 2^24 - 1 to 0.
        psn_wraps: u64, None, [last | sum], hide "PSN wraps";
        /// Packets with ECN congestion experienced (CE).
        ecn_ce_packets: u64, Packets, [last | sum], show "ECN CE";
        /// DSCPs of requests, responses and datagrams, ascending, separated by commas; null if there were none.
        data_dscp: Option<Text>, None, [last | same], hide "DSCP data";
        /// DSCPs of acknowledgements and NAKs, likewise.
        ack_dscp: Option<Text>, None, [last | same], hide "DSCP ACK";
        /// DSCPs of CNPs, likewise.
        cnp_dscp: Option<Text>, None, [last | same], hide "DSCP CNP";
        /// Requests, responses and datagrams without ECN capability: switches drop them instead of marking them.
        not_ecn_capable_packets: Option<u64>, Packets, [last | sum], hide "Not ECN-capable";
        /// Packets that their sender marked as retransmissions; null for services without the mark, which is all but MRC.
        marked_retransmitted_packets: Option<u64>, Packets, [last | sum], hide "Marked";
        /// Request packets whose payload a switch cut because its queue was full: they did not arrive. Null unless the
        /// service is MRC.
        trimmed_packets: Option<u64>, Packets, [last | sum], hide "Trimmed";
        /// NACKs for trimmed packets that this direction carried; null unless the service is MRC.
        nack_trimmed: Option<u64>, None, [last | sum], hide "NACK trimmed";
        /// NACKs for other reasons that this direction carried; null unless the service is MRC. `events` names each.
        nack_other: Option<u64>, None, [last | sum], hide "NACK other";
        /// CNPs that this direction carried.
        cnp_sent_packets: u64, Packets, [last | sum], hide "CNP sent";
        /// CNPs addressed to the sender of this direction.
        cnp_received_packets: u64, Packets, [last | sum], show "CNP";
        /// Shortest time between two CNPs that this direction carried.
        cnp_interval_min_ns: Option<u64>, Nanoseconds, [last | min], hide "CNP interval min";
        /// Median time between two CNPs that this direction carried.
        cnp_interval_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "CNP interval p50";
        /// Mean frame rate in the millisecond before a received CNP.
        before_cnp_bps: Option<f64>, BitsPerSecond, [last | none], hide "Rate before CNP";
        /// Mean frame rate in the millisecond after a received CNP.
        after_cnp_bps: Option<f64>, BitsPerSecond, [last | none], hide "Rate after CNP";
        /// Number of received CNPs with a rate before and after.
        cnp_rate_samples: u64, None, [last | sum], hide "CNP rate samples";
        /// Number of round trips: requests seen once whose PSN an ACK named.
        rtt_samples: u64, None, [last | sum], hide "RTT samples";
        /// Shortest round trip: from a request to its ACK, measured at the tap, so only the part downstream of it.
        rtt_min_ns: Option<u64>, Nanoseconds, [last | min], hide "RTT min";
        /// Median round trip time; like all quantiles within 0.8 %, if the range of the times is at most 65,536.
        rtt_p50_ns: Option<u64>, Nanoseconds, [last | none], show "RTT p50";
        /// 99th percentile of the round trips.
        rtt_p99_ns: Option<u64>, Nanoseconds, [last | none], show "RTT p99";
        /// Longest round trip.
        rtt_max_ns: Option<u64>, Nanoseconds, [last | max], hide "RTT max";
        /// Number of response times of READs and atomics.
        response_samples: u64, None, [last | sum], hide "Response samples";
        /// Median time from a READ or atomic request to the first packet of its response.
        response_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Response p50";
        /// 99th percentile of the response times.
        response_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Response p99";
        /// Number of reaction times to NAKs.
        reaction_samples: u64, None, [last | sum], hide "Reaction samples";
        /// Median reaction time: from a NAK to the first packet retransmitted for it.
        reaction_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Reaction p50";
        /// 99th percentile of the reaction times.
        reaction_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Reaction p99";
        /// Number of completion times of messages.
        completion_samples: u64, None, [last | sum], hide "Completion samples";
        /// Median completion time: from the first packet of a message to the response that completes it.
        completion_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Completion p50";
        /// 99th percentile of the completion times.
        completion_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Completion p99";
        /// Error bound of all these times.
        clock_error_ns: u64, Nanoseconds, [last | max], hide "Clock error";
        /// Round trips as a mergeable histogram: number of bits, then pairs of bucket and count; see
        /// `docs/connections.md`.
        rtt_histogram: Vec<i64>, None, [last | sketch], hide "RTT histogram";
        /// Number of messages by size: 0 bytes, 1, 2-3, 4-7 and so on, one bucket for each power of two.
        message_sizes: Vec<i64>, None, [last | sketch], hide "Message sizes";
        /// Time from SYN to ACK of the TCP connection that preceded this one; null if none was seen.
        tcp_rtt_ns: Option<u64>, Nanoseconds, [last | none], hide "TCP RTT";
        /// Number of other TCP handshakes that could belong to this connection.
        tcp_candidates: Option<u32>, None, [last | none], hide "TCP candidates";
        /// Time from CM REQ to REP; null unless CM set up the connection.
        request_to_reply_ns: Option<u64>, Nanoseconds, [last | none], hide "REQ to REP";
        /// Time from CM REP to RTU.
        reply_to_ready_ns: Option<u64>, Nanoseconds, [last | none], hide "REP to RTU";
        /// Key of the direction, as in `flows`. Senders of datagrams from one address to one UD QP share it; rows of two
        /// connections have the same key if a QP number was used again.
        direction_key: Option<i64>, None, [same], hide "Direction key";
        /// What the sender retransmits after a NAK: everything from there on (`go_back_n`), only what was requested
        /// (`selective_repeat`), or `unknown` while no NAK has shown it.
        retransmission_scheme: Option<Text>, None, [last | same], hide "Retransmission";
        /// Whether packets of the other direction were seen. Without them the cause of a gap or a repeated packet is
        /// mostly unknown. Null for services without acknowledgements.
        other_direction_seen: Option<bool>, None, [last | same], hide "Other direction seen";
        /// Longest late time of a request: from the packet that overtook it to itself (RFC 4737); null if none was
        /// reordered.
        late_time_max_ns: Option<u64>, Nanoseconds, [last | max], hide "Late time max";
        /// Largest distance of a reordered request to the highest PSN before it (the extent of RFC 4737).
        reordering_extent_psns: Option<u64>, None, [last | max], hide "Reordering extent";
        /// Request packets transmitted since the last answer, repeats included, while the sender repeats by its timer: it is
        /// unknown whether they or their answers were lost. They are not part of the fabric loss; 0 once an answer comes.
        unresolved_packets: Option<u64>, Packets, [last | sum], hide "Unresolved";
    }
}

impl ConnectionRow {
    /// Fabric loss of the direction at every place, in packets: as much as its events of kind `loss` count.
    #[must_use]
    pub const fn fabric_lost_packets(&self) -> u64 {
        self.fabric_lost_upstream_packets + self.fabric_lost_downstream_packets + self.unanswered_packets
    }

    /// How a connection fares, the sums of its directions; compared, the worst is the greatest. In this order: fatal NAKs;
    /// packets lost, missing or retransmitted, and timeouts; NAKs that ask to wait or to go back; ECN marks and CNPs; packets.
    pub fn trouble<'a>(directions: impl IntoIterator<Item = &'a Self>) -> [u64; 5] {
        directions.into_iter().fold([0; 5], |sums, row| {
            let lost = row.fabric_lost_packets() + row.unfilled_gap_packets;
            let of = [
                row.nak_fatal,
                lost + row.retransmitted_packets + row.timeouts,
                row.rnr_nak + row.nak_psn_sequence,
                row.ecn_ce_packets + row.cnp_received_packets,
                row.packets,
            ];
            core::array::from_fn(|at| sums[at].saturating_add(of[at]))
        })
    }

    /// Sorts rows by the [trouble](Self::trouble) of their connection, the worst first; both directions stay together.
    pub fn sort_worst_first(rows: &mut [Self]) {
        let key = |row: &Self| (row.observer.to_string(), row.connection);
        let mut sums: BTreeMap<(String, i64), [u64; 5]> = BTreeMap::new();
        for row in &*rows {
            let sum = sums.entry(key(row)).or_default();
            let of = Self::trouble([row]);
            *sum = core::array::from_fn(|at| sum[at].saturating_add(of[at]));
        }
        rows.sort_by_cached_key(|row| (Reverse(sums.get(&key(row)).copied()), key(row), row.role.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionRow;
    use std::string::ToString;

    #[test]
    fn the_worst_connection_comes_first_and_its_directions_stay_together() {
        let row = |connection, role: &'static str| ConnectionRow {
            connection,
            role: role.into(),
            packets: 10,
            ..ConnectionRow::default()
        };
        let mut rows = [
            row(1, "a_to_b"),
            row(2, "a_to_b"),
            row(3, "a_to_b"),
            row(4, "a_to_b"),
            row(3, "b_to_a"),
        ];
        rows[0].ecn_ce_packets = 1_000;
        rows[1].rnr_nak = 1;
        rows[3].packets = 1_000;
        rows[4].retransmitted_packets = 1;
        ConnectionRow::sort_worst_first(&mut rows);
        let order = rows.map(|row| (row.connection, row.role.to_string()));
        let expected = [
            (3, "a_to_b"),
            (3, "b_to_a"),
            (2, "a_to_b"),
            (1, "a_to_b"),
            (4, "a_to_b"),
        ];
        assert_eq!(order, expected.map(|(connection, role)| (connection, role.into())));
    }
}
