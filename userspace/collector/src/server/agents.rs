//! The agents that are connected: written by every connection, read by the status line.

use crate::tls::Identity;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::watch;

/// One connected agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentStatus {
    /// Its name, from its certificate.
    pub name: String,
    /// Its address.
    pub peer: SocketAddr,
    /// When it connected.
    pub since: Instant,
    /// Rows stored since it connected.
    pub rows: u64,
    /// When its latest rows were stored.
    pub last: Option<Instant>,
}

/// Every agent has one connection. A newer one replaces the older: the agent has given that one up.
#[derive(Debug)]
pub(super) struct Agents {
    slots: DashMap<String, Arc<Slot>>,
    most: usize,
}

/// The slot of an agent, which its connection holds.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) identity: Identity,
    pub(super) peer: SocketAddr,
    since: Instant,
    rows: AtomicU64,
    /// Milliseconds from `since` to the last rows, plus one; 0 without any.
    last: AtomicU64,
    /// The agent opened a stream.
    pub(super) active: AtomicBool,
    /// The peer of the newer connection that replaced this one.
    replaced_by: watch::Sender<Option<SocketAddr>>,
}

impl Agents {
    pub(super) fn new(most: usize) -> Self {
        Self {
            slots: DashMap::new(),
            most,
        }
    }

    /// A slot that is no agent's: an operator's.
    pub(super) fn guest(identity: Identity, peer: SocketAddr) -> Arc<Slot> {
        Arc::new(Slot::new(identity, peer))
    }

    /// Takes a slot for an agent and closes its older connection. `None` when all slots are taken.
    pub(super) fn enter(&self, identity: Identity, peer: SocketAddr) -> Option<Arc<Slot>> {
        let name = identity.name.clone();
        let slot = Arc::new(Slot::new(identity, peer));
        // Counted first: `len` would deadlock while an entry is held.
        let full = self.slots.len() >= self.most;
        match self.slots.entry(name) {
            Entry::Occupied(mut taken) => {
                taken.insert(Arc::clone(&slot)).replaced_by.send_replace(Some(peer));
            }
            Entry::Vacant(_) if full => return None,
            Entry::Vacant(free) => {
                free.insert(Arc::clone(&slot));
            }
        }
        Some(slot)
    }

    /// The connection ended.
    pub(super) fn leave(&self, slot: &Arc<Slot>) {
        self.slots.remove_if(&slot.name, |_, held| Arc::ptr_eq(held, slot));
    }

    pub(super) fn status(&self) -> Vec<AgentStatus> {
        let slots = self.slots.iter();
        let mut all: Vec<AgentStatus> = slots.map(|slot| slot.status()).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

impl Slot {
    fn new(identity: Identity, peer: SocketAddr) -> Self {
        Self {
            name: identity.name.clone(),
            identity,
            peer,
            since: Instant::now(),
            rows: AtomicU64::new(0),
            last: AtomicU64::new(0),
            active: AtomicBool::new(false),
            replaced_by: watch::channel(None).0,
        }
    }

    /// Waits until a newer connection of the agent replaces this one; returns its peer.
    pub(super) async fn replaced(&self) -> SocketAddr {
        let mut replaced_by = self.replaced_by.subscribe();
        loop {
            let by = *replaced_by.borrow_and_update();
            if let Some(by) = by {
                return by;
            }
            // The sender is in this slot.
            let _ = replaced_by.changed().await;
        }
    }

    /// Rows of the agent are stored.
    pub(super) fn stored(&self, rows: u64) {
        self.rows.fetch_add(rows, Ordering::Relaxed);
        let after = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX - 1);
        self.last.store(after + 1, Ordering::Relaxed);
    }

    fn status(&self) -> AgentStatus {
        let last = self.last.load(Ordering::Relaxed).checked_sub(1);
        let last = last.map(std::time::Duration::from_millis);
        AgentStatus {
            name: self.name.clone(),
            peer: self.peer,
            since: self.since,
            rows: self.rows.load(Ordering::Relaxed),
            last: last.map(|after| self.since + after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Agents;
    use crate::tls::Identity;
    use std::net::SocketAddr;
    use std::sync::Arc;

    #[test]
    fn seats_are_bounded_and_the_newest_connection_has_the_agents() {
        let peer: SocketAddr = "127.0.0.1:1".parse().unwrap();
        let agents = Agents::new(2);
        let one = agents.enter(Identity::named("h0"), peer).unwrap();
        let two = agents.enter(Identity::named("h1"), peer).unwrap();
        assert!(agents.enter(Identity::named("h2"), peer).is_none());
        let again = agents.enter(Identity::named("h0"), peer).unwrap();
        agents.leave(&one);
        assert_eq!(agents.status().len(), 2, "the older leaves the newer alone");
        again.stored(3);
        assert_eq!(agents.status()[0].rows, 3);
        agents.leave(&again);
        agents.leave(&two);
        assert!(agents.status().is_empty());
        assert_eq!(Arc::strong_count(&one), 1);
    }
}
