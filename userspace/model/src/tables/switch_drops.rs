//! `switch_drops`: packets that switches dropped, with the reason.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each switch, ports, queue, reason and flow whose packets were reported as dropped in a few seconds.
    /// Switches limit how many drops they report: the rows are a part of what was dropped.
    SwitchDropRow = "switch_drops" [merged] {
        /// Name of what received the reports.
        observer: Text, None, [same], hide "Observer";
        /// When the last of these reports was received.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// When the first of them was received.
        first_ns: i64, UnixNanoseconds, [min], hide "First";
        /// Name of the switch, otherwise its address.
        switch: Text, None, [same], show "Switch";
        /// Port at which the packets arrived; null if the switch does not report it.
        in_port: Option<Text>, None, [same], show "In port";
        /// Port at which they were to leave; null if none was chosen.
        out_port: Option<Text>, None, [same], show "Out port";
        /// Queue of that port.
        queue: Option<u32>, None, [same], show "Queue";
        /// Why: a name of sFlow's list, such as `no_buffer_space`, `red`, `acl` or `ttl_exceeded`; `reason_` and its number
        /// if the list does not have it.
        reason: Text, None, [same], show "Reason";
        /// What the switch itself calls it, such as the trap of its driver.
        detail: Option<Text>, None, [last], hide "Detail";
        /// Source address of the packets; null if the frame is not reported or no RoCEv2 packet.
        src: Option<IpAddr>, None, [same], show "Source";
        /// Destination address.
        dst: Option<IpAddr>, None, [same], show "Destination";
        /// UDP source port.
        udp_src_port: Option<u16>, None, [same], hide "UDP port";
        /// Destination queue pair.
        dst_qpn: Option<u32>, None, [same], show "QP";
        /// Reports: each is of one frame that was dropped.
        dropped_frames: u64, Frames, [sum], show "Dropped";
        /// How many dropped frames they stand for, if they come from sampled frames; null if each frame was reported.
        estimated_frames: Option<u64>, Frames, [sum], show "Estimated";
        /// What the row comes from: `sflow`.
        source: Text, None, [same], hide "Source";
    }
}
