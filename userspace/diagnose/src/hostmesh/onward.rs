//! Where packets go next that no trace has followed further than a switch.
//!
//! A fault may be older than the first trace of a 5-tuple. Then no trace reaches the destination, and the last switch that
//! answers is where packets still arrive: the fault is at that switch, or at its next hop. The next hop is known where one link
//! alone leads to the switch of the destination. Otherwise it may be each neighbor in the topology file, but those over which
//! probes to that switch arrive. Of these, the one that explains most drops of all such 5-tuples is taken. If probes to the
//! destination arrive over all of them, it is none of them.

use super::cells::{Cell, Cells};
use super::names::{End, Names};
use super::place::Crossing;
use super::tuples::{ROOM, Tuples, Version};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use hashbrown::HashSet;

/// Links onward from a switch; empty where all deliver.
type Onward = [Option<u32>; ROOM];

/// 5-tuples to one NIC that come no further than one switch.
#[derive(Debug)]
struct Group {
    at: u32,
    to: u32,
    /// The switch of the NIC.
    leaf: u32,
    drops: u64,
    /// Which neighbors of the switch may be the next hop.
    open: Vec<u32>,
}

/// Which probes of a window arrive.
#[derive(Debug)]
struct Arrivals {
    /// Those over each link.
    links: Vec<bool>,
    /// Those over a switch to NICs at a leaf.
    to_leaves: HashSet<(u32, u32)>,
    /// Those over a switch to a NIC.
    to_nics: HashSet<(u32, u32)>,
    /// Switches of which a next hop answers no traces, although probes over it arrive.
    before_gaps: BTreeSet<u32>,
    /// How many 5-tuples to each NIC come no further than a switch.
    cut: BTreeMap<u32, u32>,
}

/// Extends the paths that are cut by their links onward, where these follow. A path is unknown where probes of its 5-tuple
/// arrive all the same, or where the next hop may be one that never answers.
pub(crate) fn extend(cells: &mut Cells, tuples: &mut Tuples, names: &mut Names) {
    let is_cut = |cell: &&mut Cell| cut_at(cell).is_some();
    for cell in cells.all.iter_mut().filter(is_cut) {
        if cell.drops == 0 || cell.turns > 1 {
            cell.path = None;
        }
    }
    let mut drops: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for cell in &cells.all {
        if let Some(at) = cut_at(cell) {
            let to = tuples.all[cell.tuple as usize].key.dst;
            *drops.entry((at, to)).or_default() += u64::from(cell.drops);
        }
    }
    if drops.is_empty() {
        return;
    }
    let arrivals = Arrivals::of(&drops, cells, tuples, names);
    let onward = names.onward(drops, &arrivals);
    for cell in &mut cells.all {
        let (Some(path), Some(at)) = (cell.path, cut_at(cell)) else {
            continue;
        };
        let to = tuples.all[cell.tuple as usize].key.dst;
        let is_first = tuples.links(path).len() == 1;
        let found = match onward.get(&(at, to)) {
            Some(links) => Some(tuples.extended(path, *links)),
            None if arrivals.before_gaps.contains(&at) => None,
            None => Some(path),
        };
        let is_short = !names.is_leaf_of(at, to, is_first);
        cell.path = found.map(|mut path| {
            path.is_short = is_short;
            path
        });
    }
}

fn cut_at(cell: &Cell) -> Option<u32> {
    cell.path.and_then(|path: Version| path.cut_at)
}

impl Arrivals {
    fn of(drops: &BTreeMap<(u32, u32), u64>, cells: &Cells, tuples: &Tuples, names: &Names) -> Self {
        let nics: BTreeSet<u32> = drops.keys().map(|(_, to)| *to).collect();
        let mut arrivals = Self {
            links: vec![false; names.links.len()],
            to_leaves: HashSet::new(),
            to_nics: HashSet::new(),
            before_gaps: BTreeSet::new(),
            cut: BTreeMap::new(),
        };
        for cell in cells.all.iter().filter(|cell| cut_at(cell).is_some()) {
            *arrivals.cut.entry(tuples.all[cell.tuple as usize].key.dst).or_default() += 1;
        }
        for cell in cells.all.iter().filter(|cell| cut_at(cell).is_none()) {
            let crossing = Crossing::of(cell, tuples);
            if cell.path.is_some_and(|path| !path.is_whole) {
                arrivals.before_gaps.extend(before_gaps(crossing.links, names));
            }
            if cell.sent == cell.drops {
                continue;
            }
            let to = crossing.key.dst;
            crossing
                .links
                .iter()
                .for_each(|link| arrivals.links[*link as usize] = true);
            let leaves = names.leaves.get(&to).map_or(&[][..], Vec::as_slice);
            for switch in crossing.switches(names) {
                arrivals.to_leaves.extend(leaves.iter().map(|leaf| (switch, *leaf)));
                if nics.contains(&to) {
                    arrivals.to_nics.insert((switch, to));
                }
            }
        }
        arrivals
    }
}

