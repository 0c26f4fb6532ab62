//! Service id resolution: the queue pair for the datagrams of a service (IBTA volume 1, 12.11).

use super::field::{Fields, FieldsMut};
use crate::number::Qpn;

/// Bytes of additional information in a reply.
const INFORMATION_BYTES: usize = 72;

/// `SIDR_REQ`: asks for the queue pair of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SidrRequest<'a> {
    /// The requester's number for the request.
    pub request_id: u32,
    /// Partition key.
    pub partition_key: u16,
    /// The requested service.
    pub service_id: u64,
    /// The application's, 216 bytes.
    pub private_data: &'a [u8],
}

impl<'a> SidrRequest<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            request_id: fields.u32(0),
            partition_key: fields.u16(4),
            service_id: fields.u64(8),
            private_data: fields.tail(16),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.request_id.to_be_bytes());
        fields.put(4, self.partition_key.to_be_bytes());
        fields.put(8, self.service_id.to_be_bytes());
        fields.tail(16, self.private_data);
    }
}

/// `SIDR_REP`: the queue pair of the service, or none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SidrReply<'a> {
    /// The number of the request.
    pub request_id: u32,
    /// 0 found, 1 not supported, 2 rejected by the application, 3 no queue pair, 4 asked elsewhere,
    /// 5 another version.
    pub status: u8,
    /// The valid bytes of additional information.
    pub information_bytes: u8,
    /// The queue pair that serves.
    pub qpn: Qpn,
    /// The requested service.
    pub service_id: u64,
    /// Its queue key.
    pub queue_key: u32,
    /// Where to ask instead, 72 bytes.
    pub information: &'a [u8],
    /// The application's, 136 bytes.
    pub private_data: &'a [u8],
}

impl<'a> SidrReply<'a> {
    pub(super) fn read(fields: Fields<'a>) -> Self {
        Self {
            request_id: fields.u32(0),
            status: fields.u8(4),
            information_bytes: fields.u8(5),
            qpn: fields.qpn(8),
            service_id: fields.u64(12),
            queue_key: fields.u32(20),
            information: fields.part(24, INFORMATION_BYTES),
            private_data: fields.tail(96),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        fields.put(0, self.request_id.to_be_bytes());
        fields.put(4, [self.status, self.information_bytes]);
        fields.put_u24(8, self.qpn.get());
        fields.put(12, self.service_id.to_be_bytes());
        fields.put(20, self.queue_key.to_be_bytes());
        fields.part(24, INFORMATION_BYTES, self.information);
        fields.tail(96, self.private_data);
    }
}
