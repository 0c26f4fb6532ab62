//! Rows of steps for tests.

use crate::steps::{Builder, Steps};
use alloc::string::ToString;
use rocescope_model::StepRow;

/// A row: host, step, receiver, what it waited for, start, duration.
pub(crate) fn row(host: &str, step: u32, to: &str, waits: Option<(&str, u32)>, start: i64, took: i64) -> StepRow {
    StepRow {
        host: host.to_string().into(),
        step,
        dst_host: to.to_string().into(),
        waits_known: true,
        awaited_host: waits.map(|(host, _)| host.to_string().into()),
        awaited_step: waits.map(|(_, step)| step),
        time_ns: start,
        duration_ns: Some(took),
        ..StepRow::default()
    }
}

/// The steps of these rows.
pub(crate) fn steps(rows: &[StepRow]) -> Steps {
    let mut builder = Builder::default();
    for row in rows {
        builder.add(row);
    }
    builder.finish()
}
