//! What was sent again though nothing asked for it: lost, or only slow to be answered.

use super::context::Surroundings;
use super::direction::Direction;
use super::episode::Doubt;
use super::event::{Evidence, What, Where};
use super::sequence::Place;
use rocescope_wire::Psn;

impl Direction {
    /// The sender's timer ran out for what had passed and was not acknowledged: whether it was
    /// lost, the next answer tells.
    pub(crate) fn doubt(
        &mut self,
        place: Place,
        waited_ns: u64,
        now_ns: u64,
        around: &mut Surroundings<'_>,
    ) {
        let times = match self.doubt {
            Some(doubt) if doubt.place == place => doubt.times + 1,
            _ => {
                self.settle_doubt(None, around.tell);
                1
            }
        };
        self.doubt = Some(Doubt {
            place,
            resent_ns: now_ns,
            times,
            waited_ns,
        });
    }

    /// The answer for all up to `answered` passed at its time, or none will any more.
    ///
    /// An answer that comes tells nothing of which copy it answers, but for one thing: when the
    /// sender had waited more than twice the longest round trip before it sent again, the first
    /// copy (or its answer) was lost. Else the answer may just have been slow.
    pub(crate) fn settle_doubt(
        &mut self,
        answered: Option<(Place, u64)>,
        tell: &mut dyn FnMut(u64, What),
    ) {
        let Some(doubt) = self.doubt else {
            return;
        };
        if let Some((place, now_ns)) = answered {
            if place < doubt.place {
                return;
            }
            self.doubt = None;
            let longest_ns = self.latencies.max_rtt_ns().unwrap_or(u64::MAX / 2);
            let soonest_ns = doubt.resent_ns + self.latencies.min_rtt_ns().unwrap_or(0);
            if doubt.waited_ns <= 2 * longest_ns || now_ns < soonest_ns {
                return;
            }
        }
        self.doubt = None;
        let packets = u64::from(doubt.times);
        self.counts.unanswered += packets;
        let what = What::Loss {
            psn: Psn::new(doubt.place as u32),
            packets,
            place: Where::AfterTap,
            evidence: Evidence::Timeout,
        };
        tell(doubt.resent_ns, what);
    }
}
