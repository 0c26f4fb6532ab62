//! Whose the queue pairs of captured traffic are: the join of addresses, queue pair numbers and times with the rows of
//! `queue_pairs` that agents write.
//!
//! Numbers are used again, so a number has *lives*: each from the creation of a queue pair to its end. A queue pair of
//! captured traffic has the owner of the lives that its time touches, if that is one owner and they may contain all of that
//! time. Otherwise it is ambiguous, and has none.
//!
//! | module | what it does |
//! |---|---|
//! | [`owner`] | what is known of an owner, and its name in a sentence |
//! | `life` | from when to when a queue pair lives, as far as its rows show |
//! | [`ends`] | both ends of a connection |
//! | [`naming`] | the owners of the victims of incidents |
//! | [`traffic`] | traffic by owner in a window of time |

pub mod ends;
mod life;
pub mod naming;
pub mod owner;
pub mod traffic;

pub use owner::Owner;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::net::IpAddr;
use hashbrown::{HashMap, HashSet};
use life::Life;
use rocescope_model::{QueuePairRow, Text};

/// Lives that are kept: some 60 MB. When there are more, those that ended first go first.
const MAX_LIVES: usize = 262_144;

/// An end of captured traffic.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Its address.
    pub address: IpAddr,
    /// Its queue pair number.
    pub qpn: u32,
    /// Address of the other end.
    pub peer: IpAddr,
    /// Queue pair number of the other end, if it is known.
    pub peer_qpn: Option<u32>,
    /// Time of the traffic, by the clock of the capture box.
    pub first_ns: i64,
    /// Its end.
    pub last_ns: i64,
}

/// Whose an end is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// No agent reported such a queue pair.
    #[default]
    Unknown,
    /// Several queue pairs may be meant, or one that no agent reported.
    Ambiguous,
    /// The only owner that it can have.
    Owner(Arc<Owner>),
}

/// A number of a device of a host.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Place {
    host: Text,
    device: Text,
    qpn: u32,
}

/// The lives of a place, in the order in which they began.
#[derive(Debug, Default)]
struct Lives {
    lives: Vec<Life>,
    /// The addresses of its port.
    addresses: Vec<IpAddr>,
}

/// The owners of queue pairs.
#[derive(Debug)]
pub struct Owners {
    places: HashMap<Place, Lives>,
    /// Where a number is that has an address.
    ends: HashMap<(IpAddr, u32), Vec<Place>>,
    /// The last owner of each process, which its other queue pairs have too.
    processes: HashMap<(Text, Option<u32>), Arc<Owner>>,
    /// Only these are kept.
    asked: Option<HashSet<(IpAddr, u32)>>,
    lives: usize,
    room: usize,
    crowded_out: u64,
}

impl Default for Owners {
    fn default() -> Self {
        Self::with_room(MAX_LIVES)
    }
}

impl Owners {
    /// With room for this number of lives.
    #[must_use]
    pub fn with_room(room: usize) -> Self {
        Self {
            places: HashMap::new(),
            ends: HashMap::new(),
            processes: HashMap::new(),
            asked: None,
            lives: 0,
            room,
            crowded_out: 0,
        }
    }

    /// Keeps what answers these questions, by address and queue pair number: memory follows from them and not from the rows.
    #[must_use]
    pub fn of_these(asked: impl IntoIterator<Item = (IpAddr, u32)>) -> Self {
        Self {
            asked: Some(asked.into_iter().collect()),
            ..Self::default()
        }
    }

