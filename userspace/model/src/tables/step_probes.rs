//! `step_probes`: what an agent's monitor measured along the paths of steps, and what it asked.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each step of a collective that the monitor of an agent probed the path of (`end`), and one for each
    /// detection in it: a round trip that took too long (`slow`), or probes that are not answered (`overdue`).
    StepProbeRow = "step_probes" [raw "each row answers a question about one step"] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Agent";
        /// Time of the detection; for `end`, the end of the step.
        time: Time, None, [min], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [min], hide "Exact time";
        /// `slow`, `overdue` or `end`.
        event: Text, None, [same], show "Event";
        /// The collective, as in `steps`.
        collective: Text, None, [same], show "Collective";
        /// The rank that sends, as in `steps`.
        host: Text, None, [same], show "Host";
        /// Channel of the collective; null if the source has none.
        channel: Option<u16>, None, [same], hide "Channel";
        /// Number of the step.
        step: u32, None, [same], show "Step";
        /// The rank that receives.
        dst_host: Text, None, [same], show "To";
        /// Source IP address of the step's flow and of the probes.
        src: IpAddr, None, [same], show "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], show "Destination";
        /// UDP source port of the probes: that of the flow, if it is known.
        udp_src_port: u16, None, [same], hide "Port";
        /// Start of the step.
        start_ns: i64, UnixNanoseconds, [min], hide "Start";
        /// Shortest round trip along the path in the last minutes: that of empty queues.
        base_round_trip_ns: i64, Nanoseconds, [min], show "Base";
        /// Round trip above which the monitor asks.
        threshold_ns: i64, Nanoseconds, [min], hide "Threshold";
        /// The round trip that was too long, or the age of the oldest probe without an answer; null for `end`.
        round_trip_ns: Option<i64>, Nanoseconds, [max], show "Round trip";
        /// Answered probes of the step so far.
        answered: u64, None, [sum], hide "Answered";
        /// Mean of their round trips; null without one.
        mean_round_trip_ns: Option<i64>, Nanoseconds, [none], hide "Mean";
        /// Maximum of their round trips; null without one.
        max_round_trip_ns: Option<i64>, Nanoseconds, [max], hide "Maximum";
        /// Detections of the step so far.
        detections: u64, None, [sum], show "Detections";
        /// Detections that agents of other hosts passed on to this step.
        received: u64, None, [sum], hide "Received";
        /// The agent that the unused detections were passed on to, because its host still sends what this one needs;
        /// null if they were not.
        passed_to: Option<Text>, None, [same], hide "Passed to";
        /// Whether the detection asked: for a burst of probes, which is the row of `small_flows` with this row's `time_ns` as
        /// its `window_start_ns`, and for recordings. Another question about the same path may be too recent.
        asked: bool, None, [any], show "Asked";
    }
}

impl StepProbeRow {
    /// `event` of a round trip that took too long.
    pub const SLOW: &str = "slow";
    /// `event` of probes that are not answered.
    pub const OVERDUE: &str = "overdue";
    /// `event` of a step that ended.
    pub const END: &str = "end";
}
