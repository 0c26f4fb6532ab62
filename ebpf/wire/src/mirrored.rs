//! The session and sequence number that a mirror gives a frame.

use bytemuck::{Pod, Zeroable};

/// The outermost tunnel with a sequence number around a frame (GRE, ERSPAN II and III).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Pod, Zeroable)]
#[repr(C, align(8))]
pub struct Mirrored {
    /// The outer source address; IPv4 as an IPv4-mapped IPv6 address.
    pub src: [u8; 16],
    /// The outer destination address, likewise.
    pub dst: [u8; 16],
    /// Session id of ERSPAN, else 0.
    pub session: u16,
    /// [`Encapsulation`](crate::tunnel::Encapsulation); none without a number.
    pub kind: u8,
    /// Always 0.
    pub reserved: u8,
    /// The sequence number, which increases by one with every frame of the session.
    pub sequence: u32,
}

impl Mirrored {
    /// The value for a frame without a number.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            src: [0; 16],
            dst: [0; 16],
            session: 0,
            kind: 0,
            reserved: 0,
            sequence: 0,
        }
    }

    /// Whether there is a number.
    #[must_use]
    #[inline(always)]
    pub const fn is_numbered(&self) -> bool {
        self.kind != 0
    }
}
