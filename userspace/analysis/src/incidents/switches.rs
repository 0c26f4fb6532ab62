//! What switches counted and dropped: faults of their own, and the places of losses.

use super::gathered::{Gathered, Settings};
use crate::{Error, Input, Reads, topology};
use rocescope_diagnose::hostmesh::Analyzer;
use rocescope_diagnose::incidents::SwitchDrops;
use rocescope_diagnose::incidents::ports::{Cables, Ports};
use rocescope_model::human::plural;
use rocescope_model::{Column, PathRow, Row, SwitchDropRow, SwitchPortRow};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Adds the faults that the counters of switches show, and gives losses the places where switches dropped their packets.
pub(super) fn add(settings: &Settings, gathered: &mut Gathered) -> Result<(), Error> {
    let found = settings.open(settings.time)?;
    let rows = [SwitchPortRow::TABLE, SwitchDropRow::TABLE].map(|table| found.row_count(table.name));
    if rows == [0, 0] {
        return Ok(());
    }
    let mut ports = Ports::default();
    Input::new::<SwitchPortRow>().read(&mut ports, &found, settings.time)?;
    let cables = match &settings.topology {
        Some(path) => topology::cables(path)?,
        None => Cables::default(),
    };
    gathered.incidents.extend(ports.find(&cables));
    if ports.overflow() > 0 {
        let beyond = plural(ports.overflow(), "reading");
        gathered
            .notes
            .push(format!("{beyond} of switches not judged: too many ports"));
    }
    let mut drops = SwitchDrops::of(&gathered.incidents);
    if !drops.is_empty() {
        Input::new::<SwitchDropRow>().read(&mut drops, &found, settings.time)?;
        Input::new::<SwitchPortRow>().read(&mut drops, &found, settings.time)?;
        let mut nics = Nics::default();
        if !cables.is_empty() {
            Input::new::<PathRow>().read(&mut nics, &found, settings.time)?;
        }
        drops.place(&cables.clone().with_nics(nics.0), &mut gathered.incidents);
    }
    ports.beside(&cables, &mut gathered.incidents);
    gathered.judged.push(format!(
        "{} and {} of switches",
        plural(rows[0], "reading"),
        plural(rows[1], "drop report")
    ));
    Ok(())
}

/// The hosts and NICs of addresses, as agents trace paths from them.
#[derive(Default)]
struct Nics(BTreeMap<IpAddr, (String, String)>);

impl Reads<PathRow> for Nics {
    // As long as agents trace each path again.
    const LOOK_BACK_NS: i64 = <Analyzer as Reads<PathRow>>::LOOK_BACK_NS;

    fn is_read(column: &Column) -> bool {
        // A row without both addresses is none.
        ["time_ns", "observer", "src_nic", "src", "dst"].contains(&column.name)
    }

    fn time_ns(row: &PathRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &PathRow) {
        // The latest: an address may move.
        self.0
            .insert(row.src, (row.observer.to_string(), row.src_nic.to_string()));
    }
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

impl Reads<SwitchPortRow> for Ports {
    fn is_read(column: &Column) -> bool {
        const READ: [&str; 22] = [
            "time_ns",
            "interval_ns",
            "switch",
            "port_name",
            "queue",
            "priority",
            "speed_bps",
            "in_frames",
            "in_dropped_frames",
            "sent_pause_frames",
            "received_pause_frames",
            "pausing_ns",
            "paused_ns",
            "watchdog_storms",
            "watchdog_restores",
            "in_errors",
            "fcs_errors",
            "fec_uncorrected",
            "bit_error_ratio",
            "rx_power_dbm",
            "tx_power_dbm",
            "dark_lanes",
        ];
        READ.contains(&column.name)
    }

    fn time_ns(row: &SwitchPortRow) -> i64 {
        row.time_ns
    }

    fn row(&mut self, row: &SwitchPortRow) {
        self.add(row);
    }
}
