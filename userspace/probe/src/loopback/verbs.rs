//! Tests over RC queue pairs: two of one port, connected to each other. The NIC reads the message from memory of the
//! endpoint and writes it there.

use super::plan::Pair;
use super::{Backend, Failure, PACKET, Writes};
use crate::rc::{Device, Kind, Memory, Operation, Options, QueuePair, Region};
use crate::types::Nanos;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::collections::BTreeMap;
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// Bytes of the source and of the target: more than the part of a processor's cache that NICs write to, so that messages
/// reach the memory.
const BYTES: usize = 16 << 20;

/// 1.07 s, longer than a test waits for a message: on a slow link nothing is lost, and a repeated message would count as
/// traffic of others.
const TIMEOUT: u8 = 18;

/// How long the processor asks for a completion before it lets other threads run.
const SPIN: Duration = Duration::from_micros(100);

/// Opened RDMA devices.
#[derive(Debug)]
pub struct Verbs {
    devices: BTreeMap<String, Device>,
    /// The processors near each NIC.
    processors: BTreeMap<String, Vec<u32>>,
    begun: Instant,
    open: Option<Connection>,
    /// The processors of the thread before a test.
    before: Option<CpuSet>,
    /// Tests so far, which gives each connection PSNs of its own.
    tests: u32,
}

#[derive(Debug)]
struct Connection {
    requester: QueuePair,
    _responder: QueuePair,
    source: Region,
    target: Region,
    writes: Writes,
    /// Payload of a packet in bytes.
    mtu: u64,
    /// Messages in flight of an earlier start, and of this one.
    earlier: u32,
    in_flight: u32,
    at: usize,
    /// When a message completed last.
    last: Duration,
}

impl Verbs {
    /// Opens these devices, each with the processors near it. It needs permission to open `/dev/infiniband/uverbs*`, and
    /// each test locks 32 MiB of memory.
    ///
    /// # Errors
    /// libibverbs does not load, or a device does not open.
    pub fn open(nics: impl IntoIterator<Item = (String, Vec<u32>)>) -> Result<Self, Failure> {
        let (mut devices, mut processors) = (BTreeMap::new(), BTreeMap::new());
        for (nic, near) in nics {
            let device = Device::open(&nic, 1)?;
            devices.insert(nic.clone(), device);
            processors.insert(nic, near);
        }
        Ok(Self {
            devices,
            processors,
            begun: Instant::now(),
            open: None,
            before: None,
            tests: 0,
        })
    }

    /// Runs this thread near the NIC. Where the host does not allow that, latencies are a little longer.
    fn move_to(&mut self, nic: &str) {
        let mut set = CpuSet::new();
        for processor in self.processors.get(nic).into_iter().flatten() {
            let at = *processor as usize;
            if at < CpuSet::MAX_CPU {
                set.set(at);
            }
        }
        if let (Ok(before), true) = (sched_getaffinity(None), set.count() > 0)
            && sched_setaffinity(None, &set).is_ok()
        {
            self.before.get_or_insert(before);
        }
    }
}

impl Backend for Verbs {
    fn name(&self) -> &'static str {
        "verbs"
    }

    fn now(&mut self) -> Nanos {
        self.begun.elapsed().into()
    }

    fn open(&mut self, pair: &Pair) -> Result<(), Failure> {
        let Some(node) = node(&pair.endpoint) else {
            return Err(Failure(
                "GPU memory is not measured: a test needs a dma-buf of the GPU's driver, which only programs of that driver get; add the output of perftest's `--use_cuda_dmabuf` with `hostping diagnose --matrix`"
                    .into(),
            ));
        };
        let device = self.devices.get(&pair.nic).cloned();
        let device = device.ok_or_else(|| Failure("the device is not open".into()))?;
        self.move_to(&pair.nic);
        self.tests = self.tests.wrapping_add(1);
        let options = Options {
            timeout: TIMEOUT,
            first_psn: self.tests.wrapping_mul(0x1_0001) & 0xff_ffff,
            ..Options::default()
        };
        let region = || Region::register(&device, Memory::on_node(BYTES, node)?);
        let (source, target) = (region()?, region()?);
        let (requester, responder) = QueuePair::loopback(&device, &options)?;
        self.open = Some(Connection {
            requester,
            _responder: responder,
            source,
            target,
            writes: Writes { size: 0, depth: 0 },
            mtu: device.mtu().into(),
            earlier: 0,
            in_flight: 0,
            at: 0,
            last: self.begun.elapsed(),
        });
        Ok(())
    }

    fn packet_bytes(&self) -> u64 {
        self.open.as_ref().map_or(PACKET, |connection| connection.mtu)
    }

    fn start(&mut self, writes: Writes) -> Result<(), Failure> {
        let connection = self.open.as_mut().ok_or_else(|| Failure("no pair is open".into()))?;
        connection.earlier += connection.in_flight;
        connection.in_flight = 0;
        connection.writes = writes;
        connection.fill()
    }

    fn poll(&mut self) -> Result<Option<Nanos>, Failure> {
        let Some(connection) = &mut self.open else {
            return Ok(None);
        };
        let completion = connection.requester.poll()?;
        let now = self.begun.elapsed();
        if completion.is_none_or(|completion| completion.kind != Kind::Operation) {
            // A software device needs this processor.
            if now.saturating_sub(connection.last) > SPIN {
                yield_now();
            }
            return Ok(None);
        }
        connection.last = now;
        // Messages of a queue pair complete in their order.
        if connection.earlier > 0 {
            connection.earlier -= 1;
            return Ok(None);
        }
        connection.in_flight = connection.in_flight.saturating_sub(1);
        connection.fill()?;
        Ok(Some(now.into()))
    }

    fn close(&mut self) {
        self.open = None;
        if let Some(before) = self.before.take() {
            // Otherwise the thread stays where it is, which only costs speed.
            let _ = sched_setaffinity(None, &before);
        }
    }
}

impl Connection {
    /// Posts messages until enough are in flight.
    fn fill(&mut self) -> Result<(), Failure> {
        let size = usize::try_from(self.writes.size).unwrap_or(BYTES).clamp(1, BYTES);
        while self.in_flight < self.writes.depth {
            if self.at + size > BYTES {
                self.at = 0;
            }
            let write = Operation::Write(self.target.window().skip(self.at as u64));
            let range = self.at..self.at + size;
            self.requester.post(write, &self.source, range, 0)?;
            // Each message has cache lines of its own.
            self.at += size.next_multiple_of(64);
            self.in_flight += 1;
        }
        Ok(())
    }
}

impl From<crate::rc::Error> for Failure {
    fn from(error: crate::rc::Error) -> Self {
        Self(error.to_string())
    }
}

/// The NUMA node of `mem1`.
fn node(endpoint: &str) -> Option<usize> {
    endpoint.strip_prefix("mem")?.parse().ok()
}
