//! Loss that no place explains: a verdict of its own.
//!
//! A fault that began before the first trace, or that outlasts the source ports of the probes, leaves 5-tuples without a
//! path. They vote for no link and no switch, and where a part of a NIC's 5-tuples loses everything, its NIC is not at fault
//! either. Their loss is real all the same. So what is left when all suspects have their probes is counted as a whole: if
//! chance does not explain it, the mesh loses packets at a place that is unknown. The verdict states how much, between whom,
//! and why the place is unknown.
//!
//! Not counted are probes between hosts of which one is silent or answers nothing, and those over unknown hops that may cross
//! a link, a switch or a route that is a suspect, unless they lose more than all of these together.

use super::cells::{Cell, Cells};
use super::count::Count;
use super::names::Names;
use super::place::{Crossing, FaultLocation};
use super::settings::Settings;
use super::suspects::Suspect;
use super::tuples::{Key, Tuples};
use super::unanswered::Answers;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use rocescope_model::human::{grouped, plural};

/// The fewest drops that are a verdict. A place needs more; but this states only that probes are lost.
const LEAST: u64 = 3;
/// The share of the drops that those between whom they are must have.
const NEARLY_ALL: f64 = 0.9;
/// The share of the probes that they may have at most: otherwise nearly all drops say nothing about them.
const MANY: f64 = 0.75;

/// Loss that no place explains.
#[derive(Debug)]
pub(super) struct Unlocated {
    pub(super) suspect: Suspect,
    /// By number, whether the drops of a cell are among it.
    is_of: Vec<bool>,
    /// Where most of it is, and why no more is known.
    sentence: String,
}

/// What the drops of a window may be explained by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) loss: &'a [Suspect],
    pub(super) silent: &'a [Suspect],
    pub(super) answers: &'a Answers,
    /// Whether the window has enough probes to judge places.
    pub(super) is_judged: bool,
}

impl Unlocated {
    /// Returns the loss of a window that no suspect explains, if chance does not explain it either.
    pub(super) fn of(cells: &Cells, graph: (&Tuples, &Names), settings: &Settings, known: Known<'_>) -> Option<Self> {
        let (tuples, names) = graph;
        let left = Left::new(known, graph);
        // Most windows lose nothing, so the others are not looked at.
        let lossy = cells.all.iter().filter(|cell| cell.drops > 0 && left.has(cell));
        if lossy.map(|cell| u64::from(cell.drops)).sum::<u64>() < LEAST {
            return None;
        }
        let hidden = Hidden::behind(known.loss, cells, graph);
        let (mut plain, mut behind) = (Count::default(), Count::default());
        let mut of = vec![Of::Known; cells.all.len()];
        for (of, cell) in of.iter_mut().zip(&cells.all).filter(|(_, cell)| left.has(cell)) {
            let (count, group) = match hidden.has(cell, graph) {
                true => (&mut behind, Of::Hidden),
                false => (&mut plain, Of::Plain),
            };
            count.add(cell.sent.into(), cell.drops.into());
            *of = group;
        }
        let needed = -libm::log(settings.chance);
        let mut suspect = Suspect::new(FaultLocation::Mesh, plain, plain.score(settings.background));
        let more = behind.score(1.0 - (1.0 - settings.background) * hidden.arrives);
        let with_hidden = more > needed;
        if with_hidden {
            suspect.probes += behind.probes;
            suspect.anomalous += behind.anomalous;
            suspect.score += more;
        }
        if suspect.anomalous < LEAST || suspect.score <= needed {
            return None;
        }
        let is_of: Vec<bool> = of
            .into_iter()
            .map(|of| of == Of::Plain || with_hidden && of == Of::Hidden)
            .collect();
        let own = cells.all.iter().zip(&is_of).filter(|(_, is_of)| **is_of);
        let own: Vec<&Cell> = own.map(|(cell, _)| cell).collect();
        let total = Count {
            probes: suspect.probes,
            anomalous: suspect.anomalous,
        };
        let has_paths = cells.all.iter().any(|cell| cell.path.is_some());
        let why = match known.is_judged {
            true => why(&own, total, has_paths),
            false => "the window has too few probes to judge places".into(),
        };
        let sentence = format!("{}; not located because {why}", whom(&own, total, tuples, names));
        Some(Self {
            suspect,
            is_of,
            sentence,
        })
    }

    /// Whether the drops of a cell are among it.
    pub(super) fn has(&self, cell: u32) -> bool {
        self.is_of.get(cell as usize).copied().unwrap_or(false)
    }

    /// How much is lost, between whom, and why no more is known.
    pub(super) fn sentence(&self) -> String {
        let (lost, probes) = (grouped(self.suspect.anomalous), grouped(self.suspect.probes));
        format!("mesh: {lost} of {probes} probes were lost, {}", self.sentence)
    }
}

