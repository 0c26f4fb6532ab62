//! The XDP program: maps and glue. `rocescope-wire` decodes frames, `rocescope-record` joins runs;
//! this crate connects both to the kernel.
//!
//! It is split into subprograms for two reasons: each frees its stack for the next, and the path of most
//! packets fits the registers. Without `CAP_PERFMON` each word stored on the stack costs a speculation
//! barrier.
#![no_std]
#![no_main]

mod classify;
mod clock;
mod control_packets;
mod head;
mod linear;
mod log;
mod maps;
mod rings;

use aya_ebpf::bindings::xdp_action::{XDP_DROP, XDP_PASS};
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::macros::xdp;
use aya_ebpf::programs::XdpContext;
use maps::{Block, State};
use rings::Rings;
use rocescope_record::cache;
use rocescope_record::{Clock, Config, Counters, Set};

/// Processes every frame of an interface.
#[xdp(frags)]
pub fn rocescope(ctx: XdpContext) -> u32 {
    observe(ctx.ctx).unwrap_or_else(|| {
        log::no_entry();
        XDP_PASS
    })
}

#[inline(always)]
fn observe(ctx: *mut xdp_md) -> Option<u32> {
    let config = maps::config()?;
    let Block { counters, state, .. } = maps::block()?;
    // SAFETY: the context is the one the kernel called us with.
    state.moment.interface = unsafe { (*ctx).ingress_ifindex };
    state.times.take(ctx);
    if classify::is_roce(ctx, config, counters, state) {
        state.moment.tick = state.times.clock(config).tick();
        if join(config, state) == 0 {
            renew(config, counters, state);
        }
    }
    Some(if config.verdict == 0 { XDP_PASS } else { XDP_DROP })
}

/// Joins a packet to the run that it continues; 0 if there is more to do.
#[inline(never)]
fn join(config: &Config, state: &mut State) -> u32 {
    state.set = cache::set_hash(&state.packet, state.moment.interface);
    let Some(set) = maps::set(state) else {
        return 1;
    };
    if cache::advance(set, &state.packet, &state.moment, config) {
        return 1;
    }
    look(set, config, state)
}

/// The same for all other packets.
#[inline(never)]
fn look(set: &mut Set, config: &Config, state: &mut State) -> u32 {
    // Always 0, which the verifier does not know.
    let settle = |way| way ^ config.reserved;
    let State {
        packet, moment, step, ..
    } = state;
    u32::from(cache::join(set, packet, moment, config, settle, step))
}

/// Ends runs and starts one, according to the step in `state`.
#[inline(never)]
fn renew(config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    let Some(set) = maps::set(state) else {
        // A packet that no run can accept is lost.
        state.batch.lost_packets += 1;
        counters.lost_packets = state.batch.lost_packets;
        counters.published_packets += 1;
        return log::no_entry();
    };
    let State {
        batch,
        packet,
        step,
        times,
        moment,
        ..
    } = state;
    cache::renew(
        set,
        step,
        packet,
        moment,
        &times.clock(config),
        config,
        counters,
        &mut Rings { batch },
    );
    0
}

/// Publishes the ended runs of this CPU, one part of the cache in a call: user space runs it through
/// `BPF_PROG_TEST_RUN`, pinned to each CPU in turn.
#[xdp]
pub fn rocescope_flush(ctx: XdpContext) -> u32 {
    flush(ctx.ctx).unwrap_or_else(|| log::no_entry())
}

#[inline(always)]
fn flush(ctx: *mut xdp_md) -> Option<u32> {
    let config = maps::config()?;
    let Block { counters, state, .. } = maps::block()?;
    state.times.take(ctx);
    let tick = state.times.clock(config).tick();
    for _ in 0..maps::SETS_A_FLUSH {
        state.set = state.batch.cursor;
        let set = maps::set(state)?;
        state.batch.cursor = state.batch.cursor.wrapping_add(1);
        flush_set(set, tick, config, counters, state);
    }
    if state.batch.held_runs > 0 {
        rings::send(&mut state.batch, counters);
    }
    Some(0)
}

#[inline(never)]
fn flush_set(set: &mut Set, tick: u64, config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    // As in `join`.
    let settle = |cut| cut ^ config.reserved;
    let until = if config.draining == 0 { Some(tick) } else { None };
    let batch = &mut state.batch;
    cache::flush(set, until, counters, &mut Rings { batch }, settle);
    0
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
