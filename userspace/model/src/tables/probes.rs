//! `probes`: what became of each probe between two NICs of a host.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a probe: one UD datagram from one NIC of a host to another NIC of the same host, sent
    /// over the fabric. Times (1) to (4) are those of Hostmesh, section 3.3.1: `time_ns`,
    /// `nic_send_ns`, `nic_receive_ns`, `app_receive_ns`. `clock_source` says who stamped them.
    ProbeRow = "probes" {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// When the probe was due (1): the agent sends it then, unless the host keeps it waiting.
        time: Time, None, [min], show "Time";
        /// When the probe was due (1), exact.
        time_ns: i64, UnixNanoseconds, [min], hide "Time exact";
        /// Name of the NIC that sent it.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC that it was sent to.
        dst_nic: Text, None, [same], show "To";
        /// Source IP address.
        src: IpAddr, None, [same], hide "Source";
        /// Destination IP address.
        dst: IpAddr, None, [same], hide "Destination";
        /// UDP source port, which ECMP hashes.
        udp_src_port: u16, None, [same], show "Port";
        /// UDP destination port: 4791 unless configured.
        udp_dst_port: u16, None, [same], hide "To port";
        /// Number of the probe, counted by the sending NIC from the start of its agent.
        sequence: u64, None, [none], hide "Sequence";
        /// `received` in time; `timeout`: not within the timeout, on this one-way path; `corrupt`: it came
        /// with a wrong ICRC or changed bytes; `unsent`: the kernel or the NIC refused it.
        outcome: Text, None, [same], show "Outcome";
        /// When the NIC, or the kernel for it, sent the probe (2), on the clock of the sending NIC.
        nic_send_ns: Option<i64>, UnixNanoseconds, [none], hide "NIC sent";
        /// When the NIC, or the kernel for it, received the probe (3), on the clock of the receiving NIC.
        nic_receive_ns: Option<i64>, UnixNanoseconds, [none], hide "NIC received";
        /// When the agent had the probe in hand (4), on the clock of (1).
        app_receive_ns: Option<i64>, UnixNanoseconds, [none], hide "Agent received";
        /// One-way latency of the network: (3) - (2) - `clock_offset_ns`.
        network_latency_ns: Option<i64>, Nanoseconds, [none], show "Network";
        /// Delay in the host: ((4) - (1)) - ((3) - (2) - `clock_offset_ns`).
        processing_delay_ns: Option<i64>, Nanoseconds, [none], show "Host";
        /// How far the clock of the receiving NIC is estimated to be ahead of the sending one's; 0 where
        /// both are one clock.
        clock_offset_ns: Option<i64>, Nanoseconds, [last], hide "Offset";
        /// Who stamped (2) and (3): `kernel software`, `nic hardware`, `cpu` or `simulated`.
        clock_source: Text, None, [same], hide "Clock";
        /// Bound on the error of `network_latency_ns`.
        clock_error_ns: i64, Nanoseconds, [max], show "Error";
    }
}
