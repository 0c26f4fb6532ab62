//! One NIC: its context, queues and address handles.

use super::super::Error;
use super::super::raw::Link;
use super::stamp::{Stamping, flow_label, nanos};
use crate::frame::QUEUE_KEY;
use crate::payload::{LEN, Payload};
use crate::types::{Nanos, Refusal};
use rdma_mummy_sys as ib;
use std::collections::BTreeMap;
use std::io;
use std::mem::zeroed;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

/// Datagrams that may be under way each way: a NIC sends ten a second, and all others to it.
const DEPTH: usize = 64;
/// Before a received datagram the device writes its global route header.
const ROUTE_BYTES: usize = 40;
const SLOT: usize = 128;
const PORT: u8 = 1;
const HOP_LIMIT: u8 = 64;
/// Address handles kept; then all are made anew.
const HANDLES: usize = 1_024;
/// Numbers of sends are those of their buffers, of receives these on top.
const RECEIVES: u64 = DEPTH as u64;

type Gid = [u8; 16];

/// What became of a datagram.
pub(super) enum Completion {
    Sent {
        payload: Payload,
        stamp: Option<Nanos>,
    },
    Received {
        payload: Payload,
        stamp: Option<Nanos>,
    },
    Stranger,
}

/// A queue pair and all it needs. What is open stays open until the process ends.
#[derive(Debug)]
pub(super) struct Device {
    pd: NonNull<ib::ibv_pd>,
    channel: NonNull<ib::ibv_comp_channel>,
    cq: NonNull<ib::ibv_cq_ex>,
    qp: NonNull<ib::ibv_qp>,
    /// Slots of the sends, then of the receives; the device knows where they lie.
    memory: Box<[[u8; SLOT]]>,
    key: u32,
    stamping: Stamping,
    gid: Gid,
    gid_index: u8,
    handles: BTreeMap<(Gid, u16), NonNull<ib::ibv_ah>>,
    next: usize,
}

fn last(what: &'static str) -> Error {
    Error::at(what)(io::Error::last_os_error())
}

/// A call that answers 0, or an `errno`.
fn check(what: &'static str, answer: libc::c_int) -> Result<(), Error> {
    match answer {
        0 => Ok(()),
        errno => Err(Error::at(what)(io::Error::from_raw_os_error(errno))),
    }
}

impl Device {
    pub(super) fn open(link: &Link) -> Result<Self, Error> {
        let context = context(link)?;
        let (gid, gid_index) = gid(context, link)?;
        // SAFETY: every call gets what the calls before it made, all of which stay open.
        unsafe {
            let pd = ib::ibv_alloc_pd(context.as_ptr());
            let pd = NonNull::new(pd).ok_or_else(|| last("a protection domain"))?;
            let channel = ib::ibv_create_comp_channel(context.as_ptr());
            let channel = NonNull::new(channel).ok_or_else(|| last("a completion channel"))?;
            let (cq, stamping) = completion_queue(context, channel)?;
            let plain = ib::ibv_cq_ex_to_cq(cq.as_ptr());
            let mut attributes: ib::ibv_qp_init_attr = zeroed();
            attributes.send_cq = plain;
            attributes.recv_cq = plain;
            attributes.qp_type = ib::ibv_qp_type::IBV_QPT_UD;
            attributes.sq_sig_all = 1;
            attributes.cap.max_send_wr = DEPTH as u32;
            attributes.cap.max_recv_wr = DEPTH as u32;
            attributes.cap.max_send_sge = 1;
            attributes.cap.max_recv_sge = 1;
            let qp = ib::ibv_create_qp(pd.as_ptr(), &raw mut attributes);
            let qp = NonNull::new(qp).ok_or_else(|| last("a queue pair"))?;
            let mut memory = vec![[0; SLOT]; 2 * DEPTH].into_boxed_slice();
            let region = ib::ibv_reg_mr(
                pd.as_ptr(),
                memory.as_mut_ptr().cast(),
                size_of_val(&*memory),
                ib::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0 as libc::c_int,
            );
            let region = NonNull::new(region).ok_or_else(|| last("a memory region"))?;
            let mut device = Self {
                pd,
                channel,
                cq,
                qp,
                key: region.as_ref().lkey,
                memory,
                stamping,
                gid,
                gid_index,
                handles: BTreeMap::new(),
                next: 0,
            };
            device.connect()?;
            for slot in 0..DEPTH {
                device.receive(slot)?;
            }
            check("a completion event", ib::ibv_req_notify_cq(plain, 0))?;
            Ok(device)
        }
    }

