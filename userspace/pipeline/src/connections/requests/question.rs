//! A READ or atomic that is transmitted again: what it requests again of its responses.

use crate::connections::direction::Direction;
use crate::connections::order::classification::Classification;
use crate::connections::requests::recovery::Trigger;
use crate::connections::requests::request::RequestRun;
use crate::connections::responses::rounds::{Question, RequesterTimes};

impl Direction {
    /// What the run requests again; `None` if that is nothing.
    pub(crate) fn question(&self, seen: &RequestRun<'_>) -> Option<Question> {
        let (first, last) = (seen.first, seen.last);
        let is_late = seen.filled.iter().any(|gap| gap.holds(first));
        if !seen.is_answered || seen.all.repeated == 0 || is_late {
            return None;
        }
        let is_rest = self.outstanding.begins_before(first);
        // A NAK makes the sender go back to the first unacknowledged request, whose answer may be on its way.
        let begun_ns = self.episode.as_ref().map_or(0, |episode| episode.begun_ns);
        let mut naks = self.naks.iter().flatten();
        let reaction_ns = self.requester_times().reaction_ns.unwrap_or(0);
        let is_here = |ns: u64| seen.run.first_ns >= ns + reaction_ns - reaction_ns / 16;
        let nak = naks.find(|nak| !nak.used && nak.psn >= first && nak.time_ns > begun_ns && is_here(nak.time_ns));
        // The responder lacked the request itself.
        let is_nak = nak.is_some() || self.sprayed.as_ref().is_some_and(|sprayed| sprayed.is_requested(first));
        let is_replay = match seen.classification {
            _ if is_nak => true,
            _ if is_rest => false,
            Classification::Duplicate | Classification::Reordered | Classification::Overtaken => true,
            Classification::Retransmitted(trigger) => matches!(trigger, Trigger::Nak | Trigger::Rnr),
            _ => self.sprayed.as_ref().is_none_or(|sprayed| sprayed.is_replayed(first)),
        };
        Some(Question {
            first,
            last,
            names_missing: !is_replay,
            nak_ns: nak.map(|nak| nak.time_ns),
            continues: seen.continues,
            is_read: seen.is_read,
            is_acknowledged: self.acked >= last,
            is_rest,
            may_be_copy: seen.classification == Classification::Duplicate && !is_rest,
            sent_ns: self.outstanding.sent_ns(first),
        })
    }

    /// Its times as far as its responses show them.
    pub(crate) fn requester_times(&self) -> RequesterTimes {
        let rare = self.latencies.rare();
        RequesterTimes {
            response_ns: rare.and_then(|rare| rare.response.min()).unwrap_or(0),
            slowest_response_ns: rare.and_then(|rare| rare.response.max()).unwrap_or(0),
            reaction_ns: rare.and_then(|rare| rare.reaction.min()),
        }
    }
}
