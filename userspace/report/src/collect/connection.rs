//! The two directions of a connection, and their common metrics.

use super::scope::Scope;
use rocescope_diagnose::owners::Owner;
use rocescope_model::ConnectionRow;
use rocescope_model::filter::RowFilter;
use serde::Serialize;

/// Twice the interval at which a live direction writes a row. Rows of rollups come once a window.
pub(super) const fn silence_ns(window_ns: i64) -> i64 {
    const CAPTURED_NS: i64 = 120_000_000_000;
    let of_windows = window_ns.saturating_mul(2);
    if of_windows > CAPTURED_NS {
        of_windows
    } else {
        CAPTURED_NS
    }
}

/// The two directions of a connection.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Connection {
    /// What `a` sent.
    #[serde(serialize_with = "crate::json::direction")]
    pub a_to_b: Option<ConnectionRow>,
    /// What `b` sent.
    #[serde(serialize_with = "crate::json::direction")]
    pub b_to_a: Option<ConnectionRow>,
    /// Whose the queue pair of `a` is; absent if that is unknown, and unless the connection is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub a_owner: Option<Owner>,
    /// Whose the queue pair of `b` is; likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub b_owner: Option<Owner>,
}

impl Connection {
    /// Returns the known directions.
    pub fn directions(&self) -> impl Iterator<Item = &ConnectionRow> {
        self.a_to_b.iter().chain(&self.b_to_a)
    }

    pub(super) fn sum(&self, of: fn(&ConnectionRow) -> u64) -> u64 {
        self.directions().map(of).sum()
    }

    /// Returns the share of retransmitted packets.
    #[must_use]
    pub fn resent_share(&self) -> f64 {
        let resent = self.sum(|row| row.retransmitted_packets);
        crate::words::share(resent, self.sum(|row| row.packets))
    }

    /// Returns the highest p99 of its round trips.
    #[must_use]
    pub fn rtt_p99_ns(&self) -> Option<u64> {
        self.directions().filter_map(|row| row.rtt_p99_ns).max()
    }

    /// Returns its endpoints: `10.0.0.1 ↔ 10.0.0.2 QP 17/18`.
    #[must_use]
    pub fn name(&self) -> String {
        let Some(row) = self.directions().next() else {
            return String::new();
        };
        let qpn = |qpn: Option<u32>| qpn.map_or("?".into(), |qpn| qpn.to_string());
        let (from, to) = (qpn(row.src_qpn), qpn(row.dst_qpn));
        format!("{} ↔ {} QP {from}/{to}", row.src, row.dst)
    }

    /// Returns its rank: see [`ConnectionRow::trouble`].
    pub(super) fn trouble(&self) -> [u64; 5] {
        ConnectionRow::trouble(self.directions())
    }

    pub(super) fn is_over(&self, latest_ns: i64, silence_ns: i64) -> bool {
        let over = |row: &ConnectionRow| {
            (&*row.state == "gone" && row.time_ns < latest_ns) || row.time_ns < latest_ns.saturating_sub(silence_ns)
        };
        self.directions().all(over)
    }

    pub(super) fn is_wanted(&self, scope: &Scope, filter: Option<&RowFilter>) -> bool {
        let from = scope.from.map_or(i64::MIN, |from| from.0);
        let to = scope.to.map_or(i64::MAX, |to| to.0);
        let begun = |row: &ConnectionRow| row.first_ns.unwrap_or(row.last_ns);
        let lived = self.directions().any(|row| row.last_ns >= from && begun(row) < to);
        let wanted = |filter: &RowFilter| {
            self.directions()
                .any(|row| filter.matches(std::slice::from_ref(row), 0))
        };
        lived && filter.is_none_or(wanted)
    }
}
