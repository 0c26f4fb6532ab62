//! The counts of one window.

use crate::flow_table::{FlowCounts, FlowTable, flow_hash};
use crate::impairment::ImpairedFlows;
use crate::overflow::{Overflow, Sketches};
use crate::pdcs::PdcWindow;
use crate::port_counts::PortsByDirection;
use crate::settings::Settings;
use crate::spray::{Spray, direction_of};
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::hint::black_box;
use rocescope_record::{Counters, OpcodeTotals, RunRecord};
use rocescope_sketches::FlowHash;
use rocescope_wire::extension::{Acknowledgement, Syndrome};
use rocescope_wire::{FlowKey, NotRoce, Opcode, Operation, Stream};

/// Marks the reason of an MRC NACK in place of a syndrome: those with this bit are reserved.
pub(crate) const NACK: u8 = 0x80;

/// Totals by opcode and syndrome, of a window or of the whole capture.
#[derive(Clone, Debug)]
pub struct Totals {
    /// By opcode number.
    pub opcodes: Box<[OpcodeTotals; 256]>,
    /// ACKNOWLEDGE packets by syndrome.
    pub syndromes: Box<[u64; 256]>,
    /// LAST and ONLY packets.
    pub messages: u64,
    /// Packets with ECN congestion experienced.
    pub congestion_experienced: u64,
    /// Late packets, counted in a later window than their own.
    pub late_packets: u64,
    /// RoCE packets that the filter dropped, counted nowhere else.
    pub filtered_packets: u64,
    /// Packets whose ICRC is wrong.
    pub icrc_bad: u64,
    /// Packets whose ICRC could not be verified.
    pub icrc_unverifiable: u64,
    /// RoCEv2 packets in runs that found the ring full.
    pub capture_lost_packets: u64,
    /// Frames that a full packet socket dropped, before they were classified.
    pub capture_dropped_frames: u64,
    /// Frames by class.
    pub classes: FrameCounts,
}

/// Frames by the classes that rows have. RoCEv2 packets are counted by their runs, whose times are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the counters")]
pub struct FrameCounts {
    pub not_roce: u64,
    pub roce_v1: u64,
    pub malformed: u64,
    pub fragments: u64,
    pub filtered: u64,
    pub snapped: u64,
    pub mirrored_frames: u64,
    pub mirror_lost: u64,
}

impl FrameCounts {
    /// The counts in `counters`.
    #[must_use]
    pub fn of(counters: &Counters) -> Self {
        Self {
            not_roce: counters.not_roce(),
            roce_v1: counters.not_roce[NotRoce::RoceV1 as usize],
            malformed: counters.malformed(),
            fragments: counters.fragments,
            filtered: counters.filtered,
            snapped: counters.snapped,
            mirrored_frames: counters.mirrored_frames,
            mirror_lost: counters.mirror_lost,
        }
    }

    /// Adds what was counted between `earlier` and `later`.
    pub fn add_between(&mut self, earlier: &Self, later: &Self) {
        self.not_roce += later.not_roce - earlier.not_roce;
        self.roce_v1 += later.roce_v1 - earlier.roce_v1;
        self.malformed += later.malformed - earlier.malformed;
        self.fragments += later.fragments - earlier.fragments;
        self.filtered += later.filtered - earlier.filtered;
        self.snapped += later.snapped - earlier.snapped;
        self.mirrored_frames += later.mirrored_frames - earlier.mirrored_frames;
        // A late frame takes back one that was already reported as lost; the next loss is then not reported.
        self.mirror_lost += later.mirror_lost.saturating_sub(earlier.mirror_lost);
    }
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            opcodes: Box::new([OpcodeTotals::default(); 256]),
            syndromes: Box::new([0; 256]),
            messages: 0,
            congestion_experienced: 0,
            late_packets: 0,
            filtered_packets: 0,
            icrc_bad: 0,
            icrc_unverifiable: 0,
            capture_lost_packets: 0,
            capture_dropped_frames: 0,
            classes: FrameCounts::default(),
        }
    }
}

impl Totals {
    fn add_run(&mut self, run: &RunRecord) {
        for (opcode, totals) in run.opcodes() {
            self.opcodes[usize::from(opcode.0)].add(totals);
        }
        if run.opcode().operation() == Operation::Acknowledge {
            self.syndromes[usize::from(run.syndrome)] += u64::from(run.packets);
        }
        self.messages += run.messages();
        self.congestion_experienced += u64::from(run.congestion_experienced);
    }

    /// Adds the totals of a window.
    pub fn add(&mut self, other: &Self) {
        for (sum, totals) in self.opcodes.iter_mut().zip(other.opcodes.iter()) {
            sum.add(*totals);
        }
        for (sum, count) in self.syndromes.iter_mut().zip(other.syndromes.iter()) {
            *sum += count;
        }
        self.messages += other.messages;
        self.congestion_experienced += other.congestion_experienced;
        self.late_packets += other.late_packets;
        self.filtered_packets += other.filtered_packets;
        self.icrc_bad += other.icrc_bad;
        self.icrc_unverifiable += other.icrc_unverifiable;
        self.capture_lost_packets += other.capture_lost_packets;
        self.capture_dropped_frames += other.capture_dropped_frames;
        self.classes.add_between(&FrameCounts::default(), &other.classes);
    }

