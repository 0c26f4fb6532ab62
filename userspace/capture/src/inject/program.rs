//! The programs that fill packets with frames, and the one that counts the accepted ones.
//!
//! They share [`State`] with user space, one value, which only the sending thread touches: it fills it,
//! runs the first program, and reads it.

use crate::bpf::{Instruction, op};
use std::os::fd::OwnedFd;

/// Bytes of a slot before its frame: the length.
pub(super) const LENGTH_BYTES: usize = 8;
/// Frames between two reads of the clock, each a tenth of the cost of sending a frame.
pub(super) const BURST: u64 = 16;
/// A sender that is further behind than this does not catch up, because the burst would not be a rate.
/// Some time slices of a scheduler.
const MOST_BEHIND_NS: i32 = 20_000_000;

/// The state that both sides share.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct State {
    /// Frames still to send.
    pub(super) left: u64,
    /// The slot to send next.
    pub(super) at: u64,
    /// The number of slots, after which the index wraps to 0.
    pub(super) end: u64,
    /// The length that the kernel gives a packet before the program cuts it.
    pub(super) packet_bytes: u64,
    /// Nanoseconds from one burst to the next; 0 for no pause.
    pub(super) interval_ns: u64,
    /// When the next burst is due, on the monotonic clock.
    pub(super) due_ns: u64,
    /// Frames left of this burst.
    pub(super) credit: u64,
    /// Frames passed to the kernel.
    pub(super) offered: u64,
    /// The kernel's id of the sending thread.
    pub(super) thread: u64,
    pub(super) accepted: u64,
    pub(super) dropped: u64,
}

const LEFT: i16 = 0;
const AT: i16 = 8;
const END: i16 = 16;
const PACKET_BYTES: i16 = 24;
const INTERVAL: i16 = 32;
const DUE: i16 = 40;
const CREDIT: i16 = 48;
const OFFERED: i16 = 56;
const THREAD: i16 = 64;
const ACCEPTED: i16 = 72;
const DROPPED: i16 = 80;

const MAP_LOOKUP_ELEMENT: i32 = 1;
const KTIME_GET_NS: i32 = 5;
const TAIL_CALL: i32 = 12;
const GET_CURRENT_PID_TGID: i32 = 14;
const REDIRECT: i32 = 23;
const XDP_ADJUST_TAIL: i32 = 65;
const XDP_STORE_BYTES: i32 = 190;
const XDP_DROP: i32 = 1;

/// The destination of a filled packet.
pub(super) enum Target<'a> {
    /// To an interface, cut to the length of its frame.
    Interface(u32),
    /// To the program of this map. The packet keeps its length, and only headers are copied.
    Program(&'a OwnedFd),
}

/// The part of a frame that any program reads.
pub(super) const HEADER_BYTES: usize = 128;

