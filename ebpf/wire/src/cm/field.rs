//! Fields at fixed offsets of a message whose length was checked before.

use crate::number::{Psn, Qpn};
use crate::octets::Octets;

/// The number one side gives to a connection while it is set up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(transparent)]
pub struct CommunicationId(pub u32);

/// Reads fields. A field beyond the end, which no caller asks for, reads as zeros.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes<const N: usize>(self, at: usize) -> [u8; N] {
        self.0.read(at).unwrap_or([0; N])
    }

    pub(super) fn u8(self, at: usize) -> u8 {
        u8::from_be_bytes(self.bytes(at))
    }

    pub(super) fn u16(self, at: usize) -> u16 {
        u16::from_be_bytes(self.bytes(at))
    }

    pub(super) fn u24(self, at: usize) -> u32 {
        let [a, b, c] = self.bytes(at);
        u32::from_be_bytes([0, a, b, c])
    }

    pub(super) fn u32(self, at: usize) -> u32 {
        u32::from_be_bytes(self.bytes(at))
    }

    pub(super) fn u64(self, at: usize) -> u64 {
        u64::from_be_bytes(self.bytes(at))
    }

    pub(super) fn qpn(self, at: usize) -> Qpn {
        Qpn::new(self.u24(at))
    }

    pub(super) fn psn(self, at: usize) -> Psn {
        Psn::new(self.u24(at))
    }

    /// All from `at` on.
    pub(super) fn tail(self, at: usize) -> &'a [u8] {
        self.0.get(at..).unwrap_or(&[])
    }

    /// `bytes` bytes from `at` on.
    pub(super) fn part(self, at: usize, bytes: usize) -> &'a [u8] {
        self.0.get(at..at + bytes).unwrap_or(&[])
    }
}

/// Writes fields. A field beyond the end, which no caller has, is dropped.
pub(super) struct FieldsMut<'a>(pub(super) &'a mut [u8]);

impl FieldsMut<'_> {
    pub(super) fn put<const N: usize>(&mut self, at: usize, bytes: [u8; N]) {
        if let Some(place) = self.0.get_mut(at..at + N) {
            place.copy_from_slice(&bytes);
        }
    }

    pub(super) fn put_u24(&mut self, at: usize, value: u32) {
        let [_, a, b, c] = value.to_be_bytes();
        self.put(at, [a, b, c]);
    }

    /// `bytes` from `at` on, as far as there is room.
    pub(super) fn tail(&mut self, at: usize, bytes: &[u8]) {
        self.part(at, self.0.len().saturating_sub(at), bytes);
    }

    /// `bytes` from `at` on, as far as `room` goes.
    pub(super) fn part(&mut self, at: usize, room: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(at..at + room) {
            for (to, from) in place.iter_mut().zip(bytes) {
                *to = *from;
            }
        }
    }
}
