//! A thread that reads the rings, so that they never wait for what happens to their runs.
//!
//! It copies batches into a queue and does nothing else: closing a window, encoding and syncing it may take the time
//! in which a ring fills. The queue is bounded. When it is full, the thread stops reading, and runs that the rings
//! cannot hold are lost and counted there, as those of any full ring.

use super::error::Error;
use super::rings::{self, RingMaps};
use rocescope_record::batch::Batch;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// Pause if the rings are empty. Filling a ring of 32 MiB in this time requires 130 million runs per second.
const PAUSE: Duration = Duration::from_millis(2);
/// Batches taken by one call, 64 MiB: between two calls the capture ends windows and reacts to signals.
const BATCHES_PER_TAKE: usize = 16_384;
/// Emptied chunks kept for the next batches: 64 MiB.
const SPARE_CHUNKS: usize = 64;

/// The thread, and the queue behind it.
#[derive(Debug)]
pub(super) struct Reader {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<RingMaps>>,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    /// There is room in the queue, or the end has begun.
    room: Condvar,
    /// Batches that the queue may hold.
    limit: usize,
    /// The queue may grow beyond its limit: the end has begun, and the rest must be read.
    unlimited: AtomicBool,
    stop: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    chunks: VecDeque<Chunk>,
    /// Batches in all chunks.
    batches: usize,
    spare: Vec<Vec<Batch>>,
    /// How often the thread waited for room.
    full: u64,
}

/// Batches of one ring, in their order.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) batches: Vec<Batch>,
    /// All runs that began before this time are in this chunk and those before it; nanoseconds since the epoch.
    pub(super) watermark_ns: u64,
    /// Bytes in the ring that are not a batch.
    pub(super) unreadable: u64,
}

impl Reader {
    /// Starts the thread over `rings`. `watermark` is that of the flush thread; the queue holds at most `bytes`.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(rings: RingMaps, watermark: Arc<AtomicU64>, bytes: usize) -> Result<Self, Error> {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            room: Condvar::new(),
            limit: (bytes / size_of::<Batch>()).max(rings::BATCHES_PER_TURN),
            unlimited: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("rings".into())
            .spawn(move || of_thread.read(rings, &watermark))
            .map_err(|error| Error::Thread(error.to_string()))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Passes the oldest chunks of the queue to `take`, some tens of MiB at most. Returns whether there were batches.
    ///
    /// # Errors
    /// The thread has ended.
    pub(super) fn take(&mut self, mut take: impl FnMut(&Chunk)) -> Result<bool, Error> {
        if self.thread.as_ref().is_none_or(JoinHandle::is_finished) {
            return Err(Error::Thread("the reader of the rings has ended".into()));
        }
        let mut some = false;
        let mut taken = 0;
        while taken < BATCHES_PER_TAKE {
            let Some(mut chunk) = self.shared.pop() else {
                break;
            };
            taken += chunk.batches.len();
            some |= !chunk.batches.is_empty();
            take(&chunk);
            chunk.batches.clear();
            self.shared.give_back(chunk.batches);
        }
        Ok(some)
    }

    /// The share of the queue that is filled, 0 to 1.
    pub(super) fn filled(&self) -> f64 {
        (self.shared.queue().batches as f64 / self.shared.limit as f64).min(1.0)
    }

    /// How often the queue was full.
    pub(super) fn times_full(&self) -> u64 {
        self.shared.queue().full
    }

    /// Lifts the limit of the queue, so that the thread reads all that is left.
    pub(super) fn lift_limit(&self) {
        self.shared.unlimited.store(true, Ordering::Relaxed);
        self.shared.room.notify_all();
    }

    /// Reads the rings to their end and ends the thread; passes the rest of the queue to `take`. Returns the rings.
    ///
    /// # Errors
    /// The thread has panicked.
    pub(super) fn finish(mut self, mut take: impl FnMut(&Chunk)) -> Result<RingMaps, Error> {
        self.lift_limit();
        self.shared.stop.store(true, Ordering::Release);
        let Some(Ok(rings)) = self.thread.take().map(JoinHandle::join) else {
            return Err(Error::Thread("the reader of the rings has panicked".into()));
        };
        while let Some(chunk) = self.shared.pop() {
            take(&chunk);
        }
        Ok(rings)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.lift_limit();
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // Its result no longer matters.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        // No code that can panic runs under the lock.
        match self.queue.lock() {
            Ok(held) => held,
            Err(poisoned) => poisoned.into_inner(),
        }
    }

