//! Refusal and end of a connection: REJ, DREQ and DREP (IBTA volume 1, 12.6.7, 12.6.10, 12.6.11).

use super::field::{CommunicationId, Fields, FieldsMut};
use crate::number::Qpn;

/// Bytes of additional information in a REJ.
const INFORMATION_BYTES: usize = 72;

/// Why a side refuses (IBTA volume 1, 12.6.7.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct RejectReason(pub u16);

impl RejectReason {
    /// The peer timed out.
    pub const TIMEOUT: Self = Self(4);
    /// No application serves this service id.
    pub const INVALID_SERVICE_ID: Self = Self(8);
    /// The other side sent a REQ for the same connection, or this one's state is gone.
    pub const STALE_CONNECTION: Self = Self(10);
    /// The application refused.
    pub const CONSUMER: Self = Self(28);

    /// Its name in the specification.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            1 => "no QP available",
            2 => "no EEC available",
            3 => "no resources available",
            4 => "timeout",
            5 => "unsupported request",
            6 => "invalid communication id",
            7 => "invalid communication instance",
            8 => "invalid service id",
            9 => "invalid transport service type",
            10 => "stale connection",
            11 => "RDC does not exist",
            12 => "primary remote port GID rejected",
            13 => "primary remote port LID rejected",
            14 => "invalid primary SL",
            15 => "invalid primary traffic class",
            16 => "invalid primary hop limit",
            17 => "invalid primary packet rate",
            18 => "alternate remote port GID rejected",
            19 => "alternate remote port LID rejected",
            20 => "invalid alternate SL",
            21 => "invalid alternate traffic class",
            22 => "invalid alternate hop limit",
            23 => "invalid alternate packet rate",
            24 => "port and CM redirection",
            25 => "port redirection",
            26 => "invalid path MTU",
            27 => "insufficient responder resources",
            28 => "consumer reject",
            29 => "RNR retry count reject",
            30 => "duplicate local communication id",
            31 => "invalid class version",
            32 => "invalid flow label",
            33 => "invalid alternate flow label",
            _ => "reserved",
        }
    }
}

/// REJ: one side refuses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reject<'a> {
    /// The sender's number for the connection, 0 if it has none.
    pub local_id: CommunicationId,
    /// The receiver's number for it.
    pub remote_id: CommunicationId,
    /// Which message: 0 a REQ, 1 a REP, 2 none (a timeout, say).
    pub message: u8,
    /// The valid bytes of additional information, 7 bits.
    pub information_bytes: u8,
    /// Why.
    pub reason: RejectReason,
    /// The acceptable value, 72 bytes.
    pub information: &'a [u8],
    /// The application's, 148 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Reject<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            local_id: CommunicationId(fields.u32(0)),
            remote_id: CommunicationId(fields.u32(4)),
            message: fields.u8(8) >> 6,
            information_bytes: fields.u8(9) >> 1,
            reason: RejectReason(fields.u16(10)),
            information: fields.part(12, INFORMATION_BYTES),
            private_data: fields.tail(84),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(4, self.remote_id.0.to_be_bytes());
        fields.put(8, [self.message << 6, self.information_bytes << 1]);
        fields.put(10, self.reason.0.to_be_bytes());
        fields.part(12, INFORMATION_BYTES, self.information);
        fields.tail(84, self.private_data);
    }
}

/// DREQ: one side ends the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DisconnectRequest<'a> {
    /// The sender's number for the connection.
    pub local_id: CommunicationId,
    /// The receiver's.
    pub remote_id: CommunicationId,
    /// The receiver's queue pair.
    pub remote_qpn: Qpn,
    /// The application's, 220 bytes.
    pub private_data: &'a [u8],
}

impl<'a> DisconnectRequest<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            local_id: CommunicationId(fields.u32(0)),
            remote_id: CommunicationId(fields.u32(4)),
            remote_qpn: fields.qpn(8),
            private_data: fields.tail(12),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(4, self.remote_id.0.to_be_bytes());
        fields.put_u24(8, self.remote_qpn.get());
        fields.tail(12, self.private_data);
    }
}

/// DREP: the other side agrees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DisconnectReply<'a> {
    /// The sender's number for the connection.
    pub local_id: CommunicationId,
    /// The receiver's.
    pub remote_id: CommunicationId,
    /// The application's, 224 bytes.
    pub private_data: &'a [u8],
}

impl<'a> DisconnectReply<'a> {
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
