//! What switches dropped while packets were lost.

use super::gathered::{Gathered, Settings};
use crate::{Error, Input, Reads};
use rocescope_diagnose::incidents::SwitchDrops;
use rocescope_model::human::plural;
use rocescope_model::{Column, Row, SwitchDropRow, SwitchPortRow};

/// Gives losses the places where switches dropped their packets.
pub(super) fn place(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let mut drops = SwitchDrops::of(&gathered.incidents);
    let found = settings.open(settings.time)?;
    let rows = [SwitchPortRow::TABLE, SwitchDropRow::TABLE].map(|table| found.row_count(table.name));
    if rows == [0, 0] {
        return Ok(());
    }
    if !drops.is_empty() {
        Input::new::<SwitchDropRow>().read(&mut drops, &found, settings.time)?;
        Input::new::<SwitchPortRow>().read(&mut drops, &found, settings.time)?;
        drops.place(&mut gathered.incidents);
    }
    gathered.judged.push(format!(
        "{} and {} of switches, beside losses",
        plural(rows[0], "reading"),
        plural(rows[1], "drop report")
    ));
    Ok(())
}

impl Reads<SwitchDropRow> for SwitchDrops {
    fn time_ns(row: &SwitchDropRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &SwitchDropRow) {
        self.dropped(row);
    }
}

impl Reads<SwitchPortRow> for SwitchDrops {
    fn is_read(column: &Column) -> bool {
        const READ: [&str; 8] = [
            "time_ns",
            "interval_ns",
            "switch",
            "port_name",
            "queue",
            "priority",
            "in_dropped_frames",
            "out_dropped_frames",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &SwitchPortRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &SwitchPortRow) {
        self.port(row);
    }
}
