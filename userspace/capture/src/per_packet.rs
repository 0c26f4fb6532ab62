//! One record a packet through one ring, as other tools capture: the baseline of [`xdp`](crate::xdp).
//!
//! Each record of 64 bytes has time, lengths and the headers after the Ethernet addresses. The program
//! does not parse them, so its cost is a lower bound.

use crate::bpf::{self, ProgramKind, Shared, op};
use crate::file::Frame;
use crate::xdp::link::{self, Attached};
use crate::xdp::{Error, Mode};
use aya::maps::{Map, MapData, RingBuf};
use rocescope_host::interface::Interface;
use rocescope_wire::{FrameLengths, LinkType};
use std::os::fd::{AsFd, OwnedFd};

/// `BPF_MAP_TYPE_RINGBUF`.
const RING_BUFFER: u32 = 27;
/// The header bytes in a record: 64 less the time and a length.
const RECORD_BYTES: i32 = 64;
const HEADER_AT: i16 = 12;
const HEADER_BYTES: i32 = RECORD_BYTES - HEADER_AT as i32;
/// The destination and source addresses, which the record omits.
const ADDRESS_BYTES: i32 = 12;

const KTIME_GET_NS: i32 = 5;
const RINGBUF_RESERVE: i32 = 131;
const RINGBUF_SUBMIT: i32 = 132;
const RINGBUF_DISCARD: i32 = 133;
const XDP_GET_BUFF_LEN: i32 = 188;
const XDP_LOAD_BYTES: i32 = 189;
/// `BPF_RB_NO_WAKEUP`: the reader polls.
const NO_WAKEUP: i32 = 1;

/// The program on an interface, and its ring.
pub struct PerPacket {
    ring: RingBuf<MapData>,
    counts: Shared,
    _program: OwnedFd,
    attached: Attached,
    interface: u32,
    epoch_offset_ns: u64,
    frame: Vec<u8>,
}

impl std::fmt::Debug for PerPacket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerPacket")
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

impl PerPacket {
    /// Attaches. The ring takes `ring_bytes`, a power of two; `drop` ends the frames here.
    ///
    /// # Errors
    /// As with [`Capture::load`](crate::xdp::Capture::load).
    pub fn attach(on: &Interface, ring_bytes: u32, drop: bool) -> Result<Self, Error> {
        let map = aya_obj::Map::new_from_params(RING_BUFFER, 0, 0, ring_bytes, 0);
        let map = MapData::create(map, "per_packet", None)?;
        let ring_fd = map.fd().as_fd().try_clone_to_owned().map_err(Error::Call)?;
        let counts = Shared::new("per_packet_lost", 8, 1).map_err(Error::Call)?;
        let program = program(&ring_fd, &counts.fd, if drop { 1 } else { 2 });
        let program = bpf::load(ProgramKind::Xdp, "per_packet", &program).map_err(Error::Call)?;
        let (attached, _) = link::attach(program.as_fd(), on.index, Mode::Native)?;
        Ok(Self {
            ring: RingBuf::try_from(Map::RingBuf(map))?,
            counts,
            _program: program,
            attached,
            interface: on.index,
            epoch_offset_ns: crate::xdp::epoch_offset_ns(),
            frame: Vec::new(),
        })
    }

    /// Delivers up to `max` packets from the ring and returns their number.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn poll<E>(&mut self, max: usize, mut take: impl FnMut(&Frame<'_>) -> Result<(), E>) -> Result<usize, E> {
        let mut taken = 0;
        while taken < max
            && let Some(record) = self.ring.next()
        {
            taken += 1;
            let (head, header) = record.split_at(HEADER_AT as usize);
            let time = head.first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
            let length = head.last_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            self.frame.clear();
            self.frame.resize(ADDRESS_BYTES as usize, 0);
            self.frame.extend_from_slice(header);
            self.frame.truncate(length as usize);
            take(&Frame {
                bytes: &self.frame,
                link: Some(LinkType::Ethernet),
                lengths: FrameLengths {
                    captured: self.frame.len() as u32,
                    original: length,
                },
                time_ns: time.wrapping_add(self.epoch_offset_ns),
                interface: self.interface,
            })?;
        }
        Ok(taken)
    }

    /// Packets lost to a full ring so far.
    pub fn lost(&mut self) -> u64 {
        let count = self.counts.value(0).first_chunk();
        count.map_or(0, |bytes| u64::from_ne_bytes(*bytes))
    }
}

/// Copies the headers of a packet into a record.
fn program(ring: &OwnedFd, lost: &OwnedFd, verdict: i32) -> Vec<bpf::Instruction> {
    let mut out = vec![op::copy(6, 1)];
    out.push(op::call(XDP_GET_BUFF_LEN));
    out.push(op::copy(8, 0));
    out.extend(op::map(1, ring));
    out.push(op::set(2, RECORD_BYTES));
    out.push(op::set(3, 0));
    out.push(op::call(RINGBUF_RESERVE));
    // Full: count it and go on.
    out.push(op::if_unequal(0, 0, 6));
    out.extend(op::value(1, lost));
    out.push(op::set(2, 1));
    out.push(op::add_atomically(1, 0, 2));
    out.push(op::set(0, verdict));
    out.push(op::exit());
    out.push(op::copy(7, 0));
    out.push(op::call(KTIME_GET_NS));
    out.push(op::store(7, 0, 0));
    out.push(op::store_u32(7, 8, 8));
    out.push(op::copy(1, 6));
    out.push(op::set(2, ADDRESS_BYTES));
    out.push(op::copy(3, 7));
    out.push(op::add(3, i32::from(HEADER_AT)));
    // Copies what the frame has; the rest of the record keeps its old content.
    out.push(op::copy(4, 8));
    out.push(op::add(4, -ADDRESS_BYTES));
    out.push(op::if_at_most(4, HEADER_BYTES, 1));
    out.push(op::set(4, HEADER_BYTES));
    // The verifier requires at least one byte, and every frame has an Ethernet header.
    out.push(op::if_unequal(4, 0, 1));
    out.push(op::set(4, 1));
    out.push(op::call(XDP_LOAD_BYTES));
    out.push(op::copy(1, 7));
    out.push(op::set(2, NO_WAKEUP));
    out.push(op::if_equal(0, 0, 3));
    out.push(op::call(RINGBUF_DISCARD));
    out.push(op::set(0, verdict));
    out.push(op::exit());
    out.push(op::call(RINGBUF_SUBMIT));
    out.push(op::set(0, verdict));
    out.push(op::exit());
    out
}
