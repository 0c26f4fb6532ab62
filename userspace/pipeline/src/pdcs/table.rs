//! Finds the direction of a packet.
//!
//! A PDC has a number on each side. A packet has both, but those of the side that sets it up, which do not know the
//! number of the other side yet: they have a flag instead. So each side is found by its own number and both addresses.

use super::counts::PdcCounts;
use super::direction::{Direction, Mode};
use super::psns::Psns;
use super::rows::PdcWindow;
use crate::time::EventTime;
use alloc::vec::Vec;
use hashbrown::HashMap;
use rocescope_record::UetRecord;
use rocescope_wire::FlowKey;
use rocescope_wire::uet::{Prologue, UetPacket};

/// PDCs that are tracked at a time; packets of others are counted.
const MAX_PDCS: usize = if cfg!(test) { 64 } else { 65_536 };
/// A PDC that is silent for this long is forgotten.
const IDLE_NS: u64 = 10_000_000_000;

/// A side of a PDC, as its packets name it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Side {
    local: [u8; 16],
    remote: [u8; 16],
    vni: u32,
    tags: (u16, u16),
    /// Without PDC numbers: the mode.
    mode: Mode,
    number: u16,
}

impl Side {
    const fn of(flow: &FlowKey, is_sender: bool, mode: Mode, number: u16) -> Self {
        let (local, remote) = if is_sender {
            (flow.src, flow.dst)
        } else {
            (flow.dst, flow.src)
        };
        Self {
            local,
            remote,
            vni: flow.vni,
            tags: (flow.vlan, flow.inner_vlan),
            mode,
            number,
        }
    }

    const fn other(&self, number: u16) -> Self {
        Self {
            local: self.remote,
            remote: self.local,
            number,
            ..*self
        }
    }
}

/// What a row has of a direction beside its counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Identity {
    pub(super) src: [u8; 16],
    pub(super) dst: [u8; 16],
    pub(super) vni: u32,
    pub(super) tags: (u16, u16),
    pub(super) src_pdc: Option<u16>,
    pub(super) dst_pdc: Option<u16>,
    pub(super) mode: Mode,
    pub(super) job: Option<u32>,
    /// Distinguishes lives of the same numbers.
    pub(super) life: u64,
}

/// One side sends and the other answers, and the other way round.
#[derive(Debug)]
struct Pdc {
    /// The sides; the number of the second may be unknown.
    sides: [Side; 2],
    knows: [bool; 2],
    mode: Mode,
    job: Option<u32>,
    life: u64,
    last_ns: u64,
    /// The requests of each side.
    directions: [Direction; 2],
    /// Losses of the capture that it knows of.
    losses: u64,
}

/// The PDCs that are tracked.
#[derive(Debug, Default)]
pub(crate) struct Pdcs {
    sides: HashMap<Side, usize>,
    pdcs: Vec<Option<Pdc>>,
    free: Vec<usize>,
    lives: u64,
    /// Losses of the capture so far.
    losses: u64,
    /// Packets of PDCs beyond the limit.
    pub(crate) untracked: u64,
    /// Packets that the filter rejected.
    pub(crate) filtered: u64,
    /// Start of the latest window with packets.
    entered_ns: u64,
    /// Time of the latest packet.
    newest_ns: u64,
}

impl Pdcs {
    /// PDCs so far, with every life of their numbers.
    pub(crate) const fn lives(&self) -> u64 {
        self.lives
    }

    /// Time of the latest packet, of any PDC; 0 if there was none.
    pub(crate) const fn newest_ns(&self) -> u64 {
        self.newest_ns
    }

    /// The capture lost packets: what did not pass proves nothing.
    pub(crate) const fn lose(&mut self) {
        self.losses += 1;
    }

    /// Counts a packet in the window of its time, which began at `start_ns`.
    pub(crate) fn observe(&mut self, record: &UetRecord, start_ns: u64, window: &mut PdcWindow) {
        let (packet, now_ns) = (&record.packet, record.time_ns);
        self.newest_ns = self.newest_ns.max(now_ns);
        if start_ns > self.entered_ns {
            self.entered_ns = start_ns;
            self.settle(start_ns, window);
        }
        let Some(at) = self.find(record) else {
            self.untracked += 1;
            return;
        };
        let losses = self.losses;
        let Some(Some(pdc)) = self.pdcs.get_mut(at) else {
            return;
        };
        let prologue = packet.prologue();
        let mode = Mode::of(packet);
        if pdc.mode == Mode::Unknown {
            pdc.mode = mode;
        }
        if packet.has(UetPacket::SES) {
            pdc.job.get_or_insert(packet.job);
        }
        pdc.last_ns = pdc.last_ns.max(now_ns);
        // The second side is the remote one of the first.
        let first = pdc.sides[0];
        let sender = if first.local != first.remote {
            usize::from(record.flow.src != first.local)
        } else {
            usize::from(pdc.knows[0] && packet.src_pdc != first.number)
        };
        let is_answer = prologue.is_ack() || prologue.is_nack() || prologue.kind == 5;
        let requester = if is_answer { 1 - sender } else { sender };
        if core::mem::replace(&mut pdc.losses, losses) != losses {
            for direction in &mut pdc.directions {
                direction.psns.forget();
            }
        }
        let counts = window.counts(pdc.life * 2 + requester as u64, pdc.identity(requester));
        let is_ordered = pdc.mode == Mode::Rod;
        let direction = &mut pdc.directions[requester];
        direction.psns.is_ordered = is_ordered;
        if is_answer {
            direction.answer(packet, now_ns, counts);
        } else {
            direction.send(packet, now_ns, counts);
        }
    }

