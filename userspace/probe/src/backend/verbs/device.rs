//! One NIC: its queue pair and its memory for sends and receives.

use super::super::Error;
use super::super::system_clock::now;
use super::handles::Handles;
use super::port::{Gid, Port};
use crate::frame::QUEUE_KEY;
use crate::payload::{LEN, Payload};
use crate::types::{Event, Nanos, NicIndex, Outgoing, Refusal};
use rocescope_ibverbs::{self as ib, Completion, Queue};
use std::mem::zeroed;
use std::ptr::{NonNull, null_mut};

/// The maximum number of datagrams in flight in each direction: a NIC sends ten per second, and all others send to it.
const DEPTH: usize = 64;
/// The required size of the completion queue.
pub(super) const COMPLETIONS: u32 = 2 * DEPTH as u32;
/// The device writes the global route header before a received datagram; with IPv4 only its last 20 bytes.
const ROUTE_BYTES: usize = 40;
const SLOT: usize = 128;
/// The number of a send is its slot; receives are numbered from this value.
const RECEIVES: usize = DEPTH;

/// The destination of a datagram: a queue pair and its GID.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) gid: Gid,
    pub(super) queue_pair: u32,
}

/// A queue pair and its resources, which stay open until the process ends.
#[derive(Debug)]
pub(super) struct Device {
    gid: Gid,
    queue: Queue,
    qp: NonNull<ib::ibv_qp>,
    port: u8,
    handles: Handles,
    /// Slots of the sends, then of the receives; the device holds their addresses.
    memory: Box<[[u8; SLOT]]>,
    key: u32,
    /// The datagram in each send slot, and when it was posted.
    sends: [Option<(Outgoing, Nanos)>; DEPTH],
}

fn last(what: &'static str) -> Error {
    ib::Error::last(what).into()
}

/// Checks the result of a call that returns 0 or an `errno`.
fn check(what: &'static str, answer: libc::c_int) -> Result<(), Error> {
    Ok(ib::check(what, answer)?)
}

impl Device {
    /// Opens a queue pair that may send and receive.
    pub(super) fn open(port: &Port, queue: Queue) -> Result<Self, Error> {
        let mut memory = vec![[0; SLOT]; 2 * DEPTH].into_boxed_slice();
        // SAFETY: every call gets the objects of earlier calls, all of which stay open.
        let (pd, qp, region) = unsafe {
            let pd = ib::ibv_alloc_pd(port.context.as_ptr());
            let pd = NonNull::new(pd).ok_or_else(|| last("a protection domain"))?;
            let mut attributes: ib::ibv_qp_init_attr = zeroed();
            attributes.send_cq = queue.cq();
            attributes.recv_cq = queue.cq();
            attributes.qp_type = ib::IBV_QPT_UD;
            attributes.sq_sig_all = 1;
            attributes.cap.max_send_wr = DEPTH as u32;
            attributes.cap.max_recv_wr = DEPTH as u32;
            attributes.cap.max_send_sge = 1;
            attributes.cap.max_recv_sge = 1;
            let qp = ib::ibv_create_qp(pd.as_ptr(), &raw mut attributes);
            let qp = NonNull::new(qp).ok_or_else(|| last("a queue pair"))?;
            let region = ib::ibv_reg_mr(
                pd.as_ptr(),
                memory.as_mut_ptr().cast(),
                size_of_val(&*memory),
                ib::IBV_ACCESS_LOCAL_WRITE,
            );
            let region = NonNull::new(region).ok_or_else(|| last("a memory region"))?;
            (pd, qp, region)
        };
        let mut device = Self {
            gid: port.gid,
            queue,
            qp,
            port: port.number,
            handles: Handles::new(pd, *port),
            memory,
            // SAFETY: the region is open, and its key does not change.
            key: unsafe { region.as_ref() }.lkey,
            sends: [None; DEPTH],
        };
        device.connect()?;
        device.queue.arm()?;
        Ok(device)
    }

    /// Moves the queue pair through its states until it can send and receive.
    fn connect(&mut self) -> Result<(), Error> {
        use ib::{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS};
        self.enter(IBV_QPS_INIT, ib::IBV_QP_PKEY_INDEX | ib::IBV_QP_PORT | ib::IBV_QP_QKEY)?;
        // Before it can receive, so that every datagram finds a slot.
        for slot in 0..DEPTH {
            self.receive(slot)?;
        }
        self.enter(IBV_QPS_RTR, ib::IBV_QP_STATE)?;
        self.enter(IBV_QPS_RTS, ib::IBV_QP_SQ_PSN)
    }

    fn enter(&mut self, state: ib::ibv_qp_state, mask: ib::ibv_qp_attr_mask) -> Result<(), Error> {
        let mask = mask | ib::IBV_QP_STATE;
        // SAFETY: a structure of numbers, for which all zeros is valid, including the first key of the partition table.
        let mut attributes: ib::ibv_qp_attr = unsafe { zeroed() };
        attributes.qp_state = state;
        attributes.port_num = self.port;
        attributes.qkey = QUEUE_KEY;
        // SAFETY: the queue pair is open, and the call reads only the fields in the mask.
        let answer = unsafe { ib::ibv_modify_qp(self.qp.as_ptr(), &raw mut attributes, mask) };
        check("the state of a queue pair", answer)
    }

    pub(super) const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// The destination under which other NICs reach it.
    pub(super) fn target(&self) -> Target {
        Target {
            gid: self.gid,
            // SAFETY: the queue pair is open; its number does not change.
            queue_pair: unsafe { self.qp.as_ref() }.qp_num,
        }
    }

