//! What happens to a packet in flight: applies the impairments of a group.

use super::random::Random;
use super::scenario::Group;
use super::scenario::impairment::{Impairment, Of, Ports, Side, Sprayed};

/// How long a reordered packet is held by default, in nanoseconds.
const HOLD: u64 = 100_000;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Delivery {
    pub(super) lost: Option<Side>,
    pub(super) damaged: bool,
    pub(super) doubled: Option<Side>,
    pub(super) late: Option<Lateness>,
    /// How much longer its path takes than the shortest, before and after the tap, in nanoseconds.
    pub(super) detour: [u64; 2],
    /// The UDP source port of its path, instead of its flow's.
    pub(super) port: Option<u16>,
}

impl Delivery {
    /// Whether it reaches its receiver whole.
    pub(super) const fn arrives(&self) -> bool {
        self.lost.is_none() && !self.damaged
    }
}

/// The end of the packets that are lost in a row, and where.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst(u64, Option<Side>);

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
    /// The paths of data, and those of acknowledgements.
    paths: [Option<Paths>; 2],
}

/// The paths of sprayed packets.
#[derive(Clone, Copy, Debug)]
struct Paths {
    count: u32,
    skew: u64,
    side: Side,
    ports: Ports,
    /// Lowest and highest UDP source port.
    range: [u16; 2],
}

impl Paths {
    fn new(group: &Group, of: Sprayed) -> Option<Self> {
        let spray = group.spray.iter().find(|one| one.of == of)?;
        Some(Self {
            count: spray.paths,
            skew: spray.skew.0,
            side: spray.side,
            ports: spray.ports,
            range: group.src_ports,
        })
    }

    /// Draws a path: its detour and its port. Paths are evenly spaced from the shortest to the longest.
    fn draw(&self, random: &mut Random, delivery: &mut Delivery) {
        let path = random.below(self.count.into());
        let longest = u64::from(self.count.saturating_sub(1).max(1));
        delivery.detour[self.side as usize] = self.skew * path / longest;
        let [low, high] = self.range;
        let ports = u64::from(high - low) + 1;
        delivery.port = match self.ports {
            Ports::One => None,
            Ports::Path => Some(low + (path % ports) as u16),
            Ports::Packet => Some(low + random.below(ports) as u16),
        };
    }
}

impl Impairments {
    /// The impairments of a group's requests or responses; `None` if it has none.
    pub(super) fn new(group: &Group, kind: Of) -> Option<Self> {
        let of =
            |list: &[Impairment]| -> Vec<Impairment> { list.iter().filter(|one| one.of == kind).cloned().collect() };
        let impairments = Self {
            loss: of(&group.loss),
            duplicate: of(&group.duplicate),
            reorder: of(&group.reorder),
            corrupt: of(&group.corrupt),
            paths: match kind {
                Of::Requests => [Paths::new(group, Sprayed::Requests), None],
                Of::Responses => [Sprayed::Responses, Sprayed::Acknowledgements].map(|of| Paths::new(group, of)),
            },
        };
        let any = [
            &impairments.loss,
            &impairments.duplicate,
            &impairments.reorder,
            &impairments.corrupt,
        ]
        .iter()
        .any(|list| !list.is_empty());
        (any || impairments.paths.iter().any(Option::is_some)).then_some(impairments)
    }

    /// Decides what happens to the packet with this number, sent at `now`.
    pub(super) fn draw(
        &self,
        number: u64,
        now: u64,
        is_acknowledgement: bool,
        random: &mut Random,
        burst: &mut Burst,
    ) -> Delivery {
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
        if let Some(one) = lost.and_then(|index| self.loss.get(index)) {
            *burst = Burst(burst.0.max(number + one.burst.unwrap_or(1)), Some(one.side));
        }
        let damaged = first(&self.corrupt);
        let doubled = first(&self.duplicate);
        let late = first(&self.reorder);
        let mut delivery = Delivery {
            lost: burst.1.filter(|_| number < burst.0),
            damaged: damaged.is_some(),
            doubled: side(&self.duplicate, doubled),
            late: late.and_then(|index| self.reorder.get(index)).map(|one| Lateness {
                side: one.side,
                by: one.by.unwrap_or(1),
                hold: one.hold.map_or(HOLD, |hold| hold.0),
            }),
            ..Delivery::default()
        };
        if let Some(Some(paths)) = self.paths.get(usize::from(is_acknowledgement)) {
            paths.draw(random, &mut delivery);
        }
        delivery
    }
}

fn hits(one: &Impairment, number: u64, now: u64, random: &mut Random) -> bool {
    // Draws in any case: a packet's fate must not depend on a list of numbers.
    let chance = one.probability.hits(random.next());
    (chance || one.packets.binary_search(&number).is_ok())
        && one.from.0 <= now
        && one.until.is_none_or(|until| now < until.0)
}
