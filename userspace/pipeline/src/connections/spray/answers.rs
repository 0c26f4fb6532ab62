//! NAKs and acknowledgements of a sprayed direction: what they show to be lost.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::losses::pending::{MAX_SUSPECTS, Suspect};
use crate::connections::order::intervals::Interval;
use crate::connections::order::psn_tracker::ExtendedPsn;
use crate::connections::order::responder::NakMeaning;
use crate::connections::order::retransmission_scheme::RetransmissionScheme;
use crate::connections::requests::recovery::Trigger;
use crate::connections::spray::pass::Pass;
use crate::connections::spray::state::{Ask, MAX_ASKS, Sprayed};
use alloc::vec::Vec;

impl Direction {
    /// A NAK of the peer for a sprayed direction.
    pub(crate) fn sprayed_ask(&mut self, trigger: Trigger, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.settle_sprayed(&mut sprayed, now_ns, context);
        if sprayed.asks.len() >= MAX_ASKS {
            sprayed.asks.remove(0);
        }
        sprayed.asks.push(Ask {
            trigger,
            psn,
            time_ns: now_ns,
            used: false,
        });
        if trigger == Trigger::Nak {
            sprayed.reordered = self.reordering.packets();
            sprayed.refused += 1;
            self.miss(&mut sprayed, psn, now_ns);
            self.suspect(&mut sprayed, psn, now_ns, context);
        }
        self.sprayed = Some(sprayed);
    }

    /// The NAK names a packet that the current pass should have brought: it is lost once it is not late any more.
    fn miss(&self, sprayed: &mut Sprayed, psn: ExtendedPsn, now_ns: u64) {
        // What passed later than this did not cause the NAK.
        let Some(since_ns) = self.shortest_rtt_ns(sprayed) else {
            return;
        };
        if sprayed
            .skipped
            .at(psn)
            .is_none_or(|left| left.value + since_ns > now_ns)
        {
            return;
        }
        sprayed.skipped.remove(psn, psn, &mut |_| {});
        let deadline_ns = now_ns + self.late_bound_ns().saturating_sub(since_ns);
        sprayed.overdue.remove(psn, psn, &mut |_| {});
        let _ = sprayed.overdue.insert(Interval {
            first: psn,
            last: psn,
            value: deadline_ns,
        });
        sprayed.deadline_ns = sprayed.deadline_ns.min(deadline_ns);
    }

    /// The NAK names a packet that may have passed: it was lost downstream if its acknowledgement waits for the next copy.
    fn suspect(&mut self, sprayed: &mut Sprayed, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let has_passed = self.requests.has(psn) && !self.pending.is_trimmed(psn);
        let meaning = self.responder.nak(psn, has_passed.then_some(now_ns));
        let _ = self.responder.take_lost();
        // A receiver that keeps early packets requests none of them. From one that drops them a NAK shows nothing where
        // packets are late: the order explains it.
        let is_in_order = self.reordering.packets() == 0 && meaning == NakMeaning::Loss;
        let min_rtt_ns = self.least_rtt_ns(sprayed);
        let is_kept = self.asks_only_for_losses(sprayed) || is_in_order && min_rtt_ns.is_some();
        if !is_kept && self.recoveries.scheme() == RetransmissionScheme::GoBackN {
            return;
        }
        let min_rtt_ns = min_rtt_ns.unwrap_or(0);
        if let Some(at) = sprayed.suspects.iter().position(|suspect| suspect.psn == psn) {
            let suspect = &mut sprayed.suspects[at];
            let Some(resent_ns) = suspect.resent_ns.filter(|resent_ns| now_ns >= resent_ns + min_rtt_ns) else {
                return;
            };
            let nak_ns = core::mem::replace(&mut suspect.nak_ns, resent_ns.max(now_ns));
            suspect.resent_ns = None;
            let late_ns = suspect.late_ns.take();
            let suspect = Suspect { late_ns, ..*suspect };
            self.lose_suspect(sprayed, suspect, nak_ns, context);
            return;
        }
        let late_ns = sprayed.late_at(psn);
        let seen_ns = sprayed.time_of(psn).map_or(0, |(from_ns, _)| from_ns);
        let had_time = late_ns.is_some() || now_ns >= seen_ns + min_rtt_ns;
        if has_passed && had_time && sprayed.suspects.len() < MAX_SUSPECTS {
            sprayed.suspects.push(Suspect {
                psn,
                nak_ns: now_ns,
                resent_ns: None,
                is_kept,
                late_ns,
            });
        }
    }

    /// Whether the receiver keeps early packets: it requests none of them.
    fn asks_only_for_losses(&self, sprayed: &Sprayed) -> bool {
        self.recoveries.scheme() == RetransmissionScheme::SelectiveRepeat || sprayed.keeps_early()
    }

    /// It was lost downstream, as soon as the receiver is known to keep early packets.
    pub(crate) fn lose_suspect(
        &mut self,
        sprayed: &mut Sprayed,
        suspect: Suspect,
        nak_ns: u64,
        context: &mut Context<'_>,
    ) {
        let round_trip_ns = self
            .latencies
            .min_rtt_ns()
            .or(sprayed.round_trips_ns.map(|(_, max)| max));
        if suspect.was_late(nak_ns, round_trip_ns) {
            return;
        }
        if suspect.is_kept || self.asks_only_for_losses(sprayed) {
            self.lose((suspect.psn, nak_ns), 1, context.emit);
        } else if sprayed.unproven.len() < MAX_SUSPECTS {
            sprayed.unproven.push((suspect.psn, nak_ns));
        }
    }

    /// An acknowledgement passes: a receiver that drops early packets would have sent a NAK before.
    pub(crate) fn sprayed_acknowledged(&mut self) {
        let reordered = self.reordering.packets();
        if let Some(sprayed) = &mut self.sprayed {
            sprayed.kept += reordered - core::mem::replace(&mut sprayed.reordered, reordered);
        }
    }

    /// The peer has everything up to `psn`.
    pub(crate) fn sprayed_progress(&mut self, psn: ExtendedPsn, now_ns: u64, context: &mut Context<'_>) {
        let Some(mut sprayed) = self.sprayed.take() else {
            return;
        };
        self.settle_sprayed(&mut sprayed, now_ns, context);
        let least_ns = self.least_rtt_ns(&sprayed);
        let is_soon = |pass: &&mut Pass| least_ns.is_none_or(|ns| now_ns < pass.begun_ns + ns);
        if let Some(pass) = sprayed.pass.as_mut().filter(is_soon) {
            pass.acked = pass.acked.max(psn);
        }
        let min_rtt_ns = least_ns.unwrap_or(0);
        for suspect in sprayed
            .suspects
            .extract_if(.., |suspect| suspect.psn <= psn)
            .collect::<Vec<_>>()
        {
            let resent_ns = suspect.resent_ns.unwrap_or(u64::MAX);
            if now_ns >= resent_ns.saturating_add(min_rtt_ns) {
                self.lose_suspect(&mut sprayed, suspect, suspect.nak_ns, context);
            }
        }
        if !sprayed.unproven.is_empty() && self.asks_only_for_losses(&sprayed) {
            for (psn, nak_ns) in core::mem::take(&mut sprayed.unproven) {
                self.lose((psn, nak_ns), 1, context.emit);
            }
        }
        self.sprayed = Some(sprayed);
    }
}