/// The switches of a path after which a hop did not answer.
fn before_gaps(links: &[u32], names: &Names) -> Vec<u32> {
    let ends = links.windows(2).filter_map(|pair| {
        let [one, next] = [pair[0], pair[1]].map(|link| names.links.get(link as usize));
        Some((one?.to, next?.from))
    });
    let gaps = ends.filter(|(to, from)| to != from);
    let switches = gaps.filter_map(|(to, _)| match to {
        End::Switch(switch) => Some(switch),
        End::Nic(_) | End::Unknown => None,
    });
    switches.collect()
}

impl Names {
    /// Notes that a path crosses a link, if it is one of a NIC.
    pub(crate) fn note_leaf(&mut self, from: End, to: End) {
        let ((End::Nic(nic), End::Switch(leaf)) | (End::Switch(leaf), End::Nic(nic))) = (from, to) else {
            return;
        };
        let leaves = self.leaves.entry(nic).or_default();
        if !leaves.contains(&leaf) {
            leaves.push(leaf);
            self.leaf_switches.insert(leaf);
        }
    }

    /// Whether a switch may be that of a NIC; `is_first` means that the path there begins at it.
    fn is_leaf_of(&mut self, at: u32, to: u32, is_first: bool) -> bool {
        let leaves = self.leaves_of(to);
        // A path to a second switch of NICs ends there.
        leaves.is_empty() || leaves.contains(&at) || !is_first && self.leaf_switches.contains(&at)
    }

    /// The links that packets take from a switch to a NIC, where they follow; by both, with the drops of these packets.
    fn onward(&mut self, drops: BTreeMap<(u32, u32), u64>, arrivals: &Arrivals) -> BTreeMap<(u32, u32), Onward> {
        let (mut found, mut groups) = (BTreeMap::new(), Vec::new());
        for ((at, to), drops) in drops {
            let leaves = self.leaves_of(to);
            if let Some(last) = self.last(at, to, &leaves) {
                found.insert((at, to), [Some(last), None]);
            } else if let ([leaf], false) = (&leaves[..], arrivals.before_gaps.contains(&at)) {
                groups.push(self.group((at, to), *leaf, drops, arrivals));
            }
        }
        let (open, all_deliver): (Vec<Group>, Vec<Group>) =
            groups.into_iter().flatten().partition(|group| !group.open.is_empty());
        found.extend(all_deliver.iter().map(|group| ((group.at, group.to), [None; ROOM])));
        for (group, next) in chosen(open) {
            let link = self.only_between(group.at, next);
            let last = self.only_between(next, group.leaf).filter(|_| link.is_some());
            if link.is_some() {
                found.insert((group.at, group.to), [link, last]);
            }
        }
        found
    }

    /// The link from a switch to a NIC or to the switch of the NIC, if there is one alone.
    fn last(&mut self, at: u32, to: u32, leaves: &[u32]) -> Option<u32> {
        // Where the NIC's switch is unknown, a switch of other NICs is: a path ends at the second one.
        if leaves.contains(&at) {
            let address = self.nics.get(to as usize)?.address;
            return Some(self.link(End::Switch(at), address));
        }
        leaves.iter().find_map(|leaf| self.only_between(at, *leaf))
    }

