//! Connection setup and teardown: REQ, REP, RTU before the first request, DREQ and DREP after the last
//! answer.

use super::requester::NEVER;
use super::rules::Rules;
use super::scenario::group::Service;
use rocescope_wire::cm::{self, CommunicationId, Mad, Message, Path, Request, TransportService, ip};
use rocescope_wire::{Psn, Qpn};

/// The kind of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Request,
    Reply,
    ReadyToUse,
    /// Nothing to send: the connection is established.
    Open,
    Disconnect,
    DisconnectReply,
    Closed,
}

/// A datagram to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Datagram(pub(super) Stage);

impl Datagram {
    pub(super) fn from(self) -> usize {
        match self.0 {
            Stage::Reply | Stage::DisconnectReply => 1,
            _ => 0,
        }
    }
}

/// The state of a session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    stage: Stage,
    at: u64,
    open_at: u64,
}

impl Session {
    pub(super) fn new(start: u64, rules: &Rules) -> Self {
        let handshake = rules.delay.saturating_add(rules.near_delay.saturating_mul(2));
        Self {
            stage: Stage::Request,
            at: start,
            open_at: start.saturating_add(handshake),
        }
    }

    /// When the connection is established.
    pub(super) fn open_at(&self) -> u64 {
        self.open_at
    }

    pub(super) fn at(&self) -> u64 {
        self.at
    }

    pub(super) fn send(&mut self, now: u64, rules: &Rules) -> Datagram {
        let datagram = Datagram(self.stage);
        (self.stage, self.at) = match self.stage {
            Stage::Request => (Stage::Reply, now + rules.delay),
            Stage::Reply => (Stage::ReadyToUse, now + rules.near_delay),
            Stage::ReadyToUse => (Stage::Open, NEVER),
            Stage::Disconnect => (Stage::DisconnectReply, now + rules.delay),
            Stage::Open | Stage::DisconnectReply | Stage::Closed => (Stage::Closed, NEVER),
        };
        datagram
    }

    pub(super) fn close(&mut self, now: u64, rules: &Rules) {
        if self.stage == Stage::Open {
            self.stage = Stage::Disconnect;
            self.at = now + rules.near_delay;
        }
    }
}

/// The content of a connection's datagrams: of each side, the requester's first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    pub(super) qpns: [u32; 2],
    pub(super) start_psns: [u32; 2],
    pub(super) gids: [[u8; 16]; 2],
    pub(super) service: Service,
    pub(super) mtu: u32,
    pub(super) port: u16,
    /// The unique number of the connection.
    pub(super) number: u32,
}

impl Ends {
    /// The bytes of a datagram.
    pub(super) fn write(&self, stage: Stage) -> [u8; cm::MAD_BYTES] {
        let ids = [
            CommunicationId(0x4000_0000 | self.number),
            CommunicationId(0x8000_0000 | self.number),
        ];
        let transaction = 0x1_0000_0000 | u64::from(self.number) << 1;
        let qpn = self.qpns.map(Qpn::new);
        let psn = self.start_psns.map(Psn::new);
        let addresses = self.addresses().write();
        // Each side gives the PSN with which the other one begins (IBTA volume 1, 12.7.31).
        let message = match stage {
            Stage::Request => Message::Request(self.request(ids[0], qpn[0], psn[1], &addresses)),
            Stage::Reply => Message::Reply(cm::Reply::new(ids[1], ids[0], qpn[1], psn[0])),
            Stage::DisconnectReply => Message::DisconnectReply(cm::DisconnectReply {
                local_id: ids[1],
                remote_id: ids[0],
                private_data: &[],
            }),
            Stage::Disconnect => Message::DisconnectRequest(cm::DisconnectRequest {
                local_id: ids[0],
                remote_id: ids[1],
                remote_qpn: qpn[1],
                private_data: &[],
            }),
            Stage::ReadyToUse | Stage::Open | Stage::Closed => Message::ReadyToUse(cm::ReadyToUse {
                local_id: ids[0],
                remote_id: ids[1],
                private_data: &[],
            }),
        };
        let disconnects = matches!(stage, Stage::Disconnect | Stage::DisconnectReply);
        Mad::send(transaction + u64::from(disconnects), message).write()
    }

    fn addresses(&self) -> ip::Addresses {
        let v4 = self.gids[0].starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
        ip::Addresses {
            ip_version: if v4 { 4 } else { 6 },
            src_port: 0x8000 | self.number as u16,
            src: self.gids[0],
            dst: self.gids[1],
        }
    }

    fn request<'a>(&self, id: CommunicationId, qpn: Qpn, psn: Psn, private_data: &'a [u8]) -> Request<'a> {
        // RDMA_PS_TCP.
        let service = ip::Service {
            protocol: 6,
            port: self.port,
        };
        let mut request = Request::new(id, service.write(), qpn, psn);
        request.transport_service = match self.service {
            Service::Rc => TransportService::Rc,
            Service::Uc | Service::Ud => TransportService::Uc,
        };
        // 256 is 1, and each doubling one more.
        request.path_mtu = (self.mtu.trailing_zeros() as u8).saturating_sub(7);
        request.primary = Path {
            local_lid: 0xffff,
            remote_lid: 0xffff,
            local_gid: self.gids[0],
            remote_gid: self.gids[1],
            hop_limit: 64,
            ack_timeout: 18,
            ..Path::NONE
        };
        request.private_data = private_data;
        request
    }
}
