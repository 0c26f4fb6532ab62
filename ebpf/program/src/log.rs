//! Warnings for the operator over the ring of `aya-log`, never at each packet.
//!
//! Each is a global function, which the verifier walks once: it would walk a subprogram at each call, and
//! a message takes hundreds of instructions.

use crate::rings::NO_RING;
use aya_log_ebpf::warn;
use core::sync::atomic::AtomicU64;

/// Reports the first loss on a CPU since the program was loaded; later losses are only counted.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn first_loss(cpu: u32, failed: i32) -> u32 {
    if failed == NO_RING {
        warn!(
            (),
            "CPU {} has no ring: its packets are lost until the capture restarts", cpu
        );
    } else {
        warn!(
            (),
            "the ring of CPU {} is full: runs are lost until the reader catches up", cpu
        );
    }
    0
}

/// Not 0: [`no_entry`] has been logged.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.logged")]
static LOGGED: AtomicU64 = AtomicU64::new(0);

/// Reports a missing map entry, which the creation of the maps rules out. Logged once, or once a CPU if
/// several call this at the same time.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn no_entry() -> u32 {
    let logged = LOGGED.as_ptr();
    // SAFETY: a static of this program; LLVM has no atomic access for BPF, where a plain access to eight
    // aligned bytes is atomic.
    if unsafe { logged.read_volatile() } == 0 {
        // SAFETY: as above.
        unsafe { logged.write_volatile(1) };
        warn!(
            (),
            "a map entry is missing, so runs or counts miss packets: please report this defect"
        );
    }
    0
}
