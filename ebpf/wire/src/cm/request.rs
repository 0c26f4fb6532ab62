//! REQ: the active side asks for a connection (IBTA volume 1, 12.6.5).

use super::field::{CommunicationId, Fields, FieldsMut};
use crate::number::{Psn, Qpn};

/// The transport service of a connection (IBTA volume 1, 12.7.6), including its extension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TransportService {
    /// Reliable connection.
    Rc,
    /// Unreliable connection.
    Uc,
    /// Reliable datagram.
    Rd,
    /// Extended reliable connection.
    Xrc,
    /// A combination the specification reserves: the two bits of the type, then the three of the
    /// extended type.
    Reserved(u8, u8),
}

impl TransportService {
    const fn from_bits(service: u8, extended: u8) -> Self {
        match (service, extended) {
            (0, _) => Self::Rc,
            (1, _) => Self::Uc,
            (2, _) => Self::Rd,
            (3, 1) => Self::Xrc,
            (service, extended) => Self::Reserved(service, extended),
        }
    }

    const fn bits(self) -> (u8, u8) {
        match self {
            Self::Rc => (0, 0),
            Self::Uc => (1, 0),
            Self::Rd => (2, 0),
            Self::Xrc => (3, 1),
            Self::Reserved(service, extended) => (service & 3, extended & 7),
        }
    }
}

/// A path through the fabric, as seen by the active side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// LID of the active side's port; 0xffff on RoCE.
    pub local_lid: u16,
    /// LID of the passive side's port.
    pub remote_lid: u16,
    /// GID of the active side's port: on RoCEv2 its address, IPv4 as IPv4-mapped IPv6.
    pub local_gid: [u8; 16],
    /// GID of the passive side's port.
    pub remote_gid: [u8; 16],
    /// Flow label, 20 bits.
    pub flow_label: u32,
    /// Encoded static rate, 6 bits.
    pub packet_rate: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Service level, 4 bits.
    pub service_level: u8,
    /// Both ports are in one subnet.
    pub subnet_local: bool,
    /// Encoded local ACK timeout, 5 bits: 4.096 µs × 2^n.
    pub ack_timeout: u8,
}

impl Path {
    /// No path: every field 0, as in a REQ without an alternate path.
    pub const NONE: Self = Self {
        local_lid: 0,
        remote_lid: 0,
        local_gid: [0; 16],
        remote_gid: [0; 16],
        flow_label: 0,
        packet_rate: 0,
        traffic_class: 0,
        hop_limit: 0,
        service_level: 0,
        subnet_local: false,
        ack_timeout: 0,
    };

    fn read(fields: Fields<'_>, at: usize) -> Self {
        let flow = fields.u32(at + 36);
        Self {
            local_lid: fields.u16(at),
            remote_lid: fields.u16(at + 2),
            local_gid: fields.bytes(at + 4),
            remote_gid: fields.bytes(at + 20),
            flow_label: flow >> 12,
            packet_rate: (flow & 0x3f) as u8,
            traffic_class: fields.u8(at + 40),
            hop_limit: fields.u8(at + 41),
            service_level: fields.u8(at + 42) >> 4,
            subnet_local: fields.u8(at + 42) & 0x08 != 0,
            ack_timeout: fields.u8(at + 43) >> 3,
        }
    }

    fn write(&self, fields: &mut FieldsMut<'_>, at: usize) {
        fields.put(at, self.local_lid.to_be_bytes());
        fields.put(at + 2, self.remote_lid.to_be_bytes());
        fields.put(at + 4, self.local_gid);
        fields.put(at + 20, self.remote_gid);
        let flow = self.flow_label << 12 | u32::from(self.packet_rate & 0x3f);
        fields.put(at + 36, flow.to_be_bytes());
        fields.put(
            at + 40,
            [
                self.traffic_class,
                self.hop_limit,
                self.service_level << 4 | u8::from(self.subnet_local) << 3,
                self.ack_timeout << 3,
            ],
        );
    }
}

