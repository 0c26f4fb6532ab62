//! The maps, and access to their entries on this CPU.

use crate::clock::Times;
use crate::control_packets::{Expected, HandshakeKey};
use crate::head::Head;
use aya_ebpf::btf_maps::{Array, ArrayOfMaps, LruHashMap, PerCpuArray, RingBuf};
use aya_ebpf::helpers::generated::bpf_map_lookup_elem;
use aya_ebpf::macros::btf_map;
use core::sync::atomic::AtomicU64;
use rocescope_record::batch::Batch;
use rocescope_record::cache::Step;
use rocescope_record::counters::{CounterIndex, STATE_BYTES};
use rocescope_record::mirror::{SETS as MIRROR_SETS, SessionSet};
use rocescope_record::{Config, Counters, ExactBudget, MadRecord, Moment, SegmentRecord, Set, UetRecord};
use rocescope_wire::{Inner, Packet};

/// The default number of sets in the run cache of a CPU, two slots each. User space may set another
/// number at load, together with [`SET_MASK`].
const SETS: usize = 8_192;
/// Sets in an entry of the map, a power of two: the kernel looks up the address of an entry in a table, which then
/// stays in the first-level cache.
const SETS_A_GROUP: usize = 64;
/// Sets that one call of the flush program visits: few enough for the verifier.
pub const SETS_A_FLUSH: u32 = 128;
/// Bytes of a ring; user space chooses the size when it creates them.
const RING_BYTES: usize = 8 << 20;
/// The maximum number of CPUs; user space sets the real number.
const CPUS: usize = 1_024;

/// One less than the number of sets, which is a power of two. Set when the program is loaded.
#[unsafe(no_mangle)]
static SET_MASK: u32 = SETS as u32 - 1;

/// The state of a CPU except its cache: the part that user space reads, then the private part.
#[repr(C)]
pub struct Block {
    pub counters: Counters,
    pub state: State,
    rest: [u8; STATE_BYTES - size_of::<State>()],
}

/// The private state of the programs.
#[repr(C)]
pub struct State {
    /// Runs to publish.
    pub batch: Batch,
    /// The current packet, for which the stack is too small.
    pub packet: Packet,
    /// The position of its IP header.
    pub inner: Inner,
    /// Its times, if its metadata has them.
    pub times: Times,
    /// When it passed, in ticks, and on which interface.
    pub moment: Moment,
    /// What is left of the budget of exact times.
    pub exact_budget: ExactBudget,
    /// Its length in bytes.
    pub frame_bytes: u32,
    /// The hash of its set.
    pub set: u32,
    /// The entry with that set.
    group: u32,
    /// The hash of its mirror's session set.
    pub mirror: u32,
    /// Its effect on its set.
    pub step: Step,
    /// Its counter, if it is not a RoCEv2 packet.
    pub counter: CounterIndex,
    /// A TCP segment to publish, and the state of its connection.
    pub segment: SegmentRecord,
    pub key: HandshakeKey,
    pub expected: Expected,
    /// A UET packet to publish.
    pub uet: UetRecord,
    /// The copied beginning of the frame, if needed.
    pub head: Head,
}

/// An entry of the run cache.
#[repr(C)]
struct Group {
    sets: [Set; SETS_A_GROUP],
}

/// Two configurations; [`ACTIVE`] selects one.
#[btf_map]
static CONFIG: Array<Config, 2> = Array::new();
#[btf_map]
static COUNTERS: PerCpuArray<Block, 1> = PerCpuArray::new();
#[btf_map]
static RUNS: PerCpuArray<Group, { SETS / SETS_A_GROUP }> = PerCpuArray::new();
/// Sessions of mirrors.
#[btf_map]
static MIRRORS: PerCpuArray<SessionSet, MIRROR_SETS> = PerCpuArray::new();
#[btf_map]
pub static RINGS: ArrayOfMaps<RingBuf<Batch, RING_BYTES>, CPUS> = ArrayOfMaps::new();

/// Space for hundreds of CM datagrams: 256 KiB.
const CONTROL_PACKETS_BYTES: usize = 256 << 10;
/// CM datagrams and TCP segments; when the ring is full, further ones are lost and counted.
#[btf_map]
pub static CONTROL_PACKETS: RingBuf<MadRecord, CONTROL_PACKETS_BYTES> = RingBuf::new();
/// Connections whose SYN-ACK has passed; evicts the least recently used.
#[btf_map]
pub static HANDSHAKES: LruHashMap<HandshakeKey, Expected, 1024> = LruHashMap::new();

/// Selects the active configuration. User space writes the inactive one, then this, and waits until every
/// program that started before has ended: so each packet is judged by one unchanging configuration.
#[unsafe(no_mangle)]
#[unsafe(link_section = ".data")]
static ACTIVE: AtomicU64 = AtomicU64::new(0);

/// The index of maps with one entry; a key on the stack would cost a barrier.
#[unsafe(no_mangle)]
static FIRST: u32 = 0;

/// An entry of an array by an index in memory.
#[expect(
    clippy::mut_from_ref,
    reason = "the map is a handle; its entries are in the kernel's memory"
)]
#[inline(always)]
fn entry<M, T>(map: &'static M, index: *const u32) -> Option<&'static mut T> {
    let map = (&raw const *map).cast_mut().cast();
    // SAFETY: the map is one of this program, and so is the index.
    let entry: *mut T = unsafe { bpf_map_lookup_elem(map, index.cast()) }.cast();
    // SAFETY: an entry of this CPU, or a read-only one; nothing else runs on the CPU at the same time.
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

/// The session set of `state.mirror`.
#[inline(always)]
pub fn sessions(state: &mut State) -> Option<&'static mut SessionSet> {
    state.mirror &= MIRROR_SETS as u32 - 1;
    entry(&MIRRORS, &raw const state.mirror)
}

/// The set of `state.set`.
#[inline(always)]
pub fn set(state: &mut State) -> Option<&'static mut Set> {
    // SAFETY: a static of this program; volatile, because user space replaces its value at load.
    state.set &= unsafe { core::ptr::read_volatile(&raw const SET_MASK) };
    state.group = state.set / SETS_A_GROUP as u32;
    let group: &mut Group = entry(&RUNS, &raw const state.group)?;
    Some(&mut group.sets[state.set as usize % SETS_A_GROUP])
}
