//! Frames of an RDMA device, in both directions: traffic that bypasses the kernel, on the host that has it.
//!
//! A queue pair for raw packets gets a *sniffer* flow: the device copies every frame of the port to it, and the original goes
//! where it would have gone. `mlx5` (`ConnectX`) has such flows, and `bnxt_re` of current kernels. What the device has no receive for,
//! it drops; `hw_counters/out_of_buffer` counts that.
//!
//! | module | contents |
//! |---|---|
//! | `port` | ports, by name |
//! | `dropped` | frames that the device dropped |
//!
//! **Not yet tried on a NIC**: no RDMA device was available. The tests run it against a test double of libibverbs.

mod dropped;
mod port;

pub use port::SnifferPort;

use crate::af_packet::{Drops, now_ns};
use crate::file::Frame;
use dropped::Dropped;
use rocescope_ibverbs::{self as ib, Completion, OpenDevice, Queue, Stamping};
use rocescope_wire::{FrameLengths, LinkType};
use std::io;
use std::mem::{ManuallyDrop, zeroed};
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

/// Receives that wait for frames: 28 ms of full frames at 10 Gbit/s, 0.7 ms at 400 Gbit/s; 72 MiB.
const DEPTH: usize = 8_192;
/// The room for a frame: a jumbo frame of 9,000 bytes with its headers.
const SLOT: usize = 9_216;
/// Frames that are read before their receives are posted again.
const BURST: usize = 256;

