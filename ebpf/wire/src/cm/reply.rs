//! The messages after an accepted REQ: MRA, REP and RTU (IBTA volume 1, 12.6.6, 12.6.8, 12.6.9).

use super::field::{CommunicationId, Fields, FieldsMut};
use crate::number::{Psn, Qpn};

/// MRA: the message has arrived, its answer will take a while.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MessageReceipt<'a> {
    /// The sender's number for the connection.
    pub local_id: CommunicationId,
    /// The receiver's number for it.
    pub remote_id: CommunicationId,
    /// Which message: 0 a REQ, 1 a REP, 2 a LAP.
    pub message: u8,
    /// Encoded time until the answer, 5 bits: 4.096 µs × 2^n.
    pub service_timeout: u8,
    /// The application's, 222 bytes.
    pub private_data: &'a [u8],
}

impl<'a> MessageReceipt<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            local_id: CommunicationId(fields.u32(0)),
            remote_id: CommunicationId(fields.u32(4)),
            message: fields.u8(8) >> 6,
            service_timeout: fields.u8(9) >> 3,
            private_data: fields.tail(10),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(4, self.remote_id.0.to_be_bytes());
        fields.put(8, [self.message << 6, self.service_timeout << 3]);
        fields.tail(10, self.private_data);
    }
}

/// REP: the passive side accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply<'a> {
    /// The passive side's number for the connection.
    pub local_id: CommunicationId,
    /// The active side's, from its REQ.
    pub remote_id: CommunicationId,
    /// Queue key, only for datagrams.
    pub queue_key: u32,
    /// The passive side's queue pair.
    pub local_qpn: Qpn,
    /// Local end-to-end context, only for RD.
    pub local_eecn: u32,
    /// First PSN of the passive side's requests.
    pub starting_psn: Psn,
    /// The number of READs and atomics that the passive side can answer concurrently.
    pub responder_resources: u8,
    /// The number of READs and atomics that the passive side will have in flight.
    pub initiator_depth: u8,
    /// Encoded time the passive side may take to acknowledge, 5 bits: 4.096 µs × 2^n.
    pub target_ack_delay: u8,
    /// Status of the alternate path: 0 accepted, 1 not supported, 2 rejected.
    pub failover_accepted: u8,
    /// Whether the passive side sends end-to-end credits.
    pub flow_control: bool,
    /// The number of retries after an RNR NAK, 3 bits; 7 is unlimited.
    pub rnr_retry_count: u8,
    /// The passive side's queue pair has a shared receive queue.
    pub shared_receive_queue: bool,
    /// GUID of the passive side's adapter.
    pub local_ca_guid: u64,
    /// The application's, 196 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Reply<'a> {
    /// A reply with the defaults of the Linux kernel.
    #[must_use]
    pub const fn new(local_id: CommunicationId, remote_id: CommunicationId, local_qpn: Qpn, starting_psn: Psn) -> Self {
        Self {
            local_id,
            remote_id,
            queue_key: 0,
            local_qpn,
            local_eecn: 0,
            starting_psn,
            responder_resources: 1,
            initiator_depth: 1,
            target_ack_delay: 15,
            failover_accepted: 0,
            flow_control: false,
            rnr_retry_count: 7,
            shared_receive_queue: false,
            local_ca_guid: 0,
            private_data: &[],
        }
    }

    pub(super) fn read(fields: Fields<'a>) -> Self {
        let (delay, retry) = (fields.u8(26), fields.u8(27));
        Self {
            local_id: CommunicationId(fields.u32(0)),
            remote_id: CommunicationId(fields.u32(4)),
            queue_key: fields.u32(8),
            local_qpn: fields.qpn(12),
            local_eecn: fields.u24(16),
            starting_psn: fields.psn(20),
            responder_resources: fields.u8(24),
            initiator_depth: fields.u8(25),
            target_ack_delay: delay >> 3,
            failover_accepted: (delay >> 1) & 3,
            flow_control: delay & 1 != 0,
            rnr_retry_count: retry >> 5,
            shared_receive_queue: retry & 0x10 != 0,
            local_ca_guid: fields.u64(28),
            private_data: fields.tail(36),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(4, self.remote_id.0.to_be_bytes());
        fields.put(8, self.queue_key.to_be_bytes());
        fields.put_u24(12, self.local_qpn.get());
        fields.put_u24(16, self.local_eecn);
        fields.put_u24(20, self.starting_psn.get());
        fields.put(
            24,
            [
                self.responder_resources,
                self.initiator_depth,
                self.target_ack_delay << 3 | (self.failover_accepted & 3) << 1 | u8::from(self.flow_control),
                self.rnr_retry_count << 5 | u8::from(self.shared_receive_queue) << 4,
            ],
        );
        fields.put(28, self.local_ca_guid.to_be_bytes());
        fields.tail(36, self.private_data);
    }
}

/// RTU: the active side is ready too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadyToUse<'a> {
    /// The active side's number for the connection.
    pub local_id: CommunicationId,
    /// The passive side's.
    pub remote_id: CommunicationId,
    /// The application's, 224 bytes.
    pub private_data: &'a [u8],
}

impl<'a> ReadyToUse<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            local_id: CommunicationId(fields.u32(0)),
            remote_id: CommunicationId(fields.u32(4)),
            private_data: fields.tail(8),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(4, self.remote_id.0.to_be_bytes());
        fields.tail(8, self.private_data);
    }
}
