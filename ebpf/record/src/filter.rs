//! The part of a filter that is checked for every packet before it costs a run: addresses, UDP source
//! port and tags.
//!
//! It may accept packets that the whole filter rejects, never the other way round: conditions that it
//! cannot express count as true. So the whole filter, applied later, accepts the same packets with it
//! and without.

use bytemuck::{Pod, Zeroable};
use rocescope_wire::FlowKey;

/// The maximum number of alternatives; a filter with more is not applied here.
pub const ALTERNATIVES: usize = 8;

/// The leading bits of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Prefix {
    /// The address, IPv4 as an IPv4-mapped IPv6 address; 0 after the prefix.
    pub address: [u8; 16],
    /// The mask of the prefix; 0 matches any address.
    pub mask: [u8; 16],
}

impl Prefix {
    /// Matches every address.
    pub const ANY: Self = Self {
        address: [0; 16],
        mask: [0; 16],
    };

    /// The first `bits` bits of an IPv6 address, 128 at most.
    #[must_use]
    pub const fn new(address: u128, bits: u8) -> Self {
        let mask = match 128u32.checked_sub(bits as u32) {
            Some(rest) => match u128::MAX.checked_shl(rest) {
                Some(mask) => mask,
                None => 0,
            },
            None => u128::MAX,
        };
        Self {
            address: (address & mask).to_be_bytes(),
            mask: mask.to_be_bytes(),
        }
    }

    /// The length of the prefix.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        u128::from_be_bytes(self.mask).count_ones()
    }

    /// The intersection with `other`; `None` if it is empty.
    #[must_use]
    pub fn within(&self, other: &Self) -> Option<Self> {
        let (longer, shorter) = if self.bits() >= other.bits() {
            (self, other)
        } else {
            (other, self)
        };
        let masked = u128::from_be_bytes(longer.address) & u128::from_be_bytes(shorter.mask);
        (masked == u128::from_be_bytes(shorter.address)).then_some(*longer)
    }

    /// Not 0 if the address is outside of the prefix.
    #[inline(always)]
    fn differs(&self, high: u64, low: u64) -> u64 {
        let [a, b] = words(&self.address);
        let [c, d] = words(&self.mask);
        ((high ^ a) & c) | ((low ^ b) & d)
    }
}

/// As in [`FlowKey::words`].
#[inline(always)]
const fn words(bytes: &[u8; 16]) -> [u64; 2] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *bytes;
    [
        u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        u64::from_le_bytes([i, j, k, l, m, n, o, p]),
    ]
}

/// Conditions that must all be true. A mask of 0 is no condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Alternative {
    /// The source address.
    pub src: Prefix,
    /// The destination address.
    pub dst: Prefix,
    /// Either address.
    pub either: Prefix,
    /// VXLAN network identifier.
    pub vni: u32,
    /// The mask of its bits.
    pub vni_mask: u32,
    /// VLAN id of the outer tag or of the inner one.
    pub vlan: u16,
    /// The mask of its bits.
    pub vlan_mask: u16,
    /// UDP source port.
    pub udp_src_port: u16,
    /// The mask of its bits.
    pub udp_src_port_mask: u16,
}

impl Alternative {
    /// Matches every packet.
    pub const ANY: Self = Self {
        src: Prefix::ANY,
        dst: Prefix::ANY,
        either: Prefix::ANY,
        vni: 0,
        vni_mask: 0,
        vlan: 0,
        vlan_mask: 0,
        udp_src_port: 0,
        udp_src_port_mask: 0,
    };

    /// Whether a packet of this flow is accepted.
    #[cfg_attr(target_arch = "bpf", inline(never))]
    #[cfg_attr(not(target_arch = "bpf"), inline(always))]
    fn wants(&self, flow: &FlowKey) -> u32 {
        u32::from(
            (flow.udp_src_port ^ self.udp_src_port) & self.udp_src_port_mask == 0
                && self.has_tags_of(flow)
                && self.is_between(&flow.src, &flow.dst),
        )
    }

    /// The same for both directions of connections, whatever their ports.
    #[cfg_attr(target_arch = "bpf", inline(never))]
    #[cfg_attr(not(target_arch = "bpf"), inline(always))]
    fn may_want(&self, flow: &FlowKey) -> u32 {
        u32::from(
            self.has_tags_of(flow) && (self.is_between(&flow.src, &flow.dst) || self.is_between(&flow.dst, &flow.src)),
        )
    }

    #[inline(always)]
    const fn has_tags_of(&self, flow: &FlowKey) -> bool {
        (flow.vni ^ self.vni) & self.vni_mask == 0
            && ((flow.vlan ^ self.vlan) & self.vlan_mask == 0 || (flow.inner_vlan ^ self.vlan) & self.vlan_mask == 0)
    }

    #[inline(always)]
    fn is_between(&self, src: &[u8; 16], dst: &[u8; 16]) -> bool {
        let ([a, b], [c, d]) = (words(src), words(dst));
        self.src.differs(a, b) | self.dst.differs(c, d) == 0
            && (self.either.differs(a, b) == 0 || self.either.differs(c, d) == 0)
    }
}

