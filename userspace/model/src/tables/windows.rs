//! `windows`: totals, the loss identity and the sketches of each window.

use crate::row::table;
use crate::{Text, Time};
use alloc::vec::Vec;

table! {
    /// One row a window of event time: totals, where every frame went, how many flows, and the
    /// mergeable sketches. `frames` = `roce_packets` + `not_roce_frames` + `malformed_frames` +
    /// `fragment_frames` + `filtered_frames` + `snapped_frames`.
    WindowRow = "windows" {
        /// Name of the capture point.
        observer: Text, None, [same], show "Observer";
        /// Start of the window, included.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Frames seen, of every kind.
        frames: u64, Frames, [sum], show "Frames";
        /// RoCEv2 packets among the frames.
        roce_packets: u64, Packets, [sum], show "RoCE";
        /// Frames that are whole but carry no RoCEv2 packet, RoCE v1 among them.
        not_roce_frames: u64, Frames, [sum], hide "Not RoCE";
        /// Frames whose headers contradict their length or each other.
        malformed_frames: u64, Frames, [sum], show "Malformed";
        /// IP fragments to or from the RoCE port, or not the first of their datagram.
        fragment_frames: u64, Frames, [sum], hide "Fragments";
        /// Frames that the filter turned away.
        filtered_frames: u64, Frames, [sum], hide "Filtered";
        /// Frames that the capture cut before they could be told apart.
        snapped_frames: u64, Frames, [sum], hide "Snapped";
        /// RoCE v1 frames (Ethernet type 0x8915); they are among `not_roce_frames`.
        roce_v1_frames: u64, Frames, [sum], hide "RoCE v1";
        /// Bytes of the frames of the RoCE packets, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes of the RoCE packets: without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Packets that end a message (opcode with LAST or ONLY). A message sent twice counts
        /// twice.
        messages: u64, Messages, [sum], show "Messages";
        /// Flows seen: exact where `flows_exact`, else `estimated_flows` rounded.
        flows: u64, Flows, [max], show "Flows";
        /// Whether `flows` is exact.
        flows_exact: bool, None, [none], hide "Exact";
        /// What the sketches say of the flows, also where the exact number is known: Linear
        /// Counting until its bitmap is full, then `hll_flows`.
        estimated_flows: f64, Flows, [max], hide "Estimated flows";
        /// Standard error of `estimated_flows`, as a share of it.
        estimated_flows_stderr_ratio: f64, Ratio, [max], hide "Standard error";
        /// Flows whose rate reached the elephant threshold.
        elephant_flows: u64, Flows, [max], show "Elephants";
        /// Flows below the elephant threshold.
        mouse_flows: u64, Flows, [max], hide "Mice";
        /// RoCE packets with ECN congestion experienced (CE) in the IP header.
        ecn_ce_packets: u64, Packets, [sum], show "ECN CE";
        /// Congestion notification packets.
        cnp_packets: u64, Packets, [sum], show "CNP";
        /// Acknowledge packets whose syndrome is a NAK, of any code; RNR NAKs are not among them.
        nak_packets: u64, Packets, [sum], show "NAK";
        /// Acknowledge packets whose syndrome is an RNR NAK: receiver not ready.
        rnr_nak_packets: u64, Packets, [sum], show "RNR";
        /// Packets whose ICRC is wrong; null when it was not verified.
        icrc_bad_packets: Option<u64>, Packets, [sum | whole], hide "Bad ICRC";
        /// Packets cut too short to verify their ICRC; null when it was not verified.
        icrc_unverifiable_packets: Option<u64>, Packets, [sum | whole], hide "ICRC unknown";
        /// RoCE packets with an opcode that the specification does not name; `opcodes` has them by
        /// number.
        unknown_opcode_packets: u64, Packets, [sum], hide "Unknown opcode";
        /// RoCE packets counted by the kernel whose records were lost to a full ring; 0 for files.
        lost_packets: u64, Packets, [sum], show "Lost";
        /// Packets that came behind the lateness bound, after their own window was closed; counted
        /// here instead.
        late_packets: u64, Packets, [sum], hide "Late";
        /// Packets that an endpoint acknowledged and the mirror never showed, as far as that was certain
        /// when the window closed; null where connections are not followed.
        mirror_lost_packets: Option<u64>, Packets, [sum | whole], hide "Mirror lost";
        /// `mirror_lost_packets` as a share of those and `roce_packets`; null where connections are not followed.
        mirror_loss_ratio: Option<f64>, Ratio, [mirror_lost_packets / mirror_lost_packets + roce_packets], hide "Mirror loss";
        /// Packets that the mirror showed once more, on another interface, on the other side of a routed
        /// hop, or at once again; they count in all totals, and once in `connections`. Null where
        /// connections are not followed.
        mirrored_twice_packets: Option<u64>, Packets, [sum | whole], hide "Mirrored twice";
        /// Frames of any kind that mirrors numbered (GRE, ERSPAN II and III) and that never came here; null where
        /// no frame carried a number.
        mirror_gap_frames: Option<u64>, Frames, [sum], hide "Mirror gaps";
        /// How far a packet may stand on the wrong side of a window's edge; 0 for files.
        boundary_slack_ns: i64, Nanoseconds, [max], hide "Edge slack";
        /// Changes of a flow's rate beyond the jitter thresholds that this window completed; the row of one in
        /// `events` has the time when it began. Those that the end of the capture completes are there alone.
        jitter_events: u64, Events, [sum], hide "Jitter";
        /// Linear Counting bitmap over flow hashes; null when left out.
        linear_counting: Option<Vec<u8>>, None, [sketch], hide "Linear Counting";
        /// HyperLogLog over flow hashes, DataSketches `HLL_8` bytes; null up to 32,768 flows, and when
        /// left out.
        hll_flows: Option<Vec<u8>>, Flows, [sketch], hide "HyperLogLog";
        /// Count-Min sketch of packets by flow hash, Spark V1 bytes; null when left out.
        count_min_packets: Option<Vec<u8>>, Packets, [sketch], hide "Count-Min packets";
        /// Count-Min sketch of frame bytes by flow hash, Spark V1 bytes; null when left out.
        count_min_bytes: Option<Vec<u8>>, Bytes, [sketch], hide "Count-Min bytes";
    }
}
