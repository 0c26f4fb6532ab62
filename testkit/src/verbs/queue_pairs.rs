//! The libibverbs calls for queue pairs, sends and receives, on the test double.

use super::calls::device_of;
use super::connected::connected;
use super::double::{Ah, Double, GRH, LATENCY, Mr, NICS, Peer, Qp, fail, gid, leak, now, with};
use ib::{IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPS_RTS, ibv_qp_state as State};
use rocescope_ibverbs as ib;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};

/// The UDP source port of a flow label, as `rdma_flow_label_to_udp_sport` of Linux has it.
const fn source_port(label: u32) -> u16 {
    ((label & 0x3fff) ^ ((label & 0xf_c000) >> 14)) as u16 | 0xc000
}

/// What a key of the peer has more than the local one.
pub(super) const REMOTE: u32 = 0x1_0000;

pub(super) unsafe extern "C" fn ibv_alloc_pd(context: *mut ib::ibv_context) -> *mut ib::ibv_pd {
    with(|double| double.open += 1);
    leak(|pd: &mut ib::ibv_pd| pd.context = context)
}

pub(super) unsafe extern "C" fn ibv_dealloc_pd(_: *mut ib::ibv_pd) -> c_int {
    with(|double| double.open -= 1);
    0
}

/// Keys are not 0, so that the test detects a request without one, and differ for the peer.
pub(super) unsafe extern "C" fn ibv_reg_mr(
    pd: *mut ib::ibv_pd,
    start: *mut c_void,
    bytes: usize,
    _: c_int,
) -> *mut ib::ibv_mr {
    with(|double| {
        let key = 0x1234 + double.mrs.len() as u32;
        let made = leak(|region: &mut ib::ibv_mr| {
            (region.pd, region.lkey, region.rkey) = (pd, key, key + REMOTE);
        });
        let region = Mr {
            key,
            address: start.addr() as u64,
            bytes: bytes as u64,
        };
        double.mrs.insert(made.addr(), region);
        made
    })
}

pub(super) unsafe extern "C" fn ibv_dereg_mr(region: *mut ib::ibv_mr) -> c_int {
    with(|double| double.mrs.remove(&region.addr()).map_or(libc::EINVAL, |_| 0))
}

/// Returns the part of registered memory, if it is inside of it.
pub(super) fn registered(double: &Double, key: u32, address: u64, bytes: u32) -> bool {
    let mut regions = double.mrs.values();
    regions.any(|region| {
        let end = region.address + region.bytes;
        region.key == key && region.address <= address && address + u64::from(bytes) <= end
    })
}

pub(super) unsafe extern "C" fn ibv_create_qp(
    pd: *mut ib::ibv_pd,
    attributes: *mut ib::ibv_qp_init_attr,
) -> *mut ib::ibv_qp {
    // SAFETY: the caller passes attributes and an open domain.
    let (attributes, context) = unsafe { (&*attributes, (*pd).context) };
    let is_connected = attributes.qp_type == ib::IBV_QPT_RC;
    let is_raw = attributes.qp_type == ib::IBV_QPT_RAW_PACKET;
    assert!(is_connected || is_raw || attributes.qp_type == ib::IBV_QPT_UD);
    with(|double| {
        let last = double.qps.values().map(|qp| qp.number).max();
        let number = last.unwrap_or(0) + 1;
        let made = leak(|qp: &mut ib::ibv_qp| (qp.context, qp.qp_num) = (context, number));
        let qp = Qp {
            number,
            nic: usize::MAX,
            cq: attributes.send_cq.addr(),
            state: IBV_QPS_RESET,
            key: 0,
            receives: VecDeque::new(),
            psn: 0,
            peer: None,
            is_connected,
            is_raw,
        };
        double.qps.insert(made.addr(), qp);
        made
    })
}

pub(super) unsafe extern "C" fn ibv_destroy_qp(qp: *mut ib::ibv_qp) -> c_int {
    with(|double| double.qps.remove(&qp.addr()));
    0
}