    /// Through its states, to where it may send and receive.
    fn connect(&mut self) -> Result<(), Error> {
        use ib::ibv_qp_attr_mask as Mask;
        use ib::ibv_qp_state::{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
        let init =
            Mask::IBV_QP_STATE | Mask::IBV_QP_PKEY_INDEX | Mask::IBV_QP_PORT | Mask::IBV_QP_QKEY;
        let steps = [
            (IBV_QPS_INIT, init),
            (IBV_QPS_RTR, Mask::IBV_QP_STATE),
            (IBV_QPS_RTS, Mask::IBV_QP_STATE | Mask::IBV_QP_SQ_PSN),
        ];
        for (state, mask) in steps {
            // SAFETY: a structure of numbers, for which all zero is a value.
            let mut attributes: ib::ibv_qp_attr = unsafe { zeroed() };
            attributes.qp_state = state;
            attributes.port_num = PORT;
            attributes.qkey = QUEUE_KEY;
            // SAFETY: the queue pair is open, and the call reads the fields that the mask names.
            let answer = unsafe {
                ib::ibv_modify_qp(self.qp.as_ptr(), &raw mut attributes, mask.0 as libc::c_int)
            };
            check("the state of a queue pair", answer)?;
        }
        Ok(())
    }

    pub(super) const fn stamping(&self) -> Stamping {
        self.stamping
    }

    pub(super) const fn gid(&self) -> Gid {
        self.gid
    }

    pub(super) fn queue_pair(&self) -> u32 {
        // SAFETY: the queue pair is open; its number does not change.
        unsafe { self.qp.as_ref().qp_num }
    }

    pub(super) fn channel(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel is open for as long as the device is.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }

    /// Where a slot lies, for the device.
    fn place(&mut self, slot: usize, bytes: usize) -> Option<ib::ibv_sge> {
        let memory = self.memory.get_mut(slot)?;
        Some(ib::ibv_sge {
            addr: memory.as_mut_ptr().expose_provenance() as u64,
            length: bytes as u32,
            lkey: self.key,
        })
    }

    /// Gives a slot to the device for the next datagram.
    fn receive(&mut self, slot: usize) -> Result<(), Error> {
        let Some(mut place) = self.place(DEPTH + slot, ROUTE_BYTES + LEN) else {
            return Ok(());
        };
        // SAFETY: a structure of numbers and pointers, for which all zero is a value.
        let mut request: ib::ibv_recv_wr = unsafe { zeroed() };
        request.wr_id = RECEIVES + slot as u64;
        request.sg_list = &raw mut place;
        request.num_sge = 1;
        let mut bad = null_mut();
        // SAFETY: the request is read during the call; the slot lives as long as the device.
        let answer = unsafe { ib::ibv_post_recv(self.qp.as_ptr(), &raw mut request, &raw mut bad) };
        check("a receive", answer)
    }

    /// Sends a datagram to a queue pair behind a GID.
    pub(super) fn send(
        &mut self,
        (gid, queue_pair): (Gid, u32),
        port: u16,
        payload: Payload,
    ) -> Result<(), Refusal> {
        let handle = self.handle(gid, port).ok_or(Refusal::Unreachable)?;
        let slot = self.next;
        self.next = (self.next + 1) % DEPTH;
        let memory = self.memory.get_mut(slot).ok_or(Refusal::Full)?;
        for (to, from) in memory.iter_mut().zip(payload.write()) {
            *to = from;
        }
        let mut place = self.place(slot, LEN).ok_or(Refusal::Full)?;
        // SAFETY: a structure of numbers and pointers, for which all zero is a value.
        let mut request: ib::ibv_send_wr = unsafe { zeroed() };
        request.wr_id = slot as u64;
        request.sg_list = &raw mut place;
        request.num_sge = 1;
        request.opcode = ib::ibv_wr_opcode::IBV_WR_SEND;
        request.wr.ud = ib::ud_t {
            ah: handle.as_ptr(),
            remote_qpn: queue_pair,
            remote_qkey: QUEUE_KEY,
        };
        let mut bad = null_mut();
        // SAFETY: the request is read during the call; slot and handle live as long as the device.
        match unsafe { ib::ibv_post_send(self.qp.as_ptr(), &raw mut request, &raw mut bad) } {
            0 => Ok(()),
            libc::ENOMEM => Err(Refusal::Full),
            _ => Err(Refusal::Other),
        }
    }

    /// The handle of the way to a GID from a source port.
    fn handle(&mut self, gid: Gid, port: u16) -> Option<NonNull<ib::ibv_ah>> {
        if let Some(handle) = self.handles.get(&(gid, port)) {
            return Some(*handle);
        }
        if self.handles.len() >= HANDLES {
            for handle in std::mem::take(&mut self.handles).into_values() {
                // SAFETY: it is open, and no send that is under way needs it: the driver has copied it.
                unsafe { ib::ibv_destroy_ah(handle.as_ptr()) };
            }
        }
        // SAFETY: a structure of numbers, for which all zero is a value.
        let mut attributes: ib::ibv_ah_attr = unsafe { zeroed() };
        attributes.is_global = 1;
        attributes.port_num = PORT;
        attributes.grh.dgid = ib::ibv_gid { raw: gid };
        attributes.grh.flow_label = flow_label(port);
        attributes.grh.sgid_index = self.gid_index;
        attributes.grh.hop_limit = HOP_LIMIT;
        // SAFETY: the protection domain is open, and the attributes are read during the call.
        let handle = unsafe { ib::ibv_create_ah(self.pd.as_ptr(), &raw mut attributes) };
        let handle = NonNull::new(handle)?;
        self.handles.insert((gid, port), handle);
        Some(handle)
    }

    /// Hands over what the device has completed.
    pub(super) fn completions(&mut self, mut take: impl FnMut(Completion)) -> Result<(), Error> {
        let cq = self.cq.as_ptr();
        let mut freed = Vec::new();
        // SAFETY: queue and channel are open; a completion is read between start and end of polling.
        unsafe {
            let mut ready = libc::pollfd {
                fd: self.channel.as_ref().fd,
                events: libc::POLLIN,
                revents: 0,
            };
            if libc::poll(&raw mut ready, 1, 0) != 1 {
                return Ok(());
            }
            let (mut queue, mut context) = (null_mut(), null_mut());
            let channel = self.channel.as_ptr();
            if ib::ibv_get_cq_event(channel, &raw mut queue, &raw mut context) != 0 {
                return Err(last("a completion event"));
            }
            ib::ibv_ack_cq_events(queue, 1);
            check("a completion event", ib::ibv_req_notify_cq(queue, 0))?;
            let mut attributes: ib::ibv_poll_cq_attr = zeroed();
            let mut found = ib::ibv_start_poll(cq, &raw mut attributes);
            let some = found == 0;
            while found == 0 {
                let is_good = (*cq).status == ib::ibv_wc_status::IBV_WC_SUCCESS;
                self.completed((*cq).wr_id, is_good, &mut freed, &mut take);
                found = ib::ibv_next_poll(cq);
            }
            if some {
                ib::ibv_end_poll(cq);
            }
        }
        freed.into_iter().try_for_each(|slot| self.receive(slot))
    }

    fn completed(
        &self,
        number: u64,
        is_good: bool,
        freed: &mut Vec<usize>,
        take: &mut impl FnMut(Completion),
    ) {
        let is_receive = number >= RECEIVES;
        let slot = number as usize;
        if is_receive {
            freed.push(slot - DEPTH);
        }
        if !is_good {
            return;
        }
        let start = if is_receive { ROUTE_BYTES } else { 0 };
        let payload = self.memory.get(slot).and_then(|memory| memory.get(start..));
        let stamp = self.stamp();
        take(match payload.and_then(Payload::read) {
            Some(payload) if is_receive => Completion::Received { payload, stamp },
            Some(payload) => Completion::Sent { payload, stamp },
            None => Completion::Stranger,
        });
    }

    /// The time of the completion that is being read.
    fn stamp(&self) -> Option<Nanos> {
        let cq = self.cq.as_ptr();
        match self.stamping {
            // SAFETY: the queue was made with this stamp, and a completion is being read.
            Stamping::WallClock => unsafe {
                Some(Nanos(ib::ibv_wc_read_completion_wallclock_ns(cq) as i64))
            },
            // SAFETY: as above.
            Stamping::Ticks { kilohertz } => unsafe {
                Some(nanos(ib::ibv_wc_read_completion_ts(cq), kilohertz))
            },
            Stamping::Processor => None,
        }
    }
}

/// The RDMA device of a NIC.
fn context(link: &Link) -> Result<NonNull<ib::ibv_context>, Error> {
    let name = link.rdma_device().ok_or_else(|| Error::Nic {
        nic: link.name().into(),
        why: "it has no RDMA device".into(),
    })?;
    let mut count = 0;
    // SAFETY: the list ends after `count` devices, each of which is valid until the list is freed.
    unsafe {
        let list = ib::ibv_get_device_list(&raw mut count);
        if list.is_null() {
            return Err(last("the RDMA devices"));
        }
        let mut context = null_mut();
        for at in 0..usize::try_from(count).unwrap_or(0) {
            let device = *list.add(at);
            let its = std::ffi::CStr::from_ptr(ib::ibv_get_device_name(device));
            if its.to_bytes() == name.as_bytes() {
                context = ib::ibv_open_device(device);
            }
        }
        ib::ibv_free_device_list(list);
        NonNull::new(context).ok_or_else(|| last("an RDMA device"))
    }
}

/// The GID of the NIC's address by which RoCEv2 is spoken.
fn gid(context: NonNull<ib::ibv_context>, link: &Link) -> Result<(Gid, u8), Error> {
    const ROCE_V2: u32 = 2;
    let wanted = match link.address() {
        IpAddr::V4(v4) => v4.to_ipv6_mapped().octets(),
        IpAddr::V6(v6) => v6.octets(),
    };
    for index in 0..=u8::MAX {
        // SAFETY: a structure of numbers, for which all zero is a value; the call fills it.
        unsafe {
            let mut entry: ib::ibv_gid_entry = zeroed();
            let index_wide = u32::from(index);
            let context = context.as_ptr();
            let got = ib::ibv_query_gid_ex(context, PORT.into(), index_wide, &raw mut entry, 0);
            if got == 0 && entry.gid_type == ROCE_V2 && entry.gid.raw == wanted {
                return Ok((wanted, index));
            }
        }
    }
    Err(Error::Nic {
        nic: link.name().into(),
        why: format!("its RDMA device has no RoCEv2 GID of {}", link.address()),
    })
}

/// A completion queue with the best stamps that the device has.
///
/// # Safety
/// Context and channel are open.
unsafe fn completion_queue(
    context: NonNull<ib::ibv_context>,
    channel: NonNull<ib::ibv_comp_channel>,
) -> Result<(NonNull<ib::ibv_cq_ex>, Stamping), Error> {
    use ib::ibv_create_cq_wc_flags as Flags;
    // SAFETY: a structure of numbers, for which all zero is a value; the call fills it.
    let kilohertz = unsafe {
        let mut attributes: ib::ibv_device_attr_ex = zeroed();
        let got = ib::ibv_query_device_ex(context.as_ptr(), null_mut(), &raw mut attributes);
        if got == 0 {
            attributes.hca_core_clock
        } else {
            0
        }
    };
    let wall = Flags::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK.0;
    let ticks = Flags::IBV_WC_EX_WITH_COMPLETION_TIMESTAMP.0;
    let ways = [
        (wall, Some(Stamping::WallClock)),
        (
            ticks,
            (kilohertz > 0).then_some(Stamping::Ticks { kilohertz }),
        ),
        (0, Some(Stamping::Processor)),
    ];
    for (flags, stamping) in ways {
        let Some(stamping) = stamping else {
            continue;
        };
        // SAFETY: context and channel are open; the attributes are read during the call.
        let cq = unsafe {
            let mut attributes: ib::ibv_cq_init_attr_ex = zeroed();
            attributes.cqe = 2 * DEPTH as u32;
            attributes.channel = channel.as_ptr();
            attributes.wc_flags = flags.into();
            ib::ibv_create_cq_ex(context.as_ptr(), &raw mut attributes)
        };
        if let Some(cq) = NonNull::new(cq) {
            return Ok((cq, stamping));
        }
        // A driver without these stamps says so; the next are tried.
        if io::Error::last_os_error().raw_os_error() != Some(libc::EOPNOTSUPP) {
            break;
        }
    }
    Err(last("a completion queue"))
}
