//! How a connection was set up: CM datagrams and TCP handshakes.

use crate::connections::pairing::key::DirectionKey;
use crate::time::EventTime;
use alloc::collections::{BTreeMap, VecDeque};
use rocescope_record::{HandshakeRecord, MadRecord};
use rocescope_wire::cm::{Mad, Message, RejectReason, TransportService};
use rocescope_wire::{Psn, Qpn, Transport};

/// Connections being set up at once: 152 bytes each, 1.2 MiB. The oldest is dropped: it is then paired by its ACKs.
const MAX_PENDING: usize = 8_192;
/// Handshakes that wait for their connection: 88 bytes each.
const MAX_HANDSHAKES: usize = 8_192;

/// Facts from the setup of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) cm: Option<CmTimes>,
    pub(crate) tcp: Option<TcpTimes>,
}

/// When the datagrams passed, nanoseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CmTimes {
    pub(crate) request_ns: u64,
    pub(crate) reply_ns: Option<u64>,
    pub(crate) ready_ns: Option<u64>,
    pub(crate) in_request: u32,
    pub(crate) in_reply: u32,
    pub(crate) service: Option<Transport>,
}

/// The handshake that came before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpTimes {
    /// SYN to ACK.
    pub(crate) rtt_ns: u64,
    /// Other handshakes that may belong to this connection.
    pub(crate) others: u32,
}

/// A REQ and its answer.
#[derive(Clone, Copy, Debug)]
struct Pending {
    /// From the active to the passive side, with a destination QP of 0.
    key: DirectionKey,
    active_id: u32,
    active_qpn: u32,
    passive_qpn: Option<u32>,
    mtu: u16,
    times: CmTimes,
}

/// The effect of a CM datagram on directions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// Both QPNs are known: the directions from the active side and back.
    Paired {
        there: DirectionKey,
        back: DirectionKey,
        times: CmTimes,
        mtu: u16,
    },
    /// RTU.
    Ready { there: DirectionKey, ready_ns: u64 },
    /// DREQ, of the direction to this QP.
    Disconnect { there: DirectionKey },
    /// REJ.
    Reject { there: DirectionKey, reason: RejectReason },
}

/// Connections that CM is setting up, by the active side's communication id and address.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    pending: BTreeMap<([u8; 16], u32), Pending>,
    order: VecDeque<([u8; 16], u32)>,
}

impl Requests {
    /// Processes a datagram.
    pub(crate) fn datagram(&mut self, record: &MadRecord) -> Option<Step> {
        let bytes = record.mad.get(..record.mad_bytes as usize)?;
        let mad = Mad::read(bytes).ok()?;
        let flow = &record.flow;
        let direction = DirectionKey::new(flow, 0);
        match mad.message {
            Message::Request(request) => {
                let id = (flow.src, request.local_id.0);
                let pending = Pending {
                    key: direction,
                    active_id: request.local_id.0,
                    active_qpn: request.local_qpn.get(),
                    passive_qpn: None,
                    mtu: request.path_mtu_bytes().unwrap_or(0) as u16,
                    times: CmTimes {
                        request_ns: record.time_ns,
                        in_request: request.starting_psn.get(),
                        service: match request.transport_service {
                            TransportService::Rc => Some(Transport::Rc),
                            TransportService::Uc => Some(Transport::Uc),
                            TransportService::Xrc => Some(Transport::Xrc),
                            _ => None,
                        },
                        ..CmTimes::default()
                    },
                };
                // A repeated REQ keeps its first time.
                if let Some(known) = self.pending.get(&id)
                    && known.active_qpn == pending.active_qpn
                {
                    return None;
                }
                if self.pending.insert(id, pending).is_none() {
                    self.order.push_back(id);
                }
                if self.order.len() > MAX_PENDING
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.pending.remove(&oldest);
                }
                None
            }
            Message::Reply(reply) => {
                let pending = self.pending.get_mut(&(flow.dst, reply.remote_id.0))?;
                if pending.passive_qpn.is_some() {
                    return None;
                }
                pending.passive_qpn = Some(reply.local_qpn.get());
                pending.times.reply_ns = Some(record.time_ns);
                pending.times.in_reply = reply.starting_psn.get();
                let there = pending.key.towards(reply.local_qpn);
                let back = pending.key.reversed(pending.active_qpn);
                Some(Step::Paired {
                    there,
                    back,
                    times: pending.times,
                    mtu: pending.mtu,
                })
            }
            Message::ReadyToUse(ready) => {
                let id = (flow.src, ready.local_id.0);
                let pending = self.pending.get(&id)?;
                Some(Step::Ready {
                    there: pending.key.towards(Qpn::new(pending.passive_qpn?)),
                    ready_ns: record.time_ns,
                })
            }
            Message::DisconnectRequest(request) => Some(Step::Disconnect {
                there: direction.towards(request.remote_qpn),
            }),
            Message::Reject(reject) => {
                let pending = self.pending.remove(&(flow.dst, reject.remote_id.0))?;
                let _ = pending.active_id;
                Some(Step::Reject {
                    there: pending.key.towards(Qpn::new(pending.passive_qpn.unwrap_or(0))),
                    reason: reject.reason,
                })
            }
            _ => None,
        }
    }
}

impl DirectionKey {
    /// The direction of the same two hosts to this QP.
    pub(crate) fn towards(&self, qpn: Qpn) -> Self {
        let mut key = *self;
        key.flow.dst_qpn = qpn.get();
        key.src_qpn = 0;
        key
    }
}

impl CmTimes {
    /// First PSN that the active side sends, and the passive one: each side names the PSN it
    /// expects of the other, the REP the active side's and the REQ the passive side's.
    pub(crate) const fn starts(&self) -> (Psn, Psn) {
        (Psn::new(self.in_reply), Psn::new(self.in_request))
    }
}

/// TCP handshakes of the last seconds, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Handshakes {
    recent: VecDeque<HandshakeRecord>,
    /// Handshakes seen.
    pub(crate) seen: u64,
}

impl Handshakes {
    pub(crate) fn take(&mut self, record: &HandshakeRecord) {
        self.seen += 1;
        if self.recent.len() >= MAX_HANDSHAKES {
            self.recent.pop_front();
        }
        self.recent.push_back(*record);
    }

    /// The latest handshake between two hosts whose first packet passed at `first_ns`, and the number of other
    /// candidates.
    pub(crate) fn before(&self, key: &DirectionKey, first_ns: u64, within_ns: u64) -> Option<TcpTimes> {
        let mut found: Option<TcpTimes> = None;
        let (a, b) = (key.flow.src, key.flow.dst);
        for record in self.recent.iter().rev() {
            if record.ack_ns > first_ns {
                continue;
            }
            if first_ns.since(record.ack_ns) > within_ns {
                break;
            }
            let (client, server) = (record.client, record.server);
            if record.repeats > 0 || (client, server) != (a, b) && (client, server) != (b, a) {
                continue;
            }
            match &mut found {
                None => {
                    found = Some(TcpTimes {
                        rtt_ns: record.ack_ns.since(record.syn_ns),
                        others: 0,
                    });
                }
                Some(times) => times.others += 1,
            }
        }
        found
    }

    /// Removes handshakes too old for any connection.
    pub(crate) fn forget_before(&mut self, time_ns: u64) {
        while self.recent.pop_front_if(|record| record.ack_ns < time_ns).is_some() {}
    }
}
