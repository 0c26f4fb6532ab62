//! Queue pairs of a host: which are new, changed or gone. Pure.
//!
//! Two sources report them. A read of RDMA netlink lists what exists, and nothing in between; events of the kernel report
//! what happens, with more attributes, and nothing of before they began. What is newer decides: a read that began after the
//! last event of a queue pair ends it if it does not list it, and neither lost events nor an end that the kernel does not
//! report leave one behind.
//!
//! | module | what it holds |
//! |---|---|
//! | [`event`] | what the kernel reports as it happens |

pub mod event;
#[cfg(test)]
mod tests;

use super::Moment;
use super::rdma::QueuePair;
use event::{Attributes, Event, Identity, Owner, What};
use rocescope_model::{QueuePairRow, Text, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Device and number.
type Key = (String, u32);

/// The queue pairs of a host.
#[derive(Debug, Default)]
pub struct QueuePairs {
    known: BTreeMap<Key, Known>,
    /// Those whose end was reported since the last read was taken: it may have listed them before.
    ended: BTreeMap<Key, Duration>,
    /// Whether events tell of CM.
    sees_cm: bool,
}

#[derive(Clone, Debug)]
struct Known {
    /// Unknown if only reads listed it.
    identity: Option<Identity>,
    pair: QueuePair,
    attributes: Attributes,
    /// CM sent its number.
    by_cm: bool,
    first: Time,
    /// Known if its creation was reported.
    created: Option<Time>,
    /// When the last event was.
    reported: Duration,
    /// When its last row was made.
    written: Duration,
}

impl QueuePairs {
    /// Takes events in the order in which they happened; returns a row for each that changes something.
    pub fn report(&mut self, events: Vec<Event>, sees_cm: bool, observer: &Text) -> Vec<QueuePairRow> {
        self.sees_cm = sees_cm;
        let mut rows = Rows {
            sees_cm,
            observer,
            rows: Vec::new(),
        };
        for event in events {
            let key = (event.device, event.number);
            match event.what {
                What::Created(identity, owner) => {
                    self.begin(key, identity, owner, event.moment, true, &mut rows);
                }
                What::Modified(identity, owner, change) => {
                    self.modify(&key, identity, owner, &change, event.moment, &mut rows);
                }
                What::ByCm => {
                    if let Some(known) = self.known.get_mut(&key) {
                        known.reported = event.moment.clock;
                        if !std::mem::replace(&mut known.by_cm, true) {
                            rows.push(&key, known, event.moment, Some("changed"));
                        }
                    }
                }
                What::Ended(identity) => self.end(key, identity, event.moment, &mut rows),
            }
        }
        rows.rows
    }

    /// A queue pair that was created, or that a change shows. Whatever had its number is gone: the kernel gives it away
    /// before it reports the end.
    fn begin(
        &mut self,
        key: Key,
        identity: Identity,
        owner: Owner,
        moment: Moment,
        is_created: bool,
        rows: &mut Rows<'_>,
    ) -> &mut Known {
        if let Some(before) = self.known.remove(&key) {
            rows.push(&key, &before, moment, Some("gone"));
        }
        self.ended.remove(&key);
        let known = Known {
            identity: Some(identity),
            pair: QueuePair {
                port: None,
                local_qpn: key.1,
                remote_qpn: None,
                kind: owner.kind,
                state: if is_created { "RESET" } else { "unknown" },
                pid: owner.pid,
                process: owner.process,
            },
            attributes: Attributes::default(),
            by_cm: false,
            first: moment.time,
            created: is_created.then_some(moment.time),
            reported: moment.clock,
            written: moment.clock,
        };
        if is_created {
            rows.push(&key, &known, moment, Some("first"));
        }
        self.known.entry(key).insert_entry(known).into_mut()
    }

    fn modify(
        &mut self,
        key: &Key,
        identity: Identity,
        owner: Owner,
        change: &Attributes,
        moment: Moment,
        rows: &mut Rows<'_>,
    ) {
        let is_known = self.known.get(key).is_some_and(|known| known.is(identity));
        if !is_known {
            // Its creation was lost, or was before events began and no read has listed it.
            let known = self.begin(key.clone(), identity, owner, moment, false, rows);
            known.attributes.take(change, &mut known.pair);
            rows.push(key, known, moment, Some("first"));
            return;
        }
        let Some(known) = self.known.get_mut(key) else {
            return;
        };
        let before = known.clone();
        known.identity = Some(identity);
        known.pair.pid = owner.pid;
        known.pair.process = owner.process;
        known.reported = moment.clock;
        known.attributes.take(change, &mut known.pair);
        if known.pair != before.pair || known.attributes != before.attributes || before.identity.is_none() {
            known.written = moment.clock;
            rows.push(key, known, moment, Some("changed"));
        }
    }

    fn end(&mut self, key: Key, identity: Identity, moment: Moment, rows: &mut Rows<'_>) {
        if let Some(known) = self.known.get(&key) {
            if !known.is(identity) {
                // Another one has its number by now.
                return;
            }
            rows.push(&key, known, moment, Some("gone"));
            self.known.remove(&key);
        }
        self.ended.insert(key, moment.clock);
    }

    /// Takes the queue pairs of a read that began at `moment`, with their devices, after all events that happened before
    /// it was complete; returns a row for each that is new, changed or gone, and for each whose last row is at least as old
    /// as `refresh`.
    pub fn read(
        &mut self,
        pairs: Vec<(String, QueuePair)>,
        moment: Moment,
        refresh: Duration,
        observer: &Text,
    ) -> Vec<QueuePairRow> {
        let mut rows = Rows {
            sees_cm: self.sees_cm,
            observer,
            rows: Vec::new(),
        };
        let ended = std::mem::take(&mut self.ended);
        let mut listed = BTreeSet::new();
        // Every device has queue pairs of the kernel. One without any is not shown here: of another network namespace.
        let devices: BTreeSet<String> = pairs.iter().map(|(device, _)| device.clone()).collect();
        for (device, pair) in pairs {
            let key = (device, pair.local_qpn);
            // It ended while the read was taken.
            if ended.get(&key).is_some_and(|ended| *ended >= moment.clock) && !self.known.contains_key(&key) {
                continue;
            }
            self.list(&key, pair, moment, refresh, &mut rows);
            listed.insert(key);
        }
        self.known.retain(|key, known| {
            let is_shown = known.identity.is_none() || devices.contains(&key.0);
            if listed.contains(key) || !is_shown || known.reported >= moment.clock {
                return true;
            }
            rows.push(key, known, moment, Some("gone"));
            false
        });
        rows.rows
    }

    /// A queue pair that a read lists.
    fn list(&mut self, key: &Key, mut pair: QueuePair, moment: Moment, refresh: Duration, rows: &mut Rows<'_>) {
        let before = self.known.get(key).cloned();
        // The kernel forgets whose it is when the thread that created it ends.
        let is_forgotten = pair.pid.is_none() && pair.process.is_empty();
        if let Some(known) = before
            .as_ref()
            .filter(|known| is_forgotten && known.pair.kind == pair.kind)
        {
            pair.pid = known.pair.pid;
            pair.process.clone_from(&known.pair.process);
        }
        let mut known = match before.clone() {
            // The read may have seen it before its last event.
            Some(known) if known.identity.is_some() && known.reported >= moment.clock => return,
            Some(mut known) if known.identity.is_some() => {
                // Events name the process, whatever thread created it and whether that still runs.
                known.pair = QueuePair {
                    pid: known.pair.pid,
                    process: known.pair.process,
                    ..pair
                };
                known
            }
            Some(known) if !is_other(&known.pair, &pair) => Known { pair, ..known },
            other => {
                // Of another process, it is another queue pair with the same number.
                if let Some(other) = other {
                    rows.push(key, &other, moment, Some("gone"));
                }
                let known = Known {
                    identity: None,
                    pair,
                    attributes: Attributes::default(),
                    by_cm: false,
                    first: moment.time,
                    created: None,
                    reported: Duration::ZERO,
                    written: moment.clock,
                };
                rows.push(key, &known, moment, Some("first"));
                self.known.insert(key.clone(), known);
                return;
            }
        };
        let is_changed = before.is_some_and(|before| before.pair != known.pair);
        if is_changed || moment.clock.saturating_sub(known.written) >= refresh {
            known.written = moment.clock;
            rows.push(key, &known, moment, is_changed.then_some("changed"));
        }
        self.known.insert(key.clone(), known);
    }
}

impl Known {
    /// Whether an event may be about it: one that only reads listed has the identity of the first event with its number.
    fn is(&self, identity: Identity) -> bool {
        self.identity.is_none_or(|known| known == identity)
    }
}

/// Whether two queue pairs of one number are not the same.
fn is_other(before: &QueuePair, now: &QueuePair) -> bool {
    (before.pid, before.kind) != (now.pid, now.kind)
}

/// The rows of a step.
struct Rows<'a> {
    sees_cm: bool,
    observer: &'a Text,
    rows: Vec<QueuePairRow>,
}

impl Rows<'_> {
    fn push(&mut self, (device, _): &Key, known: &Known, moment: Moment, event: Option<&'static str>) {
        let pair = &known.pair;
        let is_whole = self.sees_cm && known.created.is_some();
        let mut row = QueuePairRow {
            observer: self.observer.clone(),
            time: moment.time,
            time_ns: moment.time.0,
            first_ns: known.first.0,
            device: device.clone().into(),
            port: pair.port.and_then(|port| u16::try_from(port).ok()),
            local_qpn: pair.local_qpn,
            remote_qpn: pair.remote_qpn,
            qp_type: pair.kind.into(),
            state: pair.state.into(),
            pid: pair.pid,
            process: pair.process.clone().into(),
            event: event.map(Text::from_static),
            // Without CM, it is connected all the same.
            by_cm: (known.by_cm || is_whole && pair.remote_qpn.is_some()).then_some(known.by_cm),
            created_ns: known.created.map(|created| created.0),
            ended_ns: (event == Some("gone")).then_some(moment.time.0),
            source: match known.identity {
                Some(_) => "kernel events".into(),
                None => "netlink".into(),
            },
            ..QueuePairRow::default()
        };
        known.attributes.fill(&mut row);
        self.rows.push(row);
    }
}
