//! The traffic classes of the connections: how many directions used which DSCP for what, and where that cannot be meant.

use super::connection::Connection;
use rocescope_model::{ConnectionRow, DscpSet};

/// Connections that a finding names.
const NAMED: usize = 3;

/// Directions by the DSCP of one kind of packet.
#[derive(Debug, Clone)]
pub struct ByDscp([u64; 64]);

impl Default for ByDscp {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl ByDscp {
    fn add(&mut self, seen: DscpSet) {
        seen.iter().for_each(|dscp| self.0[usize::from(dscp)] += 1);
    }

    /// Returns the DSCPs that were used with the number of directions, most first.
    #[must_use]
    pub fn used(&self) -> Vec<(u8, u64)> {
        let mut used: Vec<(u8, u64)> = (0u8..).zip(self.0).filter(|(_, directions)| *directions > 0).collect();
        used.sort_by_key(|(dscp, directions)| (std::cmp::Reverse(*directions), *dscp));
        used
    }
}

/// Connections with something in common: their number, and some names.
#[derive(Debug, Clone, Default)]
pub struct Group {
    /// Number of connections.
    pub count: u64,
    /// The first few.
    pub named: Vec<String>,
}

impl Group {
    fn add(&mut self, connection: &Connection, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(format!("{}{}", connection.name(), what()));
        }
    }
}

/// Sums over the selected connections.
#[derive(Debug, Clone, Default)]
pub struct Classes {
    /// Directions by the DSCP of data, of acknowledgements, and of CNPs.
    pub data: ByDscp,
    /// See `data`.
    pub acknowledgements: ByDscp,
    /// See `data`.
    pub notifications: ByDscp,
    /// Connections whose data have several DSCPs in one direction.
    pub mixed: Group,
    /// Connections whose CNPs have the DSCP of their data.
    pub notified_in_data: Group,
    /// Connections with data packets without ECN capability.
    pub not_ecn_capable: Group,
    /// Connections with ECN-capable data packets.
    pub ecn_capable: u64,
}

impl Classes {
    pub(super) fn add(&mut self, connection: &Connection) {
        let set = |column: fn(&ConnectionRow) -> Option<&str>| {
            let sets = connection.directions().filter_map(column).filter_map(DscpSet::parse);
            sets.collect::<Vec<DscpSet>>()
        };
        let data = set(|row| row.data_dscp.as_deref());
        let notifications = set(|row| row.cnp_dscp.as_deref());
        data.iter().for_each(|seen| self.data.add(*seen));
        notifications.iter().for_each(|seen| self.notifications.add(*seen));
        set(|row| row.ack_dscp.as_deref())
            .iter()
            .for_each(|seen| self.acknowledgements.add(*seen));
        if let Some(mixed) = data.iter().find(|seen| seen.len() > 1) {
            self.mixed.add(connection, || format!(" (DSCP {mixed})"));
        }
        let both = data
            .iter()
            .flat_map(|data| notifications.iter().map(|cnp| data.common(*cnp)));
        if let Some(both) = both.into_iter().find(|both| !both.is_empty()) {
            self.notified_in_data.add(connection, || format!(" (DSCP {both})"));
        }
        // Datasets of before have no such column.
        let without: Vec<u64> = connection
            .directions()
            .filter_map(|row| row.not_ecn_capable_packets)
            .collect();
        if without.iter().any(|packets| *packets > 0) {
            self.not_ecn_capable.add(connection, String::new);
        } else if !without.is_empty() && !data.is_empty() {
            self.ecn_capable += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Classes;
    use crate::collect::Connection;
    use rocescope_model::ConnectionRow;

    fn connection(data: &'static str, cnp: &'static str, not_ecn_capable: u64) -> Connection {
        let row = |column: &'static str| (!column.is_empty()).then(|| column.into());
        Connection {
            a_to_b: Some(ConnectionRow {
                data_dscp: row(data),
                not_ecn_capable_packets: Some(not_ecn_capable),
                ..ConnectionRow::default()
            }),
            b_to_a: Some(ConnectionRow {
                cnp_dscp: row(cnp),
                not_ecn_capable_packets: Some(0),
                ..ConnectionRow::default()
            }),
            ..Connection::default()
        }
    }

    #[test]
    fn what_cannot_be_meant_is_counted_by_connection() {
        let mut classes = Classes::default();
        for (data, cnp, not_ecn_capable) in [("26", "48", 0), ("26", "26", 0), ("0,26", "", 7), ("26", "48", 0)] {
            classes.add(&connection(data, cnp, not_ecn_capable));
        }
        assert_eq!(classes.data.used(), [(26, 4), (0, 1)]);
        assert_eq!(classes.notifications.used(), [(48, 2), (26, 1)]);
        assert!(classes.acknowledgements.used().is_empty());
        assert_eq!((classes.mixed.count, classes.notified_in_data.count), (1, 1));
        assert_eq!((classes.not_ecn_capable.count, classes.ecn_capable), (1, 3));
        assert!(
            classes.mixed.named[0].ends_with("(DSCP 0,26)"),
            "{:?}",
            classes.mixed.named
        );
    }

    #[test]
    fn rows_without_the_columns_show_nothing() {
        let mut classes = Classes::default();
        classes.add(&Connection {
            a_to_b: Some(ConnectionRow::default()),
            ..Connection::default()
        });
        assert_eq!((classes.not_ecn_capable.count, classes.ecn_capable), (0, 0));
    }
}
