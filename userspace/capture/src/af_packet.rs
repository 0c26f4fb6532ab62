//! Frames from a packet socket, over a ring that is shared with the kernel (`TPACKET_V3`).
//!
//! The fallback where XDP is unavailable. The kernel allocates a packet for every frame and copies it, so this is
//! much slower; the kernel drops and counts frames that do not fit into the ring. A VLAN tag that
//! the kernel removed is restored.

use crate::file::Frame;
use rocescope_host::interface::Interface;
use rocescope_host::packet::{self, DROP_ALL, LEAVING, Receive, Socket};
use rocescope_wire::{FrameLengths, LinkType};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The kernel hands blocks over, full or after [`RETIRE_MS`]: 32 of 1 MiB, a tenth of a second at
/// 3 Gbit/s. When all are full, frames are dropped and counted.
const BLOCK_BYTES: usize = 1 << 20;
const BLOCKS: usize = 32;
const RETIRE_MS: u32 = 20;
/// The ring needs a frame size that divides a block; it has no other meaning in blocks of variable frames.
const FRAME_BYTES: u32 = 2_048;
/// The offset of a VLAN tag: after the addresses.
const TAG_AT: usize = 12;
const TAG_BYTES: usize = 4;
const ETHERTYPE_VLAN: u16 = 0x8100;

/// Why a packet socket is unavailable.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Not an Ethernet interface.
    #[error("not an Ethernet interface")]
    NotEthernet,
    /// The kernel refuses.
    #[error("{what}")]
    Io {
        /// The operation that failed.
        what: &'static str,
        /// The error of the kernel.
        source: io::Error,
    },
}

impl Error {
    const fn at(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}

/// Frames of which direction are captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Those that arrive.
    #[default]
    In,
    /// Those that leave.
    Out,
    /// All.
    Both,
}

impl Direction {
    /// Its name: `in`, `out` or `both`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::In => "in",
            Self::Out => "out",
            Self::Both => "both",
        }
    }

    /// Its frames, in words.
    #[must_use]
    pub const fn frames(self) -> &'static str {
        match self {
            Self::In => "arriving frames only",
            Self::Out => "leaving frames only",
            Self::Both => "arriving and leaving frames",
        }
    }
}

/// A packet socket on one interface and its ring.
#[derive(Debug)]
pub struct PacketSocket {
    socket: Socket,
    ring: Ring,
    interface: u32,
    /// The block to read next.
    at: usize,
    /// A frame with its tag restored.
    tagged: Vec<u8>,
    /// No drop that is not yet counted is older.
    since_ns: u64,
    /// A block was returned to the kernel while all were full, since the kernel was last asked for drops.
    was_full: bool,
    /// Drops that are counted, until [`new_drops`](Self::new_drops) returns them.
    counted: Option<Drops>,
}

/// Frames that the kernel dropped, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drops {
    /// No drop was earlier; nanoseconds since the epoch.
    pub from_ns: u64,
    /// No drop was later.
    pub to_ns: u64,
    /// How many.
    pub frames: u64,
}

/// Memory shared with the kernel.
#[derive(Debug)]
struct Ring(NonNull<u8>);

// SAFETY: the memory belongs to the holder of the ring, on any thread.
unsafe impl Send for Ring {}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no pointer into it remains.
        let _ = unsafe { munmap(self.0.as_ptr().cast(), BLOCK_BYTES * BLOCKS) };
    }
}

