//! What happens to a packet in flight: applies the impairments of a group.

use super::random::Random;
use super::scenario::Group;
use super::scenario::impairment::{Impairment, Of, Side};

/// How long a reordered packet is held by default, in nanoseconds.
const HOLD: u64 = 100_000;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Delivery {
    pub(super) lost: Option<Side>,
    pub(super) damaged: bool,
    pub(super) doubled: Option<Side>,
    pub(super) late: Option<Lateness>,
}

/// The delay of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lateness {
    pub(super) side: Side,
    /// By how many packets.
    pub(super) by: u32,
    /// At most this long, in nanoseconds.
    pub(super) hold: u64,
}

/// The impairments of one kind of packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Impairments {
    loss: Vec<Impairment>,
    duplicate: Vec<Impairment>,
    reorder: Vec<Impairment>,
    corrupt: Vec<Impairment>,
}

impl Impairments {
    /// The impairments of a group's requests or responses; `None` if it has none.
    pub(super) fn new(group: &Group, of: Of) -> Option<Self> {
        let of = |list: &[Impairment]| -> Vec<Impairment> { list.iter().filter(|one| one.of == of).cloned().collect() };
        let impairments = Self {
            loss: of(&group.loss),
            duplicate: of(&group.duplicate),
            reorder: of(&group.reorder),
            corrupt: of(&group.corrupt),
        };
        let any = [
            &impairments.loss,
            &impairments.duplicate,
            &impairments.reorder,
            &impairments.corrupt,
        ]
        .iter()
        .any(|list| !list.is_empty());
        any.then_some(impairments)
    }

    /// Decides what happens to the packet with this number, sent at `now`.
    pub(super) fn draw(&self, number: u64, now: u64, random: &mut Random) -> Delivery {
        let mut first = |list: &[Impairment]| {
            let mut found = None;
            for (index, one) in list.iter().enumerate() {
                if hits(one, number, now, random) && found.is_none() {
                    found = Some(index);
                }
            }
            found
        };
        let side =
            |list: &[Impairment], found: Option<usize>| found.and_then(|index| list.get(index)).map(|one| one.side);
        let lost = first(&self.loss);
        let damaged = first(&self.corrupt);
        let doubled = first(&self.duplicate);
        let late = first(&self.reorder);
        Delivery {
            lost: side(&self.loss, lost),
            damaged: damaged.is_some(),
            doubled: side(&self.duplicate, doubled),
            late: late.and_then(|index| self.reorder.get(index)).map(|one| Lateness {
                side: one.side,
                by: one.by.unwrap_or(1),
                hold: one.hold.map_or(HOLD, |hold| hold.0),
            }),
        }
    }
}

fn hits(one: &Impairment, number: u64, now: u64, random: &mut Random) -> bool {
    // Draws in any case: a packet's fate must not depend on a list of numbers.
    let chance = one.probability.hits(random.next());
    (chance || one.packets.binary_search(&number).is_ok())
        && one.from.0 <= now
        && one.until.is_none_or(|until| now < until.0)
}
