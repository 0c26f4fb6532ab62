//! The Flight service: `DoPut` takes rows, `DoExchange` serves members, `DoAction` operators.

use super::agents::Slot;
use super::intake::{Answers, Intake};
use super::{operations, subscription};
use crate::{MESSAGE_BYTES, REPLACED};
use arrow_flight::flight_service_server::{FlightService, FlightServiceServer};
use arrow_flight::{
    Action, ActionType, Criteria, Empty, FlightData, FlightDescriptor, FlightInfo, HandshakeRequest, HandshakeResponse,
    PollInfo, PutResult, SchemaResult, Ticket,
};
use futures_util::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tonic::codec::CompressionEncoding;
use tonic::{Request, Response, Result, Status, Streaming};

/// The service of one connection.
pub(super) fn flight(intake: Intake) -> FlightServiceServer<Intake> {
    FlightServiceServer::new(intake)
        .accept_compressed(CompressionEncoding::Gzip)
        .max_decoding_message_size(MESSAGE_BYTES)
}

type Stream<T> = BoxStream<'static, Result<T>>;

/// A stream that ends with the reason if a newer connection of the agent replaces this one.
fn until_replaced<T: Send + 'static>(slot: &Arc<Slot>, messages: Stream<T>) -> Stream<T> {
    let state = Some((Arc::clone(slot), messages));
    Box::pin(stream::unfold(state, |state| async {
        let (slot, mut messages) = state?;
        tokio::select! {
            by = slot.replaced() => {
                let why = format!("{REPLACED} {}, at {by}, connected to the collector", slot.name);
                Some((Err(Status::aborted(why)), None))
            }
            next = messages.next() => Some((next?, Some((slot, messages)))),
        }
    }))
}

fn only_put<T>() -> Result<T> {
    Err(Status::unimplemented("a collector only receives rows: use DoPut"))
}

/// A connection of an operator is no agent's, and the reverse.
fn only(is_operator: bool, is_wanted: bool) -> Result<()> {
    match is_operator == is_wanted {
        true => Ok(()),
        false => Err(Status::failed_precondition(
            "operators and agents use connections of their own",
        )),
    }
}

#[tonic::async_trait]
impl FlightService for Intake {
    type HandshakeStream = Stream<HandshakeResponse>;
    type ListFlightsStream = Stream<FlightInfo>;
    type DoGetStream = Stream<FlightData>;
    type DoPutStream = Answers;
    type DoExchangeStream = Stream<FlightData>;
    type DoActionStream = Stream<arrow_flight::Result>;
    type ListActionsStream = Stream<ActionType>;

    async fn do_put(&self, request: Request<Streaming<FlightData>>) -> Result<Response<Answers>> {
        only(self.is_operator, false)?;
        Ok(Response::new(until_replaced(
            &self.slot,
            self.take(request.into_inner()),
        )))
    }

    async fn handshake(&self, _: Request<Streaming<HandshakeRequest>>) -> Result<Response<Self::HandshakeStream>> {
        only_put()
    }

    async fn list_flights(&self, _: Request<Criteria>) -> Result<Response<Self::ListFlightsStream>> {
        only_put()
    }

    async fn get_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<FlightInfo>> {
        only_put()
    }

    async fn poll_flight_info(&self, _: Request<FlightDescriptor>) -> Result<Response<PollInfo>> {
        only_put()
    }

    async fn get_schema(&self, _: Request<FlightDescriptor>) -> Result<Response<SchemaResult>> {
        only_put()
    }

    async fn do_get(&self, _: Request<Ticket>) -> Result<Response<Self::DoGetStream>> {
        only_put()
    }

    async fn do_exchange(&self, request: Request<Streaming<FlightData>>) -> Result<Response<Self::DoExchangeStream>> {
        only(self.is_operator, false)?;
        let messages = subscription::serve(&self.shared, &self.slot, request.into_inner())?;
        Ok(Response::new(until_replaced(&self.slot, messages)))
    }

    async fn do_action(&self, request: Request<Action>) -> Result<Response<Self::DoActionStream>> {
        only(self.is_operator, true)?;
        self.slot.active.store(true, Ordering::Relaxed);
        let answer = operations::act(&self.shared, &self.slot, &request.into_inner())?;
        Ok(Response::new(Box::pin(stream::iter(answer.into_iter().map(Ok)))))
    }

    async fn list_actions(&self, _: Request<Empty>) -> Result<Response<Self::ListActionsStream>> {
        only_put()
    }
}

/// An answer as a Flight message.
pub(super) fn put_result(answer: &crate::label::Answer) -> PutResult {
    PutResult {
        app_metadata: answer.to_string().into(),
    }
}
