//! What is read of the kernel, by a layout that user space sets when it loads the programs.

use aya_ebpf::EbpfContext;
use aya_ebpf::helpers::bpf_probe_read_kernel;
use rocescope_record::queue_pair::VerbsLayout;

/// The layout of the running kernel.
#[unsafe(no_mangle)]
pub static LAYOUT: VerbsLayout = NO_LAYOUT;
// SAFETY: integers.
const NO_LAYOUT: VerbsLayout = unsafe { core::mem::zeroed() };

/// A field of the layout. Volatile, because user space replaces its value.
#[inline(always)]
pub fn field(field: &'static u32) -> u32 {
    // SAFETY: a field of a static.
    unsafe { core::ptr::read_volatile(field) }
}

/// Reads at an offset of the layout from an address of the kernel.
#[inline(always)]
pub fn read<T>(address: u64, offset: &'static u32) -> Option<T> {
    let address = address + u64::from(field(offset));
    // SAFETY: the helper fails if there is no memory at the address.
    unsafe { bpf_probe_read_kernel(address as *const T) }.ok()
}

/// The registers are read as memory, at offsets of the layout, so that one object runs on every architecture.
#[inline(always)]
pub fn register(ctx: &impl EbpfContext, register: &'static u32) -> Option<u64> {
    read(ctx.as_ptr() as u64, register)
}
