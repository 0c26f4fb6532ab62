//! `windows`: totals, the loss identity and the sketches of each window.

use crate::row::table;
use crate::{SparseBytes, Text, Time};

table! {
    /// One row for each window of event time: totals, a count for every outcome of a frame, the number of flows, and
    /// the mergeable sketches. In every row `frames` = `roce_packets` + `not_roce_frames` + `malformed_frames` +
    /// `fragment_frames` + `filtered_frames` + `snapped_frames` + `capture_lost_packets`. A live capture has a row for every
    /// window, also without frames; a file has none for time without frames.
    WindowRow = "windows" [merged] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], show "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Frames of all kinds.
        frames: u64, Frames, [sum], show "Frames";
        /// RoCEv2 packets among the frames.
        roce_packets: u64, Packets, [sum], show "RoCEv2";
        /// Complete frames that carry no RoCEv2 packet, including RoCE v1.
        not_roce_frames: u64, Frames, [sum], hide "Not RoCEv2";
        /// Frames whose headers contradict the frame length or each other.
        malformed_frames: u64, Frames, [sum], show "Malformed";
        /// IP fragments to or from the RoCE port, and all fragments after the first of a datagram.
        fragment_frames: u64, Frames, [sum], hide "Fragments";
        /// Frames that the filter rejected.
        filtered_frames: u64, Frames, [sum], hide "Filtered";
        /// Frames that the snapshot length cut before their kind was known.
        snapped_frames: u64, Frames, [sum], hide "Snapped";
        /// RoCE v1 frames (Ethernet type 0x8915); `not_roce_frames` includes them.
        roce_v1_frames: u64, Frames, [sum], hide "RoCE v1";
        /// Bytes of the frames of the RoCE packets, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes of the RoCE packets, without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Messages: packets whose opcode has LAST or ONLY. A retransmitted message counts again.
        messages: u64, Messages, [sum], show "Messages";
        /// Number of flows: exact if `flows_exact`, otherwise `estimated_flows` rounded.
        flows: u64, Flows, [max], show "Flows";
        /// Whether `flows` is exact.
        flows_exact: bool, None, [none], hide "Flows exact";
        /// Number of flows as estimated by the sketches, even if the exact number is known: by Linear Counting until
        /// its bitmap is full, then by `hll_flows`.
        estimated_flows: f64, Flows, [max], hide "Estimated flows";
        /// Standard error of `estimated_flows`, relative to it.
        estimated_flows_stderr_ratio: f64, Ratio, [max], hide "Standard error";
        /// Number of flows whose rate reached the elephant threshold.
        elephant_flows: u64, Flows, [max], show "Elephants";
        /// Number of flows below the elephant threshold.
        mouse_flows: u64, Flows, [max], hide "Mouse flows";
        /// RoCE packets with ECN congestion experienced (CE) in the IP header.
        ecn_ce_packets: u64, Packets, [sum], show "ECN CE";
        /// Congestion notification packets (CNPs).
        cnp_packets: u64, Packets, [sum], show "CNP";
        /// Acknowledge packets whose syndrome is a NAK of any code, without RNR NAKs.
        nak_packets: u64, Packets, [sum], show "NAK";
        /// Acknowledge packets whose syndrome is a receiver-not-ready (RNR) NAK.
        rnr_nak_packets: u64, Packets, [sum], show "RNR";
        /// Packets with a wrong ICRC; null if the ICRC was not verified.
        icrc_bad_packets: Option<u64>, Packets, [sum | whole], hide "Bad ICRC";
        /// Packets cut too short to verify their ICRC; null if the ICRC was not verified.
        icrc_unverifiable_packets: Option<u64>, Packets, [sum | whole], hide "ICRC unverifiable";
        /// RoCE packets with an opcode that the specification does not name; `opcodes` lists them by number.
        unknown_opcode_packets: u64, Packets, [sum], hide "Unknown opcode";
        /// RoCE packets lost by the capture: the kernel counted them, but their records found the ring full. They count
        /// in the window in which the loss began; 0 for files and packet sockets.
        capture_lost_packets: u64, Packets, [sum], show "Capture loss";
        /// Frames of any kind lost by the capture before they were classified, because the packet socket, or the buffer of the RDMA device, was full;
        /// `frames` does not include them. They count in the window in which the loss began. Null for XDP, whose
        /// losses are `capture_lost_packets`, and for files.
        capture_dropped_frames: Option<u64>, Frames, [sum], hide "Socket drops";
        /// Packets that arrived after their own window was closed, beyond the lateness bound; they count in this window,
        /// the oldest open one.
        late_packets: u64, Packets, [sum], hide "Late";
        /// Fabric loss: packets that the network dropped upstream or downstream of the tap, the sum of the events of kind
        /// `loss`; one that is known only after the window is closed counts in the oldest open one. Null if the capture does
        /// not track connections.
        fabric_lost_packets: Option<u64>, Packets, [sum | whole], show "Fabric loss";
        /// Packets that their senders retransmitted, including READ responses; null if the capture does not track
        /// connections.
        retransmitted_packets: Option<u64>, Packets, [sum | whole], show "Retransmitted";
        /// Packets lost by the mirror: an endpoint acknowledged them, but the mirror did not deliver them, as far as
        /// known when the window closed; null if the capture does not track connections.
        mirror_lost_packets: Option<u64>, Packets, [sum | whole], hide "Mirror loss";
        /// `mirror_lost_packets` as a share of `mirror_lost_packets` plus `roce_packets`; null if the capture does not
        /// track connections.
        mirror_loss_ratio: Option<f64>, Ratio, [mirror_lost_packets / mirror_lost_packets + roce_packets], hide "Mirror loss ratio";
        /// Packets that the mirror delivered again, on another interface, on the other side of a routed hop, or
        /// immediately after the first. All totals include them; `connections` counts each packet once. Null if the
        /// capture does not track connections.
        mirror_duplicate_packets: Option<u64>, Packets, [sum | whole], hide "Mirror duplicates";
        /// Frames of any kind lost by the mirror, from gaps in the sequence numbers that mirrors add (GRE, ERSPAN II
        /// and III); null if no frame carried a number.
        mirror_gap_frames: Option<u64>, Frames, [sum], hide "Mirror gaps";
        /// Maximum time by which a packet may be on the wrong side of a window boundary; 0 for files and packet sockets.
        /// With XDP a run may extend past the end of its window by one tick of the kernel, and counts of frames that
        /// are not RoCEv2 are read shortly after it.
        boundary_slack_ns: i64, Nanoseconds, [max], hide "Boundary slack";
        /// Changes of a flow's rate beyond the jitter thresholds that ended in this window; their rows in `events` have
        /// the time when they started. Changes that end with the capture are only in `events`.
        jitter_events: u64, Events, [sum], hide "Jitter";
        /// Linear Counting bitmap over flow hashes; null if omitted.
        linear_counting: Option<SparseBytes>, None, [sketch], hide "Linear Counting";
        /// HyperLogLog over flow hashes, DataSketches `HLL_8` bytes; null up to 32,768 flows and if omitted.
        hll_flows: Option<SparseBytes>, Flows, [sketch], hide "HyperLogLog";
        /// Count-Min sketch of packets by flow hash, Spark V1 bytes; null where `flows` lists all flows of the window, from
        /// which it follows, and if omitted.
        count_min_packets: Option<SparseBytes>, Packets, [sketch], hide "Count-Min packets";
        /// Count-Min sketch of frame bytes by flow hash, Spark V1 bytes; null like `count_min_packets`.
        count_min_bytes: Option<SparseBytes>, Bytes, [sketch], hide "Count-Min bytes";
    }
}

impl WindowRow {
    /// Whether this is the same window of the same observer with the same counts: the same frames, stored again. Two rows
    /// with other counts are parts of one window, as two captures that follow each other write them.
    #[must_use]
    pub fn repeats(&self, other: &Self) -> bool {
        let counts = |row: &Self| [row.frames, row.roce_packets, row.frame_bytes, row.payload_bytes];
        self.frames > 0
            && self.window_start_ns == other.window_start_ns
            && self.observer == other.observer
            && counts(self) == counts(other)
    }
}
