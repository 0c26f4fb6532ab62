//! What two agents tell each other about probes between them: bytes behind those that every probe has.
//!
//! ```text
//!  0 asked 32            of a probe: number of the 5-tuple that it asks about
//!  4 address 32          of a probe: hash of the destination of that 5-tuple
//!  8 DSCP 8              of a probe
//!
//!  0 state 8             of an answer: 0 no receipt, 1 none has arrived, 2 some have
//!  1 since 32            of an answer: for how long its agent has kept count, milliseconds
//!  5 newest 32           of an answer: the highest sequence number that arrived
//!  9 arrived 64          of an answer: bit n: sequence number newest - n arrived
//! 17 answered 64         of an answer: bit n: it was answered
//! 25 zero, 1 byte
//! ```
//!
//! The upper half of the sequence number of a probe is the number of its 5-tuple, counted by its agent.

use std::net::IpAddr;

/// Bytes on the wire.
pub const LEN: usize = 26;
/// How many of the last probes of a 5-tuple a receipt covers.
pub const COVERED: u32 = 64;

/// Returns the sequence number on the wire of a probe of a 5-tuple.
#[must_use]
pub fn numbered(tuple: u32, sequence: u32) -> u64 {
    u64::from(tuple) << 32 | u64::from(sequence)
}

/// Returns the number of the 5-tuple, and that of the probe.
#[must_use]
pub const fn numbers(sequence: u64) -> (u32, u32) {
    ((sequence >> 32) as u32, sequence as u32)
}

/// What a probe to another host asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inquiry {
    /// Number of the 5-tuple that its sender wants to know about, often that of the probe.
    pub about: u32,
    /// [`hash`] of the destination of that 5-tuple: only an agent with this address knows whether probes arrived.
    pub address: u32,
    /// DSCP of the probe, 0 to 63, which the answer takes too.
    pub dscp: u8,
}

/// What an agent knows about the probes of a 5-tuple when it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// For how long it has kept count, in milliseconds: it knows nothing about probes from before.
    pub since_ms: u32,
    /// The probes that arrived; `None` if none did.
    pub arrivals: Option<Arrivals>,
}

/// The last probes of a 5-tuple that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrivals {
    /// The highest sequence number.
    pub newest: u32,
    /// Bit n: the probe with the sequence number `newest - n` arrived.
    pub arrived: u64,
    /// Bit n: that probe was answered.
    pub answered: u64,
}

/// What happened to a probe at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did not arrive.
    Missing,
    /// It arrived; whether it was answered.
    Arrived {
        /// Whether the answer left.
        answered: bool,
    },
    /// Too many others have arrived since.
    Forgotten,
}

impl Receipt {
    /// What happened to a probe.
    #[must_use]
    pub const fn outcome(&self, sequence: u32) -> Outcome {
        let Some(arrivals) = self.arrivals else {
            return Outcome::Missing;
        };
        match arrivals.newest.checked_sub(sequence) {
            None => Outcome::Missing,
            Some(age) if age >= COVERED => Outcome::Forgotten,
            Some(age) if arrivals.arrived >> age & 1 == 1 => Outcome::Arrived {
                answered: arrivals.answered >> age & 1 == 1,
            },
            Some(_) => Outcome::Missing,
        }
    }
}

impl Arrivals {
    /// Notes that a probe arrived; returns whether it is the first with this number.
    pub(crate) const fn note(&mut self, sequence: u32) -> bool {
        if let Some(ahead) = sequence.checked_sub(self.newest) {
            self.arrived = shifted(self.arrived, ahead);
            self.answered = shifted(self.answered, ahead);
            self.newest = sequence;
        }
        let is_new = self.bit(sequence) & !self.arrived != 0;
        self.arrived |= self.bit(sequence);
        is_new
    }

    /// Notes that a probe was answered, or that its answer did not leave.
    pub(crate) const fn answer(&mut self, sequence: u32, answered: bool) {
        match answered {
            true => self.answered |= self.bit(sequence),
            false => self.answered &= !self.bit(sequence),
        }
    }

    /// The bit of a probe; 0 if it is too old.
    const fn bit(&self, sequence: u32) -> u64 {
        match self.newest.checked_sub(sequence) {
            Some(age) if age < COVERED => 1 << age,
            _ => 0,
        }
    }
}

const fn shifted(bits: u64, by: u32) -> u64 {
    match bits.checked_shl(by) {
        Some(bits) => bits,
        None => 0,
    }
}

/// A number for an address (FNV-1a). Two addresses of one agent that share it would cost an answer its meaning, with a
/// probability of one in four billion for each pair.
#[must_use]
pub fn hash(address: IpAddr) -> u32 {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    match address {
        IpAddr::V4(v4) => v4.octets().iter().fold(0x811c_9dc5, step),
        IpAddr::V6(v6) => v6.octets().iter().fold(0x811c_9dc5, step),
    }
}

impl Inquiry {
    pub(crate) fn write(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        let fields: [&[u8]; 3] = [&self.about.to_be_bytes(), &self.address.to_be_bytes(), &[self.dscp]];
        fill(&mut bytes, &fields);
        bytes
    }

