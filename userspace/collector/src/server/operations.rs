//! What operators ask for, as Flight actions.

use super::agents::Slot;
use super::refusal::Refusal;
use super::shared::Shared;
use crate::MESSAGE_BYTES;
use crate::control::operator::{APPLY, CHECK, ROLL_BACK, STATUS, VERSION};
use arrow_flight::{Action, Result as Answer};
use bytes::Bytes;
use serde::Serialize;
use std::sync::Arc;
use tonic::{Result, Status};

/// Bytes of a part of an answer: the client takes no larger message, and a fleet has thousands of members.
const PART_BYTES: usize = MESSAGE_BYTES / 2;

/// Does it; returns the parts of the answer.
pub(super) fn act(shared: &Arc<Shared>, slot: &Slot, action: &Action) -> Result<Vec<Answer>> {
    let Some(controller) = &shared.controller else {
        return Err(Status::unimplemented(
            "this collector is no controller: start it with --control",
        ));
    };
    let text = || std::str::from_utf8(&action.body).map_err(|_| Status::invalid_argument("the text is not UTF-8"));
    let number = || match text()? {
        "" => Ok(None),
        number => {
            let parsed = number.parse().map(Some);
            parsed.map_err(|_| Status::invalid_argument(format!("{number:?} is no version")))
        }
    };
    match action.r#type.as_str() {
        STATUS => answer(&controller.status()),
        VERSION => answer(&controller.version(number()?).map_err(Status::not_found)?),
        CHECK => answer(
            &controller
                .check(text()?, &slot.name)
                .map_err(Status::invalid_argument)?,
        ),
        APPLY | ROLL_BACK if !controller.is_operator(&slot.name) => {
            let why = format!(
                "{} is no operator: use the certificate of one, or have an operator add it to `operators`",
                slot.name
            );
            shared.refusals.count(Refusal::NotOperator, &slot.peer, &why);
            Err(Status::permission_denied(why))
        }
        APPLY => answer(
            &controller
                .apply(text()?, &slot.name)
                .map_err(Status::invalid_argument)?,
        ),
        ROLL_BACK => answer(
            &controller
                .roll_back(number()?, &slot.name)
                .map_err(Status::invalid_argument)?,
        ),
        other => Err(Status::unimplemented(format!(
            "unknown action {other:?}: this controller is older"
        ))),
    }
}

fn answer(document: &impl Serialize) -> Result<Vec<Answer>> {
    let body = serde_json::to_vec(document).map_err(|error| Status::internal(error.to_string()))?;
    let body = Bytes::from(body);
    let parts = (0..body.len()).step_by(PART_BYTES);
    let part = |from: usize| Answer {
        body: body.slice(from..body.len().min(from + PART_BYTES)),
    };
    Ok(parts.map(part).collect())
}
