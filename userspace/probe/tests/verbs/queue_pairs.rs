//! The libibverbs calls for queue pairs, sends and receives, on the test double.

use crate::calls::device_of;
use crate::double::{Ah, GRH, LATENCY, NICS, Qp, fail, gid, leak, now, with};
use ib::ibv_qp_state::{IBV_QPS_ERR, IBV_QPS_INIT, IBV_QPS_RESET, IBV_QPS_RTR, IBV_QPS_RTS, Type as State};
use rdma_mummy_sys as ib;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_alloc_pd(context: *mut ib::ibv_context) -> *mut ib::ibv_pd {
    leak(|pd: &mut ib::ibv_pd| pd.context = context)
}

/// Its key is not 0, so that the test detects a request without it.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_reg_mr(pd: *mut ib::ibv_pd, _: *mut c_void, _: usize, _: c_int) -> *mut ib::ibv_mr {
    leak(|region: &mut ib::ibv_mr| (region.pd, region.lkey) = (pd, 0x1234))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_qp(pd: *mut ib::ibv_pd, attributes: *mut ib::ibv_qp_init_attr) -> *mut ib::ibv_qp {
    // SAFETY: the caller passes attributes and an open domain.
    let (attributes, context) = unsafe { (&*attributes, (*pd).context) };
    assert_eq!(attributes.qp_type, ib::ibv_qp_type::IBV_QPT_UD);
    with(|double| {
        let number = double.qps.len() as u32 + 1;
        let made = leak(|qp: &mut ib::ibv_qp| (qp.context, qp.qp_num) = (context, number));
        let qp = Qp {
            number,
            nic: usize::MAX,
            cq: attributes.send_cq.addr(),
            state: IBV_QPS_RESET,
            key: 0,
            receives: VecDeque::new(),
        };
        double.qps.insert(made.addr(), qp);
        made
    })
}

/// Implements the states of a UD queue pair as in the manual page of `ibv_modify_qp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_modify_qp(qp: *mut ib::ibv_qp, attributes: *mut ib::ibv_qp_attr, mask: c_int) -> c_int {
    use ib::ibv_qp_attr_mask as Mask;
    // SAFETY: the caller passes a queue pair and attributes.
    let (attributes, context) = unsafe { (&*attributes, (*qp).context) };
    let needed = |state: State| match state {
        IBV_QPS_INIT => Mask::IBV_QP_PKEY_INDEX | Mask::IBV_QP_PORT | Mask::IBV_QP_QKEY,
        IBV_QPS_RTS => Mask::IBV_QP_SQ_PSN,
        _ => Mask::IBV_QP_STATE,
    };
    let needed = needed(attributes.qp_state) | Mask::IBV_QP_STATE;
    with(|double| {
        let device = device_of(double, context);
        let of = double.qps.get_mut(&qp.addr()).unwrap();
        let is_next = match attributes.qp_state {
            IBV_QPS_RESET => true,
            IBV_QPS_INIT => of.state == IBV_QPS_RESET,
            IBV_QPS_RTR => of.state == IBV_QPS_INIT,
            IBV_QPS_RTS => of.state == IBV_QPS_RTR,
            _ => false,
        };
        if !is_next || mask as u32 != needed.0 {
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
            _ => {}
        }
        0
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_create_ah(pd: *mut ib::ibv_pd, attributes: *mut ib::ibv_ah_attr) -> *mut ib::ibv_ah {
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

#[unsafe(no_mangle)]
unsafe extern "C" fn ibv_destroy_ah(ah: *mut ib::ibv_ah) -> c_int {
    with(|double| double.ahs.remove(&ah.addr()));
    0
}

pub(crate) unsafe extern "C" fn post_recv(
    qp: *mut ib::ibv_qp,
    request: *mut ib::ibv_recv_wr,
    _: *mut *mut ib::ibv_recv_wr,
) -> c_int {
    // SAFETY: the caller passes a request of one part.
    let (request, part) = unsafe { (&*request, *(*request).sg_list) };
    with(|double| {
        let of = double.qps.get_mut(&qp.addr()).unwrap();
        if of.state == IBV_QPS_RESET || of.state == IBV_QPS_ERR || part.lkey != 0x1234 {
            return libc::EINVAL;
        }
        assert!(part.length as usize > GRH);
        of.receives.push_back((request.wr_id, part));
        0
    })
}

pub(crate) unsafe extern "C" fn post_send(
    qp: *mut ib::ibv_qp,
    request: *mut ib::ibv_send_wr,
    _: *mut *mut ib::ibv_send_wr,
) -> c_int {
    // SAFETY: the caller passes a request of one part for a UD queue pair.
    let (request, part, to) = unsafe { (&*request, *(*request).sg_list, (*request).wr.ud) };
    let from = std::ptr::with_exposed_provenance::<u8>(part.addr as usize);
    // SAFETY: the backend has posted this number of bytes for the device to read.
    let bytes = unsafe { std::slice::from_raw_parts(from, part.length as usize) }.to_vec();
    with(|double| {
        let of = &double.qps[&qp.addr()];
        if of.state != IBV_QPS_RTS || part.lkey != 0x1234 {
            return libc::EINVAL;
        }
        let (cq, nic) = (of.cq, of.nic);
        if double.fail > 0 {
            double.fail -= 1;
            double.fail(qp.addr(), request.wr_id);
            return 0;
        }
        let Ah { gid, flow_label } = double.ahs[&to.ah.addr()];
        let port = rocescope_probe::ports::source_port(flow_label);
        double.wire.push((port, bytes.clone()));
        let left = now();
        if double.lose_completions > 0 {
            double.lose_completions -= 1;
        } else {
            let at = left + double.ahead[NICS[nic].0];
            double.complete(cq, request.wr_id, ib::ibv_wc_status::IBV_WC_SUCCESS, at);
        }
        if double.lose > 0 {
            double.lose -= 1;
        } else {
            double.arrive(gid, to.remote_qpn, to.remote_qkey, &bytes, left + LATENCY);
        }
        0
    })
}