    /// Which neighbors of a switch may be the next hop of packets that do not arrive: those over which none to the leaf of the NIC
    /// arrive. If all others of the leaf get theirs, those over which none to the NIC arrive, of which there are several 5-tuples.
    /// `None` without a neighbor in the topology file.
    fn group(&mut self, (at, to): (u32, u32), leaf: u32, drops: u64, arrivals: &Arrivals) -> Option<Group> {
        let mut next: Vec<(u32, Option<u32>)> = Vec::new();
        for (_, address) in self.neighbors(at) {
            let link = self.link_numbers.get(&(End::Switch(at), address)).copied();
            next.push((self.switch(address), link));
        }
        // A switch of other NICs leads nowhere else.
        next.retain(|(next, _)| *next == leaf || !self.leaf_switches.contains(next));
        if next.is_empty() {
            return None;
        }
        let arrives = |link: &Option<u32>| link.is_some_and(|link| arrivals.links.get(link as usize) == Some(&true));
        let is_dead = |next: &u32, link: &Option<u32>| !(arrives(link) && arrivals.to_leaves.contains(&(*next, leaf)));
        let numbers = |open: &dyn Fn(&u32, &Option<u32>) -> bool| -> Vec<u32> {
            let open = next.iter().filter(|(next, link)| open(next, link));
            let open: BTreeSet<u32> = open.map(|(next, _)| *next).collect();
            open.into_iter().collect()
        };
        let mut open = numbers(&is_dead);
        // One 5-tuple alone is as likely at fault itself.
        let are_several = arrivals.cut.get(&to).is_some_and(|tuples| *tuples > 1);
        if open.is_empty() && are_several {
            open = numbers(&|next, _| !arrivals.to_nics.contains(&(*next, to)));
        }
        Some(Group {
            at,
            to,
            leaf,
            drops,
            open,
        })
    }

    /// The switches next to a NIC: those of paths, else the one that shares a subnet with it.
    fn leaves_of(&mut self, nic: u32) -> Vec<u32> {
        if let Some(leaves) = self.leaves.get(&nic) {
            return leaves.clone();
        }
        let address = self.nics.get(nic as usize).map(|nic| nic.address);
        let leaf = address.and_then(|address| self.other_end(address));
        leaf.map(|leaf| self.switch(leaf)).into_iter().collect()
    }

    /// The link from a switch to another, if there is one alone.
    fn only_between(&mut self, from: u32, to: u32) -> Option<u32> {
        let mut all = self.neighbors(from);
        let name = self.switches.get(to as usize)?;
        all.retain(|(node, _)| node == name);
        match all[..] {
            [] => *self.links_between.get(&(End::Switch(from), End::Switch(to)))?,
            [(_, address)] => Some(self.link(End::Switch(from), address)),
            _ => None,
        }
    }

    /// The switches that share subnets with a switch, and their addresses there.
    fn neighbors(&self, switch: u32) -> Vec<(String, IpAddr)> {
        let name = self.switches.get(switch as usize);
        let own = name.and_then(|name| self.addresses.get(name)).into_iter().flatten();
        let others = own.filter_map(|own| self.other_end(*own));
        let switches = others.filter(|address| !self.nic_numbers.contains_key(address));
        let named = switches.filter_map(|address| Some((self.nodes.get(&address)?.clone(), address)));
        named.filter(|(node, _)| Some(node) != name).collect()
    }

    /// The address at the other end of a link between two nodes of the topology file: of a /31 or a /30 (/127 or /126).
    fn other_end(&self, address: IpAddr) -> Option<IpAddr> {
        let other = |mask: u8| -> IpAddr {
            match address {
                IpAddr::V4(v4) => Ipv4Addr::from_bits(v4.to_bits() ^ u32::from(mask)).into(),
                IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() ^ u128::from(mask)).into(),
            }
        };
        [1, 3]
            .map(other)
            .into_iter()
            .find(|other| self.nodes.contains_key(other))
    }
}

/// The next hop of each group: the one that explains most drops of all groups, then of the rest. None where two explain as
/// many.
fn chosen(mut groups: Vec<Group>) -> Vec<(Group, u32)> {
    let mut found = Vec::new();
    loop {
        let mut explained: BTreeMap<u32, u64> = BTreeMap::new();
        for group in &groups {
            for next in &group.open {
                *explained.entry(*next).or_default() += group.drops;
            }
        }
        let Some((best, most)) = explained.iter().max_by_key(|(_, drops)| **drops) else {
            return found;
        };
        let (own, rest) = groups.into_iter().partition(|group| group.open.contains(best));
        groups = rest;
        let own: Vec<Group> = own;
        let is_clear = |group: &Group| {
            !group
                .open
                .iter()
                .any(|next| next != best && explained.get(next) == Some(most))
        };
        found.extend(own.into_iter().filter(is_clear).map(|group| (group, *best)));
    }
}
