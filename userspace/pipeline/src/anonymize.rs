//! Replaces the addresses on the wire.

use crate::fields::address;
use alloc::sync::Arc;
use core::fmt::Debug;
use core::net::IpAddr;
use hashbrown::HashMap;
use rocescope_record::{HandshakeRecord, MadRecord, RunRecord, UetRecord};
use rocescope_wire::FlowKey;

/// Maps every address to another of the same family: always the same one, and no two to one.
pub trait AddressMap: Debug + Send + Sync {
    /// The replacement of `address`.
    fn map(&self, address: IpAddr) -> IpAddr;
}

/// Addresses cached; when the cache is full it is cleared.
const MAX_CACHED: usize = 1 << 16;

/// Replaces addresses before anything is counted.
#[derive(Debug)]
pub(crate) struct Anonymizer {
    map: Arc<dyn AddressMap>,
    known: HashMap<[u8; 16], [u8; 16]>,
}

impl Anonymizer {
    pub(crate) fn new(map: Arc<dyn AddressMap>) -> Self {
        let known = HashMap::new();
        Self { map, known }
    }

    pub(crate) fn run(&mut self, run: &RunRecord) -> RunRecord {
        RunRecord {
            flow: self.flow(&run.flow),
            ..*run
        }
    }

    pub(crate) fn flow(&mut self, flow: &FlowKey) -> FlowKey {
        let mut flow = *flow;
        self.replace(&mut flow.src);
        self.replace(&mut flow.dst);
        flow
    }

    /// Replaces only the addresses in the headers of a CM datagram: addresses in its payload never become rows.
    pub(crate) fn mad(&mut self, mad: &MadRecord) -> MadRecord {
        let mut mad = *mad;
        self.replace(&mut mad.flow.src);
        self.replace(&mut mad.flow.dst);
        mad
    }

    pub(crate) fn uet(&mut self, record: &UetRecord) -> UetRecord {
        let mut record = *record;
        self.replace(&mut record.flow.src);
        self.replace(&mut record.flow.dst);
        record
    }

    pub(crate) fn handshake(&mut self, handshake: &HandshakeRecord) -> HandshakeRecord {
        let mut handshake = *handshake;
        self.replace(&mut handshake.client);
        self.replace(&mut handshake.server);
        handshake
    }

    fn replace(&mut self, bytes: &mut [u8; 16]) {
        if let Some(known) = self.known.get(bytes) {
            *bytes = *known;
            return;
        }
        if self.known.len() >= MAX_CACHED {
            self.known.clear();
        }
        let other = match self.map.map(address(*bytes)) {
            IpAddr::V4(other) => other.to_ipv6_mapped(),
            IpAddr::V6(other) => other,
        };
        self.known.insert(*bytes, other.octets());
        *bytes = other.octets();
    }
}
