//! NICs in an order that few changes disturb (consistent hashing): one that comes or goes changes only the choices that
//! would have met it.

use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_sketches::hash::hash_words;

/// Places of each NIC: the more, the more evenly they are chosen.
const PLACES: u64 = 16;

/// Some NICs, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct Ring {
    places: Vec<(u64, u32)>,
}

impl Ring {
    pub(super) fn new(nics: impl Iterator<Item = (u32, IpAddr)>) -> Self {
        let places = |(number, address): (u32, IpAddr)| (0..PLACES).map(move |place| (hash(address, &[place]), number));
        let mut places: Vec<(u64, u32)> = nics.flat_map(places).collect();
        places.sort_unstable();
        Self { places }
    }

    /// The NICs from a place on, once around; a NIC may come several times.
    pub(super) fn from(&self, place: u64) -> impl Iterator<Item = u32> {
        let first = self.places.partition_point(|(at, _)| *at < place);
        let (before, after) = self.places.split_at(first);
        after.iter().chain(before).map(|(_, number)| *number)
    }
}

/// A place that follows from an address and some numbers, the same on every machine.
pub(super) fn hash(address: IpAddr, numbers: &[u64]) -> u64 {
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let words: Vec<u64> = [bits as u64, (bits >> 64) as u64]
        .into_iter()
        .chain(numbers.iter().copied())
        .collect();
    hash_words(&words, 0).0
}
