//! What each metric of the mesh counts. A column of `sla` describes one window; a metric its sum since the start, or its
//! latest value.

pub(super) const HELP: &[(&str, &str)] = &[
    ("sla_hosts", "Hosts that sent probes in the last analyzed window"),
    (
        "sla_silent_hosts",
        "Hosts that sent probes in the minute before, and none in the last analyzed window",
    ),
    ("sla_probes", "Probes sent"),
    ("sla_timeouts", "Probes that did not arrive within the timeout"),
    (
        "sla_corrupt",
        "Probes that arrived with changed bytes, which count as drops",
    ),
    ("sla_unsent", "Probes that their host could not send; not in sla_probes"),
    ("sla_late", "Rows that arrived after their window was analyzed"),
    ("sla_nic_drops", "Probes dropped over NICs that verdicts name"),
    (
        "sla_network_drops",
        "Probes dropped over links, switches and other places that verdicts name",
    ),
    ("sla_unlocated_drops", "Probes dropped at no place that a verdict names"),
    (
        "sla_anomalous_nics",
        "NICs to which more than 10 % of the probes of the last analyzed window were dropped",
    ),
    ("sla_rnic_drops", "Probes dropped to or from an anomalous NIC"),
    ("sla_switch_drops", "Probes dropped elsewhere: by switches and links"),
    (
        "sla_untraced_drops",
        "Drops elsewhere whose path is not known, so that they accuse no link",
    ),
    (
        "sla_rnic_drop_ratio",
        "Share of the probes of the last analyzed window that were dropped at an anomalous NIC",
    ),
    (
        "sla_switch_drop_ratio",
        "Share of the probes of the last analyzed window that were dropped elsewhere",
    ),
    (
        "sla_processing_p50_ns",
        "Median delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p90_ns",
        "90th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p99_ns",
        "99th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_processing_p999_ns",
        "99.9th percentile of the delay in hosts in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p50_ns",
        "Median one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p90_ns",
        "90th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p99_ns",
        "99th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_network_p999_ns",
        "99.9th percentile of the one-way latency of the network in the last analyzed window, in nanoseconds",
    ),
    (
        "sla_asymmetric_ratio",
        "Share of the traced 5-tuples whose links no 5-tuple of the opposite direction crosses",
    ),
    (
        "sla_clock_error_ns",
        "Error bound of the latencies in the last analyzed window, in nanoseconds",
    ),
    ("sla_verdicts", "Verdicts on windows of the mesh"),
];

#[cfg(test)]
mod tests {
    #[test]
    fn each_text_is_one_phrase_about_a_metric() {
        rocescope_testkit::assert_help_texts(super::HELP);
    }
}
