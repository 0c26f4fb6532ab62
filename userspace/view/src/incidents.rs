//! The incidents at the time of a window.

use rocescope_model::IncidentRow;

/// How long an incident stays on the screen after its end.
const ENDED_NS: i64 = 300_000_000_000;

/// Those of `all` that go on in the window from `start_ns` to `end_ns`, which are open then, and those that ended shortly
/// before; open ones first, else in the order of `all`.
#[must_use]
pub fn at(all: &[IncidentRow], start_ns: i64, end_ns: i64) -> Vec<IncidentRow> {
    let is_shown = |row: &&IncidentRow| {
        let is_kept = |until_ns: i64| until_ns > start_ns.saturating_sub(ENDED_NS);
        row.since_ns < end_ns && row.until_ns.is_none_or(is_kept)
    };
    let mut rows: Vec<IncidentRow> = all.iter().filter(is_shown).cloned().collect();
    for row in &mut rows {
        let goes_on = row.until_ns.is_none_or(|until_ns| until_ns >= start_ns);
        row.state = if goes_on { "open" } else { "ended" }.into();
    }
    rows.sort_by_key(|row| !is_open(row));
    rows
}

/// Whether it goes on.
#[must_use]
pub fn is_open(row: &IncidentRow) -> bool {
    &*row.state == "open"
}

#[cfg(test)]
mod tests {
    use super::{at, is_open};
    use rocescope_model::IncidentRow;
    use rocescope_model::time::SECOND_NS;

    fn row(place: &'static str, since: i64, until: Option<i64>) -> IncidentRow {
        IncidentRow {
            place: place.into(),
            state: "ended".into(),
            since_ns: since * SECOND_NS,
            until_ns: until.map(|until| until * SECOND_NS),
            ..IncidentRow::default()
        }
    }

    #[test]
    fn an_incident_is_shown_from_its_start_until_minutes_after_its_end() {
        let all = [row("worst", 5, Some(60)), row("lasting", 15, None)];
        let shown = |second: i64| {
            let rows = at(&all, second * SECOND_NS, (second + 1) * SECOND_NS);
            let named = rows.iter().map(|row| {
                let sign = if is_open(row) { "+" } else { "-" };
                format!("{sign}{}", row.place)
            });
            named.collect::<Vec<String>>().join(" ")
        };
        let expected = [
            (4, ""),
            (5, "+worst"),
            (15, "+worst +lasting"),
            (60, "+worst +lasting"),
            (61, "+lasting -worst"),
            (359, "+lasting -worst"),
            (360, "+lasting"),
        ];
        for (second, named) in expected {
            assert_eq!(shown(second), named, "{second}");
        }
    }
}
