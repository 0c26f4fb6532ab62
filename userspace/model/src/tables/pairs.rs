//! `pairs`: the mesh of probes, one row for each ordered pair of NICs. Computed from `probes` and `paths` when the mesh
//! is read; not stored.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row for each time span and ordered pair of NICs of one host: the outcome of the probes from one to the
    /// other. Quantiles are within 0.8 % of a measured value, and exact if all values are equal; a latency below 0,
    /// which only clock error can cause, counts as 0.
    PairRow = "pairs" [derived] {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Start of the span.
        window_start: Time, None, [min], hide "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the span.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Name of the NIC that probes.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC that is probed.
        dst_nic: Text, None, [same], show "To";
        /// Address of the NIC that probes.
        src: IpAddr, None, [same], hide "Source";
        /// Address of the NIC that is probed.
        dst: IpAddr, None, [same], hide "Destination";
        /// Probes sent: received, timed out and corrupt ones.
        probes: u64, None, [sum], show "Probes";
        /// Probes that did not arrive within the timeout.
        timeouts: u64, None, [sum], show "Timeouts";
        /// Probes that arrived with changed bytes; they are drops.
        corrupt: u64, None, [sum], show "Corrupt";
        /// Probes that the host could not send; not in `probes`.
        unsent: u64, None, [sum], show "Unsent";
        /// `timeouts` plus `corrupt` as a share of `probes`; null without probes.
        drop_ratio: Option<f64>, Ratio, [timeouts + corrupt / probes], show "Drops";
        /// Median one-way latency of the network.
        network_p50_ns: Option<i64>, Nanoseconds, [none], show "Network P50";
        /// 99th percentile of the one-way latency of the network.
        network_p99_ns: Option<i64>, Nanoseconds, [none], show "Network P99";
        /// Median delay in the host.
        processing_p50_ns: Option<i64>, Nanoseconds, [none], hide "Host P50";
        /// 99th percentile of the delay in the host.
        processing_p99_ns: Option<i64>, Nanoseconds, [none], show "Host P99";
        /// Estimated lead of the clock of the probed NIC, from the last received probe.
        clock_offset_ns: Option<i64>, Nanoseconds, [last], hide "Clock offset";
        /// Error bound of the latencies: the largest of all probes.
        clock_error_ns: i64, Nanoseconds, [max], show "Clock error";
        /// Number of 5-tuples that were probed.
        tuples: u64, None, [max], hide "5-tuples";
        /// Paths of the 5-tuples at the end of the span, separated by spaces, the path with most 5-tuples first. Each
        /// path is a list of addresses joined by `>`; `?` is a hop that did not answer. Empty if no path was traced.
        path: Text, None, [last], hide "Paths";
    }
}
