//! The known path of one 5-tuple.

use crate::types::Nanos;
use std::net::IpAddr;

/// The answer of one hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// Its address; `None` if it did not answer.
    pub address: Option<IpAddr>,
    /// Time from the packet to the answer.
    pub round_trip: Option<Nanos>,
}

/// Why a path gets a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowReason {
    /// It was unknown.
    First,
    /// It changed.
    Changed,
    /// It was not written for a while.
    Refresh,
    /// No trace has reached the destination: the hops that answered are new, or were not written for a while.
    Unreached,
    /// The same, and the last of these hops answered that the destination is unreachable.
    Unreachable,
}

impl RowReason {
    /// The name in the rows.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Changed => "changed",
            Self::Refresh => "refresh",
            Self::Unreached => "unreached",
            Self::Unreachable => "unreachable",
        }
    }
}

/// Traces in a row that leave a hop unknown, after which a 5-tuple waits for its turn again: its router never answers. Where
/// a link loses half of the packets, three of four answers are missing, and each trace adds what it has.
const REPEATS: u8 = 6;

/// The known path of a 5-tuple.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    hops: Vec<Option<IpAddr>>,
    written: Option<Nanos>,
    /// When its last trace began.
    pub(crate) asked: Option<Nanos>,
    /// The last trace did not reach the destination.
    pub(crate) missed: bool,
    /// Traces in a row that left the path or a hop unknown.
    unknown: u8,
    /// How far traces came, while none has reached the destination.
    cut: Cut,
}

/// The hops that answered traces that did not reach their destination, up to the last one that answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cut {
    hops: Vec<Option<IpAddr>>,
    /// The last one answered that the destination is unreachable.
    is_refused: bool,
    written: Option<Nanos>,
}

impl Route {
    /// Addresses of the hops, the destination last; empty until a trace has reached it.
    #[must_use]
    pub fn hops(&self) -> &[Option<IpAddr>] {
        &self.hops
    }

    /// Its turn among the 5-tuples of a NIC that wait for a trace: those that were never traced, then those with
    /// an unknown hop, then the least recently traced.
    pub(crate) fn turn(&self) -> (bool, Option<Nanos>) {
        let is_repeated = (1..=REPEATS).contains(&self.unknown);
        (self.asked.is_some() && !is_repeated, self.asked)
    }

    /// Addresses that the next trace asks, as far as they are known.
    pub(crate) fn known(&self) -> impl Iterator<Item = IpAddr> {
        self.hops.iter().chain(&self.cut.hops).flatten().copied()
    }

    /// Learns from a trace that did not reach the destination: the hops up to the last one that answered, and whether that one
    /// called the destination unreachable. A known path stays. Without one, returns the hops if they are news, with what earlier
    /// traces had of the same way.
    pub(crate) fn miss(
        &mut self,
        mut found: Vec<Hop>,
        is_refused: bool,
        now: Nanos,
        refresh: Nanos,
    ) -> Option<(Vec<Hop>, RowReason)> {
        self.missed = true;
        if !self.hops.is_empty() {
            return None;
        }
        self.unknown = self.unknown.saturating_add(1);
        if found.is_empty() {
            return None;
        }
        let is_same = found
            .iter()
            .zip(&self.cut.hops)
            .all(|(new, known)| is_either(*known, new.address));
        let known: &[Option<IpAddr>] = if is_same { &self.cut.hops } else { &[] };
        let is_refused = match found.len() < known.len() {
            true => self.cut.is_refused,
            false => is_refused || found.len() == known.len() && self.cut.is_refused,
        };
        found.resize(found.len().max(known.len()), Hop::default());
        for (hop, known) in found.iter_mut().zip(known) {
            hop.address = hop.address.or(*known);
        }
        let hops: Vec<Option<IpAddr>> = found.iter().map(|hop| hop.address).collect();
        let is_news = hops != self.cut.hops || is_refused != self.cut.is_refused;
        if !is_news && self.cut.written.is_some_and(|written| now - written < refresh) {
            return None;
        }
        self.cut = Cut {
            hops,
            is_refused,
            written: Some(now),
        };
        Some(match is_refused {
            true => (found, RowReason::Unreachable),
            false => (found, RowReason::Unreached),
        })
    }

    /// Learns from a trace that reached its destination at `now`. A trace that contradicts no known hop is of the same path:
    /// a hop that did not answer this time (routers limit answers, links lose them) keeps its address, which is also filled
    /// into `found`.
    ///
    /// A trace also looks longer than its path where the packet that would just have reached the destination was lost. So of
    /// two traces that do not contradict each other, the shorter one has the length of the path.
    pub fn learn(&mut self, found: &mut Vec<Hop>, now: Nanos, refresh: Nanos) -> Option<RowReason> {
        self.missed = false;
        let is_same = !self.hops.is_empty() && self.agrees(found);
        let mut is_fuller = false;
        if is_same {
            is_fuller = found.len() < self.hops.len();
            self.join(found);
            let known = self.hops.iter().take(found.len().saturating_sub(1));
            is_fuller |= known
                .zip(&*found)
                .any(|(known, hop)| known.is_none() && hop.address.is_some());
        }
        self.unknown = match found.iter().all(|hop| hop.address.is_some()) {
            true => 0,
            false => self.unknown.saturating_add(1),
        };
        let news = match self.written {
            None => RowReason::First,
            Some(_) if !is_same => RowReason::Changed,
            Some(written) if is_fuller || now - written >= refresh => RowReason::Refresh,
            Some(_) => return None,
        };
        self.hops = found.iter().map(|hop| hop.address).collect();
        self.written = Some(now);
        self.cut = Cut::default();
        Some(news)
    }

