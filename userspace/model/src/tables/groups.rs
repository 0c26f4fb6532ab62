//! `groups`: the traffic of a window by source, destination, queue pair or opcode. Computed from `flows`, `opcodes` and
//! `windows` when they are read; not stored.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each window and value that its traffic is grouped by, largest first. The last row, `(not listed)`, has
    /// what the listed flows do not: all rows sum to the window. Sizes are above the true value by at most their `error_`
    /// column.
    GroupRow = "groups" [derived] {
        /// Name of the capture box; empty for the sum of several.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], hide "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// The address, network, `QP` and number at the destination, or opcode; of several keys all, with commas.
        group: Text, None, [same], show "Group";
        /// Number of flows; null for opcodes.
        flows: Option<u64>, Flows, [max], show "Flows";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes, without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Messages: packets whose opcode has LAST or ONLY.
        messages: u64, Messages, [sum], show "Messages";
        /// Frame rate, averaged over the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
        /// `frame_bytes` as a share of the frame bytes of the window; null without any.
        frame_ratio: Option<f64>, Ratio, [none], show "Share";
        /// Upper bound of how far `packets` exceeds the true value; 0 if exact.
        error_packets: u64, Packets, [sum], hide "Packets error";
        /// Upper bound of how far `frame_bytes` exceeds the true value; 0 if exact.
        error_frame_bytes: u64, Bytes, [sum], hide "Frame bytes error";
        /// Packets with ECN congestion experienced (CE); null for opcodes.
        ecn_ce_packets: Option<u64>, Packets, [sum | whole], hide "ECN CE";
        /// Packets that their senders retransmitted; null for opcodes and if the capture does not track connections.
        retransmitted_packets: Option<u64>, Packets, [sum | whole], show "Retransmitted";
    }
}
