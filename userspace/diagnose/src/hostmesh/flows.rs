//! Which captured flows cross a suspicious place.
//!
//! A captured packet says which NICs it runs between and by which 5-tuple, not which way. NICs and pairs are known
//! from the addresses alone. Links and switches need a traced path of the very 5-tuple: ECMP sends another
//! source port another way.

use super::analyzer::Analyzer;
use super::diagnosis::Where;
use super::place::{Crossing, FaultLocation};
use super::tuples::Key;
use core::net::IpAddr;

/// What a captured packet tells of its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlowKey {
    /// Source IP address.
    pub src: IpAddr,
    /// Destination IP address.
    pub dst: IpAddr,
    /// UDP source port.
    pub udp_src_port: u16,
}

impl Analyzer {
    /// Whether a flow crossed a place at a time; `None` where its path is not known.
    #[must_use]
    pub fn crosses(
        &self,
        place: Where,
        flow: FlowKey,
        udp_dst_port: u16,
        at_ns: i64,
    ) -> Option<bool> {
        let nic = |address| self.names.find_nic(address);
        let (src, dst) = (nic(flow.src), nic(flow.dst));
        match place.0 {
            FaultLocation::Nic(at) => return Some(src == Some(at) || dst == Some(at)),
            FaultLocation::ToNic(at) => return Some(dst == Some(at)),
            FaultLocation::FromNic(at) => return Some(src == Some(at)),
            FaultLocation::Host(host) => {
                let here = |nic: Option<u32>| {
                    nic.is_some_and(|nic| self.names.nics[nic as usize].host == host)
                };
                return Some(here(src) || here(dst));
            }
            FaultLocation::Pair { src: from, dst: to } => {
                return Some((src, dst) == (Some(from), Some(to)));
            }
            _ => {}
        }
        let key = Key {
            src: src?,
            dst: dst?,
            udp_src_port: flow.udp_src_port,
            udp_dst_port,
        };
        let number = self.tuples.find(key)?;
        let path = self.tuples.path_at(number, at_ns)?;
        let crossing = Crossing {
            key,
            links: self.tuples.links(path),
        };
        Some(crossing.meets(place.0, &self.names))
    }
}
