//! Baselines for the XDP program, run by `cargo xtask bench test-run`.
//!
//! The same wrapper rewrites QPN and PSN in the frame and then tail-calls each: a frame repeated
//! unchanged would repeat its PSN too, which is the worst case and not the common one.
//!
//! | program | what it does |
//! |---|---|
//! | `wrap4`, `wrap6` | the wrapper |
//! | `nothing` | returns at once |
//! | `hand4`, `hand6` | hand-written: finds QPN, PSN and opcode of an untagged packet without IP options |
//! | `parse` | the decoder of the XDP program, on the path of most packets, beyond the end of the BTH |
//! | `each4`, `each6` | hand-written, with one ring record a packet, as other agents do |
#![no_std]
#![no_main]

#[path = "../../../ebpf/program/src/linear.rs"]
mod linear;

use aya_ebpf::bindings::xdp_action::XDP_DROP;
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::btf_maps::{Array, PerCpuArray, ProgramArray, RingBuf};
use aya_ebpf::helpers::{bpf_ktime_get_ns, bpf_xdp_get_buff_len};
use aya_ebpf::macros::{btf_map, xdp};
use aya_ebpf::programs::XdpContext;
use linear::Linear;
use rocescope_wire::link::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use rocescope_wire::plain::plain_into;
use rocescope_wire::{FrameLengths, Octets, Packet};

/// The maximum number of flows.
const FLOWS: usize = 1 << 17;
/// Length of the sequence of flows, a power of two.
const ORDER: usize = 1 << 18;

/// What the wrapper does, set by user space.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Plan {
    /// Packets so far.
    pub packets: u64,
    /// The PSN increment of a flow: 1 continues a run, 2 never does.
    pub stride: u32,
    /// Always 0.
    pub reserved: u32,
}

#[btf_map]
static PLAN: Array<Plan, 1> = Array::new();
/// The flow of the n-th packet.
#[btf_map]
static NEXT: Array<u32, ORDER> = Array::new();
/// The PSN of each flow.
#[btf_map]
static PSNS: Array<u32, FLOWS> = Array::new();
#[btf_map]
static TARGET: ProgramArray<1> = ProgramArray::new();
#[btf_map]
static EVENTS: RingBuf<Event, { 8 << 20 }> = RingBuf::new();
#[btf_map]
static LOST: PerCpuArray<u64, 1> = PerCpuArray::new();
#[btf_map]
static PACKET: PerCpuArray<Packet, 1> = PerCpuArray::new();

/// The wrapper of IPv4: rewrites QPN and PSN, then calls the program that is measured.
#[xdp(frags)]
pub fn wrap4(ctx: XdpContext) -> u32 {
    wrap::<42>(&ctx)
}

/// The wrapper of IPv6.
#[xdp(frags)]
pub fn wrap6(ctx: XdpContext) -> u32 {
    wrap::<62>(&ctx)
}

#[inline(always)]
fn wrap<const BTH_AT: usize>(ctx: &XdpContext) -> u32 {
    if rewrite::<BTH_AT>(ctx).is_some() {
        // SAFETY: the context is the one the kernel called us with. The call does not come back,
        // unless there is no program.
        unsafe { TARGET.tail_call(ctx, 0) };
    }
    XDP_DROP
}

#[inline(always)]
fn rewrite<const BTH_AT: usize>(ctx: &XdpContext) -> Option<()> {
    let plan = PLAN.get_ptr_mut(0)?;
    // SAFETY: one CPU runs the benchmark.
    let plan = unsafe { &mut *plan };
    let at = plan.packets as u32 & (ORDER as u32 - 1);
    plan.packets += 1;
    let flow = *NEXT.get(at)?;
    let psn = PSNS.get_ptr_mut(flow & (FLOWS as u32 - 1))?;
    // SAFETY: as above.
    let psn = unsafe {
        *psn = (*psn).wrapping_add(plan.stride) & 0xff_ffff;
        *psn
    };
    let (start, end) = (ctx.data(), ctx.data_end());
    if start + BTH_AT + 12 > end {
        return None;
    }
    // SAFETY: the bytes are before the end of the packet.
    unsafe {
        core::ptr::write_unaligned((start + BTH_AT + 4) as *mut u32, flow.to_be());
        core::ptr::write_unaligned((start + BTH_AT + 8) as *mut u32, psn.to_be());
    }
    Some(())
}

/// Returns at once.
#[xdp(frags)]
pub fn nothing(_: XdpContext) -> u32 {
    XDP_DROP
}

/// The record of an agent that exports every packet.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Event {
    time_ns: u64,
    src: u32,
    dst: u32,
    dst_qpn: u32,
    psn: u32,
    bytes: u32,
    src_port: u16,
    opcode: u8,
    ttl: u8,
}

