//! The subscription to a controller, over the connection that carries the rows.

use super::connection::Connection;
use crate::control::Member;
use crate::control::message::{FromMember, ToMember, pack, unpack};
use arrow_flight::FlightData;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;

const ENDED: &str = "the controller ended the subscription";

/// A subscription in use.
pub(super) struct Subscription {
    member: Arc<Member>,
    waiting: VecDeque<FromMember>,
    send: mpsc::Sender<FlightData>,
    received: mpsc::Receiver<Result<FlightData, String>>,
}

impl Subscription {
    /// Subscribes; `None` if the collector is no controller.
    pub(super) async fn open(connection: &mut Connection, member: &Arc<Member>) -> Result<Option<Self>, String> {
        let Some((send, received)) = connection.exchange().await? else {
            return Ok(None);
        };
        Ok(Some(Self {
            member: Arc::clone(member),
            waiting: member.outgoing(true).into(),
            send,
            received,
        }))
    }

    /// Waits until there is something to send, or a message came; sends or takes it. It may be dropped at any time.
    pub(super) async fn step(&mut self) -> Result<(), String> {
        tokio::select! {
            room = self.send.reserve(), if !self.waiting.is_empty() => {
                let room = room.map_err(|_| ENDED.to_owned())?;
                if let Some(message) = self.waiting.pop_front() {
                    room.send(pack(&message));
                }
            }
            () = self.member.changed.notified() => self.waiting.extend(self.member.outgoing(false)),
            data = self.received.recv() => {
                let data = data.unwrap_or_else(|| Err(ENDED.into()))?;
                let message: ToMember = unpack(&data)
                    .map_err(|reason| format!("the controller sent an unreadable message: {reason}"))?;
                self.member.receive(message);
            }
        }
        Ok(())
    }
}
