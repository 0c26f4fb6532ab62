//! What an operator must hear of, in words: over the ring of `aya-log`, never at each packet.
//!
//! Each is a function of its own that the verifier walks once, for its name is known outside: a
//! subprogram it would walk at each place that calls it, and the words take some hundreds of
//! instructions.

use crate::rings::NO_RING;
use aya_log_ebpf::warn;
use core::sync::atomic::AtomicU64;

/// The first loss on a CPU since the program was loaded: those that follow are in the counters alone.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn first_loss(cpu: u32, failed: i32) -> u32 {
    if failed == NO_RING {
        warn!(
            (),
            "CPU {} has no ring: what it sees is lost until the capture begins anew", cpu
        );
    } else {
        warn!(
            (),
            "the ring of CPU {} is full: runs are lost while it is not read fast enough", cpu
        );
    }
    0
}

/// Not 0: [`no_entry`] has been told.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data.told")]
static TOLD: AtomicU64 = AtomicU64::new(0);

/// An entry of a map is missing, which the way the maps are made rules out. Told once, or once a CPU
/// where several come here together.
#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn no_entry() -> u32 {
    let told = TOLD.as_ptr();
    // SAFETY: a static of this program; LLVM knows no atomic access for the kernel's machine, where
    // a plain one to eight aligned bytes is whole.
    if unsafe { told.read_volatile() } == 0 {
        // SAFETY: as above.
        unsafe { told.write_volatile(1) };
        warn!(
            (),
            "a map lacks an entry: packets are missing from runs or counts, a defect, please report it"
        );
    }
    0
}
