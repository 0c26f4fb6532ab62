//! What each metric counts. A column of the dataset describes one window or flow; a metric its sum since the start, or
//! its latest value.

/// Sums of `windows`, gauges of its last row, flows and opcodes.
pub(super) const HELP: &[(&str, &str)] = &[
    ("frames", "Frames of all kinds"),
    ("roce_packets", "RoCEv2 packets"),
    ("not_roce_frames", "Complete frames without a RoCEv2 packet"),
    (
        "malformed_frames",
        "Frames whose headers contradict the frame length or each other",
    ),
    (
        "fragment_frames",
        "IP fragments to or from the RoCE port, and all fragments after the first of a datagram",
    ),
    ("filtered_frames", "Frames that the filter rejected"),
    (
        "snapped_frames",
        "Frames that the snapshot length cut before their kind was known",
    ),
    (
        "roce_v1_frames",
        "RoCE v1 frames (Ethernet type 0x8915), which not_roce_frames includes",
    ),
    (
        "frame_bytes",
        "Bytes of the frames of RoCEv2 packets, from the Ethernet header to the ICRC",
    ),
    (
        "payload_bytes",
        "Payload bytes of RoCEv2 packets, without headers, padding and ICRC",
    ),
    (
        "messages",
        "Messages: packets whose opcode has LAST or ONLY, retransmitted ones included",
    ),
    (
        "ecn_ce_packets",
        "RoCEv2 packets with ECN congestion experienced (CE) in the IP header",
    ),
    ("cnp_packets", "Congestion notification packets (CNPs)"),
    (
        "nak_packets",
        "Acknowledge packets with a NAK of any code, without RNR NAKs",
    ),
    (
        "rnr_nak_packets",
        "Acknowledge packets with a receiver-not-ready (RNR) NAK",
    ),
    ("icrc_bad_packets", "Packets with a wrong ICRC; only with --verify-icrc"),
    (
        "icrc_unverifiable_packets",
        "Packets cut too short to verify their ICRC; only with --verify-icrc",
    ),
    (
        "unknown_opcode_packets",
        "RoCEv2 packets with an opcode that the specification does not name",
    ),
    (
        "capture_lost_packets",
        "Capture loss: RoCEv2 packets whose records found the ring of the kernel full",
    ),
    (
        "late_packets",
        "Packets that arrived later than the lateness bound allows",
    ),
    (
        "fabric_lost_packets",
        "Fabric loss: packets that the network dropped between the endpoints; unknown with --no-connections",
    ),
    (
        "retransmitted_packets",
        "Packets that their senders retransmitted; unknown with --no-connections",
    ),
    (
        "mirror_lost_packets",
        "Mirror loss: packets that were acknowledged but that the mirror did not deliver; unknown with --no-connections",
    ),
    (
        "mirror_duplicate_packets",
        "Mirror duplicates: packets that the mirror delivered again; unknown with --no-connections",
    ),
    (
        "mirror_gap_frames",
        "Mirror loss: frames missing in the sequence numbers that GRE and ERSPAN mirrors add",
    ),
    (
        "jitter_events",
        "Changes of the rate of a flow beyond the jitter thresholds",
    ),
    ("flows", "Flows in the last window"),
    (
        "estimated_flows",
        "Flows in the last window, as the sketches estimate them",
    ),
    (
        "estimated_flows_stderr_ratio",
        "Standard error of rocescope_estimated_flows, relative to it",
    ),
    (
        "elephant_flows",
        "Flows in the last window whose rate reached the elephant threshold",
    ),
    ("mouse_flows", "Flows in the last window below the elephant threshold"),
    (
        "mirror_loss_ratio",
        "Share of the packets of the last window that the mirror did not deliver; unknown with --no-connections",
    ),
    ("opcode_packets", "RoCEv2 packets by opcode"),
    ("opcode_frame_bytes", "Bytes of the frames of RoCEv2 packets by opcode"),
    ("opcode_payload_bytes", "Payload bytes of RoCEv2 packets by opcode"),
    (
        "events",
        "Packets or changes in events, by kind: nak, jitter, loss, retransmission and others",
    ),
    (
        "flow_frame_bps",
        "Frame rate of the largest flows of the last window, in bits per second",
    ),
    ("flow_packets", "Packets of the largest flows of the last window"),
    ("flow_messages", "Messages of the largest flows of the last window"),
    (
        "flow_ecn_ce_packets",
        "Packets with congestion experienced of the largest flows of the last window",
    ),
];

#[cfg(test)]
mod tests {
    #[test]
    fn each_text_is_one_phrase_about_a_metric() {
        rocescope_testkit::assert_help_texts(super::HELP);
    }
}
