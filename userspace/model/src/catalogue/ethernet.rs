//! Pause, discards and link errors of a port's network interface, as `ethtool` reports them.

use super::{BNXT, Dimension, IONIC, IRDMA, Level, MLX5, Measure, Metric, Source};

const fn load(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Load, Level::Link, unit, help)
}

const fn link(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Availability, Level::Link, unit, help).negative()
}

pub(super) const METRICS: &[Metric] = &[
    load(
        "rx_pause_frames",
        Measure::Frames,
        "Pause frames of a priority received, without a priority those that name none: the network asks this port to wait.",
    )
    .of_sender()
    .from(&[
        Source::ethtool(MLX5, "rx_prio#_pause"),
        Source::ethtool(MLX5, "rx_global_pause"),
        Source::ethtool(IONIC, "frames_rx_pripause"),
        Source::ethtool(BNXT, "rx_pfc_ena_frames_pri#"),
        Source::ethtool(IRDMA, "rx_priority_#_xoff.nic"),
    ]),
    load(
        "tx_pause_frames",
        Measure::Frames,
        "Pause frames of a priority sent, without a priority those that name none: this host asks the network to wait. If \
         it lasts, look at its PCIe link and its receive buffers.",
    )
    .of_receiver()
    .from(&[
        Source::ethtool(MLX5, "tx_prio#_pause"),
        Source::ethtool(MLX5, "tx_global_pause"),
        Source::ethtool(IONIC, "frames_tx_pripause"),
        Source::ethtool(BNXT, "tx_pfc_ena_frames_pri#"),
        Source::ethtool(IRDMA, "tx_priority_#_xoff.nic"),
    ]),
    load(
        "rx_pause_duration",
        Measure::Microseconds,
        "Time that a priority of this port, or with global pause the whole link, was paused by the network.",
    )
    .of_sender()
    .from(&[
        Source::ethtool(MLX5, "rx_prio#_pause_duration"),
        Source::ethtool(MLX5, "rx_global_pause_duration"),
        Source::ethtool(IONIC, "rx_pripause_#_1us_count"),
        Source::ethtool(IONIC, "rx_pause_1us_count"),
        Source::ethtool(BNXT, "pfc_pri#_rx_duration_us"),
    ]),
    load(
        "tx_pause_duration",
        Measure::Microseconds,
        "Time that this port kept a priority of the network, or with global pause the whole link, paused.",
    )
    .of_receiver()
    .from(&[
        Source::ethtool(MLX5, "tx_prio#_pause_duration"),
        Source::ethtool(MLX5, "tx_global_pause_duration"),
        Source::ethtool(IONIC, "tx_pripause_#_1us_count"),
        Source::ethtool(IONIC, "tx_pause_1us_count"),
        Source::ethtool(BNXT, "pfc_pri#_tx_duration_us"),
    ]),
    load(
        "rx_pause_transitions",
        Measure::Events,
        "Times that a priority, or with global pause the whole link, went from sending to paused.",
    )
    .of_sender()
    .from(&[
        Source::ethtool(MLX5, "rx_prio#_pause_transition"),
        Source::ethtool(MLX5, "rx_global_pause_transition"),
        Source::ethtool(BNXT, "pfc_pri#_rx_transitions"),
    ]),
    load(
        "rx_global_pause_frames",
        Measure::Frames,
        "Pause frames for the whole link received.",
    )
    .of_sender()
    .from(&[
        Source::ethtool(MLX5, "rx_pause_ctrl_phy"),
        Source::ethtool(BNXT, "rx_pause_frames"),
        Source::ethtool(IRDMA, "link_xoff_rx.nic"),
        Source::ethtool(IONIC, "frames_rx_pause"),
    ]),
    load(
        "tx_global_pause_frames",
        Measure::Frames,
        "Pause frames for the whole link sent.",
    )
    .of_receiver()
    .from(&[
        Source::ethtool(MLX5, "tx_pause_ctrl_phy"),
        Source::ethtool(BNXT, "tx_pause_frames"),
        Source::ethtool(IRDMA, "link_xoff_tx.nic"),
        Source::ethtool(IONIC, "frames_tx_pause"),
    ]),
    load(
        "tx_pause_storm_warning_events",
        Measure::Events,
        "Times that this port sent pause frames for longer than the warning threshold.",
    )
    .of_receiver()
    .from(&[Source::ethtool(MLX5, "tx_pause_storm_warning_events")]),
    load(
        "tx_pause_storm_error_events",
        Measure::Events,
        "Times that this port sent pause frames for so long that the NIC turned them off.",
    )
    .of_receiver()
    .from(&[Source::ethtool(MLX5, "tx_pause_storm_error_events")]),
    load(
        "tx_prio_bytes",
        Measure::Bytes,
        "Bytes of a priority that the port sent: RDMA and all else.",
    )
    .from(&[
        Source::ethtool(MLX5, "tx_prio#_bytes"),
        Source::ethtool(BNXT, "tx_bytes_pri#"),
    ]),
    load(
        "rx_prio_discards",
        Measure::Frames,
        "Frames of a priority that the port dropped on receipt, for lack of buffers.",
    )
    .of_receiver()
    .from(&[
        Source::ethtool(MLX5, "rx_prio#_discards"),
        Source::ethtool(MLX5, "rx_prio#_buf_discard"),
        Source::ethtool(MLX5, "rx_prio#_cong_discard"),
        Source::ethtool(BNXT, "rx_cos#_discard_packets"),
    ]),
    load(
        "rx_prio_marked",
        Measure::Frames,
        "Frames of a priority that the NIC marked with ECN, because its own receive buffer was filling.",
    )
    .of_receiver()
    .from(&[Source::ethtool(MLX5, "rx_prio#_marked")]),
    load(
        "rx_discards_phy",
        Measure::Frames,
        "Frames that the port dropped on receipt, for lack of buffers.",
    )
    .of_receiver()
    .from(&[
        Source::ethtool(MLX5, "rx_discards_phy"),
        Source::ethtool(IRDMA, "rx_dropped.nic"),
        Source::ethtool(IONIC, "hw_rx_dropped"),
    ]),
    load(
        "tx_discards_phy",
        Measure::Frames,
        "Frames that the port discarded instead of sending.",
    )
    .of_sender()
    .from(&[
        Source::ethtool(MLX5, "tx_discards_phy"),
        Source::ethtool(IONIC, "hw_tx_dropped"),
    ]),
    load(
        "rx_ecn_mark",
        Measure::Packets,
        "IP packets received with the ECN mark of congestion (CE).",
    )
    .of_receiver()
    .from(&[Source::ethtool(MLX5, "rx_ecn_mark")]),
    load(
        "rx_vport_rdma_bytes",
        Measure::Bytes,
        "Bytes of RDMA traffic that the function received.",
    )
    .from(&[
        Source::ethtool(MLX5, "rx_vport_rdma_unicast_bytes"),
        Source::ethtool(MLX5, "rx_vport_rdma_multicast_bytes"),
    ]),
    load(
        "tx_vport_rdma_bytes",
        Measure::Bytes,
        "Bytes of RDMA traffic that the function sent.",
    )
    .from(&[
        Source::ethtool(MLX5, "tx_vport_rdma_unicast_bytes"),
        Source::ethtool(MLX5, "tx_vport_rdma_multicast_bytes"),
    ]),
    link(
        "rx_crc_errors_phy",
        Measure::Frames,
        "Frames received with a wrong FCS.",
    )
    .from(&[
        Source::ethtool(MLX5, "rx_crc_errors_phy"),
        Source::ethtool(BNXT, "rx_fcs_err_frames"),
        Source::ethtool(IRDMA, "rx_crc_errors.nic"),
        Source::ethtool(IONIC, "frames_rx_bad_fcs"),
    ]),
    link(
        "rx_symbol_err_phy",
        Measure::Frames,
        "Frames received with a symbol error.",
    )
    .from(&[Source::ethtool(MLX5, "rx_symbol_err_phy")]),
    link(
        "rx_pcs_symbol_err_phy",
        Measure::Events,
        "Symbols that the error correction could not correct.",
    )
    .from(&[
        Source::ethtool(MLX5, "rx_pcs_symbol_err_phy"),
        Source::ethtool(BNXT, "rx_pcs_symbol_err"),
    ]),
    link(
        "rx_corrected_bits_phy",
        Measure::Bits,
        "Bits that the error correction (FEC) corrected.",
    )
    .from(&[
        Source::ethtool(MLX5, "rx_corrected_bits_phy"),
        Source::ethtool(BNXT, "rx_corrected_bits"),
    ]),
    link(
        "link_down_events_phy",
        Measure::Events,
        "Times that the link went down.",
    )
    .from(&[
        Source::ethtool(MLX5, "link_down_events_phy"),
        Source::ethtool(BNXT, "link_down_events"),
    ]),
];
