//! Turns frames into runs: decoder, counters and cache for user space.

use crate::cache::{self, Set, Sink};
use crate::config::Config;
use crate::control_packet::{self, ControlPacket, MadRecord};
use crate::counters::Counters;
use crate::exact_budget::ExactBudget;
use crate::handshake::HalfOpens;
use crate::mirror::{self, Session, SessionSet};
use crate::moment::{Clock, Moment};
use crate::uet::UetRecord;
use bytemuck::Zeroable;
use rocescope_wire::{Class, FrameLengths, Inner, LinkType, Mirrored, NotRoce, Packet, decode_into, tcp, uet};

/// Both clocks of a capture file: the timestamp of the current frame.
#[derive(Clone, Copy, Debug)]
pub struct FrameTime(
    /// Nanoseconds since the epoch.
    pub u64,
);

impl Clock for FrameTime {
    #[inline(always)]
    fn tick(&self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn now(&self) -> u64 {
        self.0
    }
}

/// Bits that name the sets with open runs: a bit for each of 4,096 sets, or for several where there are more.
const USED_BITS: usize = 4_096;

/// Decoder, counters and run cache over memory of the caller.
#[derive(Debug)]
pub struct Observer<M> {
    config: Config,
    counters: Counters,
    sets: M,
    /// The sets that may have open runs: a flush after four packets visits four sets, not the megabyte of all.
    used: [u64; USED_BITS / 64],
    exact_budget: ExactBudget,
    half_open: HalfOpens,
    mirrors: [SessionSet; mirror::SETS],
    packet: Packet,
    inner: Inner,
    /// Memory for the record of a UET packet.
    record: UetRecord,
}

impl<M: AsMut<[Set]> + AsRef<[Set]>> Observer<M> {
    /// An observer over `sets`, which must be zeroed and a power of two in number; of another
    /// number only the largest power of two in it is used.
    pub fn new(config: Config, sets: M) -> Self {
        Self {
            config,
            counters: Counters::default(),
            sets,
            used: [0; USED_BITS / 64],
            exact_budget: ExactBudget::default(),
            half_open: HalfOpens::default(),
            mirrors: [[Session::zeroed(); 4]; mirror::SETS],
            packet: Packet::zeroed(),
            inner: Inner::zeroed(),
            record: UetRecord::zeroed(),
        }
    }

    /// The configuration in use.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Applies what may change during a capture: see [`Config::adopt`].
    pub const fn reconfigure(&mut self, config: &Config) {
        self.config.adopt(config);
    }

    /// The counts so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a frame that was classified elsewhere and is not a RoCEv2 packet.
    pub fn count(&mut self, class: &Class<&Packet>) {
        self.counters.count(class, 0);
    }

    /// Processes a frame and returns its class, whether the filter accepts it or not. Publishes ended runs
    /// and control packets to `sink`.
    #[inline]
    pub fn observe<C: Clock, S: Sink>(
        &mut self,
        frame: &[u8],
        link: LinkType,
        lengths: FrameLengths,
        interface: u32,
        clock: &C,
        sink: &mut S,
    ) -> Class<&Packet> {
        let Self {
            config,
            counters,
            sets,
            used,
            packet,
            inner,
            exact_budget,
            record,
            half_open,
            mirrors,
        } = self;
        let class = decode_into(frame, link, lengths, config.udp_ports, packet, inner);
        counters.count_unhandled(inner);
        if inner.mirrored.is_numbered() {
            number(mirrors, &inner.mirrored, interface, counters);
        }
        if let Class::Roce(packet) = &class {
            let filter = &config.filter;
            if control_packet::is_management(packet) && filter.may_want(&packet.flow) {
                let mut record = MadRecord::zeroed();
                record.fill(frame, packet, interface, clock.now());
                if !sink.control_packet(ControlPacket::Mad(&record)) {
                    counters.lost_mads += 1;
                }
            }
            if !filter.wants(&packet.flow) {
                counters.count_filtered(packet);
                return class;
            }
            counters.count_roce(packet);
            counters.count_cut(packet, inner);
            let sets = sets.as_mut();
            let bits = sets.len().max(1).ilog2();
            let at = cache::set_hash(packet, interface, config) as usize & ((1 << bits) - 1);
            if let Some(set) = sets.get_mut(at) {
                let group = at >> bits.saturating_sub(USED_BITS.ilog2());
                if let Some(word) = used.get_mut(group / 64) {
                    *word |= 1 << (group % 64);
                }
                let moment = Moment::now(clock, interface, exact_budget, config);
                cache::observe(set, packet, &moment, clock, config, counters, sink);
            }
            return class;
        }
        counters.count(&class, inner.uet);
        counters.count_foreign(inner.foreign);
        if let Class::NotRoce(NotRoce::Uet, encapsulation) = &class {
            if uet::read_into(frame, inner, *encapsulation, &mut record.flow, &mut record.packet) == 0 {
                counters.uet_unread += 1;
            } else if config.filter.may_want(&record.flow) {
                record.time_ns = clock.now();
                record.interface = interface;
                sink.uet(record, counters);
            } else {
                counters.uet_filtered += 1;
            }
            return class;
        }
        if let Class::NotRoce(NotRoce::NotUdp, _) = &class
            && let Some(segment) = tcp::segment(frame, inner)
            && config.filter.may_want(&segment.flow())
            && let Some(record) = half_open.observe(&segment, interface, clock.now())
            && !sink.control_packet(ControlPacket::Handshake(&record))
        {
            counters.lost_segments += 1;
        }
        class
    }

    /// Publishes the runs whose slice has ended at `tick`, or all when `tick` is `None`.
    pub fn flush<S: Sink>(&mut self, tick: Option<u64>, sink: &mut S) {
        let sets = self.sets.as_mut();
        let group_len = 1 << sets.len().max(1).ilog2().saturating_sub(USED_BITS.ilog2());
        for (word, used) in self.used.iter_mut().enumerate() {
            let mut rest = *used;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let first = (64 * word + bit as usize) * group_len;
                let mut open = false;
                for set in sets.iter_mut().skip(first).take(group_len) {
                    cache::flush(set, tick, &mut self.counters, sink, |cut| cut);
                    open |= set.iter().any(|slot| slot.run.packets != 0);
                }
                if !open {
                    *used &= !(1 << bit);
                }
            }
        }
    }
}

/// Counts a frame that a mirror numbered, and what is lost of its session.
#[cold]
fn number(mirrors: &mut [SessionSet; mirror::SETS], mirrored: &Mirrored, interface: u32, counters: &mut Counters) {
    let at = mirror::set_hash(mirrored, interface) as usize % mirror::SETS;
    if let Some(set) = mirrors.get_mut(at) {
        let lost =
            |set: &SessionSet| -> u64 { set.iter().map(|session| mirror::lost(core::iter::once(session))).sum() };
        let before = lost(set);
        mirror::observe(set, mirrored, interface, counters);
        counters.mirror_lost = (counters.mirror_lost + lost(set)).saturating_sub(before);
    }
}
