//! Classifies frames.

use crate::control_packets;
use crate::linear::Linear;
use crate::maps::{self, State};
use crate::uet;
use aya_ebpf::bindings::xdp_md;
use rocescope_record::control_packet::is_management;
use rocescope_record::counters::CounterIndex;
use rocescope_record::{Config, Counters, mirror};
use rocescope_wire::link::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN};
use rocescope_wire::plain::plain_into;
use rocescope_wire::{Class, FrameLengths, LinkType, NotRoce, Octets, decode_into};

/// Decodes a frame that is not on the straight path; returns whether it is a RoCEv2 packet, which is then in
/// `state.packet`. Counts all others.
#[inline(always)]
pub fn decode(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> bool {
    let frame = Linear::new(ctx);
    let is_tagged = frame.be16(12) == Some(ETHERTYPE_VLAN);
    let is_plain = match frame.be16(16) {
        Some(ETHERTYPE_IPV4) if is_tagged => plain::<4>(ctx, config, state),
        Some(ETHERTYPE_IPV6) if is_tagged => plain::<6>(ctx, config, state),
        _ => 0,
    };
    is_plain != 0 || any(ctx, config, counters, state) != 0
}

/// Publishes a control packet, applies the filter and counts; returns whether the packet is for a run.
#[inline(always)]
pub fn accept(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> bool {
    if is_management(&state.packet) {
        control_packets::management(ctx, config, counters, state);
    }
    if !config.filter.is_none() && wants(config, state) == 0 {
        counters.count_filtered(&state.packet);
        return false;
    }
    counters.count_roce(&state.packet);
    counters.count_cut(&state.packet, &state.inner);
    true
}

/// Whether the filter accepts the packet: a subprogram, to keep captures without a filter fast.
#[inline(never)]
fn wants(config: &Config, state: &State) -> u32 {
    u32::from(config.filter.wants(&state.packet.flow))
}

/// A tagged frame: a subprogram each, because the compiler would merge both into one with variable offsets.
#[inline(never)]
fn plain<const VERSION: u8>(ctx: *mut xdp_md, config: &Config, state: &mut State) -> u32 {
    let State {
        packet, frame_bytes, ..
    } = state;
    let lengths = FrameLengths::whole(*frame_bytes);
    let frame = Linear::new(ctx);
    u32::from(plain_into::<VERSION, 18, _>(&frame, lengths, &config.udp_ports, packet))
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
    counters.count_unhandled(inner);
    if matches!(class, Class::Roce(_)) {
        number(counters, state);
        return 1;
    }
    let is_uet = matches!(class, Class::NotRoce(NotRoce::Uet, _));
    let may_be_tcp = matches!(class, Class::NotRoce(NotRoce::NotUdp, _));
    *counter = CounterIndex::of(&class).with_uet(&class, inner.uet);
    // SAFETY: a reference; volatile, because the verifier must not know the stored value.
    counters.count_other(unsafe { core::ptr::read_volatile(counter) });
    counters.count_foreign(inner.foreign);
    number(counters, state);
    if may_be_tcp {
        control_packets::handshake(config, counters, state);
    }
    if is_uet {
        uet::publish(config, counters, state);
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
