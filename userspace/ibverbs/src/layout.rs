//! Sizes and offsets as the compiler of C has them for `infiniband/verbs.h` of rdma-core 44.

use super::types::*;
use std::mem::offset_of;

#[test]
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64"))]
fn layouts_are_those_of_the_header() {
    macro_rules! all {
        ($($found:expr => $right:literal,)*) => {
            $(assert_eq!($found, $right, stringify!($found));)*
        };
    }
    all! {
        size_of::<ibv_device>() => 664,
        offset_of!(ibv_device, name) => 24,
        size_of::<ibv_context>() => 328,
        offset_of!(ibv_context, ops.poll_cq) => 96,
        offset_of!(ibv_context, ops.req_notify_cq) => 104,
        offset_of!(ibv_context, ops.post_send) => 208,
        offset_of!(ibv_context, ops.post_recv) => 216,
        offset_of!(ibv_context, abi_compat) => 320,
        size_of::<verbs_context>() => 648,
        offset_of!(verbs_context, create_cq_ex) => 200,
        offset_of!(verbs_context, query_device_ex) => 216,
        offset_of!(verbs_context, sz) => 312,
        offset_of!(verbs_context, context) => 320,
        offset_of!(verbs_context, ibv_destroy_flow) => 224,
        offset_of!(verbs_context, ibv_create_flow) => 240,
        size_of::<ibv_flow_attr>() => 20,
        offset_of!(ibv_flow_attr, flags) => 16,
        size_of::<ibv_flow>() => 24,
        offset_of!(ibv_flow, context) => 8,
        size_of::<ibv_port_attr>() => 52,
        offset_of!(ibv_port_attr, active_mtu) => 8,
        size_of::<ibv_device_attr_ex>() => 400,
        offset_of!(ibv_device_attr_ex, hca_core_clock) => 272,
        offset_of!(ibv_device_attr_ex, comp_mask) => 232,
        size_of::<ibv_gid_entry>() => 32,
        size_of::<ibv_ah_attr>() => 32,
        size_of::<ibv_ah>() => 24,
        size_of::<ibv_pd>() => 16,
        size_of::<ibv_mr>() => 48,
        offset_of!(ibv_mr, lkey) => 36,
        offset_of!(ibv_mr, rkey) => 40,
        size_of::<ibv_comp_channel>() => 16,
        size_of::<ibv_cq>() => 128,
        size_of::<ibv_cq_ex>() => 288,
        offset_of!(ibv_cq_ex, status) => 132,
        offset_of!(ibv_cq_ex, wr_id) => 136,
        offset_of!(ibv_cq_ex, start_poll) => 144,
        offset_of!(ibv_cq_ex, read_completion_ts) => 248,
        offset_of!(ibv_cq_ex, read_completion_wallclock_ns) => 280,
        size_of::<ibv_cq_init_attr_ex>() => 56,
        offset_of!(ibv_cq_init_attr_ex, wc_flags) => 32,
        size_of::<ibv_wc>() => 48,
        offset_of!(ibv_wc, byte_len) => 20,
        size_of::<ibv_sge>() => 16,
        size_of::<ibv_send_wr>() => 128,
        offset_of!(ibv_send_wr, wr) => 40,
        size_of::<ibv_recv_wr>() => 32,
        size_of::<ibv_qp_init_attr>() => 64,
        offset_of!(ibv_qp_init_attr, qp_type) => 52,
        size_of::<ibv_qp_attr>() => 144,
        offset_of!(ibv_qp_attr, ah_attr) => 56,
        offset_of!(ibv_qp_attr, port_num) => 129,
        offset_of!(ibv_qp_attr, alt_timeout) => 134,
        size_of::<ibv_qp>() => 160,
        offset_of!(ibv_qp, qp_num) => 52,
    }
}
