//! The paper's rules, to the letter: which NICs are anomalous and for how long, which drops they cause, and the votes
//! of Algorithm 1 for the other drops.

use super::cells::Cells;
use super::names::Names;
use super::place::Crossing;
use super::record::Record;
use super::settings::Settings;
use super::tuples::Tuples;
use alloc::vec;
use alloc::vec::Vec;

/// Anomalous NICs, and until when they stay anomalous.
#[derive(Debug, Default)]
pub(crate) struct Sticky {
    /// By NIC, the first nanosecond at which it is no longer anomalous.
    until_ns: Vec<i64>,
}

impl Sticky {
    /// Finds the NICs that are anomalous in the window that ends at `end_ns`: more than [`Settings::nic_percent`] of
    /// the probes to each time out (Hostmesh, section 4). The comparison uses integers.
    pub(crate) fn judge(
        &mut self,
        cells: &Cells,
        tuples: &Tuples,
        settings: &Settings,
        nics: usize,
        end_ns: i64,
    ) -> Vec<u32> {
        let mut to = vec![(0_u64, 0_u64); nics];
        for cell in &cells.all {
            let (sent, drops) = &mut to[tuples.all[cell.tuple as usize].key.dst as usize];
            *sent += u64::from(cell.sent);
            *drops += u64::from(cell.drops);
        }
        self.until_ns.resize(nics, i64::MIN);
        let mut anomalous = Vec::new();
        for (nic, (sent, drops)) in (0_u32..).zip(to) {
            if sent >= settings.min_probes && drops * 100 > sent * settings.nic_percent {
                self.until_ns[nic as usize] = end_ns.saturating_add(settings.sticky_ns);
                anomalous.push(nic);
            }
        }
        anomalous
    }

    /// Whether a NIC is anomalous at a time, because of this window or an earlier one.
    pub(crate) fn holds(&self, nic: u32, at_ns: i64) -> bool {
        self.until_ns.get(nic as usize).is_some_and(|until| at_ns < *until)
    }
}

/// Drops by cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Causes {
    pub(crate) rnic: u64,
    pub(crate) switch: u64,
    /// Of `switch`, those without a path.
    pub(crate) untraced: u64,
}

/// Attributes every drop to NICs or to switches, and counts the latter in their cells.
pub(crate) fn attribute(
    sticky: &Sticky,
    cells: &mut Cells,
    records: &[Record],
    tuples: &Tuples,
    start_ns: i64,
) -> Causes {
    let mut causes = Causes::default();
    cells.update(records, |cell, record| {
        if !record.outcome().is_drop() {
            return;
        }
        let key = tuples.all[record.tuple as usize].key;
        let at_ns = start_ns + record.offset_ns();
        if sticky.holds(key.src, at_ns) || sticky.holds(key.dst, at_ns) {
            causes.rnic += 1;
        } else {
            cell.switch_drops += 1;
            causes.switch += 1;
            causes.untraced += u64::from(cell.path.is_none());
        }
    });
    causes
}

/// Votes of links and of switches.
#[derive(Debug, Default)]
pub(crate) struct Votes {
    pub(crate) links: Vec<Vote>,
    pub(crate) switches: Vec<Vote>,
}

/// Votes of one link or switch.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Vote {
    /// `abnormal_cnt` of Algorithm 1.
    pub(crate) count: u64,
    /// Every path shares one vote among its links: 007 (Arzani and others, NSDI 2018), section 5.1.
    pub(crate) weight: f64,
}

impl Votes {
    /// Runs Algorithm 1 over the drops attributed to switches, if there are more than [`Settings::max_ignored`] of
    /// them.
    pub(crate) fn cast(cells: &Cells, tuples: &Tuples, names: &Names, settings: &Settings) -> Self {
        let mut votes = Self {
            links: vec![Vote::default(); names.links.len()],
            switches: vec![Vote::default(); names.switches.len()],
        };
        let abnormal = cells.all.iter().filter(|cell| cell.switch_drops > 0);
        let drops: u64 = abnormal.clone().map(|cell| u64::from(cell.switch_drops)).sum();
        if drops <= settings.max_ignored {
            return votes;
        }
        for cell in abnormal {
            let crossing = Crossing::of(cell, tuples);
            let count = u64::from(cell.switch_drops);
            #[expect(clippy::cast_precision_loss, reason = "a path has about six links")]
            let share = f64::from(cell.switch_drops) / crossing.links.len() as f64;
            for link in crossing.links {
                votes.links[*link as usize].add(count, share);
            }
            for switch in crossing.switches(names) {
                votes.switches[switch as usize].add(count, share);
            }
        }
        votes
    }

    /// The maximum number of votes of a link: the paper names all links with that many. 0 without votes.
    pub(crate) fn max_votes(&self) -> u64 {
        self.links.iter().map(|vote| vote.count).max().unwrap_or(0)
    }

    /// The maximum of the weighted votes of a link.
    pub(crate) fn max_weight(&self) -> f64 {
        self.links.iter().map(|vote| vote.weight).fold(0.0, f64::max)
    }

    /// The maximum number of votes of a switch.
    pub(crate) fn max_of_switches(&self) -> u64 {
        self.switches.iter().map(|vote| vote.count).max().unwrap_or(0)
    }
}

impl Vote {
    fn add(&mut self, count: u64, weight: f64) {
        self.count += count;
        self.weight += weight;
    }
}
