//! The XDP program: maps and glue. What a frame means is in `rocescope-wire`, what a run is in
//! `rocescope-record`; here they meet the kernel.
#![no_std]
#![no_main]

mod clock;
mod frame;
mod maps;
mod rings;

use aya_ebpf::bindings::xdp_action::{XDP_DROP, XDP_PASS};
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::bpf_xdp_get_buff_len;
use aya_ebpf::macros::xdp;
use aya_ebpf::programs::XdpContext;
use frame::Frame;
use maps::State;
use rings::Rings;
use rocescope_record::{Clock, Config, Counters, cache};
use rocescope_wire::{Class, FrameLengths, LinkType, Packet, decode_into};

/// Takes every frame of an interface.
#[xdp(frags)]
pub fn rocescope(ctx: XdpContext) -> u32 {
    observe(&ctx).unwrap_or(XDP_PASS)
}

#[inline(always)]
fn observe(ctx: &XdpContext) -> Option<u32> {
    let config = maps::config()?;
    let counters = maps::counters()?;
    let state = maps::state()?;
    if classify(ctx.ctx, config, counters, &mut state.packet) != 0 {
        join(ctx.ctx, config, counters, state);
    }
    Some(if config.verdict == 0 {
        XDP_PASS
    } else {
        XDP_DROP
    })
}

/// Decodes and counts a frame; 1 when it is a RoCEv2 packet, which is then in `packet`.
///
/// A subprogram, as [`join`] is: the stack that one needs is free again for the other.
#[inline(never)]
fn classify(
    ctx: *mut xdp_md,
    config: &Config,
    counters: &mut Counters,
    packet: &mut Packet,
) -> u32 {
    // SAFETY: the context is the one the kernel called us with.
    let frame_bytes = unsafe { bpf_xdp_get_buff_len(ctx) } as u32;
    let frame = Frame::new(&XdpContext::new(ctx));
    let lengths = FrameLengths::whole(frame_bytes);
    let class = decode_into(
        &frame,
        LinkType::Ethernet,
        lengths,
        config.udp_ports,
        packet,
    );
    counters.count(&class);
    u32::from(matches!(class, Class::Roce(_)))
}

/// Takes a packet into the run cache.
#[inline(never)]
fn join(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    let ctx = XdpContext::new(ctx);
    let State { batch, packet } = state;
    let interface = ctx.ingress_ifindex() as u32;
    let Some(set) = maps::set(cache::set_hash(packet, interface)) else {
        return 0;
    };
    let clock = clock::clock(&ctx, config);
    cache::observe(
        set,
        packet,
        interface,
        &clock,
        config,
        counters,
        &mut Rings { batch },
    );
    0
}

/// Publishes what the slices that have ended hold on this CPU, one part of the cache a call: user
/// space runs it through `BPF_PROG_TEST_RUN`, pinned to each CPU in turn.
#[xdp]
pub fn rocescope_flush(ctx: XdpContext) -> u32 {
    flush(&ctx).unwrap_or(0)
}

#[inline(always)]
fn flush(ctx: &XdpContext) -> Option<u32> {
    let config = maps::config()?;
    let counters = maps::counters()?;
    let tick = clock::clock(ctx, config).tick();
    let tick = if config.draining == 0 {
        Some(tick)
    } else {
        None
    };
    let mut rings = Rings {
        batch: &mut maps::state()?.batch,
    };
    for _ in 0..maps::SETS_A_FLUSH {
        let set = maps::set(rings.batch.cursor)?;
        rings.batch.cursor = rings.batch.cursor.wrapping_add(1);
        cache::flush(set, tick, counters, &mut rings);
    }
    if rings.batch.held_runs > 0 {
        rings::send(rings.batch, counters);
    }
    Some(0)
}

#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // The verifier proves that no path comes here.
    loop {}
}

/// Some helpers are for programs under the GPL alone.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
