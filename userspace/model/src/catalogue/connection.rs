//! Table 2: whether packets arrive.

use super::{BNXT, Dimension, EFA, HFI1, IONIC, Level, MANA, Measure, Metric, RXE, Source};

const fn metric(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Connection, Level::Network, unit, help)
}

const fn sender(name: &'static str, unit: Measure, help: &'static str, sources: &'static [Source]) -> Metric {
    metric(name, unit, help).of_sender().from(sources)
}

pub(super) const METRICS: &[Metric] = &[
    metric(
        "local_ack_timeout_err",
        Measure::Events,
        "Times that the ACK timer of a sender expired.",
    )
    .table(2)
    .of_sender()
    .from(&[
        Source::q_counter("local_ack_timeout_err"),
        Source::hw(BNXT, "to_retransmits"),
        Source::hw(IONIC, "tx_rdma_ack_timeout"),
        Source::hw(HFI1, "RcTimeOut"),
        Source::hw(EFA, "retrans_timeout_events"),
        Source::hw(MANA, "requester_timeout"),
    ]),
    metric(
        "port_xmit_wait",
        Measure::Ticks,
        "Time during which the port had data to send and sent none, for lack of credits or because of arbitration. \
         The paper calls the ticks microseconds; their length depends on the manufacturer.",
    )
    .table(2)
    .of_sender()
    .from(&[Source::port_stops("port_xmit_wait", 32)]),
    metric(
        "implied_nak_seq_err",
        Measure::Events,
        "Times that the requester received an ACK beyond a READ or atomic response that it had not received.",
    )
    .table(2)
    .of_receiver()
    .from(&[
        Source::q_counter("implied_nak_seq_err"),
        Source::hw(BNXT, "missing_resp"),
        Source::hw(IONIC, "req_rx_impl_nak_seq_err"),
        Source::hw(MANA, "requester_implicit_nak"),
        Source::hw(MANA, "requester_readresp_psn_mismatch"),
    ]),
    sender(
        "req_transport_retries_exceeded",
        Measure::Events,
        "Times that the requester gave up after its last retransmission.",
        &[
            Source::q_counter("req_transport_retries_exceeded"),
            Source::hw(BNXT, "max_retry_exceeded"),
            Source::hw(IONIC, "req_tx_retry_excd_err"),
            Source::hw(MANA, "requester_retries_exceeded"),
            Source::hw(EFA, "unresponsive_remote_events"),
            Source::hw(RXE, "retry_exceeded_err"),
        ],
    ),
    sender(
        "req_rnr_retries_exceeded",
        Measure::Events,
        "Times that the requester gave up after its last retry for a receiver that was not ready.",
        &[
            Source::q_counter("req_rnr_retries_exceeded"),
            Source::hw(MANA, "requester_rnr_nak_retries_exceeded"),
            Source::hw(RXE, "retry_rnr_exceeded_err"),
        ],
    ),
    sender(
        "retransmitted_packets",
        Measure::Packets,
        "Packets that the NIC retransmitted.",
        &[
            Source::hw(IONIC, "tx_rdma_retx_pkts"),
            Source::hw(EFA, "retrans_pkts"),
            Source::hw(HFI1, "RcResend"),
        ],
    ),
    sender(
        "roce_adp_retrans",
        Measure::Packets,
        "Adaptive retransmissions of RoCE traffic.",
        &[Source::q_counter("roce_adp_retrans")],
    ),
    sender(
        "roce_adp_retrans_to",
        Measure::Events,
        "Times that RoCE traffic reached the timeout of adaptive retransmission.",
        &[Source::q_counter("roce_adp_retrans_to")],
    ),
    sender(
        "completer_retry_err",
        Measure::Events,
        "Times that the requester retried after a timeout or a NAK.",
        &[Source::hw(RXE, "completer_retry_err")],
    ),
    metric("rnr_naks_sent", Measure::Packets, "RNR NAKs that the receiver sent.")
        .of_receiver()
        .from(&[Source::hw(RXE, "send_rnr_err"), Source::hw(MANA, "responder_rnr_nak")]),
    sender(
        "retransmitted_bytes",
        Measure::Bytes,
        "Bytes that the NIC retransmitted.",
        &[Source::hw(EFA, "retrans_bytes")],
    ),
    sender(
        "impaired_remote_connections",
        Measure::Events,
        "Times that the connection to a peer became so bad that the NIC slowed it down.",
        &[Source::hw(EFA, "impaired_remote_conn_events")],
    ),
];
