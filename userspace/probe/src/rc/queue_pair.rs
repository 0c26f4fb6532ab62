//! An RC queue pair.

use super::completion::{Completion, Completions, Kind, number};
use super::{Device, Error, Region, Window, check};
use rocescope_ibverbs as ib;
use std::mem::zeroed;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};
use std::time::{Duration, Instant};

/// How long a peer waits that found no receive: 12 is 0.64 ms.
const RNR_TIMER: u8 = 12;
/// READs in flight in each direction.
const READS: u8 = 1;
const HOP_LIMIT: u8 = 64;

/// How a queue pair sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The maximum of operations in flight, and of receives that are posted.
    pub depth: u32,
    /// The PSN of its first request, of 24 bits. Another one than its predecessor's keeps late packets apart.
    pub first_psn: u32,
    /// Selects the UDP source port where the driver allows it ([`source_port`](rocescope_model::source_port)), of 20 bits;
    /// 0: the driver chooses.
    pub flow_label: u32,
    /// The traffic class: DSCP and ECN.
    pub traffic_class: u8,
    /// A request is repeated when no answer came within 4.096 µs * 2^`timeout`.
    pub timeout: u8,
    /// How often it is repeated before it fails: at most 7.
    pub retries: u8,
}

impl Default for Options {
    /// 64 operations, 67 ms before a request is repeated, 7 times.
    fn default() -> Self {
        Self {
            depth: 64,
            first_psn: 0,
            flow_label: 0,
            traffic_class: 0,
            timeout: 14,
            retries: 7,
        }
    }
}

/// What a peer needs to know of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The GID of its port.
    pub gid: [u8; 16],
    /// The number of the queue pair.
    pub number: u32,
    /// The PSN of its first request.
    pub first_psn: u32,
    /// The active MTU of its port in bytes.
    pub mtu: u32,
}

/// What a queue pair asks of its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sends to the peer's next receive.
    Send,
    /// Writes to the peer's memory.
    Write(Window),
    /// Reads from the peer's memory.
    Read(Window),
}

/// A queue pair with a completion queue of its own.
#[derive(Debug)]
pub struct QueuePair {
    qp: NonNull<ib::ibv_qp>,
    completions: Completions,
    options: Options,
    device: Device,
}

// SAFETY: libibverbs is thread-safe.
unsafe impl Send for QueuePair {}

impl QueuePair {
    /// Creates a queue pair that may take receives; [`connect`](Self::connect) it to a peer's.
    ///
    /// # Errors
    /// The device has no resources left.
    pub fn new(device: &Device, options: &Options) -> Result<Self, Error> {
        let completions = Completions::new(device, options.depth.saturating_mul(2))?;
        // SAFETY: structures of numbers and pointers, for which all zeros is valid; domain and queue are open.
        let qp = unsafe {
            let mut attributes: ib::ibv_qp_init_attr = zeroed();
            attributes.send_cq = completions.queue();
            attributes.recv_cq = completions.queue();
            attributes.qp_type = ib::IBV_QPT_RC;
            attributes.sq_sig_all = 1;
            attributes.cap.max_send_wr = options.depth;
            attributes.cap.max_recv_wr = options.depth;
            attributes.cap.max_send_sge = 1;
            attributes.cap.max_recv_sge = 1;
            ib::ibv_create_qp(device.domain(), &raw mut attributes)
        };
        let mut pair = Self {
            qp: NonNull::new(qp).ok_or_else(|| Error::last("a queue pair"))?,
            completions,
            options: *options,
            device: device.clone(),
        };
        pair.initialize()?;
        Ok(pair)
    }

    /// Creates two queue pairs of one port that are connected to each other.
    ///
    /// # Errors
    /// Those of [`new`](Self::new) and [`connect`](Self::connect).
    pub fn loopback(device: &Device, options: &Options) -> Result<(Self, Self), Error> {
        let (mut first, mut second) = (Self::new(device, options)?, Self::new(device, options)?);
        first.connect(&second.address())?;
        second.connect(&first.address())?;
        Ok((first, second))
    }

