//! `probes`: the outcome of each probe between two NICs of a host, and of each way of a probe to another host.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each probe: a UD datagram from one NIC of a host over the fabric to another NIC of the same host.
    /// Times (1) to (4) are those of Hostmesh, section 3.3.1: `time_ns`, `nic_send_ns`, `nic_receive_ns`,
    /// `app_receive_ns`. `clock_source` names the clock that timestamped them.
    ///
    /// A probe to a NIC of another host (`probe --peers`) has up to two rows, both by the agent that asked: one for the way
    /// there, and one for the way back if an answer was sent. `src` and `dst` are those of the way. The name of the other
    /// host's NIC is empty: its own rows have it. Two hosts have two clocks, so the one-way latency is null.
    ProbeRow = "probes" [raw "single latencies have no sum, and `sla` has what an hour of probes shows"] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Time at which the probe was due (1): the agent sends it then, unless the host delays it.
        time: Time, None, [min], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [min], hide "Exact time";
        /// Name of the NIC that sent it; empty if it is of another host.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC to which it was sent; empty if it is of another host.
        dst_nic: Text, None, [same], show "To";
        /// Source IP address.
        src: IpAddr, None, [same], hide "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], hide "Destination";
        /// UDP source port, which ECMP hashes.
        udp_src_port: u16, None, [same], show "Port";
        /// UDP destination port: 4791 unless configured.
        udp_dst_port: u16, None, [same], hide "Destination port";
        /// DSCP, 0 to 63, which decides the traffic class and the queues of switches; null in rows of earlier versions.
        dscp: Option<u8>, None, [same], hide "DSCP";
        /// Sequence number of the probe at the sending NIC, from the start of the agent; of a probe to another host, of its
        /// 5-tuple. The way back has that of the way there.
        sequence: u64, None, [none], hide "Sequence";
        /// `received`: within the timeout; `timeout`: not received within the timeout on this one-way path; `corrupt`:
        /// received with a wrong ICRC or changed bytes; `unsent`: it did not leave, for `unsent_reason`; `unknown`: a probe
        /// to another host without an answer, of which no one reported whether it arrived.
        outcome: Text, None, [same], show "Outcome";
        /// Time at which the NIC, or the kernel on its behalf, sent the probe (2), on the clock of the sending NIC.
        nic_send_ns: Option<i64>, UnixNanoseconds, [none], hide "NIC sent";
        /// Time at which the NIC, or the kernel on its behalf, received the probe (3), on the clock of the receiving
        /// NIC.
        nic_receive_ns: Option<i64>, UnixNanoseconds, [none], hide "NIC received";
        /// Time at which the agent received the probe (4), on the clock of (1).
        app_receive_ns: Option<i64>, UnixNanoseconds, [none], hide "Agent received";
        /// One-way latency of the network: (3) - (2) - `clock_offset_ns`.
        network_latency_ns: Option<i64>, Nanoseconds, [none], show "Network";
        /// Delay in the host: ((4) - (1)) - ((3) - (2) - `clock_offset_ns`).
        processing_delay_ns: Option<i64>, Nanoseconds, [none], show "Host";
        /// Estimated lead of the receiving NIC's clock over the sending NIC's; 0 if both are the same clock.
        clock_offset_ns: Option<i64>, Nanoseconds, [last], hide "Clock offset";
        /// Clock that timestamped (2) and (3): `kernel software`, `nic hardware`, `cpu` or `simulated`.
        clock_source: Text, None, [same], hide "Clock";
        /// Error bound of `network_latency_ns`.
        clock_error_ns: i64, Nanoseconds, [max], show "Clock error";
        /// Why a probe is `unsent`: `nic_down`: its NIC is down or gone; `no_route`: there is no route out of its NIC;
        /// `resolving`: its next hop was asked for its MAC address a moment ago; `no_next_hop`: the next hop was asked
        /// for three seconds and has not answered; `queue_full`, `queue_pair`: the NIC refused; `other`: the kernel
        /// did. Empty for other outcomes, and in rows of earlier versions.
        unsent_reason: Option<Text>, None, [same], hide "Unsent reason";
        /// Time from the departure of a probe to another host to the arrival of its answer, without the time that the
        /// other agent held it, on the clock of the sending NIC; null in all other rows, and in rows of earlier versions.
        round_trip_ns: Option<i64>, Nanoseconds, [none], hide "Round trip";
    }
}
