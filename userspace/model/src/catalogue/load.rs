//! Table 3: how much is sent and received, and congestion.

use super::{
    BNXT, Dimension, EFA, ERDMA, HFI1, HNS, IONIC, IRDMA, Kind, Level, MANA, MLX5, Measure, Metric, Place, RXE, Source,
    Width,
};

const fn metric(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Load, Level::Network, unit, help)
}

/// An optional counter, which only netlink has: `rdma statistic set link DEV/PORT optional-counters NAME`.
const fn optional(name: &'static str) -> Source {
    Source::new(Place::Netlink, name, MLX5).width(Width::Wraps64)
}

/// An operation that the agent measures.
const fn operation(name: &'static str) -> Source {
    Source::new(Place::Operation, name, &[])
}

pub(super) const METRICS: &[Metric] = &[
    metric(
        "tcp_rtt",
        Measure::Nanoseconds,
        "Time from SYN to ACK of the TCP connection that preceded an RDMA connection, measured by a capture.",
    )
    .table(3)
    .printed("TCP-RTT")
    .kind(Kind::Gauge)
    .from(&[Source::new(Place::Dataset, "connections.tcp_rtt_ns", &[])]),
    metric(
        "port_rcv_data",
        Measure::Bytes,
        "Bytes that the port received. `counters/` counts words of four bytes.",
    )
    .table(3)
    .from(&[
        Source::port("port_rcv_data").times(4),
        Source::hw(BNXT, "rx_bytes"),
        Source::hw(IONIC, "rx_rdma_ucast_bytes"),
        Source::hw(IONIC, "rx_rdma_mcast_bytes"),
        Source::hw(IRDMA, "ip4InOctets"),
        Source::hw(IRDMA, "ip6InOctets"),
        Source::hw(EFA, "rx_bytes"),
        Source::hw(MANA, "rx_bytes"),
        Source::hw(ERDMA, "rx_bytes_cnt"),
        Source::hw(ERDMA, "hw_rx_bytes_cnt"),
        Source::hw(RXE, "rcvd_bytes"),
    ]),
    metric("port_rcv_packets", Measure::Packets, "Packets that the port received.")
        .table(3)
        .from(&[
            Source::port("port_rcv_packets"),
            Source::hw(BNXT, "rx_pkts"),
            Source::hw(IRDMA, "ip4InPkts"),
            Source::hw(IRDMA, "ip6InPkts"),
            Source::hw(HNS, "rx_pkt"),
            Source::hw(EFA, "rx_pkts"),
            Source::hw(MANA, "rx_packets"),
            Source::hw(MANA, "rx_pkt"),
            Source::hw(ERDMA, "rx_packets_cnt"),
            Source::hw(ERDMA, "hw_rx_packets_cnt"),
            Source::hw(RXE, "rcvd_pkts"),
        ]),
    metric(
        "port_xmit_data",
        Measure::Bytes,
        "Bytes that the port sent. `counters/` counts words of four bytes.",
    )
    .table(3)
    .from(&[
        Source::port("port_xmit_data").times(4),
        Source::hw(BNXT, "tx_bytes"),
        Source::hw(IONIC, "tx_rdma_ucast_bytes"),
        Source::hw(IONIC, "tx_rdma_mcast_bytes"),
        Source::hw(IRDMA, "ip4OutOctets"),
        Source::hw(IRDMA, "ip6OutOctets"),
        Source::hw(EFA, "tx_bytes"),
        Source::hw(MANA, "tx_bytes"),
        Source::hw(ERDMA, "tx_bytes_cnt"),
        Source::hw(ERDMA, "hw_tx_bytes_cnt"),
        Source::hw(RXE, "sent_bytes"),
    ]),
    metric("port_xmit_packets", Measure::Packets, "Packets that the port sent.")
        .table(3)
        .from(&[
            Source::port("port_xmit_packets"),
            Source::hw(BNXT, "tx_pkts"),
            Source::hw(IRDMA, "ip4OutPkts"),
            Source::hw(IRDMA, "ip6OutPkts"),
            Source::hw(HNS, "tx_pkt"),
            Source::hw(EFA, "tx_pkts"),
            Source::hw(MANA, "tx_packets"),
            Source::hw(MANA, "tx_pkt"),
            Source::hw(ERDMA, "tx_packets_cnt"),
            Source::hw(ERDMA, "hw_tx_packets_cnt"),
            Source::hw(RXE, "sent_pkts"),
        ]),
    metric(
        "multicast_rcv_packets",
        Measure::Packets,
        "Multicast packets that the port received.",
    )
    .table(3)
    .printed("port_multicast_rcv_packets")
    .from(&[
        Source::port("multicast_rcv_packets"),
        Source::hw(IONIC, "rx_rdma_mcast_pkts"),
        Source::hw(IRDMA, "ip4InMcastPkts"),
        Source::hw(IRDMA, "ip6InMcastPkts"),
    ]),
    metric(
        "unicast_rcv_packets",
        Measure::Packets,
        "Unicast packets that the port received.",
    )
    .table(3)
    .printed("port_unicast_rcv_packets")
    .from(&[
        Source::port("unicast_rcv_packets"),
        Source::hw(IONIC, "rx_rdma_ucast_pkts"),
    ]),
    metric(
        "np_cnp_sent",
        Measure::Packets,
        "Congestion notification packets that the receiver of marked packets sent.",
    )
    .table(3)
    .printed("snp_cnp_sent")
    .of_sender()
    .from(&[
        Source::hw(MLX5, "np_cnp_sent"),
        Source::hw(BNXT, "tx_cnp_pkts"),
        Source::hw(IONIC, "tx_rdma_cnp_pkts"),
        Source::hw(IRDMA, "cnpSent").width(Width::Wraps32),
        Source::hw(HNS, "tx_cnp_pkt"),
        Source::hw(MANA, "sent_cnps"),
    ]),
    metric(
        "port_rcv_switch_relay_errors",
        Measure::Packets,
        "Packets discarded because the switch relay could not forward them.",
    )
    .table(3)
    .of_sender()
    .from(&[Source::port_stops("port_rcv_switch_relay_errors", 16)]),
    metric(
        "out_of_sequence",
        Measure::Packets,
        "Requests that the responder received out of sequence.",
    )
    .table(3)
    .of_receiver()
    .from(&[
        Source::q_counter("out_of_sequence"),
        Source::hw(BNXT, "oos_drop_count"),
        Source::hw(IONIC, "resp_rx_outouf_seq"),
        Source::hw(MANA, "responder_oos"),
        Source::hw(HFI1, "RcSeqNak"),
        Source::hw(RXE, "out_of_seq_request"),
    ]),
    metric(
        "packet_seq_err",
        Measure::Packets,
        "NAKs for a PSN sequence error that the requester received.",
    )
    .table(3)
    .of_receiver()
    .from(&[
        Source::q_counter("packet_seq_err"),
        Source::hw(BNXT, "seq_err_naks_rcvd"),
        Source::hw(IONIC, "req_rx_pkt_seq_err"),
        Source::hw(MANA, "requester_oos_nak"),
        Source::hw(HFI1, "SeqNak"),
        Source::hw(RXE, "rcvd_seq_err"),
    ]),
    metric(
        "rx_icrc_encapsulated",
        Measure::Packets,
        "RoCE packets received with a wrong ICRC.",
    )
    .table(3)
    .of_receiver()
    .from(&[Source::hw(MLX5, "rx_icrc_encapsulated")]),
    metric(
        "port_rcv_errors",
        Measure::Packets,
        "Packets with an error that the port received.",
    )
    .table(3)
    .of_receiver()
    .from(&[
        Source::port_stops("port_rcv_errors", 16),
        Source::hw(BNXT, "rx_roce_errors"),
        Source::hw(HNS, "rx_err_pkt"),
    ]),
    metric(
        "np_ecn_marked_roce_packets",
        Measure::Packets,
        "RoCE packets received with the ECN mark of congestion (CE).",
    )
    .table(3)
    .of_receiver()
    .from(&[
        Source::hw(MLX5, "np_ecn_marked_roce_packets"),
        Source::hw(BNXT, "rx_ecn_marked_pkts"),
        Source::hw(IONIC, "rx_rdma_ecn_pkts"),
        Source::hw(MANA, "received_ecns"),
        Source::hw(IRDMA, "RxECNMrkd"),
    ]),
    Metric::new(
        "rdma_operation_latency",
        Dimension::Load,
        Level::Application,
        Measure::Nanoseconds,
        "Time that SEND, WRITE and READ of eight bytes take, from the call to the completion.",
    )
    .table(3)
    .printed("RDMA operation latency")
    .kind(Kind::Gauge)
    .from(&[operation("send"), operation("write"), operation("read")]),
    metric(
        "multicast_xmit_packets",
        Measure::Packets,
        "Multicast packets that the port sent.",
    )
    .from(&[
        Source::port("multicast_xmit_packets"),
        Source::hw(IONIC, "tx_rdma_mcast_pkts"),
        Source::hw(IRDMA, "ip4OutMcastPkts"),
        Source::hw(IRDMA, "ip6OutMcastPkts"),
    ]),
    metric(
        "unicast_xmit_packets",
        Measure::Packets,
        "Unicast packets that the port sent.",
    )
    .from(&[
        Source::port("unicast_xmit_packets"),
        Source::hw(IONIC, "tx_rdma_ucast_pkts"),
    ]),
    metric(
        "qps_congested",
        Measure::Events,
        "Times that congestion control reduced the rate of a queue pair.",
    )
    .of_sender()
    .from(&[
        Source::hw(MANA, "num_qps_congested"),
        Source::hw(MANA, "qp_congested_events"),
    ]),
    metric(
        "qps_recovered",
        Measure::Events,
        "Times that a queue pair returned to its full rate.",
    )
    .from(&[
        Source::hw(MANA, "num_qps_recovered"),
        Source::hw(MANA, "qp_recovered_events"),
    ]),
    metric(
        "rate_increases",
        Measure::Events,
        "Times that congestion control raised the rate of a queue pair.",
    )
    .from(&[
        Source::hw(MANA, "rate_inc_events"),
        Source::hw(MANA, "rate_increase_events"),
    ]),
    metric(
        "rdma_rx_bytes",
        Measure::Bytes,
        "Bytes of RDMA traffic that the port received, without other traffic.",
    )
    .from(&[optional("rdma_rx_bytes"), Source::hw(BNXT, "rx_roce_only_bytes")]),
    metric(
        "rdma_rx_packets",
        Measure::Packets,
        "Packets of RDMA traffic that the port received.",
    )
    .from(&[optional("rdma_rx_packets"), Source::hw(BNXT, "rx_roce_only_pkts")]),
    metric(
        "rdma_tx_bytes",
        Measure::Bytes,
        "Bytes of RDMA traffic that the port sent, without other traffic.",
    )
    .from(&[optional("rdma_tx_bytes"), Source::hw(BNXT, "tx_roce_only_bytes")]),
    metric(
        "rdma_tx_packets",
        Measure::Packets,
        "Packets of RDMA traffic that the port sent.",
    )
    .from(&[optional("rdma_tx_packets"), Source::hw(BNXT, "tx_roce_only_pkts")]),
    metric(
        "cc_rx_ce_pkts",
        Measure::Packets,
        "RoCE packets received with the ECN mark of congestion (optional counter).",
    )
    .negative()
    .from(&[optional("cc_rx_ce_pkts")]),
    metric("cc_rx_cnp_pkts", Measure::Packets, "CNPs received (optional counter).")
        .negative()
        .from(&[optional("cc_rx_cnp_pkts")]),
    metric("cc_tx_cnp_pkts", Measure::Packets, "CNPs sent (optional counter).")
        .negative()
        .from(&[optional("cc_tx_cnp_pkts")]),
    metric(
        "roce_slow_restart",
        Measure::Events,
        "Times that a RoCE slow restart was used.",
    )
    .of_sender()
    .from(&[Source::q_counter("roce_slow_restart")]),
    metric(
        "roce_slow_restart_cnps",
        Measure::Packets,
        "CNPs that a RoCE slow restart generated.",
    )
    .of_sender()
    .from(&[Source::q_counter("roce_slow_restart_cnps")]),
    metric(
        "roce_slow_restart_trans",
        Measure::Events,
        "Times that a RoCE slow restart changed its state.",
    )
    .of_sender()
    .from(&[Source::q_counter("roce_slow_restart_trans")]),
];