/// A connection request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request<'a> {
    /// The active side's number for the connection.
    pub local_id: CommunicationId,
    /// The requested service: see [`ip::Service`](super::ip::Service).
    pub service_id: u64,
    /// GUID of the active side's adapter.
    pub local_ca_guid: u64,
    /// Queue key, only for datagrams.
    pub queue_key: u32,
    /// The active side's queue pair.
    pub local_qpn: Qpn,
    /// The number of READs and atomics that the active side can answer concurrently.
    pub responder_resources: u8,
    /// Local end-to-end context, only for RD.
    pub local_eecn: u32,
    /// The number of READs and atomics that the active side will have in flight.
    pub initiator_depth: u8,
    /// Remote end-to-end context, only for RD.
    pub remote_eecn: u32,
    /// Encoded time in which the passive side should answer, 5 bits.
    pub remote_response_timeout: u8,
    /// The service.
    pub transport_service: TransportService,
    /// Whether the active side sends end-to-end credits.
    pub flow_control: bool,
    /// First PSN of the active side's requests.
    pub starting_psn: Psn,
    /// Encoded time in which the active side will answer, 5 bits.
    pub local_response_timeout: u8,
    /// The number of retries, 3 bits.
    pub retry_count: u8,
    /// Partition key.
    pub partition_key: u16,
    /// Encoded path MTU, 4 bits: see [`path_mtu_bytes`](Self::path_mtu_bytes).
    pub path_mtu: u8,
    /// The RD channel exists already.
    pub rdc_exists: bool,
    /// The number of retries after an RNR NAK, 3 bits; 7 is unlimited.
    pub rnr_retry_count: u8,
    /// The number of retries of this message, 4 bits.
    pub max_cm_retries: u8,
    /// The active side's queue pair has a shared receive queue.
    pub shared_receive_queue: bool,
    /// The path.
    pub primary: Path,
    /// A second path, or [`Path::NONE`].
    pub alternate: Path,
    /// The application's, 92 bytes.
    pub private_data: &'a [u8],
}

impl<'a> Request<'a> {
    /// A request for a reliable connection to `service_id`, with the defaults of the Linux kernel.
    #[must_use]
    pub const fn new(local_id: CommunicationId, service_id: u64, local_qpn: Qpn, starting_psn: Psn) -> Self {
        Self {
            local_id,
            service_id,
            local_ca_guid: 0,
            queue_key: 0,
            local_qpn,
            responder_resources: 1,
            local_eecn: 0,
            initiator_depth: 1,
            remote_eecn: 0,
            remote_response_timeout: 20,
            transport_service: TransportService::Rc,
            flow_control: false,
            starting_psn,
            local_response_timeout: 20,
            retry_count: 7,
            partition_key: 0xffff,
            path_mtu: 3,
            rdc_exists: false,
            rnr_retry_count: 7,
            max_cm_retries: 15,
            shared_receive_queue: false,
            primary: Path::NONE,
            alternate: Path::NONE,
            private_data: &[],
        }
    }

    pub(super) fn read(fields: Fields<'a>) -> Self {
        let (service, psn, mtu, srq) = (fields.u8(43), fields.u8(47), fields.u8(50), fields.u8(51));
        Self {
            local_id: CommunicationId(fields.u32(0)),
            service_id: fields.u64(8),
            local_ca_guid: fields.u64(16),
            queue_key: fields.u32(28),
            local_qpn: fields.qpn(32),
            responder_resources: fields.u8(35),
            local_eecn: fields.u24(36),
            initiator_depth: fields.u8(39),
            remote_eecn: fields.u24(40),
            remote_response_timeout: service >> 3,
            transport_service: TransportService::from_bits((service >> 1) & 3, srq & 7),
            flow_control: service & 1 != 0,
            starting_psn: fields.psn(44),
            local_response_timeout: psn >> 3,
            retry_count: psn & 7,
            partition_key: fields.u16(48),
            path_mtu: mtu >> 4,
            rdc_exists: mtu & 8 != 0,
            rnr_retry_count: mtu & 7,
            max_cm_retries: srq >> 4,
            shared_receive_queue: srq & 8 != 0,
            primary: Path::read(fields, 52),
            alternate: Path::read(fields, 96),
            private_data: fields.tail(140),
        }
    }

    pub(super) fn write(&self, mut fields: FieldsMut<'_>) {
        let (service, extended) = self.transport_service.bits();
        fields.put(0, self.local_id.0.to_be_bytes());
        fields.put(8, self.service_id.to_be_bytes());
        fields.put(16, self.local_ca_guid.to_be_bytes());
        fields.put(28, self.queue_key.to_be_bytes());
        fields.put_u24(32, self.local_qpn.get());
        fields.put(35, [self.responder_resources]);
        fields.put_u24(36, self.local_eecn);
        fields.put(39, [self.initiator_depth]);
        fields.put_u24(40, self.remote_eecn);
        fields.put(
            43,
            [self.remote_response_timeout << 3 | service << 1 | u8::from(self.flow_control)],
        );
        fields.put_u24(44, self.starting_psn.get());
        fields.put(47, [self.local_response_timeout << 3 | self.retry_count & 7]);
        fields.put(48, self.partition_key.to_be_bytes());
        fields.put(
            50,
            [
                self.path_mtu << 4 | u8::from(self.rdc_exists) << 3 | self.rnr_retry_count & 7,
                self.max_cm_retries << 4 | u8::from(self.shared_receive_queue) << 3 | extended,
            ],
        );
        self.primary.write(&mut fields, 52);
        self.alternate.write(&mut fields, 96);
        fields.tail(140, self.private_data);
    }

    /// The path MTU in bytes, `None` if the code is reserved.
    #[must_use]
    pub const fn path_mtu_bytes(&self) -> Option<u32> {
        match self.path_mtu {
            code @ 1..=5 => Some(128 << code),
            _ => None,
        }
    }
}
