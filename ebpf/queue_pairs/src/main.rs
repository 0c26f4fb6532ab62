//! Programs on functions of the kernel's verbs core, which every driver's queue pairs pass. Where queue pairs begin and
//! end in the kernel's own list of resources, they are reported; so what RDMA netlink shows of that list and these events
//! agree.
//!
//! Nothing is on the path of data: the functions run when a process sets up or tears down a queue pair.
#![no_std]
#![no_main]

mod calls;
mod kernel;
mod report;

use aya_ebpf::helpers::bpf_get_current_pid_tgid;
use aya_ebpf::macros::{kprobe, kretprobe};
use aya_ebpf::programs::{ProbeContext, RetProbeContext};
use calls::{CALLS, Call, Calls};
use kernel::{LAYOUT, field, read, register};
use rocescope_record::queue_pair::{CREATED, ENDED, lost};

/// On `rdma_restrack_add`: a resource of any kind joins the kernel's list.
#[kprobe]
pub fn added(ctx: ProbeContext) -> u32 {
    resource(&ctx, CREATED)
}

/// On `rdma_restrack_del`: a resource leaves it, before its memory is freed.
#[kprobe]
pub fn removed(ctx: ProbeContext) -> u32 {
    resource(&ctx, ENDED)
}

#[inline(always)]
fn resource(ctx: &ProbeContext, what: u32) -> u32 {
    let Some(resource) = register(ctx, &LAYOUT.arguments[0]) else {
        return report::lose(lost::UNREADABLE);
    };
    let Some(kind) = read::<u32>(resource, &LAYOUT.resource_type) else {
        return report::lose(lost::UNREADABLE);
    };
    if kind != field(&LAYOUT.resource_is_queue_pair) {
        return 0;
    }
    report::event(resource - u64::from(field(&LAYOUT.pair_resource)), what)
}

/// On `ib_modify_qp_with_udata`: a process modifies a queue pair.
#[kprobe]
pub fn user_modifies(ctx: ProbeContext) -> u32 {
    modifies(&ctx, false)
}

/// On `ib_modify_qp`: a module of the kernel does. Meanwhile its driver may modify one of its own.
#[kprobe]
pub fn kernel_modifies(ctx: ProbeContext) -> u32 {
    modifies(&ctx, true)
}

#[inline(always)]
fn modifies(ctx: &ProbeContext, may_nest: bool) -> u32 {
    let (Some(pair), Some(attributes), Some(mask)) = (
        register(ctx, &LAYOUT.arguments[0]),
        register(ctx, &LAYOUT.arguments[1]),
        register(ctx, &LAYOUT.arguments[2]),
    ) else {
        return report::lose(lost::UNREADABLE);
    };
    let call = Call { pair, attributes, mask };
    let task = bpf_get_current_pid_tgid();
    let Some(calls) = CALLS.get_ptr_mut(task) else {
        let calls = Calls {
            depth: 1,
            outer: call,
            inner: Call::NONE,
        };
        return match CALLS.insert(task, calls, 0) {
            Ok(()) => 0,
            Err(_) => report::lose(lost::CALLS),
        };
    };
    // SAFETY: the entry of this task, which is in one call at a time.
    let calls = unsafe { &mut *calls };
    if may_nest && calls.depth == 1 {
        calls.inner = call;
        calls.depth = 2;
        return 0;
    }
    // Calls before this one have returned.
    calls.outer = call;
    calls.depth = 1;
    report::lose(lost::RETURNS)
}

/// At the end of both.
#[kretprobe]
pub fn modified(ctx: RetProbeContext) -> u32 {
    let task = bpf_get_current_pid_tgid();
    let Some(calls) = CALLS.get_ptr_mut(task) else {
        // The call began before this program did, or is counted as lost.
        return 0;
    };
    // SAFETY: as above.
    let calls = unsafe { &mut *calls };
    let call = if calls.depth == 2 {
        calls.depth = 1;
        calls.inner
    } else {
        let outer = calls.outer;
        let _ = CALLS.remove(task);
        outer
    };
    match register(&ctx, &LAYOUT.result).map(|result| result as i32) {
        Some(0) => report::change(&call),
        Some(_) => 0,
        None => report::lose(lost::UNREADABLE),
    }
}

/// On `ib_send_cm_req`: CM asks the peer to connect a queue pair.
#[kprobe]
pub fn requests(ctx: ProbeContext) -> u32 {
    connection(&ctx, &LAYOUT.request_number)
}

/// On `ib_send_cm_rep`: CM accepts with a queue pair.
#[kprobe]
pub fn replies(ctx: ProbeContext) -> u32 {
    connection(&ctx, &LAYOUT.reply_number)
}

#[inline(always)]
fn connection(ctx: &ProbeContext, number_at: &'static u32) -> u32 {
    let (Some(connection), Some(parameters)) =
        (register(ctx, &LAYOUT.arguments[0]), register(ctx, &LAYOUT.arguments[1]))
    else {
        return report::lose(lost::UNREADABLE);
    };
    let device = read::<u64>(connection, &LAYOUT.connection_device);
    let number = read::<u32>(parameters, number_at);
    let (Some(device), Some(number)) = (device, number) else {
        return report::lose(lost::UNREADABLE);
    };
    report::by_cm(device, number)
}

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The verifier proves that no path leads here.
    loop {}
}

/// Some helpers require the GPL.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