/// What a cell counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// A known place, or hosts that are silent.
    Known,
    /// None of these.
    Plain,
    /// It may cross a known place.
    Hidden,
}

/// The cells that no suspect has.
#[derive(Debug)]
struct Left<'a> {
    known: Known<'a>,
    silent: BTreeSet<u32>,
    tuples: &'a Tuples,
    names: &'a Names,
}

impl<'a> Left<'a> {
    fn new(known: Known<'a>, (tuples, names): (&'a Tuples, &'a Names)) -> Self {
        // The silence of most hosts is one of the collector, with the hosts beside it.
        let places = known
            .silent
            .iter()
            .flat_map(|suspect| [suspect.place].into_iter().chain(suspect.also.clone()));
        let silent = places.filter_map(|place| match place {
            FaultLocation::Host(host) => Some(host),
            _ => None,
        });
        Self {
            known,
            silent: silent.collect(),
            tuples,
            names,
        }
    }

    fn has(&self, cell: &Cell) -> bool {
        let crossing = Crossing::of(cell, self.tuples);
        let [src, dst] = [crossing.key.src, crossing.key.dst].map(|nic| self.names.nics[nic as usize].host);
        let answers = |host: u32| !self.known.answers.is_missed(host) && !self.silent.contains(&host);
        let mut loss = self.known.loss.iter();
        (src == dst || answers(src) && answers(dst)) && !loss.any(|suspect| crossing.meets(suspect.place, self.names))
    }
}

/// What cells with unknown hops may cross: a suspect that other 5-tuples of the same rails cross. A NIC has too few of them to
/// cross every link behind its switch.
#[derive(Debug)]
struct Hidden<'a> {
    /// The names of NICs from which, and of those to which, probes cross each suspect.
    ends: Vec<[BTreeSet<&'a str>; 2]>,
    /// The share of probes that all suspects together let through.
    arrives: f64,
}

