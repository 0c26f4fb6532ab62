//! `sla`: how well the mesh of probes did in a window.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row a window of the analysis of probes: drops by their cause and quantiles of latency, as in
    /// Hostmesh, section 4. Quantiles are exact: the smallest value that so large a share of the
    /// window's probes does not exceed.
    SlaRow = "sla" {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window.
        window_start: Time, None, [min], show "Window";
        /// Start of the window, exact.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Window exact";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Length";
        /// Hosts that sent probes.
        hosts: u64, None, [max | sum], hide "Hosts";
        /// Hosts that sent none, though they did within the last minute.
        silent_hosts: u64, None, [max | sum], hide "Silent hosts";
        /// Probes sent.
        probes: u64, None, [sum], show "Probes";
        /// Probes that did not arrive in time.
        timeouts: u64, None, [sum], show "Timeouts";
        /// Probes that arrived with changed bytes: drops too.
        corrupt: u64, None, [sum], show "Corrupt";
        /// Probes that their host could not send; not among `probes`.
        unsent: u64, None, [sum], hide "Unsent";
        /// Rows that came after their windows had been analysed, since the window before; in no figure.
        late: u64, None, [sum], hide "Late";
        /// NICs that more than 10 % of the probes to them did not reach in this window.
        anomalous_nics: u64, None, [max | sum], show "Anomalous NICs";
        /// Drops to or from a NIC that was anomalous in this window or within the minute before it.
        rnic_drops: u64, None, [sum], hide "NIC drops";
        /// All other drops.
        switch_drops: u64, None, [sum], hide "Switch drops";
        /// `switch_drops` of 5-tuples without a traced path, which vote for nothing.
        untraced_drops: u64, None, [sum], hide "Untraced";
        /// `rnic_drops` of `probes`; null without probes.
        rnic_drop_ratio: Option<f64>, Ratio, [rnic_drops / probes], show "NIC drops";
        /// `switch_drops` of `probes`; null without probes.
        switch_drop_ratio: Option<f64>, Ratio, [switch_drops / probes], show "Switch drops";
        /// Median delay in the host.
        processing_p50_ns: Option<i64>, Nanoseconds, [max], show "Host P50";
        /// 90 % of probes had no longer delay in the host.
        processing_p90_ns: Option<i64>, Nanoseconds, [max], hide "Host P90";
        /// 99 % of probes had no longer delay in the host.
        processing_p99_ns: Option<i64>, Nanoseconds, [max], show "Host P99";
        /// 99.9 % of probes had no longer delay in the host.
        processing_p999_ns: Option<i64>, Nanoseconds, [max], hide "Host P99.9";
        /// Median one-way latency of the network.
        network_p50_ns: Option<i64>, Nanoseconds, [max], show "Network P50";
        /// 90 % of probes had no longer latency.
        network_p90_ns: Option<i64>, Nanoseconds, [max], hide "Network P90";
        /// 99 % of probes had no longer latency.
        network_p99_ns: Option<i64>, Nanoseconds, [max], show "Network P99";
        /// 99.9 % of probes had no longer latency.
        network_p999_ns: Option<i64>, Nanoseconds, [max], hide "Network P99.9";
        /// Share of the traced 5-tuples whose links no 5-tuple of the opposite direction crosses on its way back;
        /// null without a pair of NICs that is traced both ways. ECMP makes it large in a wide fabric.
        asymmetric_ratio: Option<f64>, Ratio, [max], hide "Asymmetric";
        /// Bound on the error of latencies: the largest that a row states.
        clock_error_ns: i64, Nanoseconds, [max], hide "Clock error";
        /// Rows of `verdicts` for this window.
        verdicts: u64, None, [sum], show "Verdicts";
        /// Why there is no verdict, or none of some kind; empty where everything was judged.
        unjudged: Text, None, [first], hide "Unjudged";
    }
}
