//! `opcodes`: the opcode mix of each window.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each window and opcode seen in it. The packets of a window's rows add up to its `roce_packets`.
    OpcodeRow = "opcodes" [merged] {
        /// Name of the capture box that wrote the row.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Name in the specification, such as `RC_RDMA_WRITE_MIDDLE`; `OPCODE_0x1f` for a number without a name.
        opcode: Text, None, [same], show "Opcode";
        /// Opcode number in the base transport header.
        opcode_number: u8, None, [same], hide "Number";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes, without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Messages: equal to `packets` for an opcode with LAST or ONLY, otherwise 0.
        messages: u64, Messages, [sum], show "Messages";
        /// Frame rate, averaged over the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
        /// Packet rate, averaged over the window.
        rate_pps: f64, PacketsPerSecond, [rate packets], show "Packet rate";
    }
}
