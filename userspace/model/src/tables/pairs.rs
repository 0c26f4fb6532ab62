//! `pairs`: the mesh of probes, an ordered pair of NICs a row. Made of `probes` and `paths` whenever somebody looks at the
//! mesh, and not stored.

use crate::row::table;
use crate::{Text, Time};
use core::net::IpAddr;

table! {
    /// One row a span of time and ordered pair of NICs of one host: what became of the probes from one to the other.
    /// Quantiles are within 0.8 % of a probe's own figure, and exact where all are the same; a latency below 0, which
    /// only the error of clocks can make, counts as 0.
    PairRow = "pairs" {
        /// Name of the host, or of the agent on it.
        observer: Text, None, [same], show "Host";
        /// Start of the span.
        window_start: Time, None, [min], hide "Window";
        /// Start of the span, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window exact";
        /// Length of the span.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Name of the NIC that probes.
        src_nic: Text, None, [same], show "From";
        /// Name of the NIC that is probed.
        dst_nic: Text, None, [same], show "To";
        /// Address of the NIC that probes.
        src: IpAddr, None, [same], hide "Source";
        /// Address of the NIC that is probed.
        dst: IpAddr, None, [same], hide "Destination";
        /// Probes sent: received, timed out or corrupt.
        probes: u64, None, [sum], show "Probes";
        /// Probes that did not arrive in time.
        timeouts: u64, None, [sum], show "Timeouts";
        /// Probes that arrived with changed bytes: drops too.
        corrupt: u64, None, [sum], show "Corrupt";
        /// Probes that the host could not send; not among `probes`.
        unsent: u64, None, [sum], show "Unsent";
        /// `timeouts` and `corrupt` of `probes`; null without probes.
        drop_ratio: Option<f64>, Ratio, [timeouts + corrupt / probes], show "Drops";
        /// Median one-way latency of the network.
        network_p50_ns: Option<i64>, Nanoseconds, [none], show "Network P50";
        /// 99 % of the probes had no longer latency.
        network_p99_ns: Option<i64>, Nanoseconds, [none], show "Network P99";
        /// Median delay in the host.
        processing_p50_ns: Option<i64>, Nanoseconds, [none], hide "Host P50";
        /// 99 % of the probes had no longer delay in the host.
        processing_p99_ns: Option<i64>, Nanoseconds, [none], show "Host P99";
        /// How far the clock of the probed NIC is estimated to be ahead, as the last probe that was received has it.
        clock_offset_ns: Option<i64>, Nanoseconds, [last], hide "Offset";
        /// Bound on the error of latencies: the largest that a probe states.
        clock_error_ns: i64, Nanoseconds, [max], show "Error";
        /// 5-tuples that were probed.
        tuples: u64, None, [max], hide "5-tuples";
        /// The paths of its 5-tuples at the end of the span: addresses joined by `>`, the one of most 5-tuples first, separated
        /// by spaces; `?` is a hop that did not answer. Empty where no trace is known.
        path: Text, None, [last], hide "Paths";
    }
}
