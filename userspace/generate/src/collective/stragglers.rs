//! What is slow in a collective, with the ranks and channels that were drawn.

use super::super::random::Random;
use super::super::scenario::collective::{Collective, Straggler};
use super::super::scenario::units::Probability;
use super::plan::{Link, Plan};

/// A straggler at its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    straggler: Straggler,
    rank: usize,
    /// Its channel, of a QP that loses packets.
    channel: u16,
}

/// All of a collective.
#[derive(Clone, Debug)]
pub(super) struct Stragglers(Vec<Placed>);

impl Stragglers {
    /// Draws what the scenario leaves open.
    pub(super) fn draw(collective: &Collective, random: &mut Random) -> Self {
        let place = |straggler: &Straggler| {
            let drawn = random.below(collective.ranks.len() as u64) as u32;
            let rank = straggler.rank().unwrap_or(drawn) as usize;
            let drawn = random.below(u64::from(collective.channels)) as u16;
            let channel = match straggler {
                Straggler::LossyQp { channel, .. } => channel.unwrap_or(drawn),
                _ => drawn,
            };
            Placed {
                straggler: *straggler,
                rank,
                channel,
            }
        };
        Self(collective.straggler.iter().map(place).collect())
    }

    /// Those of a rank.
    fn of(&self, rank: usize) -> impl Iterator<Item = &Straggler> {
        let own = self.0.iter().filter(move |placed| placed.rank == rank);
        own.map(|placed| &placed.straggler)
    }

    /// The share of the packets that the QPs of a link lose.
    pub(super) fn loss(&self, link: &Link) -> Option<Probability> {
        let mut own = self
            .0
            .iter()
            .filter(|placed| placed.rank == link.from && placed.channel == link.channel);
        own.find_map(|placed| match placed.straggler {
            Straggler::LossyQp { loss, .. } => Some(loss),
            _ => None,
        })
    }

    /// How much later than others a rank starts.
    pub(super) fn late_ns(&self, rank: usize) -> u64 {
        let late = self.of(rank).map(|straggler| match straggler {
            Straggler::LateStart { delay, .. } => delay.0,
            _ => 0,
        });
        late.sum()
    }

    /// How much longer than others a rank takes for a chunk.
    pub(super) fn slow_ns(&self, rank: usize) -> u64 {
        let slow = self.of(rank).map(|straggler| match straggler {
            Straggler::SlowRank { delay, .. } => delay.0,
            _ => 0,
        });
        slow.sum()
    }

    /// The rate of the link out of a rank, in bit/s, if it is slow.
    pub(super) fn rate(&self, rank: usize) -> Option<u64> {
        let rates = self.of(rank).filter_map(|straggler| match straggler {
            Straggler::SlowLink { rate, .. } => Some(rate.0),
            _ => None,
        });
        rates.min()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Placed> {
        self.0.iter()
    }
}

impl Placed {
    /// Its rank.
    pub(super) const fn rank(&self) -> usize {
        self.rank
    }

    /// Its name in the truth.
    pub(super) const fn kind(&self) -> &'static str {
        match self.straggler {
            Straggler::SlowLink { .. } => "slow_link",
            Straggler::SlowRank { .. } => "slow_rank",
            Straggler::LateStart { .. } => "late_start",
            Straggler::LossyQp { .. } => "lossy_qp",
        }
    }

    /// Whether it is a link or a QP, and so has another end; whether it is a QP.
    pub(super) const fn is_link(&self) -> bool {
        matches!(self.straggler, Straggler::SlowLink { .. } | Straggler::LossyQp { .. })
    }

    pub(super) const fn is_qp(&self) -> bool {
        matches!(self.straggler, Straggler::LossyQp { .. })
    }

    /// Its link: of a QP, that of its channel; otherwise the first out of its rank.
    pub(super) fn link(&self, plan: &Plan) -> usize {
        let mut from = plan.from[self.rank].iter().copied();
        let link = from.find(|link| !self.is_qp() || plan.links[*link].channel == self.channel);
        link.unwrap_or(0)
    }
}
