//! One PDC: sender, receiver, and what the fabric does between them.

use super::super::random::Random;
use super::super::scenario::uet::Uet;
use super::super::truth::PdcTruth;
use rocescope_wire::uet::Sack;
use std::collections::{BTreeSet, VecDeque};

/// Bits of a selective acknowledgement.
const BITS: u32 = u64::BITS;

/// A packet at the tap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Passing {
    Request(Copy),
    Ack(Ack),
    /// The NACK of a trimmed packet.
    Nack {
        psn: u32,
        is_marked: bool,
    },
    /// The control packet that closes the PDC.
    Close {
        psn: u32,
    },
}

/// A copy of a request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Copy {
    pub(super) psn: u32,
    /// Its number in the PDC.
    pub(super) at: u32,
    pub(super) is_retransmission: bool,
    pub(super) is_trimmed: bool,
    /// Marked with congestion experienced.
    pub(super) is_marked: bool,
    pub(super) ends_message: bool,
    /// Sets up the PDC.
    pub(super) is_first: bool,
    pub(super) path: u32,
}

/// An acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ack {
    pub(super) cumulative: u32,
    pub(super) psn: u32,
    pub(super) offset: i16,
    pub(super) bitmap: u64,
    pub(super) is_of_retransmission: bool,
    pub(super) is_marked: bool,
}

impl Ack {
    pub(super) const fn sack(&self) -> Sack {
        Sack {
            offset: self.offset,
            bitmap: self.bitmap,
        }
    }
}

/// What happens to a PDC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Event {
    /// The sender may send.
    Turn,
    /// A packet passes the tap.
    Pass(Passing),
    /// A request reaches the receiver.
    Arrive(Copy),
    /// An answer reaches the sender.
    Answered(Passing),
    /// The timer of a packet expires: its number, and the copy.
    Expire(u32, u8),
}

/// A packet of the sender.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    at_ns: u64,
    copies: u8,
    is_acknowledged: bool,
    is_queued: bool,
    /// What the tap saw: its first copy, whole or trimmed; a later one; a whole one.
    first_passed: bool,
    later_passed: bool,
    whole_passed: bool,
    /// The first copy was lost upstream of the tap.
    first_lost: bool,
}

/// The state of both sides.
#[derive(Clone, Debug)]
pub(super) struct Pdc {
    random: Random,
    start_psn: u32,
    packets: Vec<Sent>,
    /// The number of packets that were sent, and that are acknowledged without a gap.
    sent: u32,
    acknowledged: u32,
    again: VecDeque<u32>,
    is_waiting: bool,
    is_set_up: bool,
    is_closed: bool,
    /// The latest time of sending of a packet that has arrived.
    newest_ns: u64,
    /// The receiver: packets without a gap, those beyond, and those since the last acknowledgement.
    received: u32,
    beyond: BTreeSet<u32>,
    unanswered: u32,
    is_marked: bool,
    truth: PdcTruth,
}

impl Pdc {
    pub(super) fn new(uet: &Uet, mut random: Random) -> Self {
        Self {
            // Some wrap.
            start_psn: 0u32.wrapping_sub(random.below(u64::from(uet.packets) * 2) as u32),
            random,
            packets: vec![Sent::default(); uet.packets as usize],
            sent: 0,
            acknowledged: 0,
            again: VecDeque::new(),
            is_waiting: false,
            is_set_up: false,
            is_closed: false,
            newest_ns: 0,
            received: 0,
            beyond: BTreeSet::new(),
            unanswered: 0,
            is_marked: false,
            truth: PdcTruth::default(),
        }
    }

    fn psn(&self, at: u32) -> u32 {
        self.start_psn.wrapping_add(at)
    }

    fn packet(&mut self, at: u32) -> Option<&mut Sent> {
        self.packets.get_mut(at as usize)
    }

    pub(super) fn happen(&mut self, uet: &Uet, now: u64, event: Event, follow: &mut Vec<(u64, Event)>) {
        match event {
            Event::Turn => self.turn(uet, now, follow),
            Event::Arrive(copy) => self.arrive(uet, now, copy, follow),
            Event::Answered(answer) => self.answered(uet, now, answer, follow),
            Event::Expire(at, copies) => {
                let is_open = self
                    .packet(at)
                    .is_some_and(|packet| !packet.is_acknowledged && !packet.is_queued && packet.copies == copies);
                if is_open {
                    self.queue(at, now, follow);
                }
            }
            Event::Pass(_) => {}
        }
    }

    /// Sends a packet again at the next turn.
    fn queue(&mut self, at: u32, now: u64, follow: &mut Vec<(u64, Event)>) {
        if let Some(packet) = self.packet(at)
            && !packet.is_acknowledged
            && !packet.is_queued
        {
            packet.is_queued = true;
            self.again.push_back(at);
            self.wake(now, follow);
        }
    }

