//! Table 1: whether the node can communicate at all.

use super::{BNXT, Dimension, EFA, IONIC, IRDMA, Kind, Level, Measure, Metric, Place, Source};

const fn metric(name: &'static str, level: Level, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Availability, level, unit, help)
}

const fn state(name: &'static str, help: &'static str) -> Metric {
    metric(name, Level::Link, Measure::State, help).kind(Kind::State)
}

/// An error of the link, from the port counters of the InfiniBand specification.
const fn link(name: &'static str, unit: Measure, help: &'static str, sources: &'static [Source]) -> Metric {
    metric(name, Level::Link, unit, help).negative().from(sources)
}

pub(super) const METRICS: &[Metric] = &[
    state("state", "State of the port: 4 is ACTIVE.")
        .table(1)
        .from(&[Source::new(Place::Port, "state", &[])]),
    state(
        "phys_state",
        "Physical state of the port: 5 is `LinkUp`, 3 is Disabled.",
    )
    .table(1)
    .from(&[Source::new(Place::Port, "phys_state", &[])]),
    metric(
        "port_xmit_discards",
        Level::Link,
        Measure::Packets,
        "Packets that the port discarded instead of sending, because it was down or congested.",
    )
    .table(1)
    .of_sender()
    .from(&[
        Source::port_stops("port_xmit_discards", 16),
        Source::hw(BNXT, "tx_roce_discards"),
        Source::hw(super::HNS, "tx_err_pkt"),
        Source::hw(super::ERDMA, "tx_disable_drop_cnt"),
        Source::hw(super::ERDMA, "tx_bps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "tx_pps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "hw_disable_drop_cnt"),
        Source::hw(super::ERDMA, "hw_bps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "hw_pps_limit_drop_cnt"),
    ]),
    metric(
        "out_of_buffer",
        Level::Link,
        Measure::Packets,
        "Packets that the receiver dropped, because the queue pair had no receive work request. The paper lists it \
         with the sender.",
    )
    .table(1)
    .of_receiver()
    .from(&[
        Source::q_counter("out_of_buffer"),
        Source::hw(BNXT, "rx_out_of_buffer"),
        Source::hw(IONIC, "resp_rx_outof_buf"),
    ]),
    state("present", "Whether the device exists: 1, or 0 after it vanished.").from(&[Source::new(
        Place::Device,
        "present",
        &[],
    )]),
    state("link_layer", "Link layer of the port: Ethernet or `InfiniBand`.").from(&[Source::new(
        Place::Port,
        "link_layer",
        &[],
    )]),
    metric("rate", Level::Link, Measure::BitsPerSecond, "Rate of the port.")
        .kind(Kind::Gauge)
        .from(&[Source::new(Place::Port, "rate", &[])]),
    metric(
        "addresses",
        Level::Network,
        Measure::Objects,
        "IP addresses of the port, from its GIDs; the text lists them. By them, what a capture sees finds its port.",
    )
    .kind(Kind::Gauge)
    .from(&[Source::new(Place::Port, "gids", &[])]),
    link(
        "symbol_error",
        Measure::Events,
        "Minor link errors on the lanes of the port.",
        &[Source::port_stops("symbol_error", 16)],
    ),
    link(
        "link_error_recovery",
        Measure::Events,
        "Times that the port recovered the link without going down.",
        &[Source::port_stops("link_error_recovery", 8)],
    ),
    link(
        "link_downed",
        Measure::Events,
        "Times that the port failed to recover the link and went down.",
        &[
            Source::port_stops("link_downed", 8),
            Source::hw(super::RXE, "link_downed"),
        ],
    ),
    link(
        "local_link_integrity_errors",
        Measure::Events,
        "Times that local physical errors exceeded their threshold.",
        &[Source::port_stops("local_link_integrity_errors", 4)],
    ),
    link(
        "excessive_buffer_overrun_errors",
        Measure::Events,
        "Times that the receive buffer overran in consecutive flow control periods.",
        &[Source::port_stops("excessive_buffer_overrun_errors", 4)],
    ),
    link(
        "port_rcv_remote_physical_errors",
        Measure::Packets,
        "Packets received with the mark of a bad packet (EBP).",
        &[Source::port_stops("port_rcv_remote_physical_errors", 16)],
    ),
    link(
        "port_xmit_constraint_errors",
        Measure::Packets,
        "Packets not sent because of partition or filter rules.",
        &[Source::port_stops("port_xmit_constraint_errors", 8)],
    ),
    link(
        "port_rcv_constraint_errors",
        Measure::Packets,
        "Packets discarded on receipt because of partition or filter rules.",
        &[Source::port_stops("port_rcv_constraint_errors", 8)],
    ),
    link(
        "VL15_dropped",
        Measure::Packets,
        "Management packets dropped for lack of resources.",
        &[Source::port_stops("VL15_dropped", 16)],
    ),
    metric(
        "port_rcv_discards",
        Level::Link,
        Measure::Packets,
        "Packets that the port received and dropped.",
    )
    .of_receiver()
    .from(&[
        Source::hw(BNXT, "rx_roce_discards"),
        Source::hw(IRDMA, "ip4InDiscards").width(super::Width::Wraps32),
        Source::hw(IRDMA, "ip6InDiscards").width(super::Width::Wraps32),
        Source::hw(EFA, "rx_drops"),
        Source::hw(super::ERDMA, "rx_disable_drop_cnt"),
        Source::hw(super::ERDMA, "rx_bps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "rx_pps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "hw_rx_disable_drop_cnt"),
        Source::hw(super::ERDMA, "hw_rx_bps_limit_drop_cnt"),
        Source::hw(super::ERDMA, "hw_rx_pps_limit_drop_cnt"),
        Source::hw(IONIC, "rx_rdma_mtu_discard_pkts"),
    ]),
];