    pub(crate) fn read(mut rest: &[u8]) -> Option<Self> {
        let rest = &mut rest;
        Some(Self {
            about: u32::from_be_bytes(take(rest)?),
            address: u32::from_be_bytes(take(rest)?),
            dscp: u8::from_be_bytes(take(rest)?),
        })
    }
}

/// The bytes of the receipt in an answer, if it has one.
pub(crate) fn write(receipt: Option<Receipt>) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    let state = match receipt {
        None => 0,
        Some(Receipt { arrivals: None, .. }) => 1,
        Some(_) => 2,
    };
    let receipt = receipt.unwrap_or_default();
    let arrivals = receipt.arrivals.unwrap_or_default();
    let fields: [&[u8]; 5] = [
        &[state],
        &receipt.since_ms.to_be_bytes(),
        &arrivals.newest.to_be_bytes(),
        &arrivals.arrived.to_be_bytes(),
        &arrivals.answered.to_be_bytes(),
    ];
    fill(&mut bytes, &fields);
    bytes
}

/// Reads the receipt of an answer, if it has one; `None` for anything else.
pub(crate) fn read(mut rest: &[u8]) -> Option<Option<Receipt>> {
    let rest = &mut rest;
    let [state] = take(rest)?;
    let since_ms = u32::from_be_bytes(take(rest)?);
    let arrivals = Arrivals {
        newest: u32::from_be_bytes(take(rest)?),
        arrived: u64::from_be_bytes(take(rest)?),
        answered: u64::from_be_bytes(take(rest)?),
    };
    let receipt = |arrivals| Some(Receipt { since_ms, arrivals });
    match state {
        0 => Some(None),
        1 => Some(receipt(None)),
        2 => Some(receipt(Some(arrivals))),
        _ => None,
    }
}

fn fill(bytes: &mut [u8; LEN], fields: &[&[u8]]) {
    for (to, from) in bytes.iter_mut().zip(fields.iter().copied().flatten()) {
        *to = *from;
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_receipt_distinguishes_what_arrived_what_was_answered_and_what_is_too_old() {
        let mut arrivals = Arrivals {
            newest: 10,
            arrived: 1,
            answered: 0,
        };
        for (sequence, is_new) in [(12, true), (11, true), (12, false), (15, true)] {
            assert_eq!(arrivals.note(sequence), is_new, "{sequence}");
        }
        arrivals.answer(12, true);
        arrivals.answer(15, true);
        arrivals.answer(15, false);
        let outcome = |arrivals, sequence| {
            let receipt = Receipt {
                since_ms: 9,
                arrivals: Some(arrivals),
            };
            receipt.outcome(sequence)
        };
        assert_eq!(outcome(arrivals, 9), Outcome::Missing);
        assert_eq!(outcome(arrivals, 10), Outcome::Arrived { answered: false });
        assert_eq!(outcome(arrivals, 12), Outcome::Arrived { answered: true });
        assert_eq!(outcome(arrivals, 13), Outcome::Missing);
        assert_eq!(outcome(arrivals, 15), Outcome::Arrived { answered: false });
        assert_eq!(outcome(arrivals, 16), Outcome::Missing);
        assert!(arrivals.note(15 + 63));
        assert_eq!(outcome(arrivals, 15), Outcome::Arrived { answered: false });
        assert_eq!(outcome(arrivals, 14), Outcome::Forgotten);
        // Far ahead: nothing of before is left.
        assert!(arrivals.note(1_000));
        assert_eq!((arrivals.arrived, arrivals.answered), (1, 0));
        let none = Receipt::default();
        assert_eq!(none.outcome(0), Outcome::Missing);
    }

    proptest! {
        #[test]
        fn arrivals_in_any_order_are_those_that_a_set_remembers(sequences in proptest::collection::vec(0u32..300, 1..200)) {
            let mut arrivals = Arrivals { newest: sequences[0], ..Arrivals::default() };
            let mut seen = BTreeSet::new();
            for sequence in sequences {
                arrivals.note(sequence);
                seen.insert(sequence);
                let newest = *seen.last().unwrap();
                prop_assert_eq!(arrivals.newest, newest);
                for age in 0..COVERED.min(newest + 1) {
                    prop_assert_eq!(arrivals.arrived >> age & 1 == 1, seen.contains(&(newest - age)));
                }
            }
        }

        #[test]
        fn messages_are_read_back(about: u32, address: u32, dscp: u8, since_ms: u32, newest: u32, arrived: u64, answered: u64) {
            let inquiry = Inquiry { about, address, dscp };
            prop_assert_eq!(Inquiry::read(&inquiry.write()), Some(inquiry));
            let some = Arrivals { newest, arrived, answered };
            for arrivals in [None, Some(some)] {
                let receipt = Some(Receipt { since_ms, arrivals });
                prop_assert_eq!(read(&write(receipt)), Some(receipt));
            }
            prop_assert_eq!(read(&write(None)), Some(None));
            prop_assert_eq!(read(&[3; LEN]), None);
        }
    }
}
