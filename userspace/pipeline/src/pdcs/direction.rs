//! One direction of a PDC: the requests of one side, and what the other side answers.

use super::counts::PdcCounts;
use super::psns::Psns;
use crate::time::EventTime;
use alloc::collections::VecDeque;
use rocescope_wire::uet::{Prologue, UetPacket};

/// How a PDC delivers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Mode {
    /// No request and no control packet that names it was seen.
    #[default]
    Unknown,
    /// Reliable, unordered.
    Rud,
    /// Reliable, ordered.
    Rod,
    /// Reliable, unordered, for idempotent operations: without a PDC.
    Rudi,
    /// Unreliable, unordered: without a PDC.
    Uud,
}

impl Mode {
    /// The name, as rows show it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Rud => "RUD",
            Self::Rod => "ROD",
            Self::Rudi => "RUDI",
            Self::Uud => "UUD",
        }
    }

    /// The mode that a PDS type names.
    pub(super) const fn of(packet: &UetPacket) -> Self {
        match packet.kind {
            2 | 13 => Self::Rud,
            3 | 14 => Self::Rod,
            4 | 5 => Self::Rudi,
            6 => Self::Uud,
            10 | 12 if packet.flags & Prologue::NO_PDC != 0 => Self::Rudi,
            11 if packet.flags & Prologue::IS_ROD != 0 => Self::Rod,
            _ => Self::Unknown,
        }
    }

    /// Whether its packets belong to PDCs.
    pub(super) const fn has_pdcs(self) -> bool {
        !matches!(self, Self::Rudi | Self::Uud)
    }
}

/// Packets of RUDI whose answers may come.
const MAX_WAITING: usize = 256;

/// What is known of a direction.
#[derive(Debug, Default)]
pub(super) struct Direction {
    pub(super) psns: Psns,
    /// RUDI packets that were not answered: number, time, and whether they passed again.
    waiting: VecDeque<(u32, u64, bool)>,
}

impl Direction {
    /// Its side sent a request or a control packet.
    pub(super) fn send(&mut self, packet: &UetPacket, now_ns: u64, counts: &mut PdcCounts) {
        counts.frame_bytes += u64::from(packet.frame_bytes);
        let is_marked = packet.is_retransmission();
        let is_trimmed = packet.has(UetPacket::TRIMMED);
        counts.retransmitted_packets += u64::from(is_marked);
        counts.ecn_ce_packets += u64::from(packet.has(UetPacket::CONGESTION_EXPERIENCED));
        if packet.prologue().is_control() {
            counts.control_packets += 1;
            self.psns.control(packet.psn, now_ns, counts);
            return;
        }
        counts.request_packets += 1;
        counts.trimmed_packets += u64::from(is_trimmed);
        let is_new = match Mode::of(packet) {
            Mode::Rudi => self.send_rudi(packet.psn, is_marked, now_ns, counts) && !is_trimmed,
            Mode::Uud => !is_trimmed,
            _ => {
                if packet.flags & Prologue::SYN != 0 {
                    // The offset from the first PSN is in the place of the other side's PDC.
                    self.psns.start_at(packet.psn.wrapping_sub(packet.psn_offset()));
                }
                let pass = self.psns.pass(packet.psn, now_ns, is_marked, is_trimmed, counts);
                counts.repeated_packets += u64::from(pass.is_repeated);
                pass.is_new
            }
        };
        if is_new && packet.has(UetPacket::ENDS_MESSAGE) {
            *counts.messages.entry(packet.opcode).or_default() += 1;
        }
    }

    /// Whether no copy of a RUDI packet is among the latest.
    fn send_rudi(&mut self, number: u32, is_marked: bool, now_ns: u64, counts: &mut PdcCounts) -> bool {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.0 == number) {
            waiting.2 = true;
            counts.repeated_packets += 1;
            return false;
        }
        if self.waiting.len() >= MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back((number, now_ns, is_marked));
        true
    }

    /// The other side answered: an ACK, a NACK, or a response of RUDI.
    pub(super) fn answer(&mut self, packet: &UetPacket, now_ns: u64, counts: &mut PdcCounts) {
        let prologue = packet.prologue();
        counts.answer_frame_bytes += u64::from(packet.frame_bytes);
        counts.ecn_echo_packets += u64::from(packet.flags & Prologue::ECN_ECHO != 0);
        if prologue.is_nack() {
            let code = packet.nack_code();
            counts.nack_packets += 1;
            *counts.nacks.entry(code.0).or_default() += 1;
            if Mode::of(packet).has_pdcs() {
                self.psns.refuse(packet.psn, code, now_ns, counts);
            }
            return;
        }
        counts.ack_packets += 1;
        if prologue.is_ack() {
            let is_of_retransmission = packet.flags & Prologue::RETRANSMISSION != 0;
            let (psn, sack) = (packet.acknowledged(), packet.sack());
            self.psns
                .acknowledge(psn, packet.psn, sack, is_of_retransmission, now_ns, counts);
        } else if let Some(at) = self.waiting.iter().position(|waiting| waiting.0 == packet.psn)
            && let Some((_, passed_ns, is_repeated)) = self.waiting.remove(at)
            && !is_repeated
        {
            counts.rtt.add(now_ns.since(passed_ns));
        }
    }
}
