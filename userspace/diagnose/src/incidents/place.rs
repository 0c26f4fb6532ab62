//! Where a fault is, and what traffic meets it.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use core::net::IpAddr;
use serde::Serialize;

/// A place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Its kind, as in the table `incidents`.
    pub kind: String,
    /// In words.
    pub name: String,
    /// The host.
    pub host: Option<String>,
    /// The NIC, as `host/nic`.
    pub nic: Option<String>,
    /// The link, as `from>to`; several are separated by spaces.
    pub link: Option<String>,
    /// The switch.
    pub switch: Option<String>,
    /// Source of a pair or connection.
    pub src: Option<IpAddr>,
    /// Destination of a pair or connection; the address itself of an address.
    pub dst: Option<IpAddr>,
    /// Queue pair at the destination.
    pub dst_qpn: Option<u32>,
    /// The addresses at this place: all their traffic meets it.
    #[serde(skip)]
    pub addresses: BTreeSet<IpAddr>,
    /// Pairs of addresses, source first, whose traffic crosses it.
    #[serde(skip)]
    pub pairs: BTreeSet<(IpAddr, IpAddr)>,
}

impl Place {
    /// The way from one address to another.
    #[must_use]
    pub fn pair(src: IpAddr, dst: IpAddr) -> Self {
        Self {
            kind: "pair".into(),
            name: format!("{src} > {dst}"),
            src: Some(src),
            dst: Some(dst),
            pairs: [(src, dst)].into(),
            ..Self::default()
        }
    }

    /// An address, whose port is unknown.
    #[must_use]
    pub fn address(address: IpAddr) -> Self {
        Self {
            kind: "address".into(),
            name: format!("{address}"),
            dst: Some(address),
            addresses: [address].into(),
            ..Self::default()
        }
    }

    /// A place that is only known by its name.
    #[must_use]
    pub fn named(kind: &str, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            ..Self::default()
        }
    }

    /// Whether traffic that meets one of the places may meet the other: they have an address in common, or a pair.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        self.touches(other) || other.touches(self) || self.shares_part(other)
    }

    /// Whether both are at one link, in whichever direction, or at one NIC.
    fn shares_part(&self, other: &Self) -> bool {
        let is_at = |place: &Self, from: &str, to: &str| {
            let mut links = place.links();
            links.any(|link| link == (from, to) || link == (to, from))
                || place.nic.as_deref().is_some_and(|nic| nic == from || nic == to)
        };
        let is_same_nic = self.nic.is_some() && self.nic == other.nic;
        is_same_nic
            || self.links().any(|(from, to)| is_at(other, from, to))
            || other.links().any(|(from, to)| is_at(self, from, to))
    }

    /// The ends of its links.
    pub(super) fn links(&self) -> impl Iterator<Item = (&str, &str)> {
        let links = self.link.iter().flat_map(|links| links.split(' '));
        links.filter_map(|link| link.split_once('>'))
    }

    fn touches(&self, other: &Self) -> bool {
        let is_end = |address: &IpAddr| self.addresses.contains(address);
        other.addresses.iter().any(is_end)
            || other.pairs.iter().any(|(src, dst)| {
                // A pair is a way; what is on the way in one direction may be on the way in the other.
                is_end(src) || is_end(dst) || self.pairs.contains(&(*src, *dst)) || self.pairs.contains(&(*dst, *src))
            })
    }

    /// Whether it is a part of a host or of the fabric, and not what passes it.
    pub(super) const fn is_located(&self) -> bool {
        self.host.is_some() || self.nic.is_some() || self.link.is_some() || self.switch.is_some()
    }

    /// How closely a place is known: the higher, the closer.
    pub(super) fn precision(&self) -> u8 {
        match self.kind.as_str() {
            "pcie" => 6,
            "port" | "nic" | "link" | "device" => 5,
            "switch" | "ports" | "route" => 4,
            "host" | "address" | "connection" => 3,
            "tuple" | "pair" => 2,
            _ => 1,
        }
    }
}