impl PacketSocket {
    /// Opens a socket; the kernel fills its ring with frames of this direction from now on.
    ///
    /// # Errors
    /// [`Error::NotEthernet`], or an error of the kernel.
    pub fn open(on: &Interface, direction: Direction) -> Result<Self, Error> {
        if !on.is_ethernet().map_err(Error::at("the interface"))? {
            return Err(Error::NotEthernet);
        }
        let socket = Socket::open().map_err(Error::at("a packet socket"))?;
        let version = libc::tpacket_versions::TPACKET_V3 as libc::c_int;
        socket
            .set(libc::PACKET_VERSION, &version)
            .map_err(Error::at("TPACKET_V3"))?;
        match direction {
            Direction::In => socket.ignore_outgoing().map_err(Error::at("PACKET_IGNORE_OUTGOING"))?,
            Direction::Out => {
                packet::attach_filter(&socket, &LEAVING).map_err(Error::at("a filter of leaving frames"))?;
            }
            Direction::Both => {}
        }
        let request = libc::tpacket_req3 {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: BLOCKS as u32,
            tp_frame_size: FRAME_BYTES,
            tp_frame_nr: (BLOCK_BYTES * BLOCKS) as u32 / FRAME_BYTES,
            tp_retire_blk_tov: RETIRE_MS,
            tp_sizeof_priv: 0,
            tp_feature_req_word: 0,
        };
        socket
            .set(libc::PACKET_RX_RING, &request)
            .map_err(Error::at("the ring"))?;
        // SAFETY: a new mapping of the ring's size at an address that the kernel chooses.
        let memory = unsafe {
            mmap(
                std::ptr::null_mut(),
                BLOCK_BYTES * BLOCKS,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &socket,
                0,
            )
        };
        let memory = memory.map_err(|errno| Error::at("the ring")(errno.into()))?;
        let ring = NonNull::new(memory.cast())
            .map(Ring)
            .ok_or_else(|| Error::at("the ring")(io::ErrorKind::OutOfMemory.into()))?;
        socket
            .bind(on.index, Receive::Everything)
            .map_err(Error::at("the interface"))?;
        Ok(Self {
            socket,
            ring,
            interface: on.index,
            at: 0,
            tagged: Vec::new(),
            since_ns: now_ns(),
            was_full: false,
            counted: None,
        })
    }

    /// The descriptor, readable when a block is full or its timer has expired.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Delivers the frames of the next block, if one is ready, and returns whether it was.
    ///
    /// # Errors
    /// Those of `take`; the rest of the block is then lost.
    pub fn next_block<E>(&mut self, mut take: impl FnMut(&Frame<'_>) -> Result<(), E>) -> Result<bool, E> {
        let from = self.at * BLOCK_BYTES;
        let status = self.word(from + STATUS_AT);
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return Ok(false);
        }
        // SAFETY: the block is in the ring, and ours until its status is returned to the kernel.
        let block = unsafe { std::slice::from_raw_parts(self.ring.0.as_ptr().add(from).cast_const(), BLOCK_BYTES) };
        let taken = frames(block, self.interface, &mut self.tagged, &mut take);
        if self.newest_if_full_ns().is_some() {
            // The newest frame in the ring shows when these drops began; soon there will be newer ones. What the kernel
            // does not report now, it reports at the next call.
            let _ = self.count_drops();
            self.was_full = true;
        }
        self.word(from + STATUS_AT)
            .store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.at = (self.at + 1) % BLOCKS;
        taken.map(|()| true)
    }

    /// The share of the ring's blocks that wait to be read, 0 to 1.
    #[must_use]
    pub fn ring_filled(&self) -> f64 {
        let ready = (0..BLOCKS).take_while(|ahead| self.is_ready((self.at + ahead) % BLOCKS));
        ready.count() as f64 / BLOCKS as f64
    }

    /// Whether the kernel has filled this block.
    fn is_ready(&self, at: usize) -> bool {
        self.word(at * BLOCK_BYTES + STATUS_AT).load(Ordering::Acquire) & libc::TP_STATUS_USER != 0
    }

    /// Frames that the kernel has dropped because the ring was full, as of the last [`new_drops`](Self::new_drops).
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.socket.dropped()
    }

    /// Frames that the kernel has dropped since the last call, if there are any.
    ///
    /// # Errors
    /// The kernel does not report it.
    pub fn new_drops(&mut self) -> io::Result<Option<Drops>> {
        self.count_drops()?;
        Ok(self.counted.take())
    }

    /// Counts the frames that the kernel has dropped since the last call.
    ///
    /// The kernel drops a frame only while all blocks are full. If they still are, and always were since the first
    /// drop, the drops began after the newest frame in them. The times of frames are compared, not of calls: on a busy
    /// host a frame reaches the ring some time after it got its timestamp.
    fn count_drops(&mut self) -> io::Result<()> {
        let asking_ns = now_ns();
        let frames = self.socket.new_drops()?;
        let newest_ns = self.newest_if_full_ns();
        let since_ns = std::mem::replace(&mut self.since_ns, newest_ns.unwrap_or(asking_ns));
        let was_full = std::mem::replace(&mut self.was_full, false);
        if frames > 0 {
            let from_ns = match newest_ns {
                Some(newest_ns) if !was_full => newest_ns.max(since_ns),
                _ => since_ns,
            };
            let before = self.counted.take();
            self.counted = Some(Drops {
                from_ns: before.map_or(from_ns, |before| before.from_ns.min(from_ns)),
                to_ns: now_ns(),
                frames: frames + before.map_or(0, |before| before.frames),
            });
        }
        Ok(())
    }

    /// The time of the newest frame, if all blocks are full.
    fn newest_if_full_ns(&self) -> Option<u64> {
        let last = (self.at + BLOCKS - 1) % BLOCKS;
        // The kernel fills them in order: the last is ready only if all are.
        if !self.is_ready(last) {
            return None;
        }
        let seconds = self.word(last * BLOCK_BYTES + LAST_TIME_AT).load(Ordering::Relaxed);
        let nanoseconds = self.word(last * BLOCK_BYTES + LAST_TIME_AT + 4).load(Ordering::Relaxed);
        Some(u64::from(seconds) * 1_000_000_000 + u64::from(nanoseconds))
    }

    /// Stops the kernel from filling the ring; the frames in it remain readable.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn stop(&self) -> io::Result<()> {
        // A filter that accepts no byte of any frame: the socket stays bound, because the timer that
        // retires the last block runs only that long.
        packet::attach_filter(&self.socket, &DROP_ALL)
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the offset is in the ring and a multiple of four; the kernel too touches it
        // with atomic accesses only.
        unsafe { AtomicU32::from_ptr(self.ring.0.as_ptr().add(at).cast()) }
    }
}

