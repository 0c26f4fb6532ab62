//! Flows that copy all frames of a port to a queue pair.

use super::double::{Double, Flow, NICS, fail, leak, with};
use rocescope_ibverbs as ib;
use std::ffi::c_int;

pub(super) unsafe extern "C" fn create_flow(
    qp: *mut ib::ibv_qp,
    attributes: *mut ib::ibv_flow_attr,
) -> *mut ib::ibv_flow {
    // SAFETY: the caller passes a queue pair and attributes.
    let (context, attributes) = unsafe { ((*qp).context, &*attributes) };
    with(|double| {
        let device = double.contexts[&context.addr()];
        if double.no_sniffer {
            return fail(libc::EOPNOTSUPP);
        }
        let of = &double.qps[&qp.addr()];
        let is_right = attributes.kind == ib::IBV_FLOW_ATTR_SNIFFER
            && usize::from(attributes.size) == size_of::<ib::ibv_flow_attr>()
            && of.is_raw
            && of.state == ib::IBV_QPS_RTR;
        if !is_right {
            return fail(libc::EINVAL);
        }
        let flow = leak(|flow: &mut ib::ibv_flow| flow.context = context);
        double.flows.insert(
            flow.addr(),
            Flow {
                device,
                port: attributes.port.into(),
                qp: qp.addr(),
            },
        );
        flow
    })
}

pub(super) unsafe extern "C" fn destroy_flow(flow: *mut ib::ibv_flow) -> c_int {
    with(|double| double.flows.remove(&flow.addr()).map_or(libc::EINVAL, |_| 0))
}

impl Double {
    /// A frame passes a port at this time of its device: every flow of the port gets a copy. Returns how many did; a queue pair
    /// without a receive drops its copy.
    pub fn pass(&mut self, nic: usize, frame: &[u8], at: i64) -> usize {
        let (device, port, _) = NICS[nic];
        let flows = self.flows.values();
        let flows = flows.filter(|flow| (flow.device, flow.port) == (device, port));
        let pairs: Vec<usize> = flows.map(|flow| flow.qp).collect();
        let mut copies = 0;
        for pair in pairs {
            let of = self.qps.get_mut(&pair).unwrap();
            let Some((number, place)) = of.receives.pop_front() else {
                continue;
            };
            assert!(frame.len() <= place.length as usize);
            let to = std::ptr::with_exposed_provenance_mut::<u8>(place.addr as usize);
            // SAFETY: the program has posted this number of bytes for the device to write.
            unsafe { to.copy_from_nonoverlapping(frame.as_ptr(), frame.len()) };
            let cq = of.cq;
            self.complete_with(cq, number, ib::IBV_WC_SUCCESS, at, frame.len() as u32);
            copies += 1;
        }
        copies
    }
}
