//! Semantics (SES): the operation, message and job of a request.

/// The common beginning of a standard SES request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ses {
    /// The operation, 6 bits: see [`operation`](Self::operation).
    pub opcode: u8,
    /// The packet begins its message.
    pub starts: bool,
    /// The packet ends its message.
    pub ends: bool,
    /// Number of the message; of small and medium requests its length in bytes.
    pub message: u16,
    /// The job, 24 bits.
    pub job: u32,
}

impl Ses {
    /// Bytes on the wire, of this part.
    pub const LEN: usize = 8;

    /// Reads the header.
    #[must_use]
    pub const fn read(bytes: [u8; Self::LEN]) -> Self {
        let [opcode, flags, m1, m0, _, j2, j1, j0] = bytes;
        Self {
            opcode: opcode & 0x3f,
            starts: flags & 1 != 0,
            ends: flags & 2 != 0,
            message: u16::from_be_bytes([m1, m0]),
            job: u32::from_be_bytes([0, j2, j1, j0]),
        }
    }

    /// The header's bytes; what has no field is 0.
    #[must_use]
    pub const fn write(&self) -> [u8; Self::LEN] {
        let [m1, m0] = self.message.to_be_bytes();
        let [_, j2, j1, j0] = self.job.to_be_bytes();
        let flags = self.starts as u8 | (self.ends as u8) << 1;
        [self.opcode & 0x3f, flags, m1, m0, 0, j2, j1, j0]
    }

    /// The name of the operation.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        match self.opcode {
            0x00 => "no_op",
            0x01 => "write",
            0x02 => "read",
            0x03 => "atomic",
            0x04 => "fetching_atomic",
            0x05 => "send",
            0x06 => "rendezvous_send",
            0x07 => "datagram_send",
            0x08 => "deferrable_send",
            0x09 => "tagged_send",
            0x0a => "rendezvous_tagged_send",
            0x0b => "deferrable_tagged_send",
            0x0c => "ready_to_restart",
            0x0d => "tagged_send_atomic",
            0x0e => "tagged_send_fetching_atomic",
            0x0f => "message_error",
            0x10 => "sync_write",
            0x11 => "sync_atomic",
            _ => "reserved",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_round_trip(ses: [u8; Ses::LEN]) {
            let read = Ses::read(ses);
            prop_assert_eq!(Ses::read(read.write()), read);
        }
    }
}