    /// Whether no hop before the destination contradicts the known path, and none is behind its end.
    fn agrees(&self, found: &[Hop]) -> bool {
        let known = self.hops.iter().copied().rev().skip(1).rev();
        let new = found.iter().map(|hop| hop.address).rev().skip(1).rev();
        let both = known.len().min(new.len());
        let is_end_same = self.hops.last().copied().flatten() == found.last().and_then(|hop| hop.address);
        is_end_same
            && known.clone().zip(new.clone()).all(|(known, new)| is_either(known, new))
            && known.skip(both).chain(new.skip(both)).all(|hop| hop.is_none())
    }

    /// Shortens a trace to the known path if that is shorter, and fills in the hops that did not answer.
    fn join(&self, found: &mut Vec<Hop>) {
        if self.hops.len() < found.len()
            && let Some(end) = found.pop()
        {
            found.truncate(self.hops.len() - 1);
            found.push(end);
        }
        let before = found.len().saturating_sub(1);
        for (known, hop) in self.hops.iter().zip(&mut found[..before]) {
            hop.address = hop.address.or(*known);
        }
    }

    /// The clock was set.
    pub(crate) fn stepped(&mut self, by: Nanos) {
        let times = [&mut self.written, &mut self.asked, &mut self.cut.written];
        for time in times.into_iter().flatten() {
            *time = *time + by;
        }
    }
}

/// Whether two answers may be of one hop: one may be missing.
fn is_either(one: Option<IpAddr>, other: Option<IpAddr>) -> bool {
    one.is_none() || other.is_none() || one == other
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn hops(last: &[u8]) -> Vec<Hop> {
        let address = |last: &u8| match last {
            0 => None,
            last => Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, *last))),
        };
        let hop = |last| Hop {
            address: address(last),
            round_trip: None,
        };
        last.iter().map(hop).collect()
    }

    #[test]
    fn a_missing_answer_is_no_change_but_another_address_is() {
        let mut route = Route::default();
        let mut learn = |last: &[u8], now| {
            let mut found = hops(last);
            let news = route.learn(&mut found, Nanos(now), Nanos(100));
            (news, found)
        };
        assert_eq!(learn(&[1, 0, 9], 0), (Some(RowReason::First), hops(&[1, 0, 9])));
        assert_eq!(learn(&[1, 2, 9], 1).0, Some(RowReason::Refresh), "a new hop is known");
        assert_eq!(learn(&[0, 2, 9], 2), (None, hops(&[1, 2, 9])));
        assert_eq!(learn(&[1, 3, 9], 3).0, Some(RowReason::Changed));
        assert_eq!(learn(&[1, 0, 4, 9], 4).0, Some(RowReason::Changed));
        assert_eq!(learn(&[1, 0, 4, 9], 103).0, None);
        assert_eq!(learn(&[1, 0, 4, 9], 104).0, Some(RowReason::Refresh));
        assert_eq!(learn(&[1, 0, 4, 8], 105).0, Some(RowReason::Changed), "another end");
    }

    #[test]
    fn traces_that_end_early_show_how_far_packets_come() {
        use RowReason::{First, Unreachable, Unreached};
        let mut route = Route::default();
        let mut miss = |last: &[u8], is_refused, now| route.miss(hops(last), is_refused, Nanos(now), Nanos(100));
        assert_eq!(miss(&[], false, 0), None, "nothing answered");
        assert_eq!(miss(&[1, 0, 3], false, 1), Some((hops(&[1, 0, 3]), Unreached)));
        assert_eq!(miss(&[1], false, 2), None, "fewer answers are no news");
        assert_eq!(miss(&[1, 2], false, 3), Some((hops(&[1, 2, 3]), Unreached)));
        assert_eq!(miss(&[1, 2, 3], true, 4), Some((hops(&[1, 2, 3]), Unreachable)));
        assert_eq!(miss(&[1, 2, 3], false, 5), None, "it was refused before");
        assert_eq!(miss(&[1, 2, 3], false, 104), Some((hops(&[1, 2, 3]), Unreachable)));
        assert_eq!(
            miss(&[1, 4], false, 105),
            Some((hops(&[1, 4]), Unreached)),
            "another way"
        );
        assert_eq!(
            route.known().collect::<Vec<_>>(),
            hops(&[1, 4]).iter().filter_map(|hop| hop.address).collect::<Vec<_>>()
        );
        // Once the destination is reached, its path stays.
        assert_eq!(route.learn(&mut hops(&[1, 4, 9]), Nanos(106), Nanos(100)), Some(First));
        assert_eq!(route.miss(hops(&[1]), true, Nanos(107), Nanos(100)), None);
        assert_eq!(route.hops().len(), 3);
    }

    #[test]
    fn a_lost_packet_makes_no_path_longer() {
        let mut route = Route::default();
        let mut learn = |last: &[u8], now| {
            let mut found = hops(last);
            let news = route.learn(&mut found, Nanos(now), Nanos(100));
            (news, found)
        };
        // The packet that just reaches the destination was lost, and one answer.
        assert_eq!(learn(&[1, 0, 0, 0, 9], 0).0, Some(RowReason::First));
        assert_eq!(learn(&[1, 2, 0, 9], 1), (Some(RowReason::Refresh), hops(&[1, 2, 0, 9])));
        assert_eq!(
            learn(&[0, 0, 3, 0, 9], 2),
            (Some(RowReason::Refresh), hops(&[1, 2, 3, 9]))
        );
        assert_eq!(learn(&[1, 0, 0, 0, 0, 9], 3), (None, hops(&[1, 2, 3, 9])));
        // A router where the destination was.
        assert_eq!(learn(&[1, 2, 3, 4, 9], 4).0, Some(RowReason::Changed));
    }
}
