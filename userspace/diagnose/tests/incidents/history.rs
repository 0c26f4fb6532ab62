//! Places over weeks.

use rocescope_diagnose::incidents::history::History;
use rocescope_model::{IncidentNoteRow, IncidentRow};
use std::format;
use std::string::String;
use std::vec::Vec;

const HOUR: i64 = 3_600_000_000_000;

fn row(
    observer: &'static str,
    id: &'static str,
    class: &'static str,
    nic: &str,
    hours: (i64, Option<i64>),
) -> IncidentRow {
    let (since, until) = hours;
    IncidentRow {
        observer: observer.into(),
        id: id.into(),
        time_ns: until.unwrap_or(since + 1) * HOUR,
        state: if until.is_some() { "ended" } else { "open" }.into(),
        class: class.into(),
        place_kind: "port".into(),
        place: format!("{nic} port 1").into(),
        nic: Some(String::from(nic).into()),
        since_ns: since * HOUR,
        until_ns: until.map(|until| until * HOUR),
        ..IncidentRow::default()
    }
}

#[test]
fn places_are_ranked_and_an_incident_that_two_reported_counts_once() {
    let mut history = History::default();
    for one in [
        row("collector", "a", "sick_cable", "h1/nic0", (0, None)),
        // Its end replaces its beginning.
        row("collector", "a", "sick_cable", "h1/nic0", (0, Some(4))),
        // A later `diagnose --write` found another start.
        row("incidents", "b", "sick_cable", "h1/nic0", (1, Some(5))),
        row("collector", "c", "sick_cable", "h1/nic0", (20, Some(21))),
        // At the same time, of another class: two incidents, and the time counts once.
        row("collector", "d", "network_loss", "h1/nic0", (20, Some(22))),
        row("collector", "e", "pause_storm", "h2/nic0", (0, Some(100))),
        row("collector", "f", "pause_storm", "h3/nic0", (30, None)),
    ] {
        history.incident(one);
    }
    let mut withdrawn = row("collector", "g", "network_loss", "h2/nic0", (50, Some(60)));
    withdrawn.state = IncidentRow::WITHDRAWN.into();
    history.incident(withdrawn);
    history.note(IncidentNoteRow {
        time_ns: 10 * HOUR,
        id: "a".into(),
        place: "h1/nic0 port 1".into(),
        note: "replaced optics".into(),
        ..IncidentNoteRow::default()
    });
    let places = history.places();
    let shown: Vec<_> = places
        .places
        .iter()
        .map(|place| {
            (
                place.place.as_str(),
                place.incidents,
                place.open_ns / HOUR,
                place.is_open,
                place.since_note,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("h1/nic0", 3, 7, false, Some(2)),
            ("h2/nic0", 1, 100, false, None),
            ("h3/nic0", 1, 1, true, None),
        ]
    );
    let text = places.text();
    assert!(
        text.starts_with(
            "5 incidents at 3 places\n\nnic h1/nic0: 3 incidents\n  classes network_loss 1, sick_cable 2\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("[a] replaced optics\n          2 since the last note\n"),
        "{text}"
    );
}

/// The order of rows changes nothing: a dataset has them by table and hour, and merged ones in any order.
#[test]
fn an_earlier_row_does_not_replace_a_later_one() {
    let mut history = History::default();
    history.incident(row("c", "a", "sick_cable", "h1/nic0", (0, Some(4))));
    history.incident(row("c", "a", "sick_cable", "h1/nic0", (0, None)));
    assert!(!history.places().places[0].is_open);
}
