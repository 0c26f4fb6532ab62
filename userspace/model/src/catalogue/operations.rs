//! Table 4: RDMA operations and their errors.

use super::{
    BNXT, Dimension, EFA, ERDMA, HFI1, HNS, IONIC, IRDMA, Level, MANA, MLX5, Measure, Metric, Place, RXE, Source, Width,
};

const fn metric(name: &'static str, unit: Measure, help: &'static str) -> Metric {
    Metric::new(name, Dimension::Operations, Level::Application, unit, help)
}

pub(super) const METRICS: &[Metric] = &[
    metric("rx_atomic_requests", Measure::Events, "Atomic requests received.")
        .table(4)
        .from(&[
            Source::q_counter("rx_atomic_requests"),
            Source::hw(BNXT, "rx_atomic_req"),
        ]),
    metric(
        "rx_dct_connect",
        Measure::Events,
        "Connection requests to dynamically connected transports received.",
    )
    .table(4)
    .printed("rx_atomic_requests (DCT)")
    .from(&[Source::q_counter("rx_dct_connect")]),
    metric("rx_read_requests", Measure::Events, "READ requests received.")
        .table(4)
        .from(&[
            Source::q_counter("rx_read_requests"),
            Source::hw(BNXT, "rx_read_req"),
            Source::hw(MANA, "rx_read_requests"),
            Source::hw(IRDMA, "InRdmaReads"),
            Source::hw(IRDMA, "iwInRdmaReads"),
        ]),
    metric("rx_write_requests", Measure::Events, "WRITE requests received.")
        .table(4)
        .from(&[
            Source::q_counter("rx_write_requests"),
            Source::hw(BNXT, "rx_write_req"),
            Source::hw(MANA, "rx_write_requests"),
            Source::hw(IRDMA, "InRdmaWrites"),
            Source::hw(IRDMA, "iwInRdmaWrites"),
        ]),
    metric(
        "opcode_bytes",
        Measure::Bytes,
        "Bytes of each opcode, measured by a capture.",
    )
    .table(4)
    .printed("opcode*19")
    .from(&[Source::new(Place::Dataset, "opcodes.frame_bytes", &[])]),
    metric(
        "rdma_messages",
        Measure::Messages,
        "RDMA messages, measured by a capture.",
    )
    .table(4)
    .printed("RDMA messages")
    .from(&[Source::new(Place::Dataset, "windows.messages", &[])]),
    metric(
        "req_cqe_error",
        Measure::Events,
        "Completions with an error at the requester.",
    )
    .table(4)
    .of_sender()
    .from(&[Source::q_counter("req_cqe_error"), Source::hw(IONIC, "req_rx_cqe_err")]),
    metric(
        "req_cqe_flush_error",
        Measure::Events,
        "Flushed completions at the requester.",
    )
    .table(4)
    .of_sender()
    .from(&[
        Source::q_counter("req_cqe_flush_error"),
        Source::hw(IONIC, "req_rx_cqe_flush"),
    ]),
    metric(
        "req_remote_access_errors",
        Measure::Events,
        "Remote access errors that the requester detected.",
    )
    .table(4)
    .of_sender()
    .from(&[
        Source::q_counter("req_remote_access_errors"),
        Source::hw(BNXT, "remote_access_err"),
        Source::hw(IONIC, "req_rx_rmt_acc_err"),
        Source::hw(MANA, "nak_access_error"),
    ]),
    metric(
        "req_remote_invalid_request",
        Measure::Events,
        "Remote invalid request errors that the requester detected.",
    )
    .table(4)
    .of_sender()
    .from(&[
        Source::q_counter("req_remote_invalid_request"),
        Source::hw(BNXT, "remote_invalid_req_err"),
        Source::hw(IONIC, "req_rx_rmt_req_err"),
        Source::hw(MANA, "nak_inv_req"),
        Source::hw(MANA, "nak_opp_error"),
        Source::hw(MANA, "nak_inv_read"),
    ]),
    metric(
        "duplicate_request",
        Measure::Packets,
        "Requests that the responder had received before.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::q_counter("duplicate_request"),
        Source::hw(BNXT, "dup_req"),
        Source::hw(IONIC, "resp_rx_dup_request"),
        Source::hw(MANA, "responder_dup_request"),
        Source::hw(MANA, "dup_rx_requests"),
        Source::hw(HFI1, "RcDupRew"),
        Source::hw(RXE, "duplicate_request"),
    ]),
    metric(
        "resp_cqe_error",
        Measure::Events,
        "Completions with an error at the responder.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::q_counter("resp_cqe_error"),
        Source::hw(IONIC, "resp_rx_cqe_err"),
    ]),
    metric(
        "resp_cqe_flush_error",
        Measure::Events,
        "Flushed completions at the responder.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::q_counter("resp_cqe_flush_error"),
        Source::hw(IONIC, "resp_rx_cqe_flush"),
    ]),
    metric(
        "resp_local_length_error",
        Measure::Events,
        "Local length errors that the responder detected.",
    )
    .table(4)
    .printed("resq_local_length_error")
    .of_receiver()
    .from(&[
        Source::q_counter("resp_local_length_error"),
        Source::hw(BNXT, "res_length_mismatch"),
        Source::hw(IONIC, "resp_rx_loc_len_err"),
        Source::hw(MANA, "responder_local_len_error"),
    ]),
    metric(
        "resp_remote_access_errors",
        Measure::Events,
        "Remote access errors that the responder detected.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::q_counter("resp_remote_access_errors"),
        Source::hw(BNXT, "res_rx_invalid_rkey"),
        Source::hw(BNXT, "res_rx_domain_err"),
        Source::hw(BNXT, "res_rx_no_perm"),
        Source::hw(BNXT, "res_rx_range_err"),
        Source::hw(IONIC, "resp_tx_rmt_acc_err"),
        Source::hw(MANA, "responder_rem_access_error"),
    ]),
    metric(
        "rnr_nak_retry_err",
        Measure::Packets,
        "RNR NAKs that the requester received.",
    )
    .table(4)
    .printed("mr_nak_retry_err")
    .of_receiver()
    .from(&[
        Source::q_counter("rnr_nak_retry_err"),
        Source::hw(BNXT, "rnr_naks_rcvd"),
        Source::hw(IONIC, "req_rx_rnr_retry_err"),
        Source::hw(MANA, "requester_rnr_nak"),
        Source::hw(HFI1, "RnrNak"),
        Source::hw(RXE, "rcvd_rnr_err"),
    ]),
    metric(
        "rp_cnp_handled",
        Measure::Packets,
        "CNPs received that reduced the rate of the sender.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::hw(MLX5, "rp_cnp_handled"),
        Source::hw(BNXT, "rx_cnp_pkts"),
        Source::hw(IONIC, "rx_rdma_cnp_pkts"),
        Source::hw(IRDMA, "cnpHandled").width(Width::Wraps32),
        Source::hw(HNS, "rx_cnp_pkt"),
        Source::hw(MANA, "received_cnps"),
        Source::hw(MANA, "received_cnp_count"),
    ]),
    metric(
        "rp_cnp_ignored",
        Measure::Packets,
        "CNPs received that the sender ignored.",
    )
    .table(4)
    .of_receiver()
    .from(&[
        Source::hw(MLX5, "rp_cnp_ignored"),
        Source::hw(IRDMA, "cnpIgnored").width(Width::Wraps32),
    ]),
    metric("rdma_sends", Measure::Events, "SEND operations completed.").from(&[
        Source::hw(BNXT, "tx_send_req"),
        Source::hw(EFA, "send_wrs"),
        Source::hw(ERDMA, "tx_reqs_cnt"),
        Source::hw(ERDMA, "hw_tx_reqs_cnt"),
        Source::hw(RXE, "rdma_sends"),
    ]),
    metric("rdma_recvs", Measure::Events, "SEND operations received.").from(&[
        Source::hw(BNXT, "rx_send_req"),
        Source::hw(EFA, "recv_wrs"),
        Source::hw(RXE, "rdma_recvs"),
        Source::hw(IRDMA, "InRdmaSends"),
        Source::hw(IRDMA, "iwInRdmaSends"),
        Source::hw(MANA, "rx_send_requests"),
    ]),
    metric("send_err", Measure::Events, "Packets that soft-RoCE could not send.")
        .of_sender()
        .from(&[Source::hw(RXE, "send_err")]),
    metric(
        "local_qp_errors",
        Measure::Events,
        "Errors of a local queue pair, of its memory or of its work requests.",
    )
    .negative()
    .from(&[
        Source::hw(MANA, "requestor_local_prot_error"),
        Source::hw(MANA, "responder_local_qp_error"),
        Source::hw(MANA, "responder_malformed_wqe"),
        Source::hw(MANA, "general_hw_error"),
        Source::hw(HNS, "trp_get_mpt_err_pkt"),
        Source::hw(HNS, "trp_get_irrl_err_pkt"),
    ]),
    metric(
        "recoverable_errors",
        Measure::Events,
        "Errors that the NIC recovered from.",
    )
    .negative()
    .from(&[Source::hw(BNXT, "recoverable_errors")]),
    metric(
        "unrecoverable_err",
        Measure::Events,
        "Errors that the NIC did not recover from.",
    )
    .negative()
    .from(&[
        Source::hw(BNXT, "unrecoverable_err"),
        Source::hw(MANA, "total_fatal_error"),
    ]),
];