/// The attributes that a state requires beside the state itself, as in the manual page of `ibv_modify_qp`.
fn needed(state: State, is_connected: bool) -> ib::ibv_qp_attr_mask {
    match (state, is_connected) {
        (IBV_QPS_INIT, false) => ib::IBV_QP_PKEY_INDEX | ib::IBV_QP_PORT | ib::IBV_QP_QKEY,
        (IBV_QPS_INIT, true) => ib::IBV_QP_PKEY_INDEX | ib::IBV_QP_PORT | ib::IBV_QP_ACCESS_FLAGS,
        (IBV_QPS_RTR, true) => {
            let address = ib::IBV_QP_AV | ib::IBV_QP_PATH_MTU | ib::IBV_QP_DEST_QPN | ib::IBV_QP_RQ_PSN;
            address | ib::IBV_QP_MAX_DEST_RD_ATOMIC | ib::IBV_QP_MIN_RNR_TIMER
        }
        (IBV_QPS_RTS, false) => ib::IBV_QP_SQ_PSN,
        (IBV_QPS_RTS, true) => {
            let retries = ib::IBV_QP_TIMEOUT | ib::IBV_QP_RETRY_CNT | ib::IBV_QP_RNR_RETRY;
            retries | ib::IBV_QP_SQ_PSN | ib::IBV_QP_MAX_QP_RD_ATOMIC
        }
        _ => ib::IBV_QP_STATE,
    }
}

/// Implements the states of a queue pair as in the manual page of `ibv_modify_qp`.
pub(super) unsafe extern "C" fn ibv_modify_qp(
    qp: *mut ib::ibv_qp,
    attributes: *mut ib::ibv_qp_attr,
    mask: c_int,
) -> c_int {
    // SAFETY: the caller passes a queue pair and attributes.
    let (attributes, context) = unsafe { (&*attributes, (*qp).context) };
    with(|double| {
        let device = device_of(double, context);
        let of = double.qps.get_mut(&qp.addr()).unwrap();
        let needed = match (of.is_raw, attributes.qp_state) {
            (true, IBV_QPS_INIT) => ib::IBV_QP_PORT,
            (true, _) => 0,
            (false, state) => needed(state, of.is_connected),
        };
        let needed = needed | ib::IBV_QP_STATE;
        let is_next = match attributes.qp_state {
            IBV_QPS_RESET => true,
            IBV_QPS_INIT => of.state == IBV_QPS_RESET,
            IBV_QPS_RTR => of.state == IBV_QPS_INIT,
            IBV_QPS_RTS => of.state == IBV_QPS_RTR,
            _ => false,
        };
        if !is_next || mask != needed {
            return libc::EINVAL;
        }
        of.state = attributes.qp_state;
        match of.state {
            IBV_QPS_RESET => {
                of.receives.clear();
                double.cqs.get_mut(&of.cq).unwrap().waiting.clear();
            }
            IBV_QPS_INIT => {
                let port = u32::from(attributes.port_num);
                let mut nics = NICS.into_iter();
                of.nic = nics
                    .position(|(its, number, _)| (its, number) == (device, port))
                    .unwrap();
                of.key = attributes.qkey;
            }
            IBV_QPS_RTR if of.is_connected => {
                assert_eq!(attributes.ah_attr.is_global, 1);
                // Entry 0 is of RoCE v1.
                assert_ne!(attributes.ah_attr.grh.sgid_index, 0);
                of.peer = Some(Peer {
                    // SAFETY: every variant of the union is 16 bytes.
                    gid: unsafe { attributes.ah_attr.grh.dgid.raw },
                    number: attributes.dest_qp_num,
                    psn: attributes.rq_psn,
                    mtu: attributes.path_mtu,
                });
            }
            IBV_QPS_RTS => of.psn = attributes.sq_psn,
            _ => {}
        }
        0
    })
}