    fn wake(&mut self, now: u64, follow: &mut Vec<(u64, Event)>) {
        if core::mem::take(&mut self.is_waiting) {
            follow.push((now, Event::Turn));
        }
    }

    fn turn(&mut self, uet: &Uet, now: u64, follow: &mut Vec<(u64, Event)>) {
        while let Some(at) = self.again.pop_front() {
            if let Some(packet) = self.packet(at) {
                packet.is_queued = false;
                if !packet.is_acknowledged {
                    self.send(uet, now, at, follow);
                    follow.push((now + uet.interval.0, Event::Turn));
                    return;
                }
            }
        }
        if self.sent < uet.packets && self.sent - self.acknowledged < uet.window {
            let at = self.sent;
            self.sent += 1;
            self.send(uet, now, at, follow);
            follow.push((now + uet.interval.0, Event::Turn));
        } else {
            self.is_waiting = true;
        }
    }

    fn send(&mut self, uet: &Uet, now: u64, at: u32, follow: &mut Vec<(u64, Event)>) {
        let path = self.random.below(u64::from(uet.paths)) as u32;
        let is_first = !self.is_set_up;
        let psn = self.psn(at);
        // Every packet costs the same random numbers, whatever happens to it.
        let dice: [u64; 6] = core::array::from_fn(|_| self.random.next());
        let Some(packet) = self.packets.get_mut(at as usize) else {
            return;
        };
        packet.at_ns = now;
        packet.copies = packet.copies.saturating_add(1);
        let copies = packet.copies;
        let mut copy = Copy {
            psn,
            at,
            is_retransmission: copies > 1,
            is_trimmed: false,
            is_marked: uet.ecn.hits(dice[0]),
            ends_message: (at + 1).is_multiple_of(uet.message) || at + 1 == uet.packets,
            is_first,
            path,
        };
        // Timers back off.
        let timeout = uet.timeout.0 << copies.min(6).saturating_sub(1);
        follow.push((now + timeout, Event::Expire(at, copies)));
        let skew = uet.skew.0 * u64::from(path) / u64::from(uet.paths.max(2) - 1);
        let passes = now + uet.near_delay.0 / 2 + skew;
        // The other side of the tap has other paths.
        let arrives = passes + uet.delay.0 / 2 + ((u128::from(dice[5]) * u128::from(uet.skew.0)) >> 64) as u64;
        if uet.loss_before.hits(dice[1]) {
            packet.first_lost |= copies == 1;
            self.truth.lost_before_copies += 1;
            return;
        }
        copy.is_trimmed = uet.trim_before.hits(dice[2]);
        follow.push((passes, Event::Pass(Passing::Request(copy))));
        if uet.loss_after.hits(dice[3]) {
            self.truth.fabric_lost_downstream_packets += u64::from(!copy.is_trimmed);
            return;
        }
        if uet.trim_after.hits(dice[4]) && !copy.is_trimmed {
            self.truth.fabric_lost_downstream_packets += 1;
            copy.is_trimmed = true;
        }
        follow.push((arrives, Event::Arrive(copy)));
    }

    fn arrive(&mut self, uet: &Uet, now: u64, copy: Copy, follow: &mut Vec<(u64, Event)>) {
        if copy.is_trimmed {
            let nack = Passing::Nack {
                psn: copy.psn,
                is_marked: copy.is_marked,
            };
            self.answer(uet, now, nack, follow);
            return;
        }
        let is_new = copy.at >= self.received && self.beyond.insert(copy.at);
        while self.beyond.remove(&self.received) {
            self.received += 1;
        }
        self.unanswered += 1;
        self.is_marked |= copy.is_marked;
        // The last packet of a message and retransmissions ask for an acknowledgement.
        if self.unanswered < uet.ack_every && !copy.ends_message && !copy.is_retransmission && is_new {
            return;
        }
        self.unanswered = 0;
        let cumulative = self.psn(self.received).wrapping_sub(1);
        // The bitmap has the packet that is acknowledged.
        let behind = copy.psn.wrapping_sub(cumulative);
        let offset = if behind > i32::MAX as u32 {
            0
        } else {
            behind.saturating_sub(BITS - 1)
        };
        let bitmap = (0..BITS).fold(0u64, |bits, bit| {
            let at = (self.received + offset + bit).wrapping_sub(1);
            let has = at.wrapping_add(1) <= self.received || self.beyond.contains(&at);
            bits | u64::from(has) << bit
        });
        let ack = Ack {
            cumulative,
            psn: copy.psn,
            offset: offset as i16,
            bitmap,
            is_of_retransmission: copy.is_retransmission,
            is_marked: core::mem::take(&mut self.is_marked),
        };
        self.answer(uet, now, Passing::Ack(ack), follow);
    }

