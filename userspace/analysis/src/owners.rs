//! Whose captured traffic is: the rows of `queue_pairs`.

use crate::input::earlier;
use crate::{Error, Input, Reads};
use core::net::IpAddr;
use rocescope_diagnose::owners::Owners;
use rocescope_model::{Column, QueuePairRow, Row};
use rocescope_store::{Query, Scan, TimeRange};
use std::path::Path;

/// Agents write the row of a queue pair again every five minutes by default, and at most an hour is believed without one.
const BACK_NS: i64 = 3_600_000_000_000;

/// The time whose rows name owners of traffic in this one, and the hour before it. Later rows are about queue pairs that rows
/// of the time tell of, too: what ends later has not ended then.
#[must_use]
pub fn time_of(traffic: TimeRange) -> TimeRange {
    earlier(traffic, BACK_NS)
}

/// The owners of queue pairs by address and number, at the time of this traffic.
///
/// # Errors
/// The dataset cannot be read.
pub fn find(root: &Path, traffic: TimeRange, asked: impl IntoIterator<Item = (IpAddr, u32)>) -> Result<Owners, Error> {
    let query = Query::default().tables(&[QueuePairRow::TABLE]);
    let found = query.within(time_of(traffic)).open(root)?;
    let mut owners = Owners::of_these(asked);
    add(&mut owners, &found, traffic)?;
    Ok(owners)
}

/// Adds the rows that name owners of traffic in this time.
///
/// # Errors
/// The dataset cannot be read.
pub fn add(owners: &mut Owners, found: &Scan, traffic: TimeRange) -> Result<(), Error> {
    Input::new::<QueuePairRow>().read(owners, found, time_of(traffic))?;
    Ok(())
}

impl Reads<QueuePairRow> for Owners {
    fn is_read(column: &Column) -> bool {
        !matches!(
            column.name,
            "time"
                | "port"
                | "qp_type"
                | "state"
                | "command"
                | "udp_src_port"
                | "traffic_class"
                | "path_mtu_bytes"
                | "timeout"
                | "retries"
                | "rnr_retries"
                | "send_psn"
                | "receive_psn"
                | "by_cm"
                | "source"
                | "event"
        )
    }

    fn time_ns(row: &QueuePairRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &QueuePairRow) {
        Self::row(self, row);
    }
}