    fn clear(&mut self) {
        self.opcodes.fill(OpcodeTotals::default());
        self.syndromes.fill(0);
        self.messages = 0;
        self.congestion_experienced = 0;
        self.late_packets = 0;
        self.filtered_packets = 0;
        self.icrc_bad = 0;
        self.icrc_unverifiable = 0;
        self.capture_lost_packets = 0;
        self.capture_dropped_frames = 0;
        self.classes = FrameCounts::default();
    }

    /// Frames of all kinds: the sum of the classes. A cut of the counters at the end of a window would differ from
    /// the runs of the window by the packets that arrive while the counters are read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        let classes = &self.classes;
        let others = classes.not_roce + classes.malformed + classes.fragments + classes.filtered + classes.snapped;
        self.all().packets + self.capture_lost_packets + self.filtered_packets + others
    }

    /// Sum over all opcodes.
    #[must_use]
    pub fn all(&self) -> OpcodeTotals {
        self.opcodes.iter().fold(OpcodeTotals::default(), |mut sum, totals| {
            sum.add(*totals);
            sum
        })
    }

    /// ACKNOWLEDGE packets that are neither positive nor RNR.
    #[must_use]
    pub fn naks(&self) -> u64 {
        self.acknowledges(|meaning| matches!(meaning, Acknowledgement::Nak(_)))
    }

    /// Receiver-not-ready NAKs.
    #[must_use]
    pub fn rnr_naks(&self) -> u64 {
        self.acknowledges(|meaning| matches!(meaning, Acknowledgement::RnrNak { .. }))
    }

    fn acknowledges(&self, wanted: impl Fn(Acknowledgement) -> bool) -> u64 {
        (0..=255u8)
            .zip(self.syndromes.iter())
            .filter(|(syndrome, _)| wanted(Syndrome(*syndrome).meaning()))
            .map(|(_, count)| count)
            .sum()
    }
}

/// An event of a flow, counted over the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowEvent {
    /// Time of the first.
    pub(crate) time_ns: u64,
    /// PSN of the first packet.
    pub(crate) psn: u32,
    /// The number of times.
    pub(crate) count: u64,
}

/// Counts that wait to be added to their flow.
#[derive(Clone, Copy, Debug)]
struct QueuedCounts {
    hash: FlowHash,
    key: FlowKey,
    opcode: Opcode,
    counts: FlowCounts,
}

/// Flows of a table that fits into the CPU cache: 512 KiB.
const CACHED_FLOWS: usize = 4_096;
/// The number of lookups in a group, so that their cache misses overlap: 4 KiB.
const GROUP: usize = 32;
/// Flows of a window from which sprayed directions are looked for before it ends.
const FIRST_CROWD: usize = 1_024;

/// An interval in which the capture lost packets or frames, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LossInterval {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) count: u64,
}

/// A window that is still open.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) totals: Totals,
    pub(crate) flows: FlowTable,
    /// Flows beyond the bound of the table.
    pub(crate) overflow: Option<Box<Overflow>>,
    /// Counts to add next, once the table is too large for the CPU cache.
    next: Vec<QueuedCounts>,
    /// NAKs and CNPs by flow and syndrome; a CNP has none. Of a NACK of MRC its reason with [`NACK`].
    pub(crate) flow_events: BTreeMap<(FlowKey, Option<u8>), FlowEvent>,
    /// UDP source ports of the flows whose key has none.
    pub(crate) ports: PortsByDirection,
    /// Flows from which sprayed directions are looked for before the window ends.
    crowded: usize,
    /// Flows with retransmitted or reordered packets, if connections are tracked.
    pub(crate) impaired_flows: ImpairedFlows,
    /// From the first to the last capture loss that began in this window.
    pub(crate) capture_loss: Option<LossInterval>,
    /// How far beyond a boundary of the window the counters were read, in nanoseconds.
    pub(crate) slack_ns: u64,
    /// Fabric loss and retransmissions at the times of this window, in packets.
    pub(crate) fabric_lost_packets: u64,
    pub(crate) retransmitted_packets: u64,
    /// UET's packet delivery contexts.
    pub(crate) pdcs: PdcWindow,
}

