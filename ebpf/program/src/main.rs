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
mod uet;

use aya_ebpf::bindings::xdp_action::{XDP_DROP, XDP_PASS};
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::bpf_xdp_get_buff_len;
use aya_ebpf::macros::xdp;
use aya_ebpf::programs::XdpContext;
use core::sync::atomic::{Ordering, compiler_fence};
use linear::Linear;
use maps::{Block, State};
use rings::Rings;
use rocescope_record::cache;
use rocescope_record::{Clock, Config, Counters, Set};
use rocescope_wire::link::{ETHERTYPE_IPV4, ETHERTYPE_IPV6};
use rocescope_wire::plain::{extension_into, headers_into};
use rocescope_wire::{FrameLengths, Octets};

/// Processes every frame of an interface.
#[xdp(frags)]
pub fn rocescope(ctx: XdpContext) -> u32 {
    observe(ctx.ctx).unwrap_or_else(|| {
        log::no_entry();
        XDP_PASS
    })
}

/// Bytes of an untagged frame of IPv4 without options, to the end of the BTH.
const SHORTEST: usize = 14 + 20 + 8 + 12;

#[inline(always)]
fn observe(ctx: *mut xdp_md) -> Option<u32> {
    let config = maps::config()?;
    let block = maps::block()?;
    let state = &mut block.state;
    // SAFETY: the context is the one the kernel called us with.
    state.moment.interface = unsafe { (*ctx).ingress_ifindex };
    state.times.take(ctx);
    state.moment.tick = state.times.clock(config).tick();
    // SAFETY: as above.
    state.frame_bytes = unsafe { bpf_xdp_get_buff_len(ctx) } as u32;
    let frame = Linear::new(ctx);
    let mut done = NOTHING;
    if let Some(head) = frame.front(SHORTEST) {
        done = match head.be16(12) {
            Some(ETHERTYPE_IPV4) => straight::<4>(&head, ctx, config, block),
            Some(ETHERTYPE_IPV6) => straight::<6>(&frame, ctx, config, block),
            _ => NOTHING,
        };
    }
    // One call of each: the verifier walks a subprogram again at each place that has it.
    if done == NOTHING {
        done = decode(ctx, config, block);
    }
    if done == COUNTED {
        done = place(config, block);
    }
    if done == MISSING {
        return None;
    }
    Some(if config.verdict == 0 { XDP_PASS } else { XDP_DROP })
}

/// What is done of a packet.
type Done = u32;
/// Nothing yet.
const NOTHING: Done = 0;
/// It is decoded and counted, and `state.set` is that of its set.
const COUNTED: Done = 1;
/// All.
const ALL: Done = 2;
/// A map entry is missing.
const MISSING: Done = 3;

/// The path of nearly every packet, a MIDDLE that continues its run: no call that returns, and nothing on the
/// stack. Written out for each version of IP: where both meet, the compiler would put the values of one on the stack.
#[inline(always)]
fn straight<const VERSION: u8>(frame: &impl Octets, ctx: *mut xdp_md, config: &Config, block: &mut Block) -> Done {
    let Block { counters, state, .. } = block;
    let lengths = FrameLengths::whole(state.frame_bytes);
    if !headers_into::<VERSION, 14, _>(frame, lengths, &config.udp_ports, &mut state.packet) {
        return NOTHING;
    }
    if state.packet.meaning.extension_bytes != 0 || !config.filter.is_none() {
        return complete::<VERSION>(ctx, config, block);
    }
    counters.count_roce(&state.packet);
    state.moment.is_exact = state.exact_budget.take(state.moment.tick, config);
    // The compiler forgets what it has just stored, and so does not keep it on the stack.
    compiler_fence(Ordering::SeqCst);
    state.set = cache::set_hash(&state.packet, state.moment.interface, config);
    let Some(set) = maps::set(state) else {
        return MISSING;
    };
    if cache::advance(set, &state.packet, &state.moment, config) {
        ALL
    } else {
        COUNTED
    }
}

/// What follows the BTH of an untagged packet whose headers before are in `state.packet`.
#[inline(never)]
fn complete<const VERSION: u8>(ctx: *mut xdp_md, config: &Config, block: &mut Block) -> Done {
    let state = &mut block.state;
    let is_read = state.packet.meaning.extension_bytes == 0
        || extension_into::<VERSION, 14, _>(&Linear::new(ctx), &mut state.packet);
    if is_read { count(ctx, config, block) } else { NOTHING }
}

/// Decodes any frame.
#[inline(never)]
fn decode(ctx: *mut xdp_md, config: &Config, block: &mut Block) -> Done {
    let Block { counters, state, .. } = block;
    if !classify::decode(ctx, config, counters, state) {
        return ALL;
    }
    count(ctx, config, block)
}

/// Counts a decoded packet, and finds its set.
#[inline(always)]
fn count(ctx: *mut xdp_md, config: &Config, block: &mut Block) -> Done {
    let Block { counters, state, .. } = block;
    if !classify::accept(ctx, config, counters, state) {
        return ALL;
    }
    state.moment.is_exact = state.exact_budget.take(state.moment.tick, config);
    state.set = cache::set_hash(&state.packet, state.moment.interface, config);
    COUNTED
}

/// Places a packet in the set of `state.set`.
#[inline(never)]
fn place(config: &Config, block: &mut Block) -> Done {
    let Block { counters, state, .. } = block;
    let Some(set) = maps::set(state) else {
        return MISSING;
    };
    if look(set, config, state) == 0 {
        renew(config, counters, state);
    }
    ALL
}

/// Joins a packet to the run that it continues, if [`cache::advance`] did not; 0 if there is more to do.
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
