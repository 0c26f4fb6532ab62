//! A member's subscription, as an exchange of Flight messages: its state comes, versions and requests go.

use super::agents::Slot;
use super::controller::{Controller, Seat};
use super::refusal::Refusal;
use super::shared::Shared;
use crate::control::message::{FromMember, ToMember, pack, unpack};
use arrow_flight::FlightData;
use futures_util::stream::{self, BoxStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc;
use tonic::{Result, Status, Streaming};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Serves a member until its stream or the connection ends.
pub(super) fn serve(
    shared: &Arc<Shared>,
    slot: &Arc<Slot>,
    messages: Streaming<FlightData>,
) -> Result<BoxStream<'static, Result<FlightData>>> {
    let Some(controller) = shared.controller.clone() else {
        return Err(Status::unimplemented("this collector is no controller"));
    };
    slot.active.store(true, Ordering::Relaxed);
    let seat = controller.enter(&slot.name, NUMBER.fetch_add(1, Ordering::Relaxed));
    let (send, sent) = mpsc::channel(4);
    let subscription = Subscription {
        shared: Arc::clone(shared),
        slot: Arc::clone(slot),
        controller,
        seat,
        send,
    };
    tokio::spawn(subscription.run(messages));
    let messages = stream::unfold(sent, |mut sent| async { Some((sent.recv().await?, sent)) });
    Ok(Box::pin(messages))
}

struct Subscription {
    shared: Arc<Shared>,
    slot: Arc<Slot>,
    controller: Arc<Controller>,
    seat: Seat,
    send: mpsc::Sender<Result<FlightData>>,
}

impl Subscription {
    async fn run(mut self, messages: Streaming<FlightData>) {
        self.exchange(messages).await;
        self.controller.leave(&self.slot.name, &self.seat);
    }

    async fn exchange(&mut self, mut messages: Streaming<FlightData>) {
        // A channel, because reading a message may not be interrupted.
        let (read, mut received) = mpsc::channel(1);
        tokio::spawn(async move {
            while let Ok(Some(data)) = messages.message().await {
                if read.send(data).await.is_err() {
                    return;
                }
            }
        });
        self.seat.version.mark_changed();
        loop {
            let message = tokio::select! {
                data = received.recv() => {
                    let Some(data) = data else { return };
                    if !self.take(&data).await {
                        return;
                    }
                    continue;
                }
                changed = self.seat.version.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.controller.configuration(&self.slot.name)
                }
                // A newer subscription of the member dropped the other end.
                mail = self.seat.mail.recv() => match mail {
                    Some(message) => message,
                    None => return,
                },
            };
            if self.send(&message).await.is_err() {
                return;
            }
        }
    }

    async fn send(&self, message: &ToMember) -> std::result::Result<(), ()> {
        self.send.send(Ok(pack(message))).await.map_err(drop)
    }

    /// Takes a message; returns whether it is one.
    async fn take(&self, data: &FlightData) -> bool {
        match unpack(data) {
            Ok(FromMember::State(state)) => self.controller.report(&self.slot.identity, state),
            Ok(FromMember::SmallFlows(flows)) => self.controller.small_flows(&self.slot.name, &flows),
            Ok(FromMember::ToAgent(message)) => self.controller.pass_on(&self.slot.name, message),
            Ok(FromMember::Record(request)) => self.controller.record(&self.slot.name, &request),
            Err(reason) => {
                let why = format!("{}: unreadable message of a member: {reason}", self.slot.name);
                self.shared.refusals.count(Refusal::Protocol, &self.slot.peer, &why);
                let _ = self.send.send(Err(Status::invalid_argument(reason))).await;
                return false;
            }
        }
        true
    }
}