/// Why an RDMA device does not deliver frames.
#[derive(Debug, thiserror::Error)]
pub enum SnifferError {
    /// There is no such device or port.
    #[error("{0}")]
    NoDevice(String),
    /// The device or its driver has no sniffer flows.
    #[error("{0} has no sniffer flow: mlx5 has, and bnxt_re of current kernels; a mirror port shows the same traffic")]
    Unsupported(String),
    /// A call failed.
    #[error("{what}")]
    Verbs {
        /// What it was for.
        what: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A receive failed: the queue pair is unusable.
    #[error("the device failed a receive: the frames that follow are not captured")]
    Receive,
}

impl From<ib::Error> for SnifferError {
    fn from(error: ib::Error) -> Self {
        Self::Verbs {
            what: error.what,
            source: error.source,
        }
    }
}

/// The frames of a port.
#[derive(Debug)]
pub struct Sniffer {
    /// `None` once it is stopped.
    flow: Option<NonNull<ib::ibv_flow>>,
    qp: NonNull<ib::ibv_qp>,
    region: NonNull<ib::ibv_mr>,
    queue: ManuallyDrop<Queue>,
    domain: NonNull<ib::ibv_pd>,
    /// Slots, which the device writes.
    memory: Vec<u8>,
    key: u32,
    /// What has completed and is not yet delivered.
    completed: Vec<Completion>,
    /// Frames since one call that found no more: these had arrived at once.
    behind: usize,
    interface: u32,
    dropped: Dropped,
    /// Closed after all the others.
    device: OpenDevice,
}

// SAFETY: libibverbs is thread-safe, and all pointers are its objects.
unsafe impl Send for Sniffer {}

impl Sniffer {
    /// Lets the device copy every frame of the port from now on. This needs `CAP_NET_RAW`; no later call does.
    ///
    /// # Errors
    /// [`SnifferError::Unsupported`], or the device or the kernel refuses.
    pub fn open(port: SnifferPort) -> Result<Self, SnifferError> {
        let SnifferPort {
            device,
            port,
            interface,
        } = port;
        let queue = match Queue::stamped(device.context, DEPTH as u32)? {
            // Ticks count from an unknown time.
            Some(queue) if queue.stamping() == Stamping::WallClock => queue,
            Some(queue) => {
                queue.close()?;
                Queue::plain(device.context, DEPTH as u32)?
            }
            None => Queue::plain(device.context, DEPTH as u32)?,
        };
        let mut memory = vec![0u8; DEPTH * SLOT];
        // SAFETY: every call gets the objects of earlier calls, all of which stay open.
        let (domain, qp, region) = unsafe {
            let domain = ib::ibv_alloc_pd(device.context.as_ptr());
            let domain = NonNull::new(domain).ok_or_else(|| ib::Error::last("a protection domain"))?;
            let mut attributes: ib::ibv_qp_init_attr = zeroed();
            attributes.send_cq = queue.cq();
            attributes.recv_cq = queue.cq();
            attributes.qp_type = ib::IBV_QPT_RAW_PACKET;
            attributes.cap.max_recv_wr = DEPTH as u32;
            attributes.cap.max_recv_sge = 1;
            let qp = ib::ibv_create_qp(domain.as_ptr(), &raw mut attributes);
            let qp = NonNull::new(qp).ok_or_else(|| ib::Error::last("a queue pair for raw packets (cap_net_raw)"))?;
            let region = ib::ibv_reg_mr(
                domain.as_ptr(),
                memory.as_mut_ptr().cast(),
                memory.len(),
                ib::IBV_ACCESS_LOCAL_WRITE,
            );
            let region = NonNull::new(region);
            let region = region.ok_or_else(|| ib::Error::last("a memory region (`ulimit -l` bounds its size)"))?;
            (domain, qp, region)
        };
        // From here on dropping it closes all, before the device could write to memory of others.
        let mut sniffer = Self {
            flow: None,
            qp,
            region,
            queue: ManuallyDrop::new(queue),
            domain,
            memory,
            // SAFETY: the region is open, and its key does not change.
            key: unsafe { region.as_ref() }.lkey,
            completed: Vec::new(),
            behind: 0,
            interface,
            dropped: Dropped::begin(&device.name, port),
            device,
        };
        let enter = |state, mask| {
            // SAFETY: a structure of numbers, for which all zeros is valid; the queue pair is open.
            let answer = unsafe {
                let mut attributes: ib::ibv_qp_attr = zeroed();
                attributes.qp_state = state;
                attributes.port_num = port;
                ib::ibv_modify_qp(qp.as_ptr(), &raw mut attributes, ib::IBV_QP_STATE | mask)
            };
            ib::check("the state of a queue pair", answer)
        };
        enter(ib::IBV_QPS_INIT, ib::IBV_QP_PORT)?;
        post(qp, &mut sniffer.memory, sniffer.key, 0..DEPTH)?;
        enter(ib::IBV_QPS_RTR, 0)?;
        let mut attributes = ib::ibv_flow_attr {
            comp_mask: 0,
            kind: ib::IBV_FLOW_ATTR_SNIFFER,
            size: size_of::<ib::ibv_flow_attr>() as u16,
            priority: 0,
            num_of_specs: 0,
            port,
            flags: 0,
        };
        // SAFETY: the queue pair is open, and the attributes are read during the call.
        sniffer.flow = NonNull::new(unsafe { ib::ibv_create_flow(qp.as_ptr(), &raw mut attributes) });
        if sniffer.flow.is_none() {
            let error = ib::Error::last("a sniffer flow (cap_net_raw)");
            return Err(match error.source.raw_os_error() {
                Some(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS) => {
                    SnifferError::Unsupported(sniffer.device.name.clone())
                }
                _ => error.into(),
            });
        }
        sniffer.queue.arm()?;
        Ok(sniffer)
    }

    /// The descriptor, readable when frames have arrived since its last event was taken.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.queue.channel()
    }

    /// Whether the device stamps frames; otherwise the processor does, when it reads them.
    #[must_use]
    pub fn is_stamped(&self) -> bool {
        self.queue.stamping() == Stamping::WallClock
    }

    /// Takes the event of a readable descriptor, and asks for the next one.
    ///
    /// # Errors
    /// The device reports one.
    pub fn take_event(&mut self) -> Result<(), SnifferError> {
        Ok(self.queue.take_event()?)
    }

