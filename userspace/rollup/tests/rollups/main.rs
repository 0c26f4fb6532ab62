//! Rollups of datasets on disk.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    reason = "numbers of tests are small"
)]

mod damage;
mod exact;
mod faults;
mod late;
mod oracle;
mod read;
mod rows;
