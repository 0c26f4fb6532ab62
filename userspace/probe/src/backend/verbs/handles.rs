//! Address handles: the ways to a GID, one a source port.

use super::port::{Gid, Port};
use super::stamp::flow_label;
use crate::types::Nanos;
use rdma_mummy_sys as ib;
use std::collections::BTreeMap;
use std::ptr::NonNull;

const HOP_LIMIT: u8 = 64;
/// A handle holds the MAC address of its next hop, which may change: it is made anew after this time.
const REFRESH: Nanos = Nanos(60_000_000_000);
/// The kernel waits up to a second for a next hop that does not answer, and nobody probes meanwhile: so it is not
/// asked again within this time.
const PATIENCE: Nanos = Nanos(10_000_000_000);
/// Handles kept; then all are made anew. Those of 8 NICs and 8 ports are 56, and a port is renewed every 75 s.
const MOST: usize = 1_024;

/// The handles of a NIC.
#[derive(Debug)]
pub(super) struct Handles {
    pd: NonNull<ib::ibv_pd>,
    port: Port,
    made: BTreeMap<(Gid, u16), (NonNull<ib::ibv_ah>, Nanos)>,
    /// Whose next hop did not answer, and when.
    unanswered: BTreeMap<Gid, Nanos>,
}

impl Handles {
    /// None yet; the protection domain is open for as long as they are.
    pub(super) const fn new(pd: NonNull<ib::ibv_pd>, port: Port) -> Self {
        Self {
            pd,
            port,
            made: BTreeMap::new(),
            unanswered: BTreeMap::new(),
        }
    }

    /// The way to a GID from a source port; `None` where its next hop has never answered.
    pub(super) fn get(&mut self, gid: Gid, port: u16, now: Nanos) -> Option<NonNull<ib::ibv_ah>> {
        let old = self.made.get(&(gid, port)).copied();
        let is_recent = |then: Nanos, time: Nanos| (now - then).0.abs() < time.0;
        let asked = self.unanswered.get(&gid);
        if let Some((handle, made)) = old
            && is_recent(made, REFRESH)
        {
            return Some(handle);
        }
        // One that was made before: only sending will tell.
        let old = old.map(|(handle, _)| handle);
        if asked.is_some_and(|then| is_recent(*then, PATIENCE)) {
            return old;
        }
        let Some(handle) = self.make(gid, port) else {
            self.unanswered.insert(gid, now);
            return old;
        };
        self.unanswered.remove(&gid);
        if self.made.len() >= MOST {
            for (handle, _) in std::mem::take(&mut self.made).into_values() {
                destroy(handle);
            }
        } else if let Some(old) = old {
            destroy(old);
        }
        self.made.insert((gid, port), (handle, now));
        Some(handle)
    }

    fn make(&self, gid: Gid, port: u16) -> Option<NonNull<ib::ibv_ah>> {
        // SAFETY: a structure of numbers, for which all zero is a value.
        let mut attributes: ib::ibv_ah_attr = unsafe { std::mem::zeroed() };
        attributes.is_global = 1;
        attributes.port_num = self.port.number;
        attributes.grh.dgid = ib::ibv_gid { raw: gid };
        attributes.grh.flow_label = flow_label(port);
        attributes.grh.sgid_index = self.port.gid_index;
        attributes.grh.hop_limit = HOP_LIMIT;
        // SAFETY: the protection domain is open, and the attributes are read during the call.
        NonNull::new(unsafe { ib::ibv_create_ah(self.pd.as_ptr(), &raw mut attributes) })
    }
}

fn destroy(handle: NonNull<ib::ibv_ah>) {
    // SAFETY: it is open and in no list any more; drivers copy it into a request when that is posted.
    unsafe { ib::ibv_destroy_ah(handle.as_ptr()) };
}
