//! Who sends what to whom, and what that needs.

use super::super::scenario::collective::{Algorithm, Collected, Collective};

/// What one rank sends to another over one channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) channel: u16,
}

/// A step of a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Send {
    /// Its number among those of its rank and channel, in a tree of its link, from 1.
    pub(super) number: u32,
    pub(super) link: usize,
    pub(super) bytes: u32,
    /// The links and the numbers of the steps whose chunks it contains.
    pub(super) needs: [Option<(usize, u32)>; 2],
}

/// A collective as every rank executes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub(super) links: Vec<Link>,
    /// Links out of each rank, and into each rank.
    pub(super) from: Vec<Vec<usize>>,
    pub(super) into: Vec<Vec<usize>>,
    /// The steps of each rank, those of a channel in their order.
    pub(super) sends: Vec<Vec<Send>>,
    /// Chunks over each link.
    pub(super) chunks: Vec<u32>,
    /// Of each link its sequence: a rank sends the steps of one in their order.
    pub(super) sequences: Vec<usize>,
}

impl Plan {
    pub(super) fn new(collective: &Collective) -> Self {
        let ranks = collective.ranks.len();
        let mut plan = Self {
            from: vec![Vec::new(); ranks],
            into: vec![Vec::new(); ranks],
            sends: vec![Vec::new(); ranks],
            ..Self::default()
        };
        for channel in 0..collective.channels {
            match collective.algorithm {
                Algorithm::Ring => plan.ring(collective, channel, ranks),
                Algorithm::HalvingDoubling => plan.halving_doubling(collective, channel, ranks),
                Algorithm::Tree => plan.tree(collective, channel, ranks),
            }
        }
        let is_tree = collective.algorithm == Algorithm::Tree;
        let links = plan.links.iter().enumerate();
        let sequences = links.map(|(at, link)| if is_tree { at } else { link.channel.into() });
        plan.sequences = sequences.collect();
        plan
    }

    fn link(&mut self, from: usize, to: usize, channel: u16) -> usize {
        let link = Link { from, to, channel };
        if let Some(at) = self.links.iter().position(|known| *known == link) {
            return at;
        }
        self.links.push(link);
        self.chunks.push(0);
        let at = self.links.len() - 1;
        self.from[from].push(at);
        self.into[to].push(at);
        at
    }

    fn send(&mut self, rank: usize, send: Send) {
        self.chunks[send.link] += 1;
        self.sends[rank].push(send);
    }

    /// Reduce-scatter and all-gather have ranks - 1 steps each; step k + 1 needs what the previous rank sent in step k.
    fn ring(&mut self, collective: &Collective, channel: u16, ranks: usize) {
        let steps = match collective.operation {
            Collected::AllReduce => 2 * (ranks - 1),
            Collected::ReduceScatter | Collected::AllGather => ranks - 1,
        } as u32;
        let links: Vec<usize> = (0..ranks)
            .map(|rank| self.link(rank, (rank + 1) % ranks, channel))
            .collect();
        for rank in 0..ranks {
            let previous = links[(rank + ranks - 1) % ranks];
            for number in 1..=steps * u32::from(collective.loops) {
                let is_own = (number - 1).is_multiple_of(steps);
                self.send(
                    rank,
                    Send {
                        number,
                        link: links[rank],
                        bytes: collective.chunk.0 as u32,
                        needs: [(!is_own).then(|| (previous, number - 1)), None],
                    },
                );
            }
        }
    }

    /// Partners at distances that halve, with chunks that halve; then back. Step k + 1 needs the chunk of step k's
    /// partner.
    fn halving_doubling(&mut self, collective: &Collective, channel: u16, ranks: usize) {
        let rounds = ranks.ilog2();
        let halving = (0..rounds).map(|round| (ranks >> (round + 1), round));
        let doubling = (0..rounds).rev().map(|round| (ranks >> (round + 1), round));
        let both: Vec<(usize, u32)> = match collective.operation {
            Collected::AllReduce => halving.chain(doubling).collect(),
            Collected::ReduceScatter => halving.collect(),
            Collected::AllGather => doubling.collect(),
        };
        for rank in 0..ranks {
            let mut before = None;
            for (number, (distance, round)) in (1..).zip((0..collective.loops).flat_map(|_| &both)) {
                let partner = rank ^ distance;
                let link = self.link(rank, partner, channel);
                let needs = before.map(|(before, number)| (self.link(before, rank, channel), number));
                let is_own = ((number - 1) as usize).is_multiple_of(both.len());
                self.send(
                    rank,
                    Send {
                        number,
                        link,
                        bytes: (collective.chunk.0 >> round).max(1) as u32,
                        needs: [needs.filter(|_| !is_own), None],
                    },
                );
                before = Some((partner, number));
            }
        }
    }

    /// Chunks go up a binary tree, where every rank adds its own, and down again. Odd channels have the ranks in reverse
    /// order, so that leaves of one tree are inside the other.
    fn tree(&mut self, collective: &Collective, channel: u16, ranks: usize) {
        let rank_at = |place: usize| if channel % 2 == 1 { ranks - 1 - place } else { place };
        for place in 0..ranks {
            let rank = rank_at(place);
            let children: Vec<usize> = (2 * place + 1..2 * place + 3).filter(|child| *child < ranks).collect();
            let mut from_children = [None; 2];
            for (from, child) in from_children.iter_mut().zip(&children) {
                *from = Some(self.link(rank_at(*child), rank, channel));
            }
            let parent = (place > 0).then(|| rank_at((place - 1) / 2));
            let up = parent.map(|parent| self.link(rank, parent, channel));
            let from_parent = parent.map(|parent| self.link(parent, rank, channel));
            let down: Vec<usize> = children
                .iter()
                .map(|child| self.link(rank, rank_at(*child), channel))
                .collect();
            let sources = from_parent.map_or(from_children, |link| [Some(link), None]);
            for number in 1..=u32::from(collective.loops) {
                let both = up
                    .map(|link| (link, from_children))
                    .into_iter()
                    .chain(down.iter().map(|link| (*link, sources)));
                for (link, needed) in both {
                    let send = Send {
                        number,
                        link,
                        bytes: collective.chunk.0 as u32,
                        needs: needed.map(|needed| needed.map(|link| (link, number))),
                    };
                    self.send(rank, send);
                }
            }
        }
    }
}
