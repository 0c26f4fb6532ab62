//! The counts of one window.

use crate::flow_table::{FlowCounts, FlowTable, flow_hash};
use crate::impairment::ImpairedFlows;
use crate::overflow::{Overflow, Sketches};
use crate::pauses::WindowPauses;
use crate::pdcs::PdcWindow;
use crate::port_counts::PortsByDirection;
use crate::settings::Settings;
use crate::spray::{Spray, direction_of};
use crate::totals::Totals;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::hint::black_box;
use rocescope_record::RunRecord;
use rocescope_sketches::FlowHash;
use rocescope_wire::extension::Acknowledgement;
use rocescope_wire::{FlowKey, Opcode, Operation, Stream};

/// Marks the reason of an MRC NACK in place of a syndrome: those with this bit are reserved.
pub(crate) const NACK: u8 = 0x80;

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
    /// Who paused links.
    pub(crate) pauses: WindowPauses,
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
            pauses: WindowPauses::default(),
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
        self.pauses.clear();
        self.slack_ns = 0;
        (self.fabric_lost_packets, self.retransmitted_packets) = (0, 0);
        self.pdcs.clear();
    }
}
