//! What each metric counts. A column of the dataset describes one window or flow; a metric its sum since the start, or
//! its latest value.

use rocescope_model::Column;

/// The HELP text of a metric, by its name without prefix; `None` for a metric that has none here.
pub(super) fn of(metric: &str) -> Option<&'static str> {
    let known = HELP.iter().find(|(name, _)| *name == metric);
    known.map(|(_, help)| *help)
}

/// The HELP text of a metric that comes from a column: its own, or else the help of the column as a phrase.
pub(super) fn of_column(metric: &str, column: &Column) -> &'static str {
    of(metric).unwrap_or_else(|| column.help.trim_end_matches('.'))
}

/// Sums of `windows`, gauges of its last row, flows, opcodes and the mesh.
const HELP: &[(&str, &str)] = &[
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
        "Fabric loss: packets that the network dropped between the endpoints; only with --connections",
    ),
    (
        "retransmitted_packets",
        "Packets that their senders retransmitted; only with --connections",
    ),
    (
        "mirror_lost_packets",
        "Mirror loss: packets that were acknowledged but that the mirror did not deliver; only with --connections",
    ),
    (
        "mirror_duplicate_packets",
        "Mirror duplicates: packets that the mirror delivered again; only with --connections",
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
        "Share of the packets of the last window that the mirror did not deliver; only with --connections",
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
    ("sla_hosts", "Hosts that sent probes in the last analyzed window"),
    (
        "sla_silent_hosts",
        "Hosts that sent probes in the minute before, and none in the last analyzed window",
    ),
    ("sla_probes", "Probes sent"),
    ("sla_timeouts", "Probes that did not arrive within the timeout"),
    (
        "sla_corrupt",
        "Probes that arrived with changed bytes, which count as drops",
    ),
    ("sla_unsent", "Probes that their host could not send; not in sla_probes"),
    ("sla_late", "Rows that arrived after their window was analyzed"),
    (
        "sla_anomalous_nics",
        "NICs to which more than 10 % of the probes of the last analyzed window were dropped",
    ),
    ("sla_rnic_drops", "Probes dropped to or from an anomalous NIC"),
    ("sla_switch_drops", "Probes dropped elsewhere: by switches and links"),
    (
        "sla_untraced_drops",
        "Drops elsewhere whose path is not known, so that they accuse no link",
    ),
    (
        "sla_rnic_drop_ratio",
        "Share of the probes of the last analyzed window that were dropped at an anomalous NIC",
    ),
    (
        "sla_switch_drop_ratio",
        "Share of the probes of the last analyzed window that were dropped elsewhere",
    ),
    (
        "sla_processing_p50_ns",
        "Median delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p90_ns",
        "90th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p99_ns",
        "99th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p999_ns",
        "99.9th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p50_ns",
        "Median one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p90_ns",
        "90th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p99_ns",
        "99th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p999_ns",
        "99.9th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_asymmetric_ratio",
        "Share of the traced 5-tuples whose links no 5-tuple of the opposite direction crosses",
    ),
    (
        "sla_clock_error_ns",
        "Error bound of the latencies in the last analyzed window, in nanoseconds",
    ),
    ("sla_verdicts", "Verdicts on windows of the mesh"),
];

#[cfg(test)]
mod tests {
    use super::HELP;

    #[test]
    fn each_text_is_one_phrase_about_a_metric() {
        for (name, help) in HELP {
            assert!(
                help.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit()),
                "{name}"
            );
            assert!(!help.ends_with('.') && !help.contains(['`', '\n']), "{name}: {help}");
            for word in [" null", "column", "this window", "in the window"] {
                assert!(!help.contains(word), "{name}: {help}");
            }
        }
    }
}
