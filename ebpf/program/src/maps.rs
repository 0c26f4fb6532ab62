//! The maps, and access to the one entry that each has on this CPU.

use crate::clock::Times;
use crate::control_packets::{Expected, HandshakeKey};
use crate::head::Head;
use aya_ebpf::btf_maps::{Array, ArrayOfMaps, LruHashMap, PerCpuArray, RingBuf};
use aya_ebpf::helpers::generated::bpf_map_lookup_elem;
use aya_ebpf::macros::btf_map;
use core::sync::atomic::AtomicU64;
use rocescope_record::batch::Batch;
use rocescope_record::cache::{Moment, Step};
use rocescope_record::counters::{CounterIndex, STATE_BYTES};
use rocescope_record::mirror::{SETS as MIRROR_SETS, SessionSet};
use rocescope_record::{Config, Counters, MadRecord, SegmentRecord, Set};
use rocescope_wire::{Inner, Packet};

/// Sets of the run cache a CPU, two slots each: what the map has unless user space sets another
/// number at load, and then [`SET_MASK`] with it.
const SETS: usize = 8_192;
/// Sets that one call of the flush program looks at: few enough for the verifier to walk through.
pub const SETS_A_FLUSH: u32 = 128;
/// Bytes of a ring: user space chooses when it makes them.
const RING_BYTES: usize = 8 << 20;
/// The most CPUs; user space sets how many there are.
const CPUS: usize = 1_024;

/// One less than the number of sets, which is a power of two. Set when the program is loaded.
#[unsafe(no_mangle)]
static SET_MASK: u32 = SETS as u32 - 1;

/// All that a CPU has, but for the cache: what user space reads, and behind it what it does not.
#[repr(C)]
pub struct Block {
    pub counters: Counters,
    pub state: State,
    rest: [u8; STATE_BYTES - size_of::<State>()],
}

/// What the programs keep to themselves.
#[repr(C)]
pub struct State {
    /// Runs on their way out.
    pub batch: Batch,
    /// The packet being looked at: the stack is too small for it.
    pub packet: Packet,
    /// Where its IP header lies.
    pub inner: Inner,
    /// When it passed, where it says so itself.
    pub times: Times,
    /// When it passed, in ticks, and on which interface.
    pub moment: Moment,
    /// Its length in bytes.
    pub frame_bytes: u32,
    /// The hash of its set.
    pub set: u32,
    /// That of the sessions of its mirror.
    pub mirror: u32,
    /// What it did to its set.
    pub step: Step,
    /// Where it is counted, if it is no RoCEv2 packet.
    pub counter: CounterIndex,
    /// A TCP segment on its way out, and what is known of its connection.
    pub segment: SegmentRecord,
    pub key: HandshakeKey,
    pub expected: Expected,
    /// The beginning of the frame, where it has to be copied.
    pub head: Head,
}

/// Two, of which [`ACTIVE`] holds.
#[btf_map]
static CONFIG: Array<Config, 2> = Array::new();
#[btf_map]
static COUNTERS: PerCpuArray<Block, 1> = PerCpuArray::new();
#[btf_map]
static RUNS: PerCpuArray<Set, SETS> = PerCpuArray::new();
/// Sessions of mirrors.
#[btf_map]
static MIRRORS: PerCpuArray<SessionSet, MIRROR_SETS> = PerCpuArray::new();
#[btf_map]
pub static RINGS: ArrayOfMaps<RingBuf<Batch, RING_BYTES>, CPUS> = ArrayOfMaps::new();

/// Room for some hundreds of CM datagrams: 256 KiB.
const CONTROL_PACKETS_BYTES: usize = 256 << 10;
/// CM datagrams and TCP segments; when it is full, those that follow are lost and counted.
#[btf_map]
pub static CONTROL_PACKETS: RingBuf<MadRecord, CONTROL_PACKETS_BYTES> = RingBuf::new();
/// Connections whose SYN-ACK has passed; the one touched longest ago gives way.
#[btf_map]
pub static HANDSHAKES: LruHashMap<HandshakeKey, Expected, 1024> = LruHashMap::new();

/// Which of the two configurations holds. User space writes the other, then this, and waits until no
/// program runs that has begun before: so a packet is judged by one of them from its first byte to
/// its last, and that one stands still meanwhile.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data")]
static ACTIVE: AtomicU64 = AtomicU64::new(0);

/// The index of maps with one entry. A key on the stack would cost a barrier.
#[unsafe(no_mangle)]
static FIRST: u32 = 0;

/// An entry of an array by an index that lies in memory.
#[expect(
    clippy::mut_from_ref,
    reason = "the map is a handle; its entries lie in the kernel's memory"
)]
#[inline(always)]
fn entry<M, T>(map: &'static M, index: *const u32) -> Option<&'static mut T> {
    let map = (&raw const *map).cast_mut().cast();
    // SAFETY: the map is one of this program, and so is the index.
    let entry: *mut T = unsafe { bpf_map_lookup_elem(map, index.cast()) }.cast();
    // SAFETY: an entry of this CPU, or one that is only read; nothing else on the CPU runs meanwhile.
    unsafe { entry.as_mut() }
}

#[inline(always)]
pub fn config() -> Option<&'static Config> {
    entry(&CONFIG, ACTIVE.as_ptr().cast::<u32>()).map(|config: &mut Config| &*config)
}

#[inline(always)]
pub fn block() -> Option<&'static mut Block> {
    entry(&COUNTERS, &raw const FIRST)
}

/// The sessions that `state.mirror` names.
#[inline(always)]
pub fn sessions(state: &mut State) -> Option<&'static mut SessionSet> {
    state.mirror &= MIRROR_SETS as u32 - 1;
    entry(&MIRRORS, &raw const state.mirror)
}

/// The set that `state.set` names.
#[inline(always)]
pub fn set(state: &mut State) -> Option<&'static mut Set> {
    // SAFETY: a static of this program; volatile, for user space replaces its value at load.
    state.set &= unsafe { core::ptr::read_volatile(&raw const SET_MASK) };
    entry(&RUNS, &raw const state.set)
}
