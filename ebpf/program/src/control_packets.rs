//! Control packets: CM datagrams, and the TCP segments of handshakes.
//!
//! They are rare, so one small ring is enough for all CPUs.

use crate::maps::{CONTROL_PACKETS, HANDSHAKES, State};
use crate::rings::BPF_RB_NO_WAKEUP;
use aya_ebpf::bindings::xdp_md;
use aya_ebpf::helpers::generated::bpf_xdp_load_bytes;
use rocescope_record::{Clock, Config, Counters, MadRecord, SegmentRecord};
use rocescope_wire::tcp::{self, ACK, SYN, SYN_ACK};

/// Publishes the CM datagram in `state.packet`, if the filter may accept it.
#[inline(never)]
pub fn management(ctx: *mut xdp_md, config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    if !config.filter.may_want(&state.packet.flow) {
        return 0;
    }
    let now = state.times.clock(config).now();
    let Some(mut entry) = CONTROL_PACKETS.reserve_untyped::<MadRecord>(0) else {
        counters.lost_mads += 1;
        return 0;
    };
    // SAFETY: the reserved bytes; any bytes are a valid record.
    let record = unsafe { &mut *entry.as_mut_ptr() };
    record.begin(&state.packet, state.moment.interface, now);
    record.mad = [0; 256];
    let at = state.packet.payload_at() as u32;
    let left = state.frame_bytes.saturating_sub(at);
    const PIECE: u32 = MadRecord::PIECE as u32;
    if left >= PIECE {
        // From one piece to sixteen: the mask proves that to the verifier.
        let bytes = ((left.min(256) - PIECE) & (256 - PIECE)) + PIECE;
        // SAFETY: there is space for that many.
        let failed = unsafe { bpf_xdp_load_bytes(ctx, at, record.mad.as_mut_ptr().cast(), bytes) };
        if failed == 0 {
            record.mad_bytes = bytes;
        }
    }
    entry.submit(BPF_RB_NO_WAKEUP);
    0
}

/// A half-open connection, from its client's side.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HandshakeKey {
    client: [u8; 16],
    server: [u8; 16],
    client_port: u16,
    server_port: u16,
    vni: u32,
    vlan: u32,
}

/// The numbers that the ACK of a handshake must carry.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Expected {
    sequence: u32,
    acknowledgement: u32,
}

/// Publishes the TCP segment in the frame, if it may belong to a handshake: every SYN and SYN-ACK, and
/// the ACK that answers a SYN-ACK. The reader assembles them, because they may pass on different CPUs.
#[inline(never)]
pub fn handshake(config: &Config, counters: &mut Counters, state: &mut State) -> u32 {
    let State {
        head,
        packet,
        inner,
        times,
        moment,
        segment,
        key,
        expected,
        ..
    } = state;
    let Some(found) = tcp::segment(&*head, inner) else {
        return 0;
    };
    if !config.filter.is_none() {
        // Reuses the memory of the packet, which was not found.
        packet.flow = found.flow();
        if !config.filter.may_want(&packet.flow) {
            return 0;
        }
    }
    *segment = SegmentRecord::new(&found, moment.interface, 0);
    match segment.kind as u8 {
        SYN => {}
        SYN_ACK => {
            *key = HandshakeKey {
                client: segment.dst,
                server: segment.src,
                client_port: segment.dst_port,
                server_port: segment.src_port,
                vni: segment.vni,
                vlan: u32::from(segment.vlan),
            };
            *expected = Expected {
                sequence: segment.acknowledgement,
                acknowledgement: segment.sequence.wrapping_add(1),
            };
            // If the insert fails, the ACK is not recognised: one round trip less.
            let _ = HANDSHAKES.insert(&*key, &*expected, 0);
        }
        ACK => {
            *key = HandshakeKey {
                client: segment.src,
                server: segment.dst,
                client_port: segment.src_port,
                server_port: segment.dst_port,
                vni: segment.vni,
                vlan: u32::from(segment.vlan),
            };
            let Some(waiting) = HANDSHAKES.get_ptr(&*key) else {
                return 0;
            };
            // SAFETY: an entry of the map, read while the program runs.
            let waiting = unsafe { *waiting };
            if waiting.sequence != segment.sequence || waiting.acknowledgement != segment.acknowledgement {
                return 0;
            }
            let _ = HANDSHAKES.remove(&*key);
        }
        _ => return 0,
    }
    segment.time_ns = times.clock(config).now();
    if CONTROL_PACKETS
        .output_untyped::<SegmentRecord>(&*segment, BPF_RB_NO_WAKEUP)
        .is_err()
    {
        counters.lost_segments += 1;
    }
    0
}
