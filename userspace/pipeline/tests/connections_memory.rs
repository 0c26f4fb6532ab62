//! Memory of 100,000 queue pairs: bytes per queue pair as the allocator counts them stay under the bounds that the
//! crate states, and a full state does not grow.

use rocescope_pipeline::Settings;
use rocescope_pipeline::connections::{ConnectionSettings, Connections, DIRECTION_BYTES, MAX_HEAP_BYTES};
use rocescope_record::RunRecord;
use rocescope_wire::{FlowKey, Opcode};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system allocator unchanged; the counter is a cell of this
// thread that needs no memory and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get().wrapping_add(layout.size()));
        // SAFETY: the caller keeps `alloc`'s contract, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get().wrapping_sub(layout.size()));
        // SAFETY: the pointer came from `alloc` above, so from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const QPS: u32 = 100_000;

struct Bench {
    connections: Connections,
    now_ns: u64,
    rows: usize,
}

impl Bench {
    fn new(settings: ConnectionSettings) -> Self {
        Self {
            connections: Connections::new(settings, &Settings::default()),
            now_ns: 1_700_000_000_000_000_000,
            rows: 0,
        }
    }

    fn run(&mut self, back: bool, qp: u32, opcode: u8, psn: u32) {
        let mut run: RunRecord = bytemuck::Zeroable::zeroed();
        let (a, b) = ([1; 16], [2; 16]);
        let (src, dst) = if back { (b, a) } else { (a, b) };
        run.flow = FlowKey {
            src,
            dst,
            vni: u32::MAX,
            dst_qpn: if back { 0x80_0000 + qp } else { qp },
            udp_src_port: 50_000,
            vlan: 0xffff,
            inner_vlan: 0xffff,
            reserved: 0,
        };
        self.now_ns += 100;
        run.first_ns = self.now_ns;
        run.opcode = opcode;
        run.stream = Opcode(opcode).stream() as u8;
        (run.first_psn, run.last_psn) = (psn & 0xff_ffff, psn & 0xff_ffff);
        (run.packets, run.only) = (1, 1);
        (run.frame_bytes, run.only_frame_bytes) = (100, 100);
        run.syndrome = 0x1f * u8::from(back);
        run.flags = RunRecord::EXACT_END;
        self.connections.run(&run);
        if self.connections.wants_turn() {
            self.turn();
        }
    }

    fn turn(&mut self) {
        self.connections.complete_before(self.now_ns);
        self.connections.turn(self.now_ns);
        let (mut rows, mut events) = (Vec::new(), Vec::new());
        while self.connections.rows(false, &mut rows, &mut events) {
            self.rows += rows.len();
            rows.clear();
        }
        self.rows += rows.len();
    }

    /// Each queue pair sends `outstanding` requests, and all are acknowledged one by one.
    fn round(&mut self, qps: std::ops::Range<u32>, round: u32, outstanding: u32) {
        for qp in qps {
            let start = qp.wrapping_mul(7_919) + round * outstanding;
            for psn in start..start + outstanding {
                self.run(false, qp, 0x04, psn);
            }
            for psn in start..start + outstanding {
                self.run(true, qp, 0x11, psn);
            }
        }
    }
}

fn held_by<T>(make: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    let made = make();
    (HELD.get().wrapping_sub(before), made)
}

#[test]
fn bytes_of_a_queue_pair_are_bounded_and_stop_growing() {
    let (held, mut bench) = held_by(|| {
        let mut bench = Bench::new(ConnectionSettings {
            max_bytes: 1 << 30,
            ..ConnectionSettings::default()
        });
        (0..2).for_each(|round| bench.round(0..QPS, round, 1));
        bench.turn();
        bench
    });
    let each = held / QPS as usize;
    println!("{each} bytes a queue pair with one request at a time");
    assert_eq!(bench.connections.directions(), 2 * QPS as usize);
    // Two directions, their slots in the index, and the runs that wait to be sorted (8 MiB).
    assert!(
        (2 * DIRECTION_BYTES..2 * DIRECTION_BYTES + 400).contains(&each),
        "{each}"
    );

    let (more, ()) = held_by(|| {
        (2..20).for_each(|round| bench.round(0..QPS, round, 1));
        bench.turn();
    });
    println!("{} bytes more with histograms", more / QPS as usize);
    // Histograms of similar round trips have few buckets.
    assert!(more / (QPS as usize) < 600, "{more}");
    let before = HELD.get();
    (20..30).for_each(|round| bench.round(0..QPS, round, 1));
    bench.turn();
    let more = HELD.get().wrapping_sub(before).cast_signed();
    assert!(more <= 0, "{more} more");
}

#[test]
fn sixteen_requests_at_a_time_stay_under_the_bound() {
    const FEW: u32 = 2_000;
    let (held, bench) = held_by(|| {
        let mut bench = Bench::new(ConnectionSettings {
            waiting_runs: 1_024,
            ..ConnectionSettings::default()
        });
        (0..20).for_each(|round| bench.round(0..FEW, round, 16));
        bench.turn();
        bench
    });
    let each = held / FEW as usize;
    println!("{each} bytes a queue pair with sixteen requests at a time");
    assert_eq!(bench.connections.directions(), 2 * FEW as usize);
    assert!(each < 2 * (DIRECTION_BYTES + MAX_HEAP_BYTES), "{each}");
    assert!(each < 2 * DIRECTION_BYTES + 3_000, "{each}");
}

/// At the cap, those that are tracked stay tracked, idle ones give way, and the packets of others are counted. Evicting
/// the longest silent ones made each that returned start again, and write rows.
#[test]
fn the_cap_holds_in_bytes_and_only_idle_ones_give_way() {
    const MAX_BYTES: usize = 8 << 20;
    const BUSY: u32 = 100;
    let (held, mut bench) = held_by(|| {
        let mut bench = Bench::new(ConnectionSettings {
            max_bytes: MAX_BYTES,
            waiting_runs: 512,
            ..ConnectionSettings::default()
        });
        for round in 0..200 {
            // A hundred that send all the time, and ever more new ones, over 100 s.
            bench.round(0..BUSY, 2 * round, 1);
            let from = 1_000 + round * 500;
            (from..from + 500).for_each(|qp| bench.run(true, qp, 0x11, 0));
            // What directions allocate later, such as histograms, comes on top until idle ones give way.
            assert!(bench.connections.bytes() <= MAX_BYTES + (1 << 20));
            bench.now_ns += 500_000_000;
            bench.turn();
        }
        bench
    });
    // The sort buffer, the candidates for pairing and the index are beside it.
    assert!(held < MAX_BYTES + (6 << 20), "{held}");
    let summary = bench.connections.summary();
    assert!(summary.evicted > 0 && summary.delivery.untracked_packets > 0 && bench.rows > 0);
    // Those that sent all the time have counted everything.
    let (mut rows, mut events) = (Vec::new(), Vec::new());
    bench.connections.finish();
    while bench.connections.rows(true, &mut rows, &mut events) {}
    let busy = rows.iter().filter(|row| row.dst_qpn.is_some_and(|qpn| qpn < BUSY));
    let messages: Vec<u64> = busy.map(|row| row.messages).collect();
    assert_eq!(messages, vec![200; BUSY as usize]);
}