    fn answer(&mut self, uet: &Uet, now: u64, answer: Passing, follow: &mut Vec<(u64, Event)>) {
        if uet.answer_loss.hits(self.random.next()) {
            return;
        }
        let passes = now + uet.delay.0 / 2;
        follow.push((passes, Event::Pass(answer)));
        follow.push((passes + uet.near_delay.0 / 2, Event::Answered(answer)));
    }

    fn answered(&mut self, uet: &Uet, now: u64, answer: Passing, follow: &mut Vec<(u64, Event)>) {
        self.is_set_up = true;
        match answer {
            Passing::Nack { psn, .. } => self.queue(psn.wrapping_sub(self.start_psn), now, follow),
            Passing::Ack(ack) => {
                let first = self.acknowledged;
                let end = ack.cumulative.wrapping_add(1).wrapping_sub(self.start_psn);
                for at in first..end.min(self.sent) {
                    self.confirm(at);
                }
                let lowest = end.wrapping_add(ack.offset as u32).wrapping_sub(1);
                for bit in (0..BITS).filter(|bit| ack.bitmap >> bit & 1 != 0) {
                    self.confirm(lowest.wrapping_add(bit));
                }
                self.confirm(ack.psn.wrapping_sub(self.start_psn));
                while self
                    .packets
                    .get(self.acknowledged as usize)
                    .is_some_and(|packet| packet.is_acknowledged)
                {
                    self.acknowledged += 1;
                }
                for at in self.acknowledged..self.sent {
                    let newest_ns = self.newest_ns;
                    let is_late = self
                        .packet(at)
                        .is_some_and(|packet| !packet.is_acknowledged && packet.at_ns + uet.patience.0 < newest_ns);
                    if is_late {
                        self.queue(at, now, follow);
                    }
                }
                if self.acknowledged == uet.packets && !core::mem::replace(&mut self.is_closed, true) {
                    let close = Passing::Close {
                        psn: self.psn(uet.packets),
                    };
                    follow.push((now + uet.near_delay.0 / 2, Event::Pass(close)));
                }
                self.wake(now, follow);
            }
            Passing::Request(_) | Passing::Close { .. } => {}
        }
    }

    /// A packet has arrived.
    fn confirm(&mut self, at: u32) {
        let newest_ns = self.newest_ns;
        if let Some(packet) = self.packet(at)
            && !packet.is_acknowledged
            && packet.copies > 0
        {
            packet.is_acknowledged = true;
            // Of which copy is known if there is one.
            let sent_ns = if packet.copies == 1 { packet.at_ns } else { 0 };
            self.newest_ns = newest_ns.max(sent_ns);
        }
    }

    /// Counts a packet that passes.
    pub(super) fn count(&mut self, passing: &Passing, is_delivered: bool) {
        let truth = &mut self.truth;
        if !is_delivered {
            truth.lost_by_mirror += 1;
            return;
        }
        match passing {
            Passing::Request(copy) => {
                truth.request_packets += 1;
                truth.retransmitted_packets += u64::from(copy.is_retransmission);
                truth.trimmed_packets += u64::from(copy.is_trimmed);
                truth.ecn_ce_packets += u64::from(copy.is_marked);
                let Some(packet) = self.packets.get_mut(copy.at as usize) else {
                    return;
                };
                let passed_before = packet.first_passed || packet.later_passed;
                truth.repeated_packets += u64::from(passed_before);
                packet.first_passed |= !copy.is_retransmission;
                packet.later_passed |= copy.is_retransmission;
                let is_new = !copy.is_trimmed && !core::mem::replace(&mut packet.whole_passed, !copy.is_trimmed);
                truth.messages += u64::from(is_new && copy.ends_message);
                packet.whole_passed |= !copy.is_trimmed;
            }
            Passing::Ack(ack) => {
                truth.ack_packets += 1;
                truth.ecn_echo_packets += u64::from(ack.is_marked);
            }
            Passing::Nack { is_marked, .. } => {
                truth.nack_packets += 1;
                truth.ecn_echo_packets += u64::from(*is_marked);
            }
            Passing::Close { .. } => truth.control_packets += 1,
        }
    }

    pub(super) fn truth(&self) -> PdcTruth {
        let is_shown = |packet: &&Sent| packet.first_lost && packet.later_passed;
        PdcTruth {
            fabric_lost_upstream_packets: self.packets.iter().filter(is_shown).count() as u64,
            start_psn: self.start_psn,
            ..self.truth.clone()
        }
    }
}