    /// Describes a slot to the device.
    fn place(memory: &mut [u8], key: u32) -> ib::ibv_sge {
        ib::ibv_sge {
            addr: memory.as_mut_ptr().expose_provenance() as u64,
            length: memory.len() as u32,
            lkey: key,
        }
    }

    /// Posts a receive slot for the next datagram.
    fn receive(&mut self, slot: usize) -> Result<(), Error> {
        let Some(memory) = self.memory.get_mut(RECEIVES + slot) else {
            return Ok(());
        };
        // Otherwise old content would follow a shorter datagram.
        memory.fill(0);
        let mut place = Self::place(memory, self.key);
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut request: ib::ibv_recv_wr = unsafe { zeroed() };
        request.wr_id = (RECEIVES + slot) as u64;
        request.sg_list = &raw mut place;
        request.num_sge = 1;
        let mut bad = null_mut();
        // SAFETY: the request is read during the call; the slot lives as long as the device.
        let answer = unsafe { ib::ibv_post_recv(self.qp.as_ptr(), &raw mut request, &raw mut bad) };
        check("a receive", answer)
    }

    /// Sends a datagram.
    pub(super) fn send(&mut self, target: Target, outgoing: &Outgoing) -> Result<(), Refusal> {
        let slot = self.sends.iter().position(Option::is_none);
        let slot = slot.ok_or(Refusal::Full)?;
        let handle = self
            .handles
            .get(target.gid, (outgoing.port, outgoing.dscp), outgoing.sent);
        let handle = handle.ok_or(Refusal::Unreachable)?;
        let (Some(send), Some(memory)) = (self.sends.get_mut(slot), self.memory.get_mut(slot)) else {
            return Err(Refusal::Full);
        };
        let (memory, _) = memory.split_at_mut(LEN);
        memory.copy_from_slice(&Payload::from(outgoing).write());
        let mut place = Self::place(memory, self.key);
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut request: ib::ibv_send_wr = unsafe { zeroed() };
        request.wr_id = slot as u64;
        request.sg_list = &raw mut place;
        request.num_sge = 1;
        request.opcode = ib::IBV_WR_SEND;
        request.wr.ud = ib::ibv_send_wr_ud {
            ah: handle.as_ptr(),
            remote_qpn: target.queue_pair,
            remote_qkey: QUEUE_KEY,
        };
        let mut bad = null_mut();
        // SAFETY: the request is read during the call; the slot lives as long as the device.
        match unsafe { ib::ibv_post_send(self.qp.as_ptr(), &raw mut request, &raw mut bad) } {
            0 => {
                *send = Some((*outgoing, now()));
                Ok(())
            }
            libc::ENOMEM => Err(Refusal::Full),
            _ => Err(Refusal::Other),
        }
    }

    /// Returns the completions of the device; its channel must be readable.
    pub(super) fn take(
        &mut self,
        nic: NicIndex,
        departures: &mut Vec<Event>,
        arrivals: &mut Vec<Event>,
    ) -> Result<(), Error> {
        self.queue.take_event()?;
        let mut completions = Vec::new();
        self.queue.completions(usize::MAX, &mut completions)?;
        let now = now();
        let mut has_failed = false;
        for completion in completions {
            has_failed |= !completion.is_good;
            let number = completion.number as usize;
            match number.checked_sub(RECEIVES) {
                None => departures.extend(self.sent(number, &completion)),
                Some(slot) if completion.is_good => {
                    arrivals.push(self.arrived(number, nic, &completion, now));
                    self.receive(slot)?;
                }
                // The queue pair is reset, which also posts the slot again.
                Some(_) => {}
            }
        }
        if has_failed {
            self.restart(departures)?;
        }
        Ok(())
    }

    fn sent(&mut self, slot: usize, completion: &Completion) -> Option<Event> {
        let (outgoing, posted) = self.sends.get_mut(slot)?.take()?;
        Some(if completion.is_good {
            Event::Sent {
                payload: Payload::from(&outgoing),
                nic_sent: completion.stamp.map_or(posted, Nanos),
            }
        } else {
            refused(outgoing)
        })
    }

    fn arrived(&self, number: usize, nic: NicIndex, completion: &Completion, now: Nanos) -> Event {
        let memory = self.memory.get(number);
        let payload = memory.and_then(|memory| memory.get(ROUTE_BYTES..));
        match payload.and_then(Payload::read) {
            Some(payload) => Event::Arrived {
                nic,
                payload,
                from: None,
                // A device drops datagrams with a wrong ICRC.
                intact: true,
                nic_received: Some(completion.stamp.map_or(now, Nanos)),
                received: now,
            },
            None => Event::Stranger,
        }
    }

    /// Resets a failed queue pair, which no longer sends or receives. Its datagrams in flight did not leave, or no
    /// completion will report it.
    fn restart(&mut self, departures: &mut Vec<Event>) -> Result<(), Error> {
        self.enter(ib::IBV_QPS_RESET, ib::IBV_QP_STATE)?;
        let flushed = self.sends.iter_mut().filter_map(Option::take);
        departures.extend(flushed.map(|(outgoing, _)| refused(outgoing)));
        self.connect()
    }
}

const fn refused(outgoing: Outgoing) -> Event {
    Event::Refused {
        outgoing,
        why: Refusal::QueuePair,
    }
}