pub(super) unsafe extern "C" fn ibv_create_ah(
    pd: *mut ib::ibv_pd,
    attributes: *mut ib::ibv_ah_attr,
) -> *mut ib::ibv_ah {
    // SAFETY: the caller passes attributes; every variant of the union is 16 bytes.
    let (attributes, to) = unsafe { (&*attributes, (*attributes).grh.dgid.raw) };
    assert_eq!((attributes.is_global, attributes.grh.sgid_index), (1, 2));
    with(|double| {
        double.handles_asked += 1;
        if double.deaf.is_some_and(|nic| gid(nic) == to) {
            return fail(libc::EHOSTUNREACH);
        }
        let made = leak(|ah: &mut ib::ibv_ah| ah.pd = pd);
        let ah = Ah {
            gid: to,
            flow_label: attributes.grh.flow_label,
        };
        double.ahs.insert(made.addr(), ah);
        made
    })
}

pub(super) unsafe extern "C" fn ibv_destroy_ah(ah: *mut ib::ibv_ah) -> c_int {
    with(|double| double.ahs.remove(&ah.addr()));
    0
}

pub(super) unsafe extern "C" fn post_recv(
    qp: *mut ib::ibv_qp,
    request: *mut ib::ibv_recv_wr,
    _: *mut *mut ib::ibv_recv_wr,
) -> c_int {
    let mut next = request;
    while !next.is_null() {
        // SAFETY: the caller passes a chain of requests of one part.
        let (request, part) = unsafe { (&*next, *(*next).sg_list) };
        next = request.next;
        let answer = with(|double| {
            let is_registered = registered(double, part.lkey, part.addr, part.length);
            let of = double.qps.get_mut(&qp.addr()).unwrap();
            if of.state == IBV_QPS_RESET || of.state == IBV_QPS_ERR || !is_registered {
                return libc::EINVAL;
            }
            assert!(of.is_connected || part.length as usize > GRH);
            of.receives.push_back((request.wr_id, part));
            0
        });
        if answer != 0 {
            return answer;
        }
    }
    0
}

pub(super) unsafe extern "C" fn post_send(
    qp: *mut ib::ibv_qp,
    request: *mut ib::ibv_send_wr,
    _: *mut *mut ib::ibv_send_wr,
) -> c_int {
    // SAFETY: the caller passes a request of one part; every variant of the union is numbers and pointers.
    let (request, part, to) = unsafe { (&*request, *(*request).sg_list, (*request).wr.ud) };
    let from = std::ptr::with_exposed_provenance::<u8>(part.addr as usize);
    // SAFETY: the backend has posted this number of bytes for the device to read.
    let bytes = unsafe { std::slice::from_raw_parts(from, part.length as usize) }.to_vec();
    with(|double| {
        let of = &double.qps[&qp.addr()];
        if of.state != IBV_QPS_RTS || !registered(double, part.lkey, part.addr, part.length) {
            return libc::EINVAL;
        }
        if of.is_connected {
            return connected(double, qp.addr(), request, part, &bytes);
        }
        let (cq, nic) = (of.cq, of.nic);
        if double.fail > 0 {
            double.fail -= 1;
            double.fail(qp.addr(), request.wr_id, ib::IBV_WC_LOC_QP_OP_ERR);
            return 0;
        }
        let Ah { gid, flow_label } = double.ahs[&to.ah.addr()];
        let port = source_port(flow_label);
        double.wire.push((port, bytes.clone()));
        let left = now();
        if double.lose_completions > 0 {
            double.lose_completions -= 1;
        } else {
            let at = left + double.ahead[NICS[nic].0];
            double.complete(cq, request.wr_id, ib::IBV_WC_SUCCESS, at);
        }
        if double.lose > 0 {
            double.lose -= 1;
        } else {
            double.arrive(gid, to.remote_qpn, to.remote_qkey, &bytes, left + LATENCY);
        }
        0
    })
}