    /// Delivers up to 256 frames, and returns whether there was one.
    ///
    /// # Errors
    /// A receive failed, or those of `take`; the rest of these frames is then lost.
    pub fn next_frames<E: From<SnifferError>>(
        &mut self,
        mut take: impl FnMut(&Frame<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        self.completed.clear();
        let read = self.queue.completions(BURST, &mut self.completed);
        let now = now_ns();
        let mut taken = Ok(());
        for completion in &self.completed {
            if !completion.is_good {
                return Err(SnifferError::Receive.into());
            }
            let from = completion.number as usize * SLOT;
            let length = completion.bytes as usize;
            let Some(bytes) = self.memory.get(from..from + length).filter(|_| length <= SLOT) else {
                continue;
            };
            let stamp = completion.stamp.and_then(|stamp| u64::try_from(stamp).ok());
            let frame = Frame {
                bytes,
                link: Some(LinkType::Ethernet),
                lengths: FrameLengths {
                    captured: completion.bytes,
                    original: completion.bytes,
                },
                time_ns: stamp.unwrap_or(now),
                interface: self.interface,
            };
            if taken.is_ok() {
                taken = take(&frame);
            }
        }
        let slots: Vec<usize> = self.completed.iter().map(|one| one.number as usize).collect();
        let posted = post(self.qp, &mut self.memory, self.key, slots);
        taken?;
        read.map_err(SnifferError::from)?;
        posted.map_err(SnifferError::from)?;
        self.behind = match self.completed.len() < BURST {
            true => 0,
            false => (self.behind + self.completed.len()).min(DEPTH),
        };
        Ok(!self.completed.is_empty())
    }

    /// Stops the device from copying frames; those that it has copied remain readable.
    ///
    /// # Errors
    /// The device refuses.
    pub fn stop(&mut self) -> Result<(), SnifferError> {
        let Some(flow) = self.flow.take() else {
            return Ok(());
        };
        // SAFETY: the flow is open.
        let answer = unsafe { ib::ibv_destroy_flow(flow.as_ptr()) };
        Ok(ib::check("the end of a sniffer flow", answer)?)
    }

    /// The share of the receives that had a frame when they were last asked for, 0 to 1: at least this much of the buffer is full.
    #[must_use]
    pub fn filled(&self) -> f64 {
        self.behind as f64 / DEPTH as f64
    }

    /// Frames that the device has dropped since the last call, if there are any: an upper bound, since the counter is one of
    /// the device, for all its queue pairs. `None` also where it has no such counter.
    pub fn new_drops(&mut self) -> Option<Drops> {
        self.dropped.take()
    }

    /// Frames that the device has dropped, as of the last [`new_drops`](Self::new_drops).
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped.sum
    }
}

impl Drop for Sniffer {
    fn drop(&mut self) {
        // The results of closing do not matter.
        let _ = self.stop();
        // SAFETY: all are open, in the order in which they use each other.
        unsafe {
            ib::ibv_destroy_qp(self.qp.as_ptr());
            if ib::ibv_dereg_mr(self.region.as_ptr()) != 0 {
                // The device may still write to these pages, so no one else gets them.
                std::mem::forget(std::mem::take(&mut self.memory));
            }
            let _ = ManuallyDrop::take(&mut self.queue).close();
            ib::ibv_dealloc_pd(self.domain.as_ptr());
        }
    }
}

/// Posts receives into these slots, in chains.
fn post(
    qp: NonNull<ib::ibv_qp>,
    memory: &mut [u8],
    key: u32,
    slots: impl IntoIterator<Item = usize>,
) -> Result<(), ib::Error> {
    let mut slots = slots.into_iter();
    loop {
        let mut places: Vec<(u64, ib::ibv_sge)> = slots
            .by_ref()
            .take(BURST)
            .filter_map(|slot| {
                let place = memory.get_mut(slot * SLOT..(slot + 1) * SLOT)?;
                let place = ib::ibv_sge {
                    addr: place.as_mut_ptr().expose_provenance() as u64,
                    length: SLOT as u32,
                    lkey: key,
                };
                Some((slot as u64, place))
            })
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let mut requests: Vec<ib::ibv_recv_wr> = Vec::with_capacity(places.len());
        for (number, place) in &mut places {
            requests.push(ib::ibv_recv_wr {
                wr_id: *number,
                next: null_mut(),
                sg_list: place,
                num_sge: 1,
            });
        }
        let start = requests.as_mut_ptr();
        for at in 1..requests.len() {
            // SAFETY: both are in the list, which does not move any more.
            unsafe { (*start.add(at - 1)).next = start.add(at) };
        }
        let mut bad = null_mut();
        // SAFETY: the requests are read during the call; the slots live as long as the queue pair.
        ib::check("a receive", unsafe {
            ib::ibv_post_recv(qp.as_ptr(), start, &raw mut bad)
        })?;
    }
}
