//! `opcodes`: the opcode mix of each window.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row a window and opcode seen in it. The packets of a window's rows add up to its
    /// `roce_packets`.
    OpcodeRow = "opcodes" {
        /// Name of the capture point.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window, included.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Name in the specification, such as `RC_RDMA_WRITE_MIDDLE`; `OPCODE_0x1f` for a number
        /// it does not name.
        opcode: Text, None, [same], show "Opcode";
        /// Number in the base transport header.
        opcode_number: u8, None, [same], hide "Number";
        /// Packets.
        packets: u64, Packets, [sum], show "Packets";
        /// Bytes of the frames, from the Ethernet header to the ICRC.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// Payload bytes: without headers, padding and ICRC.
        payload_bytes: u64, Bytes, [sum], show "Payload";
        /// Packets that end a message: all of them for an opcode with LAST or ONLY, none for the
        /// others.
        messages: u64, Messages, [sum], show "Messages";
        /// Frame bits a second over the length of the window.
        frame_bps: f64, BitsPerSecond, [rate frame_bytes], show "Frame rate";
        /// Packets a second over the length of the window.
        rate_pps: f64, PacketsPerSecond, [rate packets], show "Packet rate";
    }
}
