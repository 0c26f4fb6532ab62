//! `small_flows`: probes along the paths of flows: the smallest, and those of slow steps.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each small flow that a capture box named, and each end of it: what an agent measured with probes
    /// along the flow's path, in the window after. The flow is the row of `flows` of the same `window_start_ns` and
    /// `flow_hash`, in the dataset of the capture box. An agent whose monitor found a step of a collective slow has a row
    /// for the burst of probes that followed; its detection is the row of `step_probes` whose `time_ns` is this
    /// `window_start_ns`.
    SmallFlowRow = "small_flows" [raw "the smallest flows of a window are not those of a longer one"] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// End of the window in which the agent probed.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Name of the capture box that named the flow; of a slow step, of the agent.
        capture: Text, None, [same], show "Capture box";
        /// Start of the window in which the flow was small, as in `flows`; of a slow step, the time of its detection.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of that window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// The 64-bit hash of the flow's key, as in `flows`.
        flow_hash: i64, None, [same], hide "Hash";
        /// Source IP address of the flow.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address of the flow.
        dst: IpAddr, None, [same], show "Destination";
        /// UDP source port of the flow and of the probes.
        udp_src_port: u16, None, [same], show "Port";
        /// Destination queue pair number of the flow.
        dst_qpn: u32, None, [same], show "QP";
        /// Packets of the flow in its window.
        packets: u64, Packets, [sum], hide "Packets";
        /// Bytes of the flow's frames in its window.
        frame_bytes: u64, Bytes, [sum], show "Frame bytes";
        /// The end of the flow at which the agent is: `sender` or `receiver`.
        end: Text, None, [same], show "End";
        /// Probes that left.
        probes: u64, None, [sum], show "Probes";
        /// Probes that the agent at the other end answered within the timeout.
        answered: u64, None, [sum], show "Answered";
        /// Probes that could not be sent.
        unsent: u64, None, [sum], hide "Unsent";
        /// Mean time from a probe to its answer, without the time that the other agent held it; null without an answer.
        mean_round_trip_ns: Option<i64>, Nanoseconds, [none], show "Mean round trip";
        /// Minimum of these times.
        min_round_trip_ns: Option<i64>, Nanoseconds, [min], hide "Minimum round trip";
        /// Maximum of these times.
        max_round_trip_ns: Option<i64>, Nanoseconds, [max], show "Maximum round trip";
    }
}
