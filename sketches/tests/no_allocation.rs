//! No sketch allocates after construction: not in updates, queries, merges or clears.
//!
//! The allocator counts for each thread separately: the test harness has threads of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::num::{NonZeroU16, NonZeroU32};

use rocescope_sketches::{
    CountMin, FlowHash, HeavyHitters, Jitter, LinearCounting, count_min::Update, hash::hash_words, jitter::Thresholds,
};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system allocator unchanged; the counter is a cell of this
// thread that needs no memory and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps `alloc`'s contract, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, so from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn no_sketch_allocates_after_construction() {
    let mut flows = [(); 2].map(|()| LinearCounting::new(NonZeroU16::MIN));
    let mut sizes = [Update::Plain, Update::Conservative].map(|update| CountMin::new(4, 1024, 1, update).unwrap());
    let mut heavy = [(); 2].map(|()| HeavyHitters::<2>::new(NonZeroU32::new(8).unwrap()));
    let mut top = Vec::with_capacity(heavy[0].capacity());
    let mut jitter = Jitter::new(Thresholds::FUDAN, 300, 2);
    let mut seen = 0;

    let before = ALLOCATIONS.get();
    for window in 0..8 {
        for packet in 0..5_000u64 {
            let flow = hash_words(&[packet * packet % 1_501, window], 3);
            let shard = (packet % 2) as usize;
            flows[shard].add(flow);
            sizes[shard].add(flow, 1024);
            heavy[shard].add(flow, [1024, 1]);
        }
        let [whole, part] = &mut flows;
        whole.merge(part).unwrap();
        seen += whole.estimate().rounded() + u64::from(whole.row_bytes().count() as u32);
        let [whole, part] = &mut sizes;
        whole.merge(part).unwrap();
        seen += whole.bounds(FlowHash(1)).upper;
        let [whole, part] = &mut heavy;
        whole.merge(part).unwrap();
        whole.top_into(100, &mut top);
        let rates = top
            .iter()
            .map(|hitter| (hitter.flow, hitter.weights[0].estimate() << 20));
        jitter.close_window(window * 3, rates, |event| seen += event.to_bps);
        flows.iter_mut().for_each(LinearCounting::clear);
        sizes.iter_mut().for_each(CountMin::clear);
        heavy.iter_mut().for_each(HeavyHitters::clear);
    }
    jitter.finish(|event| seen += event.to_bps);
    let after = ALLOCATIONS.get();

    assert!(seen > 0 && before > 0);
    assert_eq!(after - before, 0, "allocations while {seen} was seen");
}
