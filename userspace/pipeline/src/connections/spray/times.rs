//! Times that decide in a sprayed direction: how late a packet can be, and how soon an answer or a reaction can follow.

use crate::connections::context::Context;
use crate::connections::direction::Direction;
use crate::connections::spray::state::Sprayed;
use crate::time::EventTime;

/// Round trips of which the shortest is known well.
pub(crate) const MANY_ROUND_TRIPS: u64 = 64;

impl Direction {
    /// Later than this, a packet was not reordered.
    pub(crate) fn late_bound_ns(&self) -> u64 {
        self.reordering.bound_ns()
    }

    /// What a NAK requests cannot pass sooner: half of the shortest such time, less the difference of the paths.
    pub(crate) fn reaction_ns(&self) -> u64 {
        let reaction = self.latencies.rare().and_then(|rare| rare.reaction.min());
        reaction.map_or(0, |ns| ns / 2).saturating_sub(self.late_bound_ns())
    }

    /// Whether the sender's timer may have expired: without an answer for longer than every round trip. If none is known,
    /// the sender must have been silent, too.
    pub(crate) fn is_timeout(&self, sprayed: &Sprayed, now_ns: u64, context: &Context<'_>) -> bool {
        let waited_ns = now_ns.since(self.answered_ns.max(self.first_request_ns));
        match self.longest_rtt_ns(sprayed) {
            0 => {
                let silent_ns = self.reordering.bound_ns().max(context.duplicate_ns);
                waited_ns > 2 * silent_ns && now_ns.since(sprayed.last_ns) > silent_ns
            }
            longest_ns => waited_ns > 2 * longest_ns,
        }
    }

    /// Whether a sender's timer can be so short. The specification codes it as 4.096 µs × 2^n (IBTA volume 1, 9.7.6.1.3); with n
    /// below 6, a packet that waits in the queue of a switch would be repeated. A path that has become longer delays packets
    /// for less.
    pub(crate) const fn a_timer_may_expire_within(ns: u64) -> bool {
        ns >= 4_096 << 6
    }

    pub(crate) fn shortest_rtt_ns(&self, sprayed: &Sprayed) -> Option<u64> {
        let late = sprayed.round_trips_ns.map(|(min, _)| min);
        self.latencies.min_rtt_ns().into_iter().chain(late).min()
    }

    /// No round trip is shorter: the shortest of many, or half of the shortest of few.
    pub(crate) fn least_rtt_ns(&self, sprayed: &Sprayed) -> Option<u64> {
        let shortest_ns = self.shortest_rtt_ns(sprayed)?;
        let is_known = self.latencies.rtt.samples() >= MANY_ROUND_TRIPS;
        Some(if is_known { shortest_ns } else { shortest_ns / 2 })
    }

    pub(crate) fn longest_rtt_ns(&self, sprayed: &Sprayed) -> u64 {
        let late = sprayed.round_trips_ns.map(|(_, max)| max);
        self.latencies.max_rtt_ns().into_iter().chain(late).max().unwrap_or(0)
    }

    /// The time within which everything that was sent has passed.
    pub(crate) fn settled_ns(&self, sprayed: &Sprayed) -> u64 {
        let round_trip = self.longest_rtt_ns(sprayed);
        2 * round_trip.max(self.late_bound_ns())
    }
}
