//! A queue pair: packets of chunks, which may be lost, credits, and what answers them. The receiver keeps no packet that
//! arrives out of order, and the sender goes back.

use super::super::packet::{Chunk, Packet};
use super::super::scenario::units::Probability;
use std::collections::VecDeque;

/// A packet of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Data {
    pub(super) sequence: u64,
    /// Number in its chunk, from 0.
    at: u64,
    pub(super) is_last: bool,
    /// Bytes of the chunk.
    bytes: u32,
    /// Index of its step in the truth.
    pub(super) truth: usize,
}

/// A packet that passes the tap.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Passing {
    /// From the sender of chunks.
    Data(Data),
    CreditAck {
        number: u64,
    },
    /// From the receiver of chunks.
    Credit {
        number: u64,
    },
    Ack {
        sequence: u64,
        completed: u32,
    },
    Nak {
        sequence: u64,
        completed: u32,
    },
}

impl Passing {
    /// The side that sends it.
    pub(super) const fn side(&self) -> usize {
        match self {
            Self::Data(_) | Self::CreditAck { .. } => 0,
            Self::Credit { .. } | Self::Ack { .. } | Self::Nak { .. } => 1,
        }
    }
}

/// A chunk in the send queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    first: u64,
    packets: u64,
    bytes: u32,
    truth: usize,
}

/// Both sides of a queue pair.
#[derive(Clone, Debug)]
pub(super) struct Qp {
    pub(super) qpns: [u32; 2],
    psns: [u32; 2],
    pub(super) loss: Probability,
    queued: VecDeque<Queued>,
    /// The next to send, the first behind the queue, the first without an acknowledgement.
    next: u64,
    end: u64,
    unanswered: u64,
    /// When the sender retransmits; `None` if nothing is unanswered. Whether an event is due for it.
    deadline: Option<u64>,
    has_event: bool,
    /// What the receiver accepts next; chunks it has; whether it has complained.
    expected: u64,
    completed: u32,
    complained: bool,
    /// The first that has not passed the tap.
    passed: u64,
    credits: u64,
}

impl Qp {
    pub(super) fn new(qpns: [u32; 2], psns: [u32; 2], loss: Probability) -> Self {
        Self {
            qpns,
            psns,
            loss,
            queued: VecDeque::new(),
            next: 0,
            end: 0,
            unanswered: 0,
            deadline: None,
            has_event: false,
            expected: 0,
            completed: 0,
            complained: false,
            passed: 0,
            credits: 0,
        }
    }

    /// The number of the next credit.
    pub(super) fn post_credit(&mut self) -> u64 {
        self.credits += 1;
        self.credits - 1
    }

    /// Adds a chunk to the send queue.
    pub(super) fn post(&mut self, bytes: u32, mtu: u32, truth: usize) {
        let packets = u64::from(bytes.div_ceil(mtu).max(1));
        self.queued.push_back(Queued {
            first: self.end,
            packets,
            bytes,
            truth,
        });
        self.end += packets;
    }

    pub(super) const fn is_ready(&self) -> bool {
        self.next < self.end
    }

    /// The next packet to send, and its bytes from the BTH to the ICRC.
    pub(super) fn take(&mut self, mtu: u32) -> Option<(Passing, u64)> {
        let sequence = self.next;
        let queued = self
            .queued
            .iter()
            .find(|queued| sequence < queued.first + queued.packets)?;
        let data = Data {
            sequence,
            at: sequence - queued.first,
            is_last: sequence + 1 == queued.first + queued.packets,
            bytes: queued.bytes,
            truth: queued.truth,
        };
        self.next += 1;
        let passing = Passing::Data(data);
        Some((passing, self.packet(passing, mtu).bytes().into()))
    }

    /// A packet is sent: returns when the timer must be looked at, if no such event is due.
    pub(super) fn start_timer(&mut self, now: u64, timeout: u64) -> Option<u64> {
        let deadline = *self.deadline.get_or_insert(now + timeout);
        (!core::mem::replace(&mut self.has_event, true)).then_some(deadline)
    }

    /// The timer ends; returns when it must be looked at again.
    pub(super) fn time_out(&mut self, now: u64, timeout: u64) -> Option<u64> {
        let Some(deadline) = self.deadline else {
            self.has_event = false;
            return None;
        };
        if now < deadline {
            return Some(deadline);
        }
        self.next = self.unanswered;
        self.deadline = Some(now + timeout);
        self.deadline
    }

    /// An answer came: everything before `sequence` arrived, and after a NAK the sender goes back to it.
    pub(super) fn answered(&mut self, now: u64, sequence: u64, is_nak: bool, timeout: u64) {
        let has_progress = sequence > self.unanswered;
        self.unanswered = self.unanswered.max(sequence);
        self.next = match is_nak {
            true => self.unanswered,
            false => self.next.max(self.unanswered),
        };
        while let Some(first) = self.queued.front()
            && first.first + first.packets <= self.unanswered
        {
            self.queued.pop_front();
        }
        if self.unanswered == self.end {
            self.deadline = None;
        } else if has_progress || is_nak {
            self.deadline = Some(now + timeout);
        }
    }

    /// The receiver's answer to a packet, and whether it accepted it.
    pub(super) fn accept(&mut self, data: &Data) -> (Option<Passing>, bool) {
        if data.sequence > self.expected {
            let first = !core::mem::replace(&mut self.complained, true);
            let nak = Passing::Nak {
                sequence: self.expected,
                completed: self.completed,
            };
            return (first.then_some(nak), false);
        }
        let is_new = data.sequence == self.expected;
        if is_new {
            self.expected += 1;
            self.complained = false;
            self.completed += u32::from(data.is_last);
        }
        let ack = Passing::Ack {
            sequence: self.expected,
            completed: self.completed,
        };
        (data.is_last.then_some(ack), is_new)
    }

    /// A packet passes the tap; returns whether one as late in the sequence did before.
    pub(super) fn passes(&mut self, sequence: u64) -> bool {
        let is_repeated = sequence < self.passed;
        self.passed = self.passed.max(sequence + 1);
        is_repeated
    }

    /// A packet with its headers.
    pub(super) fn packet(&self, passing: Passing, mtu: u32) -> Packet {
        let [data, credit] = self.psns;
        let psn = |first: u32, sequence: u64| first.wrapping_add(sequence as u32);
        let [sender, receiver] = self.qpns;
        match passing {
            Passing::Data(packet) => Packet::chunk(
                &Chunk {
                    psn: psn(data, packet.sequence),
                    at: packet.at,
                    is_last: packet.is_last,
                    bytes: packet.bytes,
                },
                receiver,
                mtu,
            ),
            Passing::Credit { number } => Packet::credit(psn(credit, number), sender),
            Passing::CreditAck { number } => Packet::ack(psn(credit, number), number as u32 + 1, receiver, false),
            Passing::Ack { sequence, completed } => {
                Packet::ack(psn(data, sequence.wrapping_sub(1)), completed, sender, false)
            }
            Passing::Nak { sequence, completed } => Packet::ack(psn(data, sequence), completed, sender, true),
        }
    }
}