/// The simplest parser: IP without options, untagged.
#[inline(always)]
fn by_hand<const VERSION: u8>(ctx: *mut xdp_md) -> Option<Event> {
    let frame = Linear::new(ctx);
    if VERSION == 4 {
        let plain = frame.be16(12)? == ETHERTYPE_IPV4 && frame.u8(14)? == 0x45;
        if !plain || frame.u8(23)? != 17 {
            return None;
        }
        let (src, dst) = (frame.be32(26)?, frame.be32(30)?);
        transport::<34>(&frame, src, dst, frame.u8(22)?)
    } else {
        if frame.be16(12)? != ETHERTYPE_IPV6 || frame.u8(20)? != 17 {
            return None;
        }
        let (src, dst) = (frame.be32(34)?, frame.be32(50)?);
        transport::<54>(&frame, src, dst, frame.u8(21)?)
    }
}

#[inline(always)]
fn transport<const AT: usize>(frame: &Linear, src: u32, dst: u32, ttl: u8) -> Option<Event> {
    if frame.be16(AT + 2)? != 4791 {
        return None;
    }
    Some(Event {
        time_ns: 0,
        src,
        dst,
        dst_qpn: frame.be32(AT + 12)? & 0xff_ffff,
        psn: frame.be32(AT + 16)? & 0xff_ffff,
        bytes: u32::from(frame.be16(AT + 4)?),
        src_port: frame.be16(AT)?,
        opcode: frame.u8(AT + 8)?,
        ttl,
    })
}

/// Finds QPN, PSN and opcode and keeps nothing.
#[xdp(frags)]
pub fn hand4(ctx: XdpContext) -> u32 {
    hand::<4>(ctx.ctx)
}

/// The same for IPv6.
#[xdp(frags)]
pub fn hand6(ctx: XdpContext) -> u32 {
    hand::<6>(ctx.ctx)
}

#[inline(always)]
fn hand<const VERSION: u8>(ctx: *mut xdp_md) -> u32 {
    match by_hand::<VERSION>(ctx) {
        // So that the compiler does not optimize it away.
        Some(event) if event.dst_qpn ^ event.psn ^ u32::from(event.opcode) == 0xdead_beef => 1,
        _ => XDP_DROP,
    }
}

/// Reads a packet by the decoder of the XDP program.
#[xdp(frags)]
pub fn parse(ctx: XdpContext) -> u32 {
    let ctx = ctx.ctx;
    let Some(packet) = PACKET.get_ptr_mut(0) else {
        return XDP_DROP;
    };
    // SAFETY: the context is the one the kernel called us with.
    let frame_bytes = unsafe { bpf_xdp_get_buff_len(ctx) } as u32;
    // SAFETY: this CPU's own entry.
    let packet = unsafe { &mut *packet };
    match Linear::new(ctx).be16(12) {
        Some(ETHERTYPE_IPV4) => plain::<4>(ctx, frame_bytes, packet),
        Some(ETHERTYPE_IPV6) => plain::<6>(ctx, frame_bytes, packet),
        _ => 0,
    };
    XDP_DROP
}

#[inline(never)]
fn plain<const VERSION: u8>(ctx: *mut xdp_md, frame_bytes: u32, packet: &mut Packet) -> u32 {
    let lengths = FrameLengths::whole(frame_bytes);
    let ports = [4791, 0, 0, 0];
    let frame = Linear::new(ctx);
    u32::from(plain_into::<VERSION, 14, _>(&frame, lengths, &ports, packet))
}

/// One record a packet.
#[xdp(frags)]
pub fn each4(ctx: XdpContext) -> u32 {
    each::<4>(ctx.ctx)
}

/// The same for IPv6.
#[xdp(frags)]
pub fn each6(ctx: XdpContext) -> u32 {
    each::<6>(ctx.ctx)
}

#[inline(always)]
fn each<const VERSION: u8>(ctx: *mut xdp_md) -> u32 {
    let Some(event) = by_hand::<VERSION>(ctx) else {
        return XDP_DROP;
    };
    match EVENTS.reserve_untyped::<Event>(0) {
        Some(mut entry) => {
            // SAFETY: the helper takes nothing.
            let time_ns = unsafe { bpf_ktime_get_ns() };
            entry.write(Event { time_ns, ..event });
            // Never wake the reader.
            entry.submit(1);
        }
        None => {
            if let Some(lost) = LOST.get_ptr_mut(0) {
                // SAFETY: this CPU's own entry.
                unsafe { *lost += 1 };
            }
        }
    }
    XDP_DROP
}

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The verifier proves that no path leads here.
    loop {}
}

#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