/// The clock of the frames: nanoseconds since the epoch.
#[must_use]
pub fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// How long the kernel may keep a block with frames.
pub const RETIRE: std::time::Duration = std::time::Duration::from_millis(RETIRE_MS as u64);

/// The offsets of a block's status, its number of frames, and its first frame: after the version
/// and offset of the private part.
const STATUS_AT: usize = std::mem::offset_of!(libc::tpacket_block_desc, hdr);
const COUNT_AT: usize = STATUS_AT + 4;
const FIRST_AT: usize = STATUS_AT + 8;
/// The offset of the time of a block's last frame: seconds, then nanoseconds.
const LAST_TIME_AT: usize = STATUS_AT + std::mem::offset_of!(libc::tpacket_hdr_v1, ts_last_pkt);

/// Delivers the frames of a block; an offset outside of it ends the walk.
fn frames<E>(
    block: &[u8],
    interface: u32,
    tagged: &mut Vec<u8>,
    take: &mut impl FnMut(&Frame<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let word = |at: usize| -> usize {
        let bytes = block.get(at..).and_then(<[u8]>::first_chunk::<4>);
        bytes.map_or(0, |bytes| u32::from_ne_bytes(*bytes) as usize)
    };
    let mut at = word(FIRST_AT);
    for _ in 0..word(COUNT_AT) {
        let Some(header) = block.get(at..at + size_of::<libc::tpacket3_hdr>()) else {
            break;
        };
        // SAFETY: the bytes exist, and any bytes are such a structure of numbers.
        let header: libc::tpacket3_hdr = unsafe { header.as_ptr().cast::<libc::tpacket3_hdr>().read_unaligned() };
        let from = at + usize::from(header.tp_mac);
        let Some(bytes) = block.get(from..from + header.tp_snaplen as usize) else {
            break;
        };
        let mut lengths = FrameLengths {
            captured: header.tp_snaplen,
            original: header.tp_len,
        };
        let bytes = match tag(&header).zip(bytes.split_at_checked(TAG_AT)) {
            Some((tag, (addresses, rest))) => {
                tagged.clear();
                tagged.extend_from_slice(addresses);
                tagged.extend_from_slice(&tag);
                tagged.extend_from_slice(rest);
                lengths.captured += TAG_BYTES as u32;
                lengths.original += TAG_BYTES as u32;
                tagged.as_slice()
            }
            None => bytes,
        };
        take(&Frame {
            bytes,
            link: Some(LinkType::Ethernet),
            lengths,
            time_ns: u64::from(header.tp_sec) * 1_000_000_000 + u64::from(header.tp_nsec),
            interface,
        })?;
        at += header.tp_next_offset as usize;
    }
    Ok(())
}

/// The tag that the kernel removed.
fn tag(header: &libc::tpacket3_hdr) -> Option<[u8; TAG_BYTES]> {
    if header.tp_status & libc::TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let kind = if header.tp_status & libc::TP_STATUS_VLAN_TPID_VALID == 0 {
        ETHERTYPE_VLAN
    } else {
        header.hv1.tp_vlan_tpid
    };
    let [a, b] = kind.to_be_bytes();
    let [c, d] = (header.hv1.tp_vlan_tci as u16).to_be_bytes();
    Some([a, b, c, d])
}
