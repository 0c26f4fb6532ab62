//! The devices, their state and their failures.
//!
//! Tests [`load`](super::load) it in place of the library. It follows the manual pages of rdma-core, and refuses what these do not allow: a
//! queue pair passes through its states in order with the attributes that each requires, one in error flushes posted requests,
//! each requested event arrives once, a datagram without a receive or with another queue key is dropped, a route header
//! precedes each received datagram. Each test has its own double, since each has its own thread.
#![expect(missing_docs, reason = "the names are those of libibverbs, or say it")]

use ib::{IBV_QPS_RTR, IBV_QPS_RTS};
use rocescope_ibverbs as ib;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::CStr;
use std::net::Ipv4Addr;
use std::ptr::null_mut;
use std::time::{SystemTime, UNIX_EPOCH};

pub const GRH: usize = 40;
/// The clock frequency of a device with ticks: ConnectX-5.
pub const KILOHERTZ: u64 = 78_125;
/// The latency from one device to another.
pub const LATENCY: i64 = 5_000;
/// Device, port and interface index.
pub const NICS: [(usize, u32, u32); 3] = [(0, 1, 11), (0, 2, 12), (1, 1, 13)];
pub const NAMES: [&CStr; 2] = [c"mlx5_0", c"mlx5_1"];

pub fn address(nic: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, nic as u8, 1)
}

pub fn gid(nic: usize) -> [u8; 16] {
    address(nic).to_ipv6_mapped().octets()
}

/// The timestamps of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamps {
    WallClock,
    Ticks,
    /// It returns `EOPNOTSUPP`.
    Unsupported,
}

#[derive(Debug)]
pub struct Wc {
    pub number: u64,
    pub status: ib::ibv_wc_status,
    pub bytes: u32,
    pub nanos: i64,
}

#[derive(Debug)]
pub struct Cq {
    pub wall_clock: bool,
    pub event: libc::c_int,
    pub armed: bool,
    pub waiting: VecDeque<Wc>,
    pub reading: Option<Wc>,
}

#[derive(Debug)]
pub struct Qp {
    pub number: u32,
    pub nic: usize,
    pub cq: usize,
    pub state: ib::ibv_qp_state,
    pub key: u32,
    pub receives: VecDeque<(u64, ib::ibv_sge)>,
    /// The PSN of its first request.
    pub psn: u32,
    /// For RC: what it was connected with.
    pub peer: Option<Peer>,
    pub is_connected: bool,
    /// It takes frames.
    pub is_raw: bool,
}

/// The peer of an RC queue pair.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub gid: [u8; 16],
    pub number: u32,
    /// The PSN that is expected of it.
    pub psn: u32,
    pub mtu: u32,
}

/// A flow that copies all frames of a port.
#[derive(Debug)]
pub struct Flow {
    pub device: usize,
    pub port: u32,
    pub qp: usize,
}

/// Registered memory.
#[derive(Clone, Copy, Debug)]
pub struct Mr {
    pub key: u32,
    pub address: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Ah {
    pub gid: [u8; 16],
    pub flow_label: u32,
}

/// The state of one test. Tests read and change the `pub(crate)` fields.
#[derive(Debug)]
pub struct Double {
    /// The error of the device list.
    pub no_list: Option<libc::c_int>,
    /// A device that does not open.
    pub closed: Option<usize>,
    /// The interface of all ports, in place of those of [`NICS`].
    pub interface: Option<u32>,
    /// The devices have no sniffer flows.
    pub no_sniffer: bool,
    pub stamps: [Stamps; 2],
    /// The lead of each device's clock.
    pub ahead: [i64; 2],
    /// The number of datagrams that the fabric loses from now on.
    pub lose: u32,
    /// The number of sends that leave without a completion.
    pub lose_completions: u32,
    /// The number of sends that fail, and with them their queue pair.
    pub fail: u32,
    /// A NIC whose next hop does not answer.
    pub deaf: Option<usize>,
    pub handles_asked: u32,
    /// UDP source port and payload of every departed datagram.
    pub wire: Vec<(u16, Vec<u8>)>,
    /// The device of each context.
    pub contexts: BTreeMap<usize, usize>,
    pub cqs: BTreeMap<usize, Cq>,
    pub qps: BTreeMap<usize, Qp>,
    pub ahs: BTreeMap<usize, Ah>,
    pub mrs: BTreeMap<usize, Mr>,
    pub flows: BTreeMap<usize, Flow>,
    /// Contexts, protection domains and channels that are open.
    pub open: usize,
}

thread_local! {
    static DOUBLE: RefCell<Double> = const { RefCell::new(Double::new()) };
}

pub fn with<T>(look: impl FnOnce(&mut Double) -> T) -> T {
    DOUBLE.with_borrow_mut(look)
}

pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_nanos() as i64
}

