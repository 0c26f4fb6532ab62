//! `sla`: service level of the mesh of probes in a window.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row for each window of the probe analysis: drops by cause, and latency quantiles, as in Hostmesh, section 4.
    /// Quantiles are exact: the smallest value that the given share of the window's probes does not exceed.
    SlaRow = "sla" [merged] {
        /// Name of the analyzer.
        observer: Text, None, [same], hide "Observer";
        /// Start of the window.
        window_start: Time, None, [min], show "Window";
        /// `window_start` in full precision.
        window_start_ns: i64, UnixNanoseconds, [min], hide "Exact window start";
        /// Length of the window.
        window_ns: i64, Nanoseconds, [span], hide "Window length";
        /// Number of earlier analyses of the same window by this analyzer: 0, or more if rows came late and the window was
        /// analyzed again. Only the rows with the highest number in `sla` count. Null in rows of earlier versions: 0.
        revision: Option<u32>, None, [same], hide "Revision";
        /// Number of hosts that sent probes.
        hosts: u64, None, [max | sum], hide "Hosts";
        /// Number of hosts that sent no probes, although they did within the last minute.
        silent_hosts: u64, None, [max | sum], hide "Silent hosts";
        /// Probes sent.
        probes: u64, None, [sum], show "Probes";
        /// Probes that did not arrive within the timeout.
        timeouts: u64, None, [sum], show "Timeouts";
        /// Probes that arrived with changed bytes; they are drops.
        corrupt: u64, None, [sum], show "Corrupt";
        /// Probes that their host could not send; not in `probes`.
        unsent: u64, None, [sum], hide "Unsent";
        /// Rows that arrived since the previous window, after their own window was analyzed. No other column of this
        /// row counts them; a later revision of their own window does.
        late: u64, None, [sum], hide "Late";
        /// Drops over NICs that verdicts on loss name in this window. Null in rows of earlier versions.
        nic_drops: Option<u64>, None, [sum], show "NIC drops";
        /// Drops over links, switches, routes, pairs and 5-tuples that verdicts name, and over none of these NICs. Null in rows of
        /// earlier versions.
        network_drops: Option<u64>, None, [sum], show "Network drops";
        /// All other drops. Null in rows of earlier versions.
        unlocated_drops: Option<u64>, None, [sum], show "Unlocated drops";
        /// Number of NICs to which more than 10 % of the probes were lost in this window.
        anomalous_nics: u64, None, [max | sum], show "Anomalous NICs";
        /// Drops by the rule of Hostmesh: to or from a NIC that was anomalous in this window or in the minute before it.
        rnic_drops: u64, None, [sum], hide "Anomalous NICs' drops";
        /// All other drops, by that rule.
        switch_drops: u64, None, [sum], hide "Other drops";
        /// `switch_drops` of 5-tuples without a traced path; they cast no votes.
        untraced_drops: u64, None, [sum], hide "Untraced drops";
        /// `rnic_drops` as a share of `probes`; null without probes.
        rnic_drop_ratio: Option<f64>, Ratio, [rnic_drops / probes], hide "Anomalous NICs' drop share";
        /// `switch_drops` as a share of `probes`; null without probes.
        switch_drop_ratio: Option<f64>, Ratio, [switch_drops / probes], hide "Other drop share";
        /// Median delay in the host.
        processing_p50_ns: Option<i64>, Nanoseconds, [max], show "Host P50";
        /// 90th percentile of the delay in the host.
        processing_p90_ns: Option<i64>, Nanoseconds, [max], hide "Host P90";
        /// 99th percentile of the delay in the host.
        processing_p99_ns: Option<i64>, Nanoseconds, [max], show "Host P99";
        /// 99.9th percentile of the delay in the host.
        processing_p999_ns: Option<i64>, Nanoseconds, [max], hide "Host P99.9";
        /// Median one-way latency of the network.
        network_p50_ns: Option<i64>, Nanoseconds, [max], show "Network P50";
        /// 90th percentile of the one-way latency of the network.
        network_p90_ns: Option<i64>, Nanoseconds, [max], hide "Network P90";
        /// 99th percentile of the one-way latency of the network.
        network_p99_ns: Option<i64>, Nanoseconds, [max], show "Network P99";
        /// 99.9th percentile of the one-way latency of the network.
        network_p999_ns: Option<i64>, Nanoseconds, [max], hide "Network P99.9";
        /// Share of the traced 5-tuples whose links no 5-tuple of the opposite direction crosses; null without a pair
        /// of NICs that is traced in both directions. ECMP makes it large in a wide fabric.
        asymmetric_ratio: Option<f64>, Ratio, [max], hide "Asymmetric";
        /// Error bound of the latencies: the largest of all probes.
        clock_error_ns: i64, Nanoseconds, [max], hide "Clock error";
        /// Number of rows of `verdicts` for this window.
        verdicts: u64, None, [sum], show "Verdicts";
        /// Why there are no verdicts, or none of some class; empty if everything was judged.
        unjudged: Text, None, [first], hide "Unjudged";
    }
}

impl SlaRow {
    /// Some of the drops as a share of the probes.
    #[must_use]
    pub fn share(&self, drops: Option<u64>) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let share = |drops: u64| drops as f64 / self.probes as f64;
        drops.filter(|_| self.probes > 0).map(share)
    }
}
