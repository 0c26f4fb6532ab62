//! `churn DEVICE GID_INDEX COUNT`: creates a queue pair, connects it to itself and destroys it, COUNT times, as fast as the
//! device does it. Prints a line for each: its number, and the PSNs that it would expect and send first. What sees queue
//! pairs come and go is tried with it.

use rocescope_ibverbs as ib;
use std::env;
use std::mem::zeroed;
use std::process::ExitCode;
use std::ptr::NonNull;

/// `enum ibv_mtu`: 1,024 bytes.
const PATH_MTU: ib::ibv_mtu = 3;
const PORT: u8 = 1;
const TIMEOUT: u8 = 14;
const RETRIES: u8 = 5;
const RNR_RETRIES: u8 = 6;
const TRAFFIC_CLASS: u8 = 104;

fn main() -> ExitCode {
    match churn() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn churn() -> Result<(), String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [name, gid_index, count] = &arguments[..] else {
        return Err("usage: churn DEVICE GID_INDEX COUNT".into());
    };
    let (Ok(gid_index), Ok(count)) = (gid_index.parse::<u8>(), count.parse::<u32>()) else {
        return Err(format!("{gid_index} and {count} are no index and no count"));
    };
    let mut refused = String::new();
    let devices = ib::devices_named(|device| device == name, &mut refused).map_err(|error| text(&error))?;
    let device = devices.into_iter().next().ok_or(format!("no device {name}{refused}"))?;
    let of_index = |entry: &&ib::ibv_gid_entry| entry.gid_index == gid_index.into();
    let entry = device.gids.iter().find(of_index).ok_or("no such GID")?;
    let gid = entry.gid;
    // SAFETY: the device is open until the end of the process; all zeros are valid for structures of C.
    unsafe {
        let domain = ib::ibv_alloc_pd(device.context.as_ptr());
        let queue = ib::ibv_create_cq(
            device.context.as_ptr(),
            4,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
        );
        if domain.is_null() || queue.is_null() {
            return Err("no domain or no completion queue".into());
        }
        for round in 0..count {
            let mut wanted: ib::ibv_qp_init_attr = zeroed();
            wanted.send_cq = queue;
            wanted.recv_cq = queue;
            wanted.qp_type = ib::IBV_QPT_RC;
            wanted.cap.max_send_wr = 1;
            wanted.cap.max_recv_wr = 1;
            wanted.cap.max_send_sge = 1;
            wanted.cap.max_recv_sge = 1;
            let pair = NonNull::new(ib::ibv_create_qp(domain, &raw mut wanted)).ok_or("no queue pair")?;
            let number = pair.as_ref().qp_num;
            let (receive_psn, send_psn) = (round & 0xff_ffff, (round + 1) & 0xff_ffff);
            connect(pair, gid, gid_index, [number, receive_psn, send_psn]).map_err(|error| text(&error))?;
            ib::check("the end of a queue pair", ib::ibv_destroy_qp(pair.as_ptr())).map_err(|error| text(&error))?;
            println!("{number} {receive_psn} {send_psn}");
        }
    }
    Ok(())
}

fn text(error: &ib::Error) -> String {
    format!("{}: {}", error.what, error.source)
}

/// Connects a queue pair to itself.
///
/// # Safety
/// It is open.
unsafe fn connect(
    pair: NonNull<ib::ibv_qp>,
    gid: ib::ibv_gid,
    gid_index: u8,
    [number, receive_psn, send_psn]: [u32; 3],
) -> Result<(), ib::Error> {
    // SAFETY: all zeros are valid for a structure of C; the calls read the fields in their masks.
    unsafe {
        let mut set: ib::ibv_qp_attr = zeroed();
        let enter = |set: &mut ib::ibv_qp_attr, mask| {
            let mask = mask | ib::IBV_QP_STATE;
            ib::check("the state of a queue pair", ib::ibv_modify_qp(pair.as_ptr(), set, mask))
        };
        set.qp_state = ib::IBV_QPS_INIT;
        set.port_num = PORT;
        enter(
            &mut set,
            ib::IBV_QP_PKEY_INDEX | ib::IBV_QP_PORT | ib::IBV_QP_ACCESS_FLAGS,
        )?;
        set.qp_state = ib::IBV_QPS_RTR;
        set.path_mtu = PATH_MTU;
        set.dest_qp_num = number;
        set.rq_psn = receive_psn;
        set.max_dest_rd_atomic = 1;
        set.min_rnr_timer = 12;
        set.ah_attr.is_global = 1;
        set.ah_attr.port_num = PORT;
        set.ah_attr.grh.dgid = gid;
        set.ah_attr.grh.sgid_index = gid_index;
        set.ah_attr.grh.hop_limit = 64;
        set.ah_attr.grh.traffic_class = TRAFFIC_CLASS;
        let address = ib::IBV_QP_AV | ib::IBV_QP_PATH_MTU | ib::IBV_QP_DEST_QPN | ib::IBV_QP_RQ_PSN;
        enter(
            &mut set,
            address | ib::IBV_QP_MAX_DEST_RD_ATOMIC | ib::IBV_QP_MIN_RNR_TIMER,
        )?;
        set.qp_state = ib::IBV_QPS_RTS;
        set.timeout = TIMEOUT;
        set.retry_cnt = RETRIES;
        set.rnr_retry = RNR_RETRIES;
        set.sq_psn = send_psn;
        set.max_rd_atomic = 1;
        let retries = ib::IBV_QP_TIMEOUT | ib::IBV_QP_RETRY_CNT | ib::IBV_QP_RNR_RETRY;
        enter(&mut set, retries | ib::IBV_QP_SQ_PSN | ib::IBV_QP_MAX_QP_RD_ATOMIC)
    }
}
