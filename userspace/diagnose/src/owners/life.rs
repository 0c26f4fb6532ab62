//! From when to when a queue pair lives, as far as its rows show.

use super::{End, Owner};
use alloc::sync::Arc;
use core::net::IpAddr;
use rocescope_model::QueuePairRow;

/// How far the clocks of a host and of the capture box may differ. Hosts that NTP sets over a network differ by some
/// milliseconds, over the Internet by tens; PTP is far below. More would make numbers ambiguous that are soon used again.
const CLOCK_NS: i64 = 100_000_000;
/// Netlink is asked once a second by default: a queue pair is up to so much older than its first row.
const READ_NS: i64 = 1_000_000_000;
/// A queue pair without an end lives on for so long after its last row: agents write it again every five minutes by default,
/// and one that died writes no end.
const HOLD_NS: i64 = 3_600_000_000_000;

/// What rows report of something that may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known<T> {
    Nothing,
    One(T),
    Several,
}

impl<T: PartialEq> Known<T> {
    fn take(&mut self, value: Option<T>) {
        let Some(value) = value else { return };
        match self {
            Self::Nothing => *self = Self::One(value),
            Self::One(known) if *known != value => *self = Self::Several,
            _ => {}
        }
    }

    fn may_be(&self, value: &T) -> bool {
        !matches!(self, Self::One(known) if known != value)
    }
}

/// A queue pair, from its creation to its end.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub(super) owner: Arc<Owner>,
    /// Names it, with its place.
    pub(super) first_ns: i64,
    /// When it was created, if that was seen.
    created_ns: Option<i64>,
    /// Time of its last row.
    seen_ns: i64,
    ended_ns: Option<i64>,
    local: Known<IpAddr>,
    remote: Known<IpAddr>,
    remote_qpn: Known<u32>,
}

impl Life {
    pub(super) fn of(row: &QueuePairRow, owner: Arc<Owner>) -> Self {
        let mut life = Self {
            owner: Arc::clone(&owner),
            first_ns: row.first_ns,
            created_ns: None,
            seen_ns: i64::MIN,
            ended_ns: None,
            local: Known::Nothing,
            remote: Known::Nothing,
            remote_qpn: Known::Nothing,
        };
        life.take(row, owner);
        life
    }

    /// Takes another row of it: late ones complete it, and newer ones say more.
    pub(super) fn take(&mut self, row: &QueuePairRow, owner: Arc<Owner>) {
        // A process that ended before it was read has a number only.
        let (new, known) = (owner.names(), self.owner.names());
        if new > known || new == known && row.time_ns >= self.seen_ns {
            self.owner = owner;
        }
        self.seen_ns = self.seen_ns.max(row.time_ns);
        self.created_ns = self.created_ns.or(row.created_ns);
        self.ended_ns = self.ended_ns.or(row.ended_ns);
        self.local.take(row.local_address);
        self.remote.take(row.remote_address);
        self.remote_qpn.take(row.remote_qpn);
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.ended_ns.is_some()
    }

    /// Its end, or how long it is believed to live.
    pub(super) fn until_ns(&self) -> i64 {
        self.ended_ns.unwrap_or(self.seen_ns.saturating_add(HOLD_NS))
    }

    /// Whether nothing that is known of it contradicts.
    pub(super) fn may_be(&self, end: &End) -> bool {
        let is_peer = end.peer_qpn.is_none_or(|qpn| self.remote_qpn.may_be(&qpn));
        is_peer && self.local.may_be(&end.address) && self.remote.may_be(&end.peer)
    }

    /// Whether the time of an end touches it. `after` is the next life of its number.
    pub(super) fn touches(&self, end: &End, after: Option<&Self>) -> bool {
        let early_ns = match self.created_ns {
            Some(created) => created.saturating_sub(CLOCK_NS),
            None => self.first_ns.saturating_sub(READ_NS + CLOCK_NS),
        };
        end.last_ns >= early_ns && end.first_ns <= self.last_ns(after)
    }

    /// The longest time that it may have lasted, by the clock of any capture box, between the life before and the one after.
    pub(super) fn may_last(&self, before: Option<&Self>, after: Option<&Self>) -> (i64, i64) {
        // Of one that was not seen to be created, only the one before it shows that it is not older.
        let from_ns = match (self.created_ns, before) {
            (Some(created), _) => created.saturating_sub(CLOCK_NS),
            (None, None) => i64::MIN,
            (None, Some(before)) => {
                let free_ns = before.ended_ns.unwrap_or(before.seen_ns);
                // Netlink reports the end of the one before up to a read late.
                free_ns.saturating_sub(READ_NS + CLOCK_NS)
            }
        };
        (from_ns, self.last_ns(after))
    }

    /// Its end at the latest: a number is used once at a time.
    fn last_ns(&self, after: Option<&Self>) -> i64 {
        let next_ns = after.map_or(i64::MAX, |after| after.created_ns.unwrap_or(after.first_ns));
        self.until_ns().min(next_ns).saturating_add(CLOCK_NS)
    }
}
