//! What each tap sees of answers, counted once: asked for each of hundreds of thousands of directions.

use super::Direction;
use alloc::collections::BTreeMap;
use core::net::IpAddr;

/// The taps, by observer.
pub(super) struct Taps<'a>(BTreeMap<&'a str, Tap>);

#[derive(Default)]
struct Tap {
    directions: u64,
    from: BTreeMap<IpAddr, u64>,
    to: BTreeMap<IpAddr, u64>,
    between: BTreeMap<(IpAddr, IpAddr), u64>,
    sees_answers: bool,
}

impl<'a> Taps<'a> {
    pub(super) fn of(all: &[&'a Direction]) -> Self {
        let mut taps: BTreeMap<&str, Tap> = BTreeMap::new();
        for way in all {
            let tap = taps.entry(&way.observer).or_default();
            tap.directions += 1;
            *tap.from.entry(way.src).or_default() += 1;
            *tap.to.entry(way.dst).or_default() += 1;
            *tap.between.entry((way.src, way.dst)).or_default() += 1;
            tap.sees_answers |= way.other_direction_seen;
        }
        Self(taps)
    }

    /// Whether the tap that saw a direction sees answers to anyone; or packets from its sender and to its receiver are all
    /// that it sees.
    pub(super) fn see_answers(&self, way: &Direction) -> bool {
        let Some(tap) = self.0.get(&*way.observer) else {
            return false;
        };
        let (from, to) = (tap.from.get(&way.src), tap.to.get(&way.dst));
        let between = tap.between.get(&(way.src, way.dst));
        let touching = from.unwrap_or(&0) + to.unwrap_or(&0) - between.unwrap_or(&0);
        tap.sees_answers || touching == tap.directions
    }
}
