//! `host_ports`: the ports of hosts in a window. Computed from `counters` when they are read; not stored.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each window and port of a host, and one for the host itself: state, rates and errors from its
    /// counters. A value is null if the host does not count it.
    HostPortRow = "host_ports" [derived] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Start of the window, inclusive.
        window_start: Time, None, [min], hide "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Name of the RDMA device; of a network interface without one, its name; `host` for the host itself.
        device: Text, None, [same], show "Device";
        /// Port of the device; null for interfaces without an RDMA device and for the host.
        port: Option<u16>, None, [same], show "Port";
        /// Network interface of the port; null if it has none.
        netdev: Option<Text>, None, [last], hide "Interface";
        /// Driver; empty if unknown.
        driver: Text, None, [same], hide "Driver";
        /// State of the port at the end of the window, such as `ACTIVE` or `DOWN`; `vanished` if its device is gone.
        state: Option<Text>, None, [last], show "State";
        /// Physical state of the port, such as `LinkUp` or `Polling`.
        phys_state: Option<Text>, None, [last], hide "Physical state";
        /// Rate of the link.
        link_bps: Option<f64>, BitsPerSecond, [last | none], hide "Link";
        /// Rate at which the port sends.
        sent_bps: Option<f64>, BitsPerSecond, [none], show "Sent";
        /// Rate at which it receives.
        received_bps: Option<f64>, BitsPerSecond, [none], show "Received";
        /// Share of the window in which the link partner paused the port; of several priorities, the largest.
        paused_ratio: Option<f64>, Ratio, [none], show "Paused";
        /// Share of the window in which the port paused its link partner; of several priorities, the largest.
        pausing_ratio: Option<f64>, Ratio, [none], show "Pausing";
        /// CNPs that the port sends, because it receives packets with ECN marks.
        cnp_sent_pps: Option<f64>, PacketsPerSecond, [none], show "CNPs sent";
        /// CNPs for which it slows its queue pairs.
        cnp_handled_pps: Option<f64>, PacketsPerSecond, [none], show "CNPs handled";
        /// RoCE packets with ECN marks that it receives.
        ecn_marked_pps: Option<f64>, PacketsPerSecond, [none], show "ECN marks";
        /// Growth of all counters of errors and discards in the last minute up to the end of the window; congestion is
        /// not an error.
        errors: u64, None, [max], show "Errors";
        /// The part of `errors` that was read in the window.
        new_errors: u64, None, [sum], hide "New errors";
        /// The `PCIe` link at the end of the window, and what the device supports if that is more; null if unknown.
        pcie: Option<Text>, None, [last], hide "PCIe";
        /// Share of the time that the processors of the host worked; null for ports.
        cpu_ratio: Option<f64>, Ratio, [none], hide "Processors";
        /// Share of the memory of the host that is in use; null for ports.
        memory_ratio: Option<f64>, Ratio, [none], hide "Memory";
        /// The counters behind `errors`, the one that grew most first, and what happened to the device in the last minute.
        detail: Text, None, [last], show "Detail";
    }
}
