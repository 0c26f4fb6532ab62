//! `connections`: what each direction of each queue pair did.

use crate::row::table;
use crate::{Text, Time};
use alloc::vec::Vec;
use core::net::IpAddr;

table! {
    /// One row a direction of a connection, with everything since its first packet. Written when
    /// the connection is gone, at the end of the capture, and once a minute while it lives: of the
    /// rows with the same `connection` and `role` the latest holds. Terms are those of
    /// `docs/connections.md`; counts of NAKs and CNPs are of those that the direction carried.
    ConnectionRow = "connections" {
        /// Name of the capture point.
        observer: Text, None, [same], hide "Observer";
        /// When the row was written, in event time.
        time: Time, None, [last | max], hide "Time";
        /// When the row was written, exact.
        time_ns: i64, UnixNanoseconds, [last | max], hide "Time exact";
        /// Number of the connection: the same for both directions and for all its rows.
        connection: i64, None, [same], hide "Connection";
        /// `a_to_b` or `b_to_a`: `a` is the active side of CM, else the side that sent the first
        /// request.
        role: Text, None, [same], show "Role";
        /// `connecting`, `active`, `idle` or `gone`.
        state: Text, None, [last | same], show "State";
        /// Transport service: `RC`, `UC`, `UD`, `XRC`.
        service: Text, None, [first], show "Service";
        /// How the two directions were found to belong together: `cm`, `ack` or `none`.
        paired_by: Text, None, [last | same], show "Paired";
        /// Source IP address.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// Queue pair number at the source; null while the other direction is not known.
        src_qpn: Option<u32>, None, [last | same], show "QP from";
        /// Queue pair number at the destination; null where the direction is known from its peer
        /// alone.
        dst_qpn: Option<u32>, None, [last | same], show "QP to";
        /// UDP source port of the first packet; null without packets.
        udp_src_port: Option<u16>, None, [last | same], hide "Port";
        /// First request PSN: CM's, else the lowest of the first round trip; null where no request
        /// was sent.
        start_psn: Option<u32>, None, [last | same], hide "First PSN";
        /// VLAN id, the outer of two; null when untagged.
        vlan: Option<u16>, None, [last | same], hide "VLAN";
        /// Inner VLAN id; null unless tagged twice.
        inner_vlan: Option<u16>, None, [last | same], hide "Inner VLAN";
        /// VXLAN network identifier; null when not encapsulated.
        vni: Option<u32>, None, [last | same], hide "VNI";
        /// Path MTU: CM's, else the payload of FIRST and MIDDLE packets; null before there is one.
        path_mtu_bytes: Option<u32>, Bytes, [last | same], hide "MTU";
        /// Time of the first packet.
        first_ns: i64, UnixNanoseconds, [min], hide "First";
        /// Time of the last packet.
        last_ns: i64, UnixNanoseconds, [max], hide "Last";
        /// Packets of every kind.
        packets: u64, Packets, [last | sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [last | sum], hide "Frame bytes";
        /// Payload bytes: without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [last | sum], show "Payload";
        /// Payload bytes of PSNs that had not passed before.
        unique_payload_bytes: u64, Bytes, [last | sum], hide "Unique payload";
        /// Packets with LAST or ONLY, READ responses among them.
        messages: u64, Messages, [last | sum], show "Messages";
        /// `messages` without those that had passed before.
        unique_messages: u64, Messages, [last | sum], hide "Unique messages";
        /// READ requests.
        read_packets: u64, Packets, [last | sum], hide "READs";
        /// Atomic requests.
        atomic_packets: u64, Packets, [last | sum], hide "Atomics";
        /// Packets sent again, READ responses among them.
        retransmitted_packets: u64, Packets, [last | sum], show "Retransmitted";
        /// Request packets that others overtook before the tap.
        out_of_order_packets: u64, Packets, [last | sum], show "Out of order";
        /// Request packets that passed twice without being sent twice.
        duplicate_packets: u64, Packets, [last | sum], show "Duplicate";
        /// Request packets whose PSN had passed before: `duplicate_packets` and those retransmitted
        /// that had not been lost before the tap.
        repeated_packets: u64, Packets, [last | sum], hide "Repeated";
        /// Packets lost before the tap: what filled a gap when it was sent again, and what was left
        /// out where all around it was sent again. READ responses count as well.
        lost_before_tap_packets: u64, Packets, [last | sum], show "Lost before";
        /// Packets that passed and did not arrive: requests that a NAK asked for, READ responses that
        /// the requester asked for again.
        lost_after_tap_packets: u64, Packets, [last | sum], show "Lost after";
        /// Request packets sent again after so long a wait that they, or their answer, must have been
        /// lost behind the tap.
        unanswered_packets: u64, Packets, [last | sum], show "Unanswered";
        /// Gaps of request PSNs that were never filled.
        lost_gaps: u64, None, [last | sum], show "Gaps";
        /// PSNs in those gaps.
        lost_gap_packets: u64, Packets, [last | sum], hide "Gap packets";
        /// Of the gaps, those the peer acknowledged: the mirror lost them.
        lost_gaps_acknowledged: u64, None, [last | sum], hide "Gaps acknowledged";
        /// Of the gaps, those a NAK asked for.
        lost_gaps_nak: u64, None, [last | sum], hide "Gaps NAKed";
        /// Of the gaps, those nothing is known about.
        lost_gaps_unanswered: u64, None, [last | sum], hide "Gaps unanswered";
        /// Of the gaps, those during which the capture lost records.
        lost_gaps_unknown: u64, None, [last | sum], hide "Gaps unknown";
        /// READ response packets that passed before.
        repeated_response_packets: u64, Packets, [last | sum], hide "Repeated responses";
        /// Gaps in the PSNs of READ responses that were never filled.
        lost_response_gaps: u64, None, [last | sum], hide "Response gaps";
        /// Positive acknowledgements that the direction carried.
        ack_packets: u64, Packets, [last | sum], hide "ACKs";
        /// NAKs for a PSN out of sequence that it carried.
        nak_psn_sequence: u64, None, [last | sum], show "NAK";
        /// Receiver-not-ready NAKs that it carried.
        rnr_nak: u64, None, [last | sum], show "RNR";
        /// NAKs that end the connection that it carried.
        nak_fatal: u64, None, [last | sum], show "Fatal";
        /// How often the sender went back for a NAK.
        nak_episodes: u64, None, [last | sum], hide "NAK episodes";
        /// How often the sender went back for an RNR NAK.
        rnr_episodes: u64, None, [last | sum], hide "RNR episodes";
        /// How often the sender asked again for a response that had not come though a later one had.
        response_episodes: u64, None, [last | sum], hide "Response episodes";
        /// How often the sender went back though nothing asked for it.
        timeouts: u64, None, [last | sum], show "Timeouts";
        /// How often the request PSN passed from 2^24 - 1 to 0.
        psn_wraps: u64, None, [last | sum], hide "PSN wraps";
        /// Packets with ECN congestion experienced (CE).
        ecn_ce_packets: u64, Packets, [last | sum], show "ECN CE";
        /// CNPs that the direction carried.
        cnp_sent_packets: u64, Packets, [last | sum], hide "CNP sent";
        /// CNPs that asked this direction's sender to slow down.
        cnp_received_packets: u64, Packets, [last | sum], show "CNP";
        /// Least time between two CNPs carried.
        cnp_interval_min_ns: Option<u64>, Nanoseconds, [last | min], hide "CNP interval least";
        /// Median time between two CNPs carried.
        cnp_interval_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "CNP interval";
        /// Mean frame rate in the millisecond before a CNP received.
        before_cnp_bps: Option<f64>, BitsPerSecond, [last | none], hide "Rate before CNP";
        /// Mean frame rate in the millisecond after a CNP received.
        after_cnp_bps: Option<f64>, BitsPerSecond, [last | none], hide "Rate after CNP";
        /// CNPs around which both rates were measured.
        cnp_rate_samples: u64, None, [last | sum], hide "CNP rate samples";
        /// Requests with a round trip: passed once, and an ACK named their PSN.
        rtt_samples: u64, None, [last | sum], hide "RTT samples";
        /// Least time from a request to its ACK: the part of the round trip behind the tap.
        rtt_min_ns: Option<u64>, Nanoseconds, [last | min], hide "RTT least";
        /// Median round trip.
        rtt_p50_ns: Option<u64>, Nanoseconds, [last | none], show "RTT p50";
        /// 99th percentile.
        rtt_p99_ns: Option<u64>, Nanoseconds, [last | none], show "RTT p99";
        /// Largest round trip.
        rtt_max_ns: Option<u64>, Nanoseconds, [last | max], hide "RTT most";
        /// READs and atomics with a response time.
        response_samples: u64, None, [last | sum], hide "Response samples";
        /// Median time from a READ or atomic request to the first packet of its response.
        response_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Response p50";
        /// 99th percentile.
        response_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Response p99";
        /// NAKs with a reaction time.
        reaction_samples: u64, None, [last | sum], hide "Reaction samples";
        /// Median time from a NAK to the first packet sent again for it.
        reaction_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Reaction p50";
        /// 99th percentile.
        reaction_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Reaction p99";
        /// Messages with a completion time.
        completion_samples: u64, None, [last | sum], hide "Completion samples";
        /// Median time from the first packet of a message to the answer that completes it.
        completion_p50_ns: Option<u64>, Nanoseconds, [last | none], hide "Completion p50";
        /// 99th percentile.
        completion_p99_ns: Option<u64>, Nanoseconds, [last | none], hide "Completion p99";
        /// How far any of these times may be off.
        clock_error_ns: u64, Nanoseconds, [last | max], hide "Clock error";
        /// Round trips as a mergeable histogram: bits, then bucket and count in turn; see
        /// `docs/connections.md`.
        rtt_histogram: Vec<i64>, None, [last | sketch], hide "RTT histogram";
        /// Messages by size: how many of 0 bytes, 1, 2-3, 4-7 and so on, a power of two each.
        message_sizes: Vec<i64>, None, [last | sketch], hide "Message sizes";
        /// SYN to ACK of the TCP connection that came before; null where none was seen.
        tcp_rtt_ns: Option<u64>, Nanoseconds, [last | none], hide "TCP RTT";
        /// Other TCP handshakes it could have been.
        tcp_candidates: Option<u32>, None, [last | none], hide "TCP candidates";
        /// CM REQ to REP; null unless CM set the connection up.
        request_to_reply_ns: Option<u64>, Nanoseconds, [last | none], hide "REQ to REP";
        /// CM REP to RTU.
        reply_to_ready_ns: Option<u64>, Nanoseconds, [last | none], hide "REP to RTU";
    }
}
