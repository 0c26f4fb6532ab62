//! Messages and their request packets.
//!
//! Packets are counted with 64 bits from the first of a direction, so nothing here wraps; the wire has
//! the low part, added to the start PSN.

use super::scenario::group::{Operation, Service};

/// The place of a packet in its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    First,
    Middle,
    Last,
    Only,
}

impl Position {
    pub(super) const fn of(first: bool, last: bool) -> Self {
        match (first, last) {
            (true, true) => Self::Only,
            (true, false) => Self::First,
            (false, true) => Self::Last,
            (false, false) => Self::Middle,
        }
    }

    pub(super) const fn is_last(self) -> bool {
        matches!(self, Self::Last | Self::Only)
    }

    pub(super) const fn is_first(self) -> bool {
        matches!(self, Self::First | Self::Only)
    }
}

/// A started message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    /// Its first packet.
    pub(super) first: u64,
    /// The number of its sequence numbers: its own packets, or those of the READ response.
    pub(super) packets: u64,
    pub(super) bytes: u32,
    pub(super) operation: Operation,
    /// The number of the message in its direction, from 0.
    pub(super) number: u64,
}

/// A request packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) sequence: u64,
    /// The number of its sequence numbers.
    pub(super) span: u64,
    pub(super) operation: Operation,
    pub(super) position: Position,
    pub(super) payload_bytes: u32,
    /// Bytes of the message, or its bytes still to READ.
    pub(super) message_bytes: u32,
    /// The number of its message.
    pub(super) message: u64,
    pub(super) ack_request: bool,
    /// It requests the rest of a READ, with a PSN that its response used before.
    pub(super) rest: bool,
    /// It was sent before.
    pub(super) again: bool,
    /// Its sender repeats it alone.
    pub(super) repair: bool,
    /// How often its sender had gone back before.
    pub(super) go: u32,
    /// It was marked in flight.
    pub(super) congested: bool,
}

impl Message {
    pub(super) fn new(first: u64, number: u64, operation: Operation, bytes: u32, mtu: u32) -> Self {
        let packets = if operation.is_atomic() {
            1
        } else {
            u64::from(bytes.div_ceil(mtu).max(1))
        };
        Self {
            first,
            packets,
            bytes,
            operation,
            number,
        }
    }

    /// The sequence number after it.
    pub(super) fn end(&self) -> u64 {
        self.first + self.packets
    }

    /// The packet with this sequence number, or the rest of a READ from there on.
    pub(super) fn request(&self, sequence: u64, mtu: u32) -> Request {
        let offset = sequence - self.first;
        let before = (offset * u64::from(mtu)) as u32;
        let left = self.bytes.saturating_sub(before);
        let (span, position, payload_bytes) = match self.operation {
            Operation::Read => (self.packets - offset, Position::Only, 0),
            operation if operation.is_atomic() => (1, Position::Only, 0),
            _ => {
                let position = Position::of(offset == 0, offset + 1 == self.packets);
                (1, position, left.min(mtu))
            }
        };
        Request {
            sequence,
            span,
            operation: self.operation,
            position,
            payload_bytes,
            message_bytes: left,
            message: self.number,
            ack_request: false,
            rest: offset > 0 && self.operation == Operation::Read,
            again: false,
            repair: false,
            go: 0,
            congested: false,
        }
    }
}

impl Request {
    /// Bytes of headers between BTH and payload.
    pub(super) const fn extension_bytes(&self, service: Service) -> u32 {
        let place = match self.operation {
            Operation::Write | Operation::WriteWithImmediate if self.position.is_first() => 16,
            Operation::Read => 16,
            Operation::FetchAdd | Operation::CompareSwap => 28,
            _ => 0,
        };
        let suffix = match self.operation {
            Operation::SendWithImmediate | Operation::WriteWithImmediate | Operation::SendWithInvalidate
                if self.position.is_last() =>
            {
                4
            }
            _ => 0,
        };
        let datagram = if matches!(service, Service::Ud) { 8 } else { 0 };
        place + suffix + datagram
    }
}

/// The opcode of a request (IBTA volume 1, table 38).
pub(super) const fn request_opcode(service: Service, operation: Operation, position: Position) -> u8 {
    use Operation as O;
    use Position as P;
    let low = match (operation, position) {
        (O::Send | O::SendWithImmediate | O::SendWithInvalidate, P::First) => 0x00,
        (O::Send | O::SendWithImmediate | O::SendWithInvalidate, P::Middle) => 0x01,
        (O::Send, P::Last) => 0x02,
        (O::SendWithImmediate, P::Last) => 0x03,
        (O::SendWithInvalidate, P::Last) => 0x16,
        (O::Send, P::Only) => 0x04,
        (O::SendWithImmediate, P::Only) => 0x05,
        (O::SendWithInvalidate, P::Only) => 0x17,
        (O::Write | O::WriteWithImmediate, P::First) => 0x06,
        (O::Write | O::WriteWithImmediate, P::Middle) => 0x07,
        (O::Write, P::Last) => 0x08,
        (O::WriteWithImmediate, P::Last) => 0x09,
        (O::Write, P::Only) => 0x0a,
        (O::WriteWithImmediate, P::Only) => 0x0b,
        (O::Read, _) => 0x0c,
        (O::CompareSwap, _) => 0x13,
        (O::FetchAdd, _) => 0x14,
    };
    low | match service {
        Service::Rc => 0x00,
        Service::Uc => 0x20,
        Service::Ud => 0x60,
    }
}

/// The opcode of a READ response.
pub(super) const fn read_response_opcode(position: Position) -> u8 {
    match position {
        Position::First => 0x0d,
        Position::Middle => 0x0e,
        Position::Last => 0x0f,
        Position::Only => 0x10,
    }
}

/// `RC_ACKNOWLEDGE`.
pub(super) const ACKNOWLEDGE: u8 = 0x11;
/// `RC_ATOMIC_ACKNOWLEDGE`.
pub(super) const ATOMIC_ACKNOWLEDGE: u8 = 0x12;
/// `UD_SEND_ONLY`.
pub(super) const UD_SEND_ONLY: u8 = 0x64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_split_at_the_mtu() {
        let message = Message::new(10, 0, Operation::Write, 2500, 1024);
        let cut: Vec<_> = (10..message.end())
            .map(|at| message.request(at, 1024))
            .map(|request| (request.position, request.payload_bytes))
            .collect();
        assert_eq!(
            cut,
            [(Position::First, 1024), (Position::Middle, 1024), (Position::Last, 452)]
        );
        let empty = Message::new(0, 0, Operation::Send, 0, 1024).request(0, 1024);
        assert_eq!((empty.position, empty.payload_bytes), (Position::Only, 0));
    }

    #[test]
    fn a_read_uses_the_psns_of_its_response() {
        let message = Message::new(0, 0, Operation::Read, 2500, 1024);
        let whole = message.request(0, 1024);
        assert_eq!((whole.span, whole.message_bytes), (3, 2500));
        let rest = message.request(2, 1024);
        assert_eq!((rest.span, rest.message_bytes), (1, 452));
    }
}
