//! The programs that drop, corrupt or refuse frames in the kernel's traffic control.
//!
//! Each has a dozen instructions, written by hand without a compiler. `tc` loads them from an object file.

use std::net::IpAddr;

/// What happens to a frame: `TC_ACT_SHOT`, `TC_ACT_UNSPEC`.
const DROP: i32 = 2;
const GO_ON: i32 = -1;
const SKB_STORE_BYTES: i32 = 9;
const GET_PRANDOM_U32: i32 = 7;
const REDIRECT: i32 = 23;
const SKB_LOAD_BYTES: i32 = 26;

const ETHERNET: i32 = 14;
/// Bytes of BTH and DETH, and the offset after them of the payload byte that is flipped.
const TRANSPORT: i32 = 12 + 8;
const FLIPPED: i32 = 40;

/// Placeholder of a jump whose target is not yet known: the end, which passes the frame.
const TO_THE_END: i16 = i16::MAX;

#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    /// Destination in the low four bits, source in the high ones.
    registers: u8,
    offset: i16,
    immediate: i32,
}

const fn op(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction {
        code,
        registers: to | from << 4,
        offset,
        immediate,
    }
}

/// `to = number`
const fn set(to: u8, number: i32) -> Instruction {
    op(0xb7, to, 0, 0, number)
}

/// `to = from`
const fn copy(to: u8, from: u8) -> Instruction {
    op(0xbf, to, from, 0, 0)
}

/// `to &= number`
const fn and(to: u8, number: i32) -> Instruction {
    op(0x57, to, 0, 0, number)
}

const fn call(helper: i32) -> Instruction {
    op(0x85, 0, 0, 0, helper)
}

const fn exit() -> Instruction {
    op(0x95, 0, 0, 0, 0)
}

/// `if left >= number`, both unsigned with 32 bits.
const fn unless_below(left: u8, number: u32) -> Instruction {
    op(0x36, left, 0, TO_THE_END, number.cast_signed())
}

/// `if left != number`, both of 32 bits.
const fn unless_equal(left: u8, number: u32) -> Instruction {
    op(0x56, left, 0, TO_THE_END, number.cast_signed())
}

/// `r0 = bytes of the frame at offset`, in host order. Shorter frames pass.
const fn read(size: u8, offset: i32) -> Instruction {
    op(0x20 | size, 0, 0, 0, offset)
}
const BYTE: u8 = 0x10;
const HALF: u8 = 0x08;
const WORD: u8 = 0x00;

/// The share of frames, in 2^32nds.
fn threshold(ratio: f64) -> u32 {
    (ratio.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32
}

/// Drops a share of all frames.
pub(super) fn loss(ratio: f64) -> Vec<u8> {
    let drawn = [call(GET_PRANDOM_U32), unless_below(0, threshold(ratio))];
    assembled(drawn.into(), &[set(0, DROP), exit()])
}

/// Flips a payload byte in a share of UDP datagrams. Their checksum stays 0: routers forward them, and the receiver
/// detects a wrong ICRC.
pub(super) fn corruption(ratio: f64, ipv6: bool) -> Vec<u8> {
    let at = ETHERNET + if ipv6 { 40 } else { 20 } + 8 + TRANSPORT + FLIPPED;
    let mut program = protocol(ipv6);
    program.extend([call(GET_PRANDOM_U32), unless_below(0, threshold(ratio))]);
    let byte = |helper| {
        [
            copy(1, 6),
            set(2, at),
            copy(3, 10),
            op(0x07, 3, 0, 0, -8),
            set(4, 1),
            set(5, 0),
            call(helper),
        ]
    };
    program.extend(byte(SKB_LOAD_BYTES));
    program.push(unless_equal(0, 0));
    program.extend([
        // r1 = *(u8 *)(r10 - 8); r1 ^= 0xff; and back
        op(0x71, 1, 10, -8, 0),
        op(0xa7, 1, 0, 0, 0xff),
        op(0x73, 10, 1, -8, 0),
    ]);
    program.extend(byte(SKB_STORE_BYTES));
    assembled(program, &[])
}

/// The UDP datagrams to refuse.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    /// A port, and the bits that must be equal.
    pub(super) src_port: Option<(u16, u16)>,
}

/// Drops datagrams that match all fields.
pub(super) fn refusal(of: &Refused) -> Vec<u8> {
    let ipv6 = of.dst.is_ipv6();
    let (src, dst, ports) = if ipv6 { (22, 38, 54) } else { (26, 30, 34) };
    let mut program = protocol(ipv6);
    for (offset, address) in [(src, of.src), (dst, of.dst)] {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        for (at, word) in (offset..).step_by(4).zip(bytes.as_chunks().0) {
            program.extend([read(WORD, at), unless_equal(0, u32::from_be_bytes(*word))]);
        }
    }
    if let Some((port, mask)) = of.src_port {
        let equal = unless_equal(0, (port & mask).into());
        program.extend([read(HALF, ports), and(0, mask.into()), equal]);
    }
    assembled(program, &[set(0, DROP), exit()])
}

/// Frames of this Ethernet type, reserved for local experiments, go back out of their interface.
pub(super) const RETURNED: u16 = 0x88b5;

/// Redirects them to the interface that received them.
pub(super) fn returned() -> Vec<u8> {
    let mine = [
        copy(6, 1),
        read(HALF, 12),
        unless_equal(0, RETURNED.into()),
        // r1 = frame->ifindex
        op(0x61, 1, 6, 40, 0),
        set(2, 0),
        call(REDIRECT),
        exit(),
    ];
    assembled(mine.into(), &[])
}

/// `r6 = frame`; only UDP continues.
fn protocol(ipv6: bool) -> Vec<Instruction> {
    let (at, ethertype) = if ipv6 { (20, 0x86dd) } else { (23, 0x0800) };
    vec![
        copy(6, 1),
        read(HALF, 12),
        unless_equal(0, ethertype),
        read(BYTE, at),
        unless_equal(0, 17),
    ]
}

/// The instructions as the kernel reads them: `program`, then its action, then the frame passes.
fn assembled(mut program: Vec<Instruction>, then: &[Instruction]) -> Vec<u8> {
    program.extend(then);
    let end = program.len();
    program.extend([set(0, GO_ON), exit()]);
    let bytes = program.iter().enumerate().flat_map(|(at, instruction)| {
        let offset = match instruction.offset {
            TO_THE_END => (end - at - 1) as i16,
            offset => offset,
        };
        let mut bytes = [0; 8];
        bytes[0] = instruction.code;
        bytes[1] = instruction.registers;
        bytes[2..4].copy_from_slice(&offset.to_le_bytes());
        bytes[4..].copy_from_slice(&instruction.immediate.to_le_bytes());
        bytes
    });
    bytes.collect()
}