    /// What the peer needs to know.
    #[must_use]
    pub fn address(&self) -> Address {
        Address {
            gid: self.device.gid(),
            // SAFETY: the queue pair is open; its number does not change.
            number: unsafe { self.qp.as_ref() }.qp_num,
            first_psn: self.options.first_psn,
            mtu: self.device.mtu(),
        }
    }

    /// RESET to INIT.
    fn initialize(&mut self) -> Result<(), Error> {
        // SAFETY: a structure of numbers, for which all zeros is valid, including the first key of the partition table.
        let mut attributes: ib::ibv_qp_attr = unsafe { zeroed() };
        attributes.qp_state = ib::IBV_QPS_INIT;
        attributes.port_num = self.device.port();
        attributes.qp_access_flags = (ib::IBV_ACCESS_REMOTE_WRITE | ib::IBV_ACCESS_REMOTE_READ).cast_unsigned();
        let mask = ib::IBV_QP_PKEY_INDEX | ib::IBV_QP_PORT | ib::IBV_QP_ACCESS_FLAGS;
        self.enter(&mut attributes, mask)
    }

    /// Connects it to a peer's, after which both may send: INIT to RTR to RTS. The kernel asks for the MAC address of
    /// the next hop, and blocks for up to a second if that does not answer.
    ///
    /// # Errors
    /// The next hop does not answer, or the queue pair is connected already.
    pub fn connect(&mut self, peer: &Address) -> Result<(), Error> {
        // SAFETY: a structure of numbers, for which all zeros is valid.
        let mut attributes: ib::ibv_qp_attr = unsafe { zeroed() };
        attributes.qp_state = ib::IBV_QPS_RTR;
        // 256 bytes is 1, and each next one twice as many.
        let mtu = peer.mtu.min(self.device.mtu()).clamp(256, 4096);
        attributes.path_mtu = mtu.ilog2() - 7;
        attributes.dest_qp_num = peer.number;
        attributes.rq_psn = peer.first_psn;
        attributes.max_dest_rd_atomic = READS;
        attributes.min_rnr_timer = RNR_TIMER;
        attributes.ah_attr.is_global = 1;
        attributes.ah_attr.port_num = self.device.port();
        attributes.ah_attr.grh.dgid = ib::ibv_gid { raw: peer.gid };
        attributes.ah_attr.grh.sgid_index = self.device.gid_index();
        attributes.ah_attr.grh.hop_limit = HOP_LIMIT;
        attributes.ah_attr.grh.flow_label = self.options.flow_label;
        attributes.ah_attr.grh.traffic_class = self.options.traffic_class;
        let address = ib::IBV_QP_AV | ib::IBV_QP_PATH_MTU | ib::IBV_QP_DEST_QPN | ib::IBV_QP_RQ_PSN;
        let mask = address | ib::IBV_QP_MAX_DEST_RD_ATOMIC | ib::IBV_QP_MIN_RNR_TIMER;
        self.enter(&mut attributes, mask)?;

        attributes.qp_state = ib::IBV_QPS_RTS;
        attributes.timeout = self.options.timeout;
        attributes.retry_cnt = self.options.retries;
        attributes.rnr_retry = self.options.retries;
        attributes.sq_psn = self.options.first_psn;
        attributes.max_rd_atomic = READS;
        let retries = ib::IBV_QP_TIMEOUT | ib::IBV_QP_RETRY_CNT | ib::IBV_QP_RNR_RETRY;
        self.enter(
            &mut attributes,
            retries | ib::IBV_QP_SQ_PSN | ib::IBV_QP_MAX_QP_RD_ATOMIC,
        )
    }

    fn enter(&mut self, attributes: &mut ib::ibv_qp_attr, mask: ib::ibv_qp_attr_mask) -> Result<(), Error> {
        let mask = mask | ib::IBV_QP_STATE;
        // SAFETY: the queue pair is open, and the call reads only the fields in the mask.
        let answer = unsafe { ib::ibv_modify_qp(self.qp.as_ptr(), attributes, mask) };
        check("the state of a queue pair", answer)
    }