impl Window {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            totals: Totals::default(),
            flows: FlowTable::new(settings.exact_flows),
            overflow: None,
            next: Vec::new(),
            flow_events: BTreeMap::new(),
            ports: PortsByDirection::default(),
            crowded: FIRST_CROWD,
            impaired_flows: ImpairedFlows::default(),
            capture_loss: None,
            slack_ns: 0,
            fabric_lost_packets: 0,
            retransmitted_packets: 0,
            pdcs: PdcWindow::default(),
        }
    }

    /// Adds an interval of capture loss.
    pub(crate) fn lose(&mut self, loss: LossInterval) {
        self.capture_loss = Some(match self.capture_loss {
            None => loss,
            Some(before) => LossInterval {
                from_ns: before.from_ns.min(loss.from_ns),
                to_ns: before.to_ns.max(loss.to_ns),
                count: before.count + loss.count,
            },
        });
    }

    #[inline]
    pub(crate) fn add(&mut self, run: &RunRecord, key: &FlowKey, settings: &Settings, empty: &Sketches) {
        self.totals.add_run(run);
        let hash = flow_hash(key);
        if key.udp_src_port != run.flow.udp_src_port {
            self.ports.add_run(key, run);
        }
        if run.stream() == Stream::Trimmed {
            let (direction, packets) = (direction_of(key), i64::from(run.packets));
            self.ports.trim(&direction, run.flow.udp_src_port, packets);
        }
        let counts = FlowCounts::of(run);
        let next = QueuedCounts {
            hash,
            key: *key,
            opcode: run.opcode(),
            counts,
        };
        if self.flows.flows().len() < CACHED_FLOWS {
            self.count(&next, empty);
        } else {
            black_box(self.flows.touch(hash));
            self.next.push(next);
            if self.next.len() >= GROUP {
                self.count_all(empty);
            }
        }
        let syndrome = match run.stream() {
            Stream::Acknowledge if run.opcode().operation() == Operation::NegativeAcknowledge => {
                Some(run.msn_or_dma_length as u8 | NACK)
            }
            Stream::Acknowledge => match run.syndrome().meaning() {
                Acknowledgement::Nak(_) | Acknowledgement::RnrNak { .. } => Some(run.syndrome),
                // A syndrome that was not captured or is unknown is not a NAK.
                Acknowledgement::Ack { .. } | Acknowledgement::Reserved(_) => return,
            },
            Stream::Cnp => None,
            _ => return,
        };
        self.note_event(run, key, syndrome, settings);
    }

    #[inline]
    fn count(&mut self, next: &QueuedCounts, empty: &Sketches) {
        let QueuedCounts {
            hash,
            key,
            opcode,
            counts,
        } = next;
        if !self.flows.add(*hash, key, *opcode, counts) {
            self.overflow
                .get_or_insert_with(|| Box::new(Overflow::new(empty)))
                .add(*hash, key, *opcode, counts);
        }
    }

    /// Adds all waiting counts to their flows.
    pub(crate) fn count_all(&mut self, empty: &Sketches) {
        let mut next = core::mem::take(&mut self.next);
        let touched = next.iter().map(|next| self.flows.touch_flow(next.hash));
        black_box(touched.fold(0, |all, one| all ^ one));
        for next in next.drain(..) {
            self.count(&next, empty);
        }
        self.next = next;
    }

    /// Whether the number of flows is four times what it was at the last look: there may be sprayed directions among them.
    #[inline]
    pub(crate) const fn is_crowded(&self) -> bool {
        self.flows.len() >= self.crowded
    }

    /// Looks for sprayed directions, and merges the flows of each.
    #[cold]
    pub(crate) fn merge_sprayed(&mut self, spray: &mut Spray, empty: &Sketches) {
        self.count_all(empty);
        if spray.look(&self.flows) {
            for (direction, port, counts) in self.flows.merge_ports(|key| spray.key_of(key)) {
                self.ports.add(&direction, port, &counts);
            }
            spray.adapt_key(&self.flows);
        }
        self.crowded = (4 * self.flows.len()).max(FIRST_CROWD);
    }

    #[cold]
    fn note_event(&mut self, run: &RunRecord, key: &FlowKey, syndrome: Option<u8>, settings: &Settings) {
        let room = self.flow_events.len() < settings.event_rows;
        let seen = FlowEvent {
            time_ns: run.first_ns,
            psn: run.first_psn,
            count: 0,
        };
        let key = (*key, syndrome);
        let event = if room {
            self.flow_events.entry(key).or_insert(seen)
        } else {
            // The totals still count it.
            let Some(event) = self.flow_events.get_mut(&key) else {
                return;
            };
            event
        };
        event.count += u64::from(run.packets);
        if run.first_ns < event.time_ns {
            event.time_ns = run.first_ns;
            event.psn = run.first_psn;
        }
    }

    /// Empties the window for the next one; keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.totals.clear();
        self.flows.clear();
        self.overflow = None;
        self.flow_events.clear();
        self.ports.clear();
        self.crowded = FIRST_CROWD;
        self.impaired_flows.clear();
        self.capture_loss = None;
        self.slack_ns = 0;
        (self.fabric_lost_packets, self.retransmitted_packets) = (0, 0);
        self.pdcs.clear();
    }
}
