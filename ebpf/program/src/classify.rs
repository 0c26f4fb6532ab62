//! Classifies frames.

use crate::control_packets;
use crate::linear::Linear;
use crate::maps::{self, State};
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::bpf_xdp_get_buff_len;
use rocescope_record::control_packet::is_management;
use rocescope_record::counters::CounterIndex;
use rocescope_record::{Config, Counters, mirror};
use rocescope_wire::link::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use rocescope_wire::plain::plain_into;
use rocescope_wire::{Class, FrameLengths, LinkType, NotRoce, Octets, decode_into};

/// Decodes and counts a frame; a RoCEv2 packet is then in `state.packet`.
#[inline(always)]
pub fn is_roce(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> bool {
    // SAFETY: the context is the one the kernel called us with.
    state.frame_bytes = unsafe { bpf_xdp_get_buff_len(ctx) } as u32;
    let frame = Linear::new(ctx);
    let read = match frame.be16(12) {
        Some(ETHERTYPE_IPV4) => plain::<4, 14>(ctx, config, state),
        Some(ETHERTYPE_IPV6) => plain::<6, 14>(ctx, config, state),
        Some(ETHERTYPE_VLAN) => match frame.be16(16) {
            Some(ETHERTYPE_IPV4) => plain::<4, 18>(ctx, config, state),
            Some(ETHERTYPE_IPV6) => plain::<6, 18>(ctx, config, state),
            _ => 0,
        },
        _ => 0,
    };
    if read == 0 && any(ctx, config, counters, state) == 0 {
        return false;
    }
    if is_management(&state.packet) {
        control_packets::management(ctx, config, counters, state);
    }
    if !config.filter.is_none() && wants(config, state) == 0 {
        counters.count_filtered(&state.packet);
        return false;
    }
    counters.count_roce(&state.packet);
    true
}

/// Whether the filter accepts the packet: a subprogram, to keep captures without a filter fast.
#[inline(never)]
fn wants(config: &Config, state: &State) -> u32 {
    u32::from(config.filter.wants(&state.packet.flow))
}

/// One path through the headers: a subprogram each, because the compiler would merge them into one with
/// variable offsets.
#[inline(never)]
fn plain<const VERSION: u8, const AT: usize>(ctx: *mut xdp_md, config: &Config, state: &mut State) -> u32 {
    let State {
        packet, frame_bytes, ..
    } = state;
    let lengths = FrameLengths::whole(*frame_bytes);
    let frame = Linear::new(ctx);
    u32::from(plain_into::<VERSION, AT, _>(&frame, lengths, &config.udp_ports, packet))
}

/// Every other path; counts frames that are not RoCEv2.
#[inline(never)]
fn any(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    let State {
        head,
        packet,
        inner,
        counter,
        frame_bytes,
        ..
    } = state;
    head.fill(ctx, *frame_bytes);
    let class = decode_into(
        &*head,
        LinkType::Ethernet,
        FrameLengths::whole(*frame_bytes),
        config.udp_ports,
        packet,
        inner,
    );
    if matches!(class, Class::Roce(_)) {
        number(counters, state);
        return 1;
    }
    let may_be_tcp = matches!(class, Class::NotRoce(NotRoce::NotUdp, _));
    *counter = CounterIndex::of(&class);
    // SAFETY: a reference; volatile, because the verifier must not know the stored value.
    counters.count_other(unsafe { core::ptr::read_volatile(counter) });
    number(counters, state);
    if may_be_tcp {
        control_packets::handshake(config, counters, state);
    }
    0
}

/// Counts the frame in its mirror session, if the mirror has numbered it.
#[inline(never)]
fn number(counters: &mut Counters, state: &mut State) -> u32 {
    if !state.inner.mirrored.is_numbered() {
        return 0;
    }
    state.mirror = mirror::set_hash(&state.inner.mirrored, state.moment.interface);
    if let Some(set) = maps::sessions(state) {
        mirror::observe(set, &state.inner.mirrored, state.moment.interface, counters);
    }
    0
}