/// Alternatives, of which one must match.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct PacketFilter {
    /// The number of alternatives; 0 accepts every packet.
    pub count: u32,
    /// Always 0.
    pub reserved: u32,
    /// The first `count` are valid.
    pub alternatives: [Alternative; ALTERNATIVES],
}

const _: () = assert!(size_of::<Alternative>() == 112 && size_of::<PacketFilter>() == 904);

impl PacketFilter {
    /// Accepts every packet.
    pub const NONE: Self = Self {
        count: 0,
        reserved: 0,
        alternatives: [Alternative::ANY; ALTERNATIVES],
    };

    /// Accepts packets that match one of these; `None` if there are too many.
    #[must_use]
    pub fn new(alternatives: &[Alternative]) -> Option<Self> {
        let mut filter = Self {
            count: alternatives.len() as u32,
            ..Self::NONE
        };
        let (places, _) = filter.alternatives.split_at_mut_checked(alternatives.len())?;
        places.copy_from_slice(alternatives);
        Some(filter)
    }

    /// The alternatives.
    #[must_use]
    pub fn alternatives(&self) -> &[Alternative] {
        let count = (self.count as usize).min(ALTERNATIVES);
        self.alternatives.get(..count).unwrap_or(&[])
    }

    /// Whether it accepts every packet.
    #[must_use]
    #[inline(always)]
    pub const fn is_none(&self) -> bool {
        self.count == 0
    }

    /// Whether a packet of this flow is accepted.
    #[must_use]
    #[inline(always)]
    pub fn wants(&self, flow: &FlowKey) -> bool {
        self.is_none() || self.any(flow, Alternative::wants)
    }

    /// Whether the setup of a connection between the addresses of `flow` may concern accepted packets: by
    /// addresses and tags alone, in either direction.
    #[must_use]
    #[inline(always)]
    pub fn may_want(&self, flow: &FlowKey) -> bool {
        self.is_none() || self.any(flow, Alternative::may_want)
    }

    /// Unrolled, because loops burden the kernel's verifier.
    #[inline(always)]
    fn any(&self, flow: &FlowKey, wants: impl Fn(&Alternative, &FlowKey) -> u32) -> bool {
        let [a, b, c, d, e, f, g, h] = &self.alternatives;
        let count = self.count;
        (count > 0 && wants(a, flow) != 0)
            || (count > 1 && wants(b, flow) != 0)
            || (count > 2 && wants(c, flow) != 0)
            || (count > 3 && wants(d, flow) != 0)
            || (count > 4 && wants(e, flow) != 0)
            || (count > 5 && wants(f, flow) != 0)
            || (count > 6 && wants(g, flow) != 0)
            || (count > 7 && wants(h, flow) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: u128 = 0xffff_0a00_0001;

    fn flow(src: u128, dst: u128) -> FlowKey {
        FlowKey {
            src: src.to_be_bytes(),
            dst: dst.to_be_bytes(),
            udp_src_port: 5,
            vni: 9,
            vlan: 100,
            inner_vlan: 7,
            ..FlowKey::zeroed()
        }
    }

    #[test]
    fn prefixes_meet_or_do_not() {
        let net = Prefix::new(V4, 96 + 24);
        let host = Prefix::new(V4, 128);
        assert_eq!(net.within(&host), Some(host));
        assert_eq!(host.within(&Prefix::ANY), Some(host));
        assert_eq!(net.within(&Prefix::new(V4 + 256, 128)), None);
        assert_eq!((net.bits(), Prefix::new(V4, 0), host.bits()), (120, Prefix::ANY, 128));
    }

    #[test]
    fn every_part_of_an_alternative_must_match() {
        let all = Alternative {
            src: Prefix::new(V4, 120),
            dst: Prefix::new(1, 128),
            either: Prefix::new(1, 127),
            vni: 9,
            vni_mask: u32::MAX,
            vlan: 7,
            vlan_mask: u16::MAX,
            udp_src_port: 5,
            udp_src_port_mask: u16::MAX,
        };
        let filter = PacketFilter::new(&[all]).unwrap();
        let good = flow(V4, 1);
        assert!(filter.wants(&good) && filter.may_want(&good));
        for bad in [
            flow(V4 + 256, 1),
            flow(V4, 0),
            FlowKey { vni: 8, ..good },
            FlowKey { inner_vlan: 8, ..good },
        ] {
            assert!(!filter.wants(&bad) && !filter.may_want(&bad), "{bad:?}");
        }
        let port = FlowKey {
            udp_src_port: 6,
            ..good
        };
        assert!(!filter.wants(&port) && filter.may_want(&port));
        let back = flow(1, V4);
        assert!(!filter.wants(&back) && filter.may_want(&back));
        let two = PacketFilter::new(&[all, Alternative::ANY]).unwrap();
        assert!(two.wants(&flow(0, 0)));
        assert_eq!(PacketFilter::new(&[all; ALTERNATIVES + 1]), None);
        assert!(PacketFilter::NONE.wants(&good));
    }
}