    /// Whether no agent reported a queue pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lives == 0
    }

    /// Lives that found no room, or had to leave it.
    #[must_use]
    pub const fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// Adds a row, in any order.
    pub fn row(&mut self, row: &QueuePairRow) {
        let listed = row.port_addresses.as_deref().unwrap_or_default().split(',');
        let mut addresses: Vec<IpAddr> = listed.filter_map(|address| address.parse().ok()).collect();
        addresses.extend(row.local_address);
        let place = Place {
            host: row.observer.clone(),
            device: row.device.clone(),
            qpn: row.local_qpn,
        };
        if let Some(asked) = &self.asked
            && !addresses.iter().any(|address| asked.contains(&(*address, place.qpn)))
            // A row without an address is about one of which other rows have it.
            && !self.places.contains_key(&place)
        {
            return;
        }
        let is_known = self.places.get(&place).is_some_and(|known| known.has(row.first_ns));
        if !is_known && !self.make_room() {
            self.crowded_out += 1;
            return;
        }
        let owner = self.owner(row);
        let known = self.places.entry(place.clone()).or_default();
        known.take(row, owner);
        for address in addresses {
            if !known.addresses.contains(&address) {
                known.addresses.push(address);
                self.ends.entry((address, place.qpn)).or_default().push(place.clone());
            }
        }
        self.lives += usize::from(!is_known);
    }

    /// Whose an end of captured traffic is.
    #[must_use]
    pub fn of(&self, end: &End) -> Answer {
        let places = self.ends.get(&(end.address, end.qpn)).into_iter().flatten();
        let all = places.filter_map(|place| self.places.get(place));
        let touched: Vec<(&Arc<Owner>, (i64, i64))> = all.flat_map(|lives| lives.touched(end)).collect();
        let Some((owner, _)) = touched.first() else {
            return Answer::Unknown;
        };
        // An agent that starts again begins other lives of the same queue pairs.
        let is_one = touched.iter().all(|(other, _)| other == owner);
        let from_ns = touched.iter().map(|(_, (from, _))| *from).min();
        let until_ns = touched.iter().map(|(_, (_, until))| *until).max();
        let is_whole =
            from_ns.is_some_and(|from| from <= end.first_ns) && until_ns.is_some_and(|until| end.last_ns <= until);
        match is_one && is_whole {
            true => Answer::Owner(Arc::clone(owner)),
            false => Answer::Ambiguous,
        }
    }

    /// Forgets the lives that had ended before a time.
    pub fn forget(&mut self, before_ns: i64) {
        self.retain(|life| life.until_ns() >= before_ns);
    }

    /// The owner in a row: shared by the rows of a process.
    fn owner(&mut self, row: &QueuePairRow) -> Arc<Owner> {
        let known = self.processes.entry((row.observer.clone(), row.pid));
        let owner = known.or_insert_with(|| Arc::new(Owner::of(row)));
        if !owner.is_of(row) {
            *owner = Arc::new(Owner::of(row));
        }
        Arc::clone(owner)
    }

    /// Whether there is room for another life: a quarter of them leaves, those that ended first.
    fn make_room(&mut self) -> bool {
        if self.lives < self.room {
            return true;
        }
        let lives = self.places.values().flat_map(|known| &known.lives);
        let mut ended: Vec<i64> = lives.filter(|life| life.has_ended()).map(Life::until_ns).collect();
        let leaving = (self.room / 4).min(ended.len());
        if leaving == 0 {
            return false;
        }
        let (_, last_ns, _) = ended.select_nth_unstable(leaving - 1);
        let last_ns = *last_ns;
        let before = self.lives;
        self.retain(|life| !life.has_ended() || life.until_ns() > last_ns);
        self.crowded_out += (before - self.lives) as u64;
        true
    }

    fn retain(&mut self, is_kept: impl Fn(&Life) -> bool) {
        self.places.retain(|_, known| {
            known.lives.retain(&is_kept);
            !known.lives.is_empty()
        });
        self.lives = self.places.values().map(|known| known.lives.len()).sum();
        self.ends.retain(|_, places| {
            places.retain(|place| self.places.contains_key(place));
            !places.is_empty()
        });
        // What only this list holds has no queue pair.
        self.processes.retain(|_, owner| Arc::strong_count(owner) > 1);
    }
}

impl Lives {
    fn has(&self, first_ns: i64) -> bool {
        self.lives.iter().any(|life| life.first_ns == first_ns)
    }

    /// Adds a row to the life that it is about.
    fn take(&mut self, row: &QueuePairRow, owner: Arc<Owner>) {
        let at = self.lives.partition_point(|life| life.first_ns < row.first_ns);
        match self.lives.get_mut(at) {
            Some(life) if life.first_ns == row.first_ns => life.take(row, owner),
            _ => self.lives.insert(at, Life::of(row, owner)),
        }
    }

    /// The lives that the time of an end touches, with their owners and the time that each may have lasted.
    fn touched<'a>(&'a self, end: &'a End) -> impl Iterator<Item = (&'a Arc<Owner>, (i64, i64))> {
        let lives = self.lives.iter().enumerate().filter(|(_, life)| life.may_be(end));
        lives.filter_map(move |(at, life)| {
            let before = at.checked_sub(1).and_then(|before| self.lives.get(before));
            let after = self.lives.get(at + 1);
            life.touches(end, after)
                .then(|| (&life.owner, life.may_last(before, after)))
        })
    }
}