impl Double {
    const fn new() -> Self {
        Self {
            no_list: None,
            closed: None,
            interface: None,
            no_sniffer: false,
            stamps: [Stamps::WallClock; 2],
            ahead: [0; 2],
            lose: 0,
            lose_completions: 0,
            fail: 0,
            deaf: None,
            handles_asked: 0,
            wire: Vec::new(),
            contexts: BTreeMap::new(),
            cqs: BTreeMap::new(),
            qps: BTreeMap::new(),
            ahs: BTreeMap::new(),
            mrs: BTreeMap::new(),
            flows: BTreeMap::new(),
            open: 0,
        }
    }

    pub fn complete(&mut self, cq: usize, number: u64, status: u32, nanos: i64) {
        self.complete_with(cq, number, status, nanos, 0);
    }

    pub fn complete_with(&mut self, cq: usize, number: u64, status: u32, nanos: i64, bytes: u32) {
        let cq = self.cqs.get_mut(&cq).unwrap();
        cq.waiting.push_back(Wc {
            number,
            status,
            bytes,
            nanos,
        });
        if std::mem::take(&mut cq.armed) {
            // SAFETY: eight bytes, which an event counter accepts at once.
            let written = unsafe { libc::write(cq.event, (&raw const ONE).cast(), 8) };
            assert_eq!(written, 8);
        }
    }

    /// Fails a queue pair: its posted requests are flushed.
    pub fn fail(&mut self, qp: usize, number: u64, status: u32) {
        use ib::IBV_WC_WR_FLUSH_ERR;
        let failed = self.qps.get_mut(&qp).unwrap();
        failed.state = ib::IBV_QPS_ERR;
        let cq = failed.cq;
        let flushed = std::mem::take(&mut failed.receives);
        self.complete(cq, number, status, 0);
        for (number, _) in flushed {
            self.complete(cq, number, IBV_WC_WR_FLUSH_ERR, 0);
        }
    }

    /// Delivers a datagram to the port with this GID.
    pub fn arrive(&mut self, gid: [u8; 16], number: u32, key: u32, bytes: &[u8], at: i64) {
        let mut qps = self.qps.values_mut();
        let found = qps.find(|qp| qp.number == number && self::gid(qp.nic) == gid);
        let Some(qp) = found else {
            return;
        };
        if ![IBV_QPS_RTR, IBV_QPS_RTS].contains(&qp.state) || qp.key != key {
            return;
        }
        let Some((number, place)) = qp.receives.pop_front() else {
            return;
        };
        // With IPv4 the first half of the header stays unchanged.
        let mut written = vec![0x45; GRH / 2];
        written.extend_from_slice(bytes);
        assert!(GRH / 2 + written.len() <= place.length as usize);
        let to = std::ptr::with_exposed_provenance_mut::<u8>(place.addr as usize + GRH / 2);
        // SAFETY: the backend has posted this number of bytes for the device to write.
        unsafe { to.copy_from_nonoverlapping(written.as_ptr(), written.len()) };
        let (cq, nic) = (qp.cq, qp.nic);
        let at = at + self.ahead[NICS[nic].0];
        self.complete(cq, number, ib::IBV_WC_SUCCESS, at);
    }

    /// The number of the queue pair of a NIC.
    pub fn queue_pair(&self, nic: usize) -> u32 {
        let found = self.qps.values().find(|qp| qp.nic == nic);
        found.unwrap().number
    }
}

static ONE: u64 = 1;

/// Leaks a structure of the library, zeroed except for the fields that `fill` sets.
pub fn leak<T>(fill: impl FnOnce(&mut T)) -> *mut T {
    // SAFETY: structures of numbers, pointers and optional functions, for which all zeros is valid.
    let mut made = Box::new(unsafe { std::mem::zeroed::<T>() });
    fill(&mut made);
    Box::into_raw(made)
}

pub fn fail<T>(errno: libc::c_int) -> *mut T {
    // SAFETY: the location belongs to this thread.
    unsafe { *libc::__errno_location() = errno };
    null_mut()
}
