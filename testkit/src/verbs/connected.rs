//! Operations of RC queue pairs on the test double.

use super::double::{Double, gid, now};
use super::queue_pairs::{REMOTE, registered};
use ib::{IBV_QPS_RTR, IBV_QPS_RTS};
use ib::{IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND};
use rocescope_ibverbs as ib;
use std::ffi::c_int;

/// Copies bytes to memory that a process registered.
fn copy(bytes: &[u8], to: u64) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: the caller has checked that the memory is registered.
    unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
}

/// The queue pair at the other end, if it is connected to this one and expects its first PSN.
fn peer_of(double: &Double, qp: usize) -> Option<usize> {
    let of = &double.qps[&qp];
    let peer = of.peer?;
    let found = double.qps.iter().find(|(_, other)| {
        let expects = other.peer.map(|expected| (expected.number, expected.gid, expected.psn));
        let is_there = other.number == peer.number && gid(other.nic) == peer.gid && other.psn == peer.psn;
        let can_receive = [IBV_QPS_RTR, IBV_QPS_RTS].contains(&other.state);
        is_there && can_receive && expects == Some((of.number, gid(of.nic), of.psn))
    });
    found.map(|(at, _)| *at)
}

/// Performs an operation at once, and completes it.
pub(super) fn connected(
    double: &mut Double,
    qp: usize,
    request: &ib::ibv_send_wr,
    part: ib::ibv_sge,
    bytes: &[u8],
) -> c_int {
    // SAFETY: every variant of the union is numbers.
    let remote = unsafe { request.wr.rdma };
    let is_open = registered(
        double,
        remote.rkey.wrapping_sub(REMOTE),
        remote.remote_addr,
        part.length,
    );
    let cq = double.qps[&qp].cq;
    let peer = peer_of(double, qp);
    let failure = match (peer, request.opcode) {
        (None, _) => Some(ib::IBV_WC_RETRY_EXC_ERR),
        (Some(peer), IBV_WR_SEND) => {
            let other = double.qps.get_mut(&peer).unwrap();
            match other.receives.pop_front() {
                Some((number, place)) if part.length <= place.length => {
                    let to = other.cq;
                    copy(bytes, place.addr);
                    double.complete_with(to, number, ib::IBV_WC_SUCCESS, now(), part.length);
                    None
                }
                Some(_) => Some(ib::IBV_WC_REM_INV_REQ_ERR),
                None => Some(ib::IBV_WC_RNR_RETRY_EXC_ERR),
            }
        }
        (Some(_), _) if !is_open => Some(ib::IBV_WC_REM_ACCESS_ERR),
        (Some(_), IBV_WR_RDMA_WRITE) => {
            copy(bytes, remote.remote_addr);
            None
        }
        (Some(_), IBV_WR_RDMA_READ) => {
            let from = std::ptr::with_exposed_provenance::<u8>(remote.remote_addr as usize);
            // SAFETY: the memory is registered.
            let bytes = unsafe { std::slice::from_raw_parts(from, part.length as usize) }.to_vec();
            copy(&bytes, part.addr);
            None
        }
        _ => Some(ib::IBV_WC_LOC_QP_OP_ERR),
    };
    match failure {
        Some(status) => double.fail(qp, request.wr_id, status),
        None if double.lose_completions > 0 => double.lose_completions -= 1,
        None => double.complete(cq, request.wr_id, ib::IBV_WC_SUCCESS, now()),
    }
    0
}
