//! The system allocator with counters: calls and bytes in use.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static CALLS: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: every call goes to the system allocator unchanged; the counters touch no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        LIVE.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps `alloc`'s contract, which is the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the pointer came from `alloc` above, so from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Counters at one moment, for comparison.
#[derive(Clone, Copy)]
pub struct Memory {
    /// Allocations so far.
    pub calls: usize,
    /// Bytes in use.
    pub live: usize,
}

/// The current counters.
pub fn now() -> Memory {
    Memory {
        calls: CALLS.load(Relaxed),
        live: LIVE.load(Relaxed),
    }
}