    /// Posts an operation on a range of a region: what SEND and WRITE take, and where READ puts what it gets. The
    /// number comes back in its completion.
    ///
    /// # Errors
    /// The range is outside of the region, or [`Options::depth`] operations are in flight.
    pub fn post(&mut self, operation: Operation, region: &Region, range: Range<usize>, with: u32) -> Result<(), Error> {
        use ib::{IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE, IBV_WR_SEND};
        let mut part = region.part(&range)?;
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut request: ib::ibv_send_wr = unsafe { zeroed() };
        request.wr_id = number(Kind::Operation, with);
        request.sg_list = &raw mut part;
        request.num_sge = 1;
        let (opcode, window) = match operation {
            Operation::Send => (IBV_WR_SEND, None),
            Operation::Write(window) => (IBV_WR_RDMA_WRITE, Some(window)),
            Operation::Read(window) => (IBV_WR_RDMA_READ, Some(window)),
        };
        request.opcode = opcode;
        if let Some(window) = window {
            request.wr.rdma = ib::ibv_send_wr_rdma {
                remote_addr: window.address,
                rkey: window.key,
            };
        }
        let mut bad = null_mut();
        // SAFETY: the request is read during the call. The device stops using the memory before the region closes.
        let answer = unsafe { ib::ibv_post_send(self.qp.as_ptr(), &raw mut request, &raw mut bad) };
        check("an operation", answer)
    }

    /// Posts a range of a region for a SEND of the peer.
    ///
    /// # Errors
    /// The range is outside of the region, or [`Options::depth`] receives are posted.
    pub fn post_receive(&mut self, region: &Region, range: Range<usize>, with: u32) -> Result<(), Error> {
        let mut part = region.part(&range)?;
        // SAFETY: a structure of numbers and pointers, for which all zeros is valid.
        let mut request: ib::ibv_recv_wr = unsafe { zeroed() };
        request.wr_id = number(Kind::Receive, with);
        request.sg_list = &raw mut part;
        request.num_sge = 1;
        let mut bad = null_mut();
        // SAFETY: as in `post`.
        let answer = unsafe { ib::ibv_post_recv(self.qp.as_ptr(), &raw mut request, &raw mut bad) };
        check("a receive", answer)
    }

    /// Returns the next completion, if something has completed.
    ///
    /// # Errors
    /// [`Error::Failed`], or the device is gone.
    pub fn poll(&mut self) -> Result<Option<Completion>, Error> {
        self.completions.next()
    }

    /// Waits for the next completion: 100 µs on the processor, then asleep.
    ///
    /// # Errors
    /// [`Error::Timeout`], and those of [`poll`](Self::poll).
    pub fn wait(&mut self, limit: Duration) -> Result<Completion, Error> {
        self.completions.wait(limit)
    }

    /// Runs one operation, and returns how long it took: from the call that posts it to its completion, as this process
    /// sees it. No other operation may be in flight; receives that complete meanwhile are dropped.
    ///
    /// # Errors
    /// Those of [`post`](Self::post) and [`wait`](Self::wait). After a timeout the operation is still in flight: drop
    /// the queue pair.
    pub fn run(
        &mut self,
        operation: Operation,
        region: &Region,
        range: Range<usize>,
        limit: Duration,
    ) -> Result<Duration, Error> {
        let start = Instant::now();
        self.post(operation, region, range, 0)?;
        loop {
            let rest = limit.saturating_sub(start.elapsed());
            let completion = match self.wait(rest) {
                Err(Error::Timeout { .. }) => return Err(Error::Timeout { limit }),
                other => other?,
            };
            if completion.kind == Kind::Operation {
                return Ok(start.elapsed());
            }
        }
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        // SAFETY: it is open; what is in flight ends without a completion. The result of closing does not matter.
        unsafe { ib::ibv_destroy_qp(self.qp.as_ptr()) };
    }
}