    fn pop(&self) -> Option<Chunk> {
        let mut queue = self.queue();
        let chunk = queue.chunks.pop_front()?;
        queue.batches -= chunk.batches.len();
        drop(queue);
        self.room.notify_one();
        Some(chunk)
    }

    fn give_back(&self, batches: Vec<Batch>) {
        let mut queue = self.queue();
        if batches.capacity() > 0 && queue.spare.len() < SPARE_CHUNKS {
            queue.spare.push(batches);
        }
    }

    /// Memory for a chunk.
    fn spare(&self) -> Vec<Batch> {
        let spare = self.queue().spare.pop();
        spare.unwrap_or_else(|| Vec::with_capacity(rings::BATCHES_PER_TURN))
    }

    /// Appends a chunk; waits while the queue is full.
    fn push(&self, chunk: Chunk) {
        let mut queue = self.queue();
        let is_over = |queue: &Queue| {
            queue.batches > 0
                && queue.batches + chunk.batches.len() > self.limit
                && !self.unlimited.load(Ordering::Relaxed)
        };
        if is_over(&queue) {
            queue.full += 1;
        }
        while is_over(&queue) {
            // With a time limit, because the end may begin between the check and the wait.
            queue = match self.room.wait_timeout(queue, PAUSE) {
                Ok((queue, _)) => queue,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
        queue.batches += chunk.batches.len();
        match queue.chunks.back_mut() {
            Some(last) if chunk.batches.is_empty() => {
                last.watermark_ns = last.watermark_ns.max(chunk.watermark_ns);
                last.unreadable += chunk.unreadable;
            }
            _ => queue.chunks.push_back(chunk),
        }
    }

    /// Reads the rings until the end.
    fn read(&self, mut rings: RingMaps, watermark: &AtomicU64) -> RingMaps {
        loop {
            // Both before the rings: what they hold afterwards is read in the same turn.
            let is_last = self.stop.load(Ordering::Acquire);
            let watermark_ns = watermark.load(Ordering::Acquire);
            let mut some = false;
            let mut more = true;
            while more {
                more = false;
                for ring in &mut rings {
                    let mut chunk = Chunk::default();
                    let taken = rings::turn(ring, |bytes| match bytemuck::try_from_bytes::<Batch>(bytes) {
                        Ok(batch) => {
                            if chunk.batches.capacity() == 0 {
                                chunk.batches = self.spare();
                            }
                            chunk.batches.extend_from_slice(std::slice::from_ref(batch));
                        }
                        Err(_) => chunk.unreadable += bytes.len() as u64,
                    });
                    if taken > 0 {
                        some = true;
                        self.push(chunk);
                    }
                    more |= taken == rings::BATCHES_PER_TURN;
                }
            }
            self.push(Chunk {
                watermark_ns,
                ..Chunk::default()
            });
            if is_last {
                return rings;
            }
            if !some {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

/// The limit of the queue: an eighth of the memory that is available, between 32 and 512 MiB. It is used only while
/// the capture is behind.
pub(super) fn queue_bytes() -> usize {
    const KIB: usize = 1 << 10;
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib: usize = line
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    (kib.saturating_mul(KIB) / 8).clamp(32 << 20, 512 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xdp::cpu;
    use crate::xdp::kernel::Kernel;
    use crate::xdp::object::{OBJECT, PROGRAM};
    use crate::xdp::options::Options;
    use crate::xdp::order::Order;
    use crate::xdp::rings::Rings;
    use bytemuck::Zeroable;
    use rocescope_record::Config;
    use std::time::Instant;

    /// A SEND of one packet. Repeated, each is a run.
    fn frame() -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend([
            0x08, 0x00, 0x45, 0, 0, 44, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
        ]);
        frame.extend([0xc0, 1, 0x12, 0xb7, 0, 24, 0, 0]);
        frame.extend([0x04, 0x40, 0xff, 0xff, 0, 0, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0]);
        frame
    }

    /// The consumer is busy for as long as it takes to fill a ring 26 times.
    #[test]
    fn rings_are_read_while_nobody_takes_what_they_held() {
        const BURST: u32 = 256;
        const BURSTS: u32 = 50;
        let config = Config::exact(1_000_000_000);
        let options = Options {
            slots: 256,
            // 15 batches.
            ring_bytes: 1,
        };
        let (kernel, readers) = match Kernel::load(OBJECT, options, config, false) {
            Ok(loaded) => loaded,
            Err(error) if error.is_permission() && std::env::var_os("CI").is_none() => {
                eprintln!("skipped: loading an XDP program needs CAP_BPF and CAP_NET_ADMIN");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let mut rings = Rings::new(readers.runs, config.slice_ns);
        let reader = Reader::start(rings.lend(), Arc::default(), 64 << 20).unwrap();
        let cpus = cpu::possible().unwrap();
        for burst in 1..=BURSTS {
            kernel.repeat(PROGRAM, &frame(), BURST).unwrap();
            // A batch that is not full waits in the kernel.
            let sent = (burst * BURST / 32) as usize;
            let until = Instant::now() + Duration::from_secs(300);
            while reader.shared.queue().batches + cpus < sent && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        kernel.drain(true).unwrap();
        for cpu in cpu::online().unwrap() {
            cpu::pinned(cpu, || kernel.flush()).unwrap().unwrap();
        }
        let mut order = Order::default();
        let returned = reader.finish(|chunk| rings.take(&chunk.batches, &mut order)).unwrap();
        rings.give_back(returned);
        let mut packets = 0;
        order.release(u64::MAX, |run| packets += u64::from(run.packets));
        let counters = kernel.counters().unwrap();
        assert_eq!(
            (counters.roce_packets, counters.lost_packets),
            (u64::from(BURST * BURSTS), 0)
        );
        assert_eq!(packets, counters.roce_packets);
    }

    fn shared(limit: usize) -> Shared {
        Shared {
            queue: Mutex::default(),
            room: Condvar::new(),
            limit,
            unlimited: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    fn chunk(batches: usize, watermark_ns: u64) -> Chunk {
        Chunk {
            batches: vec![Batch::zeroed(); batches],
            watermark_ns,
            unreadable: 0,
        }
    }

    #[test]
    fn a_full_queue_stops_the_reader_until_there_is_room_or_the_end() {
        let shared = shared(10);
        let seen = || {
            let queue = shared.queue();
            (queue.batches, queue.full)
        };
        shared.push(chunk(8, 1));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| shared.push(chunk(8, 2)));
            let until = Instant::now() + Duration::from_secs(300);
            while seen().1 == 0 && Instant::now() < until {
                std::thread::yield_now();
            }
            assert_eq!(seen(), (8, 1));
            assert!(!waiting.is_finished());
            assert_eq!(shared.pop().map(|chunk| chunk.watermark_ns), Some(1));
            waiting.join().unwrap();
        });
        assert_eq!(seen(), (8, 1));
        // A chunk above the limit passes when the queue is empty, and at the end always.
        shared.unlimited.store(true, Ordering::Relaxed);
        shared.push(chunk(20, 3));
        assert_eq!(seen(), (28, 1));
    }

    #[test]
    fn a_watermark_follows_the_runs_below_it() {
        let shared = shared(10);
        shared.push(chunk(1, 0));
        shared.push(chunk(0, 5));
        shared.push(chunk(0, 7));
        shared.push(chunk(2, 0));
        shared.push(chunk(0, 9));
        let popped: Vec<_> = std::iter::from_fn(|| shared.pop())
            .map(|chunk| (chunk.batches.len(), chunk.watermark_ns))
            .collect();
        assert_eq!(popped, [(1, 7), (2, 9)]);
    }
}
