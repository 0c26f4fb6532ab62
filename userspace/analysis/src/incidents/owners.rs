//! Whose the victims of incidents are: the rows of `queue_pairs`.

use super::gathered::Settings;
use crate::input::earlier;
use crate::{Error, Input, Reads};
use rocescope_diagnose::incidents::Incident;
use rocescope_diagnose::owners::{Owners, naming};
use rocescope_model::{Column, QueuePairRow};

/// Agents write the row of a queue pair again every five minutes by default, and at most an hour is believed without one.
pub(crate) const BACK_NS: i64 = 3_600_000_000_000;

/// Names the owners of the victims, from the rows of the time and of the hour before it. Later rows are about queue pairs that
/// rows of the time tell of, too: what ends later has not ended then.
pub(super) fn name(settings: &Settings, incidents: &mut [Incident]) -> Result<(), Error> {
    let asked: Vec<_> = naming::asked(incidents).collect();
    if asked.is_empty() {
        return Ok(());
    }
    let mut owners = Owners::of_these(asked);
    let time = earlier(settings.time, BACK_NS);
    Input::new::<QueuePairRow>().read(&mut owners, &settings.open(time)?, time)?;
    naming::name(incidents, &owners);
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