/// Copies the next slot, of frames up to `longest` bytes, into the packet and passes it on; drops
/// the packet while nothing is due.
pub(super) fn sender(slots: &OwnedFd, state: &OwnedFd, target: &Target<'_>, longest: usize) -> Vec<Instruction> {
    let mut out: Vec<Instruction> = Vec::new();
    // Jumps that get the offset of the end once it is known.
    let mut to_drop = Vec::new();
    let mut drop_if = |out: &mut Vec<Instruction>, jump: Instruction| {
        to_drop.push(out.len());
        out.push(jump);
    };
    out.push(op::copy(6, 1));
    out.extend(op::value(7, state));
    out.push(op::load(8, 7, LEFT));
    drop_if(&mut out, op::if_equal(8, 0, 0));
    // Whether the next burst is due.
    out.push(op::load(9, 7, INTERVAL));
    out.push(op::if_equal(9, 0, 15));
    out.push(op::load(1, 7, CREDIT));
    out.push(op::if_unequal(1, 0, 11));
    out.push(op::call(KTIME_GET_NS));
    out.push(op::load(1, 7, DUE));
    drop_if(&mut out, op::if_below_other(0, 1, 0));
    out.push(op::copy(2, 1));
    out.push(op::add(2, MOST_BEHIND_NS));
    out.push(op::if_below_other(0, 2, 1));
    out.push(op::copy(1, 0));
    out.push(op::plus(1, 9));
    out.push(op::store(7, DUE, 1));
    out.push(op::set(1, BURST as i32));
    out.push(op::set(0, 0));
    out.push(op::add(1, -1));
    out.push(op::store(7, CREDIT, 1));
    // One less to send; the slot, and the next one.
    out.push(op::add(8, -1));
    out.push(op::store(7, LEFT, 8));
    out.push(op::load(1, 7, AT));
    out.push(op::load(2, 7, END));
    out.push(op::store_u32(10, -4, 1));
    out.push(op::add(1, 1));
    out.push(op::if_below_other(1, 2, 1));
    out.push(op::set(1, 0));
    out.push(op::store(7, AT, 1));
    out.push(op::load(1, 7, OFFERED));
    out.push(op::add(1, 1));
    out.push(op::store(7, OFFERED, 1));
    out.extend(op::map(1, slots));
    out.push(op::copy(2, 10));
    out.push(op::add(2, -4));
    out.push(op::call(MAP_LOOKUP_ELEMENT));
    drop_if(&mut out, op::if_equal(0, 0, 0));
    out.push(op::copy(8, 0));
    // Its length, which the verifier must know to be within the slot.
    out.push(op::load(9, 8, 0));
    drop_if(&mut out, op::if_equal(9, 0, 0));
    drop_if(&mut out, op::if_above(9, longest as i32, 0));
    match target {
        Target::Interface(_) => {
            // Growing would make the kernel clear the new part.
            out.push(op::load(1, 7, PACKET_BYTES));
            out.push(op::copy(2, 9));
            out.push(op::minus(2, 1));
            out.push(op::copy(1, 6));
            out.push(op::call(XDP_ADJUST_TAIL));
            drop_if(&mut out, op::if_unequal(0, 0, 0));
        }
        Target::Program(_) => {
            out.push(op::if_at_most(9, HEADER_BYTES as i32, 1));
            out.push(op::set(9, HEADER_BYTES as i32));
        }
    }
    out.push(op::copy(1, 6));
    out.push(op::set(2, 0));
    out.push(op::copy(3, 8));
    out.push(op::add(3, LENGTH_BYTES as i32));
    out.push(op::copy(4, 9));
    out.push(op::call(XDP_STORE_BYTES));
    drop_if(&mut out, op::if_unequal(0, 0, 0));
    match target {
        Target::Interface(index) => {
            out.push(op::set(1, index.cast_signed()));
            out.push(op::set(2, 0));
            out.push(op::call(REDIRECT));
            out.push(op::exit());
        }
        // This call does not return.
        Target::Program(next) => {
            out.push(op::copy(1, 6));
            out.extend(op::map(2, next));
            out.push(op::set(3, 0));
            out.push(op::call(TAIL_CALL));
        }
    }
    let end = out.len();
    out.push(op::set(0, XDP_DROP));
    out.push(op::exit());
    for at in to_drop {
        if let Some(jump) = out.get_mut(at) {
            jump.offset = (end - at - 1) as i16;
        }
    }
    out
}

/// User space passes this in place of an error to identify its thread.
pub(super) const REGISTER: i32 = 0x0072_6f63;

/// Counts the redirected packets of our thread that the driver accepted: at the tracepoint
/// `xdp_devmap_xmit (from, to, sent, drops, err)`.
pub(super) fn counter(state: &OwnedFd) -> Vec<Instruction> {
    let mut out = vec![op::copy(6, 1), op::call(GET_CURRENT_PID_TGID)];
    out.extend(op::value(7, state));
    out.push(op::load(1, 6, 32));
    out.push(op::if_unequal(1, REGISTER, 1));
    out.push(op::store(7, THREAD, 0));
    out.push(op::load(1, 7, THREAD));
    out.push(op::if_unequal_other(0, 1, 8));
    for (argument, total) in [(16, ACCEPTED), (24, DROPPED)] {
        out.push(op::load(1, 6, argument));
        out.push(op::load(2, 7, total));
        out.push(op::plus(2, 1));
        out.push(op::store(7, total, 2));
    }
    out.push(op::set(0, 0));
    out.push(op::exit());
    out
}

/// Both sides use the same layout.
const _: () = {
    assert!(std::mem::offset_of!(State, end) == END as usize);
    assert!(std::mem::offset_of!(State, packet_bytes) == PACKET_BYTES as usize);
    assert!(std::mem::offset_of!(State, credit) == CREDIT as usize);
    assert!(std::mem::offset_of!(State, offered) == OFFERED as usize);
    assert!(std::mem::offset_of!(State, dropped) == DROPPED as usize);
};
