//! `steps`: the steps of collectives.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each step of a rank in a collective: what it sent to one receiver before its chunk or its receiver
    /// changed. `rocescope collective import` and
    /// `follow` write it, an agent with `[collective]`, and a capture with `--collectives`.
    StepRow = "steps" [raw "each step happens once"] {
        /// Name of the import, of the agent or of the capture.
        observer: Text, None, [same], hide "Observer";
        /// Start of the step. Sources without the time of day count from 1970.
        time: Time, None, [min], show "Start";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [min], hide "Exact start";
        /// The collective; its steps share this name.
        collective: Text, None, [same], show "Collective";
        /// The operation, such as `AllReduce`; empty if unknown.
        operation: Text, None, [same], hide "Operation";
        /// The host, or the rank if the source does not name hosts, that sends.
        host: Text, None, [same], show "Host";
        /// Rank of the sender; null if unknown.
        rank: Option<u32>, None, [same], hide "Rank";
        /// Channel of the collective; null if the source has none.
        channel: Option<u16>, None, [same], hide "Channel";
        /// Number of the step among those of its host and channel, from 1; 0: a flow that is no step of the collective, or a
        /// rank in a report of NCCL's RAS.
        step: u32, None, [same], show "Step";
        /// The host that receives.
        dst_host: Text, None, [same], show "To";
        /// Whether the source states what the step waited for.
        waits_known: bool, None, [any], hide "Waits known";
        /// Host whose step this one waited for before it began; null if it waited only for its own predecessor, or if that
        /// is unknown.
        awaited_host: Option<Text>, None, [same], show "Waited for";
        /// Number of the step it waited for.
        awaited_step: Option<u32>, None, [same], hide "Its step";
        /// Source IP address; null if unknown.
        src: Option<IpAddr>, None, [same], hide "Source";
        /// Destination IP address; null if unknown.
        dst: Option<IpAddr>, None, [same], hide "Destination";
        /// UDP source port; null if unknown.
        src_port: Option<u16>, None, [same], hide "Source port";
        /// Destination port; null if unknown.
        dst_port: Option<u16>, None, [same], hide "Destination port";
        /// Source queue pair number; null if unknown.
        src_qpn: Option<u32>, None, [same], hide "Source QP";
        /// Destination queue pair number; null if unknown.
        dst_qpn: Option<u32>, None, [same], hide "QP";
        /// Bytes sent; null if unknown.
        bytes: Option<u64>, Bytes, [sum], show "Bytes";
        /// How long it took; null if it did not end.
        duration_ns: Option<i64>, Nanoseconds, [sum], show "Took";
        /// How long the sender waited for the receiver's credit: from the end of its previous step over the QP to
        /// the credit, 0 if the credit was there before; null if unknown, and for the first step.
        credit_wait_ns: Option<i64>, Nanoseconds, [sum], hide "Credit wait";
        /// How long the sender then did not send: from the credit, or the end of its previous step if that was later, to
        /// `time`; null if unknown.
        send_wait_ns: Option<i64>, Nanoseconds, [sum], hide "Send wait";
        /// Its packets that passed the capture again; null if unknown.
        retransmitted_packets: Option<u64>, Packets, [sum], hide "Retransmitted";
        /// How likely the row is one step of a collective, from 0 to 1; null if the source states it.
        likelihood: Option<f64>, None, [none], hide "Likelihood";
        /// How long it takes without other traffic; null if unknown.
        expected_ns: Option<i64>, Nanoseconds, [sum], show "Expected";
        /// Format that the row comes from.
        format: Text, None, [same], hide "Format";
        /// How far the rank was with it when the source was written: `enqueued`, `started` or `completed`; of RAS `called`, which
        /// counts calls in `signature`, or why there are no counts: `dead`, `unreachable`, `left`; null if the source does not
        /// state it.
        state: Option<Text>, None, [same], hide "State";
        /// Ranks that take part in the collective, ascending, as `0-3,8`; null if unknown.
        members: Option<Text>, None, [same], hide "Members";
        /// Types and sizes of what the rank passed to the collective; of RAS its calls of each operation; null if unknown.
        signature: Option<Text>, None, [same], hide "Signature";
    }
}

impl StepRow {
    /// `format` of steps that a capture saw: one clock has all their times.
    pub const CAPTURED: &str = "wire";
}
