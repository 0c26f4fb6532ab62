//! Address handles: one for each GID, source port and DSCP.

use super::port::{Gid, Port};
use super::stamp::flow_label;
use crate::types::Nanos;
use rocescope_ibverbs as ib;
use std::collections::BTreeMap;
use std::ptr::NonNull;

const HOP_LIMIT: u8 = 64;
/// A handle holds the MAC address of its next hop, which may change: it is created again after this time.
const REFRESH: Nanos = Nanos(60_000_000_000);
/// The kernel blocks the agent for up to a second if a next hop does not answer, so it is not asked again within this
/// time.
const RETRY: Nanos = Nanos(10_000_000_000);
/// The maximum number of handles; then all are created again. 8 NICs and 8 ports need 56; a port is renewed every 75 s.
const MAX_HANDLES: usize = 1_024;

/// The handles of a NIC.
#[derive(Debug)]
pub(super) struct Handles {
    pd: NonNull<ib::ibv_pd>,
    port: Port,
    made: BTreeMap<(Gid, u16, u8), (NonNull<ib::ibv_ah>, Nanos)>,
    /// GIDs whose next hop did not answer, and when.
    unanswered: BTreeMap<Gid, Nanos>,
}

impl Handles {
    /// Creates an empty set; the protection domain must outlive it.
    pub(super) const fn new(pd: NonNull<ib::ibv_pd>, port: Port) -> Self {
        Self {
            pd,
            port,
            made: BTreeMap::new(),
            unanswered: BTreeMap::new(),
        }
    }

    /// Returns the handle for a GID, a source port and a DSCP; `None` if its next hop has never answered.
    pub(super) fn get(&mut self, gid: Gid, (port, dscp): (u16, u8), now: Nanos) -> Option<NonNull<ib::ibv_ah>> {
        let old = self.made.get(&(gid, port, dscp)).copied();
        let is_recent = |then: Nanos, time: Nanos| (now - then).0.abs() < time.0;
        let asked = self.unanswered.get(&gid);
        if let Some((handle, made)) = old
            && is_recent(made, REFRESH)
        {
            return Some(handle);
        }
        // Fall back to the old handle: only sending shows whether it works.
        let old = old.map(|(handle, _)| handle);
        if asked.is_some_and(|then| is_recent(*then, RETRY)) {
            return old;
        }
        let Some(handle) = self.make(gid, port, dscp) else {
            self.unanswered.insert(gid, now);
            return old;
        };
        self.unanswered.remove(&gid);
        if self.made.len() >= MAX_HANDLES {
            for (handle, _) in std::mem::take(&mut self.made).into_values() {
                destroy(handle);
            }
        } else if let Some(old) = old {
            destroy(old);
        }
        self.made.insert((gid, port, dscp), (handle, now));
        Some(handle)
    }

    fn make(&self, gid: Gid, port: u16, dscp: u8) -> Option<NonNull<ib::ibv_ah>> {
        // SAFETY: a structure of numbers, for which all zeros is valid.
        let mut attributes: ib::ibv_ah_attr = unsafe { std::mem::zeroed() };
        attributes.is_global = 1;
        attributes.port_num = self.port.number;
        attributes.grh.dgid = ib::ibv_gid { raw: gid };
        attributes.grh.flow_label = flow_label(port);
        attributes.grh.sgid_index = self.port.gid_index;
        attributes.grh.hop_limit = HOP_LIMIT;
        attributes.grh.traffic_class = dscp << 2;
        // SAFETY: the protection domain is open, and the attributes are read during the call.
        NonNull::new(unsafe { ib::ibv_create_ah(self.pd.as_ptr(), &raw mut attributes) })
    }
}

fn destroy(handle: NonNull<ib::ibv_ah>) {
    // SAFETY: it is open and in no list any more; drivers copy it into a request when posting.
    unsafe { ib::ibv_destroy_ah(handle.as_ptr()) };
}
