//! A route that one 5-tuple alone crosses: whether the route or the 5-tuple is lost, no probe separates.

use super::place::{Crossing, FaultLocation};
use super::verdict::Judge;
use alloc::format;
use alloc::string::String;
use rocescope_model::{Text, VerdictRow};

impl Judge<'_> {
    /// Adds the 5-tuple to a verdict on a route, or the switch of the route to one on a 5-tuple, if these are one to all probes;
    /// returns the end of its sentence.
    pub(super) fn add_other(&self, row: &mut VerdictRow, place: FaultLocation) -> String {
        match place {
            FaultLocation::Route { .. } | FaultLocation::PairAt { .. } => self.add_tuple(row, place),
            FaultLocation::Tuple { dst, .. } => self.add_switch(row, place, dst),
            _ => String::new(),
        }
    }

    fn add_tuple(&self, row: &mut VerdictRow, route: FaultLocation) -> String {
        let (tuples, names) = (&self.analyzer.tuples, &self.analyzer.names);
        let sent = self.cells.all.iter().filter(|cell| cell.sent > 0);
        let mut own = sent.filter(|cell| Crossing::of(cell, tuples).meets(route, names));
        let Some(first) = own.next() else {
            return String::new();
        };
        if own.any(|cell| cell.tuple != first.tuple) {
            return String::new();
        }
        let key = tuples.all[first.tuple as usize].key;
        let address = |nic: u32| names.nics.get(nic as usize).map(|nic| nic.address);
        (row.src, row.dst) = (address(key.src), address(key.dst));
        row.udp_src_port = Some(key.udp_src_port);
        format!(
            "; only the 5-tuple from {} with source port {} crosses it, so that one alone may be lost",
            names.nic_name(key.src),
            key.udp_src_port
        )
    }

    fn add_switch(&self, row: &mut VerdictRow, tuple: FaultLocation, nic: u32) -> String {
        let (tuples, names) = (&self.analyzer.tuples, &self.analyzer.names);
        let sent = || self.cells.all.iter().filter(|cell| cell.sent > 0);
        let Some(cell) = sent().find(|cell| Crossing::of(cell, tuples).meets(tuple, names)) else {
            return String::new();
        };
        let is_alone = |switch: u32| {
            let route = FaultLocation::Route { switch, nic };
            let mut all = sent().filter(|cell| Crossing::of(cell, tuples).meets(route, names));
            all.all(|other| other.tuple == cell.tuple)
        };
        let Some(switch) = Crossing::of(cell, tuples)
            .switches(names)
            .find(|switch| is_alone(*switch))
        else {
            return String::new();
        };
        let switch = names.switch_name(switch);
        row.switch = Some(Text::from(switch.clone()));
        format!("; no other 5-tuple to this NIC crosses {switch}, so its route to the NIC may be missing")
    }
}
