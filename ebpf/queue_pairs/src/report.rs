//! What is written to the ring, and counted where it cannot be.

use crate::calls::Call;
use crate::kernel::{LAYOUT, field, read};
use aya_ebpf::btf_maps::{PerCpuArray, RingBuf};
use aya_ebpf::helpers::bpf_ktime_get_ns;
use aya_ebpf::helpers::generated::{bpf_probe_read_kernel, bpf_probe_read_kernel_str};
use aya_ebpf::macros::btf_map;
use rocescope_record::queue_pair::{
    ATTRIBUTE_BYTES, BY_CM, MODIFIED, OWNER_BYTES, QueuePairChange, QueuePairEvent, lost,
};

/// Room for 2,500 changes, or 8,100 other events.
const RING_BYTES: usize = 1 << 20;

#[btf_map]
static EVENTS: RingBuf<QueuePairChange, RING_BYTES> = RingBuf::new();

/// Lost events, by reason.
#[btf_map]
static LOST: PerCpuArray<u64, { lost::REASONS }> = PerCpuArray::new();

/// Counts a lost event.
#[inline(always)]
pub fn lose(reason: u32) -> u32 {
    if let Some(count) = LOST.get_ptr_mut(reason) {
        // SAFETY: an entry of this CPU, on which no other of these programs runs meanwhile.
        unsafe { *count += 1 };
    }
    0
}

/// Reports that a queue pair came or goes.
#[inline(always)]
pub fn event(pair: u64, what: u32) -> u32 {
    let Some(mut entry) = EVENTS.reserve_untyped::<QueuePairEvent>(0) else {
        return lose(lost::RING);
    };
    let event = entry.as_mut_ptr();
    match fill(event, pair, what) {
        Some(()) => entry.submit(0),
        None => {
            entry.discard(0);
            lose(lost::UNREADABLE);
        }
    }
    0
}

/// Reports new attributes.
#[inline(always)]
pub fn change(call: &Call) -> u32 {
    let Some(mut entry) = EVENTS.reserve_untyped::<QueuePairChange>(0) else {
        return lose(lost::RING);
    };
    let change = entry.as_mut_ptr();
    match fill_change(change, call) {
        Some(()) => entry.submit(0),
        None => {
            entry.discard(0);
            lose(lost::UNREADABLE);
        }
    }
    0
}

/// Reports that CM connects a queue pair.
#[inline(always)]
pub fn by_cm(device: u64, number: u32) -> u32 {
    let Some(mut entry) = EVENTS.reserve_untyped::<QueuePairEvent>(0) else {
        return lose(lost::RING);
    };
    let event = entry.as_mut_ptr();
    // SAFETY: the reserved memory, all of which is written.
    let is_read = unsafe {
        (*event).time_ns = bpf_ktime_get_ns();
        (*event).identity = 0;
        (*event).what = BY_CM;
        (*event).number = number;
        (*event).kind = 0;
        (*event).port = 0;
        (*event).pid = 0;
        (*event).driver = 0;
        (*event).owner = [0; OWNER_BYTES];
        copy(&raw mut (*event).device, device, &LAYOUT.device_name)
    };
    match is_read {
        Some(()) => entry.submit(0),
        None => {
            entry.discard(0);
            lose(lost::UNREADABLE);
        }
    }
    0
}

#[inline(always)]
fn fill_change(change: *mut QueuePairChange, call: &Call) -> Option<()> {
    // SAFETY: the reserved memory; the helpers write no more than the given sizes.
    unsafe {
        fill(&raw mut (*change).event, call.pair, MODIFIED)?;
        (*change).mask = call.mask as u32;
        (*change).local_gid = [0; 16];
        (*change).gid_type = 0;
        // None before it has an address vector, and never on datagram queue pairs.
        let gid = read::<u64>(call.pair, &LAYOUT.pair_gid)?;
        if gid != 0 {
            copy(&raw mut (*change).local_gid, gid, &LAYOUT.gid)?;
            (*change).gid_type = read(gid, &LAYOUT.gid_type)?;
        }
        // What is behind them in the ring stays: nothing reads it.
        let bytes = field(&LAYOUT.attribute_bytes).min(ATTRIBUTE_BYTES as u32);
        let to = (&raw mut (*change).attributes).cast();
        (bpf_probe_read_kernel(to, bytes, call.attributes as *const _) == 0).then_some(())
    }
}

#[inline(always)]
fn fill(event: *mut QueuePairEvent, pair: u64, what: u32) -> Option<()> {
    let device = read::<u64>(pair, &LAYOUT.pair_device)?;
    let resource = pair + u64::from(field(&LAYOUT.pair_resource));
    let task = read::<u64>(resource, &LAYOUT.resource_task)?;
    // SAFETY: the reserved memory, all of which is written.
    unsafe {
        (*event).time_ns = bpf_ktime_get_ns();
        (*event).identity = pair;
        (*event).what = what;
        (*event).number = read(pair, &LAYOUT.pair_number)?;
        (*event).kind = read(pair, &LAYOUT.pair_kind)?;
        (*event).port = read(pair, &LAYOUT.pair_port)?;
        (*event).driver = read(device, &LAYOUT.device_driver)?;
        (*event).owner = [0; OWNER_BYTES];
        let owner = (&raw mut (*event).owner).cast();
        if task == 0 {
            (*event).pid = 0;
            let module = read::<u64>(resource, &LAYOUT.resource_kernel_name)?;
            if module != 0 {
                bpf_probe_read_kernel_str(owner, OWNER_BYTES as u32, module as *const _);
            }
        } else {
            (*event).pid = read(task, &LAYOUT.task_process)?;
            // A thread has a name of its own.
            let leader = read::<u64>(task, &LAYOUT.task_leader)?;
            copy(&raw mut (*event).owner, leader, &LAYOUT.task_name)?;
        }
        copy(&raw mut (*event).device, device, &LAYOUT.device_name)
    }
}

/// Copies bytes of the kernel. Not over the stack, where the compiler would move them by words that are not aligned.
#[inline(always)]
fn copy<const BYTES: usize>(to: *mut [u8; BYTES], address: u64, offset: &'static u32) -> Option<()> {
    let from = (address + u64::from(field(offset))) as *const _;
    // SAFETY: the helper writes no more than the given size, and fails if there is no memory.
    let failed = unsafe { bpf_probe_read_kernel(to.cast(), BYTES as u32, from) };
    (failed == 0).then_some(())
}
