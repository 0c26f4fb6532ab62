//! The payload of a probe, 50 bytes (Hostmesh, section 4); one to another host and its answer have more.
//!
//! ```text
//!  0 magic 32            "rsPB"
//!  4 version 8           1
//!  5 kind 8              0 probe, 1 trace, 2 probe of a flow, 3 its answer, 4 probe to another host, 5 its answer
//!  6 agent 64            random number of the agent
//! 14 sequence 64         of the sending NIC
//! 22 source NIC 16
//! 24 destination NIC 16
//! 26 sent 64             (1), nanoseconds since 1970
//! 34 source port 16
//! 36 trace 16            number of the trace
//! 38 TTL 8               initial TTL of a trace
//! 39 held 32             how long the other agent held a probe, nanoseconds
//! 43 zero, 7 bytes
//! 50 message, 26 bytes   kinds 4 and 5 only: see the module `peers::receipt_message`
//! ```

use crate::peers::receipt_message::{self, Inquiry, pop};
use crate::types::{DatagramKind, Nanos, NicIndex, Outgoing, Sequence};
use rocescope_model::PROBE_PAYLOAD_BYTES;

/// Bytes on the wire, without the message.
pub const LEN: usize = PROBE_PAYLOAD_BYTES as usize;
const MAGIC: [u8; 4] = *b"rsPB";
const VERSION: u8 = 1;

/// The payload of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Number of the agent that sent it.
    pub agent: u64,
    /// Number of the probe.
    pub sequence: Sequence,
    /// The NIC that sent it.
    pub src: NicIndex,
    /// The destination NIC.
    pub dst: NicIndex,
    /// When the agent sent it (1).
    pub sent: Nanos,
    /// The UDP source port.
    pub port: u16,
    /// A probe, or a packet of a trace.
    pub kind: DatagramKind,
}

impl From<&Outgoing> for Payload {
    fn from(outgoing: &Outgoing) -> Self {
        Self {
            agent: outgoing.agent,
            sequence: outgoing.sequence,
            src: outgoing.src,
            dst: outgoing.dst,
            sent: outgoing.sent,
            port: outgoing.port,
            kind: outgoing.kind,
        }
    }
}

impl Payload {
    /// The bytes behind those of [`write`](Self::write), of a probe to another host and its answer.
    #[must_use]
    pub fn write_message(&self) -> Option<[u8; receipt_message::LEN]> {
        match self.kind {
            DatagramKind::PeerProbe(inquiry) => Some(inquiry.write()),
            DatagramKind::PeerAnswer { receipt, .. } => Some(receipt_message::write(receipt)),
            _ => None,
        }
    }

    /// Its first bytes.
    #[must_use]
    pub fn write(&self) -> [u8; LEN] {
        let (kind, id, ttl, held_ns) = match self.kind {
            DatagramKind::Probe => (0, 0, 0, 0),
            DatagramKind::Trace { id, ttl } => (1, id, ttl, 0),
            DatagramKind::Question => (2, 0, 0, 0),
            DatagramKind::Answer { held_ns } => (3, 0, 0, held_ns),
            DatagramKind::PeerProbe(_) => (4, 0, 0, 0),
            DatagramKind::PeerAnswer { held_ns, .. } => (5, 0, 0, held_ns),
        };
        let mut bytes = [0; LEN];
        let fields: [&[u8]; 11] = [
            &MAGIC,
            &[VERSION, kind],
            &self.agent.to_be_bytes(),
            &self.sequence.0.to_be_bytes(),
            &self.src.0.to_be_bytes(),
            &self.dst.0.to_be_bytes(),
            &self.sent.0.to_be_bytes(),
            &self.port.to_be_bytes(),
            &id.to_be_bytes(),
            &[ttl],
            &held_ns.to_be_bytes(),
        ];
        for (to, from) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *to = *from;
        }
        bytes
    }

    /// Parses the bytes of [`write`](Self::write) and [`write_message`](Self::write_message); more bytes may follow. `None` for anything else, including a later
    /// version.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        if pop(&mut rest)? != MAGIC || pop(&mut rest)? != [VERSION] {
            return None;
        }
        let [kind] = pop(&mut rest)?;
        let agent = u64::from_be_bytes(pop(&mut rest)?);
        let sequence = Sequence(u64::from_be_bytes(pop(&mut rest)?));
        let src = NicIndex(u16::from_be_bytes(pop(&mut rest)?));
        let dst = NicIndex(u16::from_be_bytes(pop(&mut rest)?));
        let sent = Nanos(i64::from_be_bytes(pop(&mut rest)?));
        let port = u16::from_be_bytes(pop(&mut rest)?);
        let id = u16::from_be_bytes(pop(&mut rest)?);
        let [ttl] = pop(&mut rest)?;
        let held_ns = u32::from_be_bytes(pop(&mut rest)?);
        let kind = match kind {
            0 => DatagramKind::Probe,
            1 => DatagramKind::Trace { id, ttl },
            2 => DatagramKind::Question,
            3 => DatagramKind::Answer { held_ns },
            4 => DatagramKind::PeerProbe(Inquiry::read(bytes.get(LEN..)?)?),
            5 => DatagramKind::PeerAnswer {
                held_ns,
                receipt: receipt_message::read(bytes.get(LEN..)?)?,
            },
            _ => return None,
        };
        Some(Self {
            agent,
            sequence,
            src,
            dst,
            sent,
            port,
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_written_payload_is_read_back(
            agent: u64, sequence: u64, src: u16, dst: u16, sent: i64, port: u16, id: u16, ttl: u8, traces: bool
        ) {
            let payload = Payload {
                agent,
                sequence: Sequence(sequence),
                src: NicIndex(src),
                dst: NicIndex(dst),
                sent: Nanos(sent),
                port,
                kind: if traces { DatagramKind::Trace { id, ttl } } else { DatagramKind::Probe },
            };
            prop_assert_eq!(Payload::read(&payload.write()), Some(payload));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Payload::read(&bytes);
        }
    }
}