    /// Judges what is open in every direction: the capture ended.
    pub(crate) fn finish(&mut self, window: &mut PdcWindow) {
        for pdc in self.pdcs.iter_mut().flatten() {
            pdc.judge(window, Psns::end);
        }
    }

    /// Judges in every direction what is old, and removes PDCs that are silent, or whose numbers others have. Once a
    /// window, so that the end of a PDC is judged too.
    fn settle(&mut self, now_ns: u64, window: &mut PdcWindow) {
        let Self { pdcs, sides, free, .. } = self;
        for (at, place) in pdcs.iter_mut().enumerate() {
            let Some(pdc) = place else {
                continue;
            };
            let is_replaced = pdc.sides.iter().all(|side| sides.get(side) != Some(&at));
            let is_over = is_replaced || now_ns.since(pdc.last_ns) > IDLE_NS;
            if is_over {
                pdc.judge(window, Psns::end);
                *place = None;
                free.push(at);
            } else {
                pdc.judge(window, |psns, counts| psns.judge(now_ns, counts));
            }
        }
        sides.retain(|_, at| pdcs.get(*at).is_some_and(Option::is_some));
    }

    /// The place of the PDC of a packet; `None` if there are too many.
    fn find(&mut self, record: &UetRecord) -> Option<usize> {
        let (flow, packet) = (&record.flow, &record.packet);
        let mode = Mode::of(packet);
        if !mode.has_pdcs() {
            let side = Side::of(flow, true, mode, 0);
            if let Some(at) = self.sides.get(&side).or_else(|| self.sides.get(&side.other(0))) {
                return Some(*at);
            }
            return self.begin(side, None, record.time_ns);
        }
        let prologue = packet.prologue();
        let is_syn = (prologue.is_request() || prologue.is_control()) && packet.flags & Prologue::SYN != 0;
        let side = Side::of(flow, true, Mode::Unknown, packet.src_pdc);
        let peer = Side::of(flow, false, Mode::Unknown, packet.dst_pdc);
        // A NACK of a side that has no PDC names none.
        let names_side = packet.src_pdc != 0 || !prologue.is_nack();
        if names_side && let Some(at) = self.sides.get(&side).copied() {
            if is_syn {
                if self.is_same_life(at, &side, packet) {
                    return Some(at);
                }
            } else if self.joins(at, &side, peer) {
                return Some(at);
            }
        } else if !is_syn
            && let Some(at) = self.sides.get(&peer).copied()
            && (!names_side || self.joins(at, &peer, side))
        {
            return Some(at);
        }
        self.begin(side, (!is_syn).then_some(peer), record.time_ns)
    }

    /// Whether a packet that sets up a PDC belongs to the one that is known.
    fn is_same_life(&self, at: usize, side: &Side, packet: &UetPacket) -> bool {
        let Some(Some(pdc)) = self.pdcs.get(at) else {
            return false;
        };
        let place = usize::from(pdc.sides[0] != *side);
        let psns = &pdc.directions[place].psns;
        psns.may_begin(packet.psn, packet.psn_offset())
    }

    /// Whether the other side of the PDC may be `peer`; then it is.
    fn joins(&mut self, at: usize, side: &Side, peer: Side) -> bool {
        let Some(Some(pdc)) = self.pdcs.get_mut(at) else {
            return false;
        };
        let place = usize::from(pdc.sides[0] == *side);
        if pdc.knows[place] {
            return pdc.sides[place] == peer;
        }
        pdc.sides[place] = peer;
        pdc.knows[place] = true;
        self.sides.insert(peer, at);
        true
    }

    fn begin(&mut self, side: Side, peer: Option<Side>, now_ns: u64) -> Option<usize> {
        let pdc = Pdc {
            sides: [side, peer.unwrap_or_else(|| side.other(0))],
            knows: [true, peer.is_some()],
            mode: side.mode,
            job: None,
            life: self.lives,
            last_ns: now_ns,
            directions: Default::default(),
            losses: self.losses,
        };
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.pdcs.len() < MAX_PDCS => {
                self.pdcs.push(None);
                self.pdcs.len() - 1
            }
            None => return None,
        };
        self.lives += 1;
        self.sides.insert(side, at);
        if let Some(peer) = peer {
            self.sides.insert(peer, at);
        }
        self.pdcs[at] = Some(pdc);
        Some(at)
    }
}

impl Pdc {
    fn identity(&self, requester: usize) -> Identity {
        let [sender, receiver] = [requester, 1 - requester];
        let side = &self.sides[sender];
        let has_numbers = side.mode.has_pdcs();
        let number = |place: usize| (has_numbers && self.knows[place]).then_some(self.sides[place].number);
        Identity {
            src: side.local,
            dst: side.remote,
            vni: side.vni,
            tags: side.tags,
            src_pdc: number(sender),
            dst_pdc: number(receiver),
            mode: self.mode,
            job: self.job,
            life: self.life,
        }
    }

    /// Judges PSNs of both directions. One that has nothing new gets no row.
    fn judge(&mut self, window: &mut PdcWindow, judge: impl Fn(&mut Psns, &mut PdcCounts)) {
        for place in 0..2 {
            let psns = &mut self.directions[place].psns;
            if psns.is_empty() {
                continue;
            }
            let mut counts = PdcCounts::default();
            judge(psns, &mut counts);
            if counts != PdcCounts::default() {
                *window.counts(self.life * 2 + place as u64, self.identity(place)) += &counts;
            }
        }
    }
}