impl<'a> Hidden<'a> {
    fn behind(loss: &[Suspect], cells: &Cells, (tuples, names): (&Tuples, &'a Names)) -> Self {
        let is_of_path = |suspect: &&Suspect| {
            matches!(
                suspect.place,
                FaultLocation::Link(_)
                    | FaultLocation::Cable(..)
                    | FaultLocation::Ports(_)
                    | FaultLocation::Switch(_)
                    | FaultLocation::Onward(_)
                    | FaultLocation::Route { .. }
                    | FaultLocation::PairAt { .. }
            )
        };
        let mut hidden = Self {
            ends: Vec::new(),
            arrives: 1.0,
        };
        for suspect in loss.iter().filter(is_of_path) {
            let mut ends = [BTreeSet::new(), BTreeSet::new()];
            for cell in &cells.all {
                let crossing = Crossing::of(cell, tuples);
                if crossing.meets(suspect.place, names) {
                    for (end, rail) in ends.iter_mut().zip(rails(crossing.key, names)) {
                        end.insert(rail);
                    }
                }
            }
            hidden.ends.push(ends);
            hidden.arrives *= 1.0 - suspect.count().share();
        }
        hidden
    }

    fn has(&self, cell: &Cell, (tuples, names): (&Tuples, &Names)) -> bool {
        let [src, dst] = rails(tuples.all[cell.tuple as usize].key, names);
        let may_cross = |[from, to]: &[BTreeSet<&str>; 2]| match cell.path {
            // Not traced yet: few traced ones may cross the suspect so far, and not from and to each rail.
            None => from.contains(src) || to.contains(dst),
            Some(path) => !path.is_whole && from.contains(src) && to.contains(dst),
        };
        self.ends.iter().any(may_cross)
    }
}

/// The names of the NICs of a 5-tuple.
fn rails(key: Key, names: &Names) -> [&str; 2] {
    [key.src, key.dst].map(|nic| names.nics[nic as usize].name.as_str())
}

/// Those between whom nearly all drops may be. The order decides between equal ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group<'a> {
    ToNic(u32),
    FromNic(u32),
    OfNic(u32),
    ToHost(u32),
    FromHost(u32),
    OfHost(u32),
    /// NICs with one name: a rail.
    ToRail(&'a str),
    FromRail(&'a str),
    OfRail(&'a str),
    BetweenRails(&'a str, &'a str),
}

impl<'a> Group<'a> {
    /// The groups of a 5-tuple. NICs and hosts without a name are only known by other hosts' rows.
    fn all(key: Key, names: &'a Names) -> impl Iterator<Item = Self> {
        let [src, dst] = [key.src, key.dst].map(|nic| &names.nics[nic as usize]);
        let is_named = |group: &Self| match *group {
            Self::ToHost(host) | Self::FromHost(host) | Self::OfHost(host) => {
                names.hosts.get(host as usize).is_some_and(|host| !host.is_empty())
            }
            Self::ToRail(rail) | Self::FromRail(rail) | Self::OfRail(rail) => !rail.is_empty(),
            Self::BetweenRails(from, to) => !from.is_empty() && !to.is_empty(),
            Self::ToNic(_) | Self::FromNic(_) | Self::OfNic(_) => true,
        };
        let [from, to] = rails(key, names);
        let groups = [
            Some(Self::ToNic(key.dst)),
            Some(Self::FromNic(key.src)),
            Some(Self::OfNic(key.src)),
            (key.src != key.dst).then_some(Self::OfNic(key.dst)),
            Some(Self::ToHost(dst.host)),
            Some(Self::FromHost(src.host)),
            Some(Self::OfHost(src.host)),
            (src.host != dst.host).then_some(Self::OfHost(dst.host)),
            Some(Self::ToRail(to)),
            Some(Self::FromRail(from)),
            Some(Self::OfRail(from)),
            (from != to).then_some(Self::OfRail(to)),
            Some(Self::BetweenRails(from.min(to), from.max(to))),
        ];
        groups.into_iter().flatten().filter(is_named)
    }

    fn text(self, names: &Names) -> String {
        let host = |host: u32| &names.hosts[host as usize];
        match self {
            Self::ToNic(nic) => format!("to {}", names.nic_name(nic)),
            Self::FromNic(nic) => format!("from {}", names.nic_name(nic)),
            Self::OfNic(nic) => format!("to and from {}", names.nic_name(nic)),
            Self::ToHost(at) => format!("to {}", host(at)),
            Self::FromHost(at) => format!("from {}", host(at)),
            Self::OfHost(at) => format!("to and from {}", host(at)),
            Self::ToRail(rail) => format!("to NICs named {rail}"),
            Self::FromRail(rail) => format!("from NICs named {rail}"),
            Self::OfRail(rail) => format!("to and from NICs named {rail}"),
            Self::BetweenRails(one, other) if one == other => format!("between NICs named {one}"),
            Self::BetweenRails(one, other) => format!("between NICs named {one} and {other}"),
        }
    }
}

/// Between whom the drops are: the group with the fewest probes that has nearly all of them.
fn whom(own: &[&Cell], total: Count, tuples: &Tuples, names: &Names) -> String {
    let key = |cell: &Cell| tuples.all[cell.tuple as usize].key;
    let mut groups: BTreeMap<Group<'_>, Count> = BTreeMap::new();
    for cell in own.iter().filter(|cell| cell.drops > 0) {
        for group in Group::all(key(cell), names) {
            groups.entry(group).or_default().add(0, cell.drops.into());
        }
    }
    let share = |part: u64, all: u64| super::quantiles::ratio(part, all).unwrap_or(0.0);
    groups.retain(|_, count| share(count.anomalous, total.anomalous) >= NEARLY_ALL);
    if !groups.is_empty() {
        for cell in own {
            for group in Group::all(key(cell), names) {
                if let Some(count) = groups.get_mut(&group) {
                    count.add(cell.sent.into(), 0);
                }
            }
        }
    }
    let few = groups
        .iter()
        .filter(|(_, count)| share(count.probes, total.probes) <= MANY);
    match few.min_by_key(|(group, count)| (count.probes, **group)) {
        Some((group, count)) => format!("{} {}", part(count.anomalous, total.anomalous), group.text(names)),
        None => {
            let lossy = own.iter().filter(|cell| cell.drops > 0);
            let nics = lossy.flat_map(|cell| [key(cell).src, key(cell).dst]);
            let hosts: BTreeSet<u32> = nics.map(|nic| names.nics[nic as usize].host).collect();
            format!("between NICs of {}", plural(hosts.len() as u64, "host"))
        }
    }
}

/// Why the place is unknown: what holds for most of the drops.
fn why(own: &[&Cell], total: Count, has_paths: bool) -> String {
    if !has_paths {
        return "no probe has a path that was traced".into();
    }
    let drops = |is_so: &dyn Fn(&Cell) -> bool| -> u64 {
        let cells = own.iter().filter(|cell| is_so(cell));
        cells.map(|cell| u64::from(cell.drops)).sum()
    };
    let untraced = drops(&|cell| cell.path.is_none());
    let partly = drops(&|cell| cell.path.is_some_and(|path| !path.is_whole));
    let traced = total.anomalous - untraced - partly;
    if untraced >= partly && untraced >= traced {
        format!(
            "no trace of their 5-tuples reached the destination ({}): a router on the way does not answer or has no route",
            part(untraced, total.anomalous)
        )
    } else if partly >= traced {
        format!(
            "hops of their paths do not answer traces ({})",
            part(partly, total.anomalous)
        )
    } else {
        "the paths that lose have no NIC, link or switch in common that others do not cross without loss".into()
    }
}

/// A part of the drops in words.
fn part(part: u64, all: u64) -> String {
    match part == all {
        true => "all of them".into(),
        false => format!(
            "{:.0} % of them",
            100.0 * super::quantiles::ratio(part, all).unwrap_or(0.0)
        ),
    }
}
