//! Windows that are analyzed again because rows came late.

use crate::hostmesh::run::{Run, START, WINDOW, lines};
use rocescope_diagnose::hostmesh::PreviousAnalysis;
use rocescope_fabric::Rails;
use rocescope_model::{ProbeRow, Text, Time, VerdictRow};

const FOR_EVER: i64 = i64::MAX;

fn mesh(silent: &[(&'static str, i64, i64)]) -> Run {
    let mut run = Run::new(Rails::two_tiers(4, 2, 2), 3);
    run.analyzer.set_live(Time(START - 10 * WINDOW));
    run.silent = silent.to_vec();
    run
}

/// The diagnosis of the third window, if the rows of `silent` hosts are missing from its start on.
fn third(silent: &[(&'static str, i64, i64)]) -> (rocescope_diagnose::hostmesh::WindowDiagnosis, PreviousAnalysis) {
    let mut run = mesh(silent);
    let found = (0..3).map(|_| run.window()).last().unwrap();
    let former = PreviousAnalysis {
        sla: Some(found.sla.clone()),
        verdicts: found.verdicts.clone(),
    };
    (found, former)
}

fn places(rows: &[VerdictRow]) -> Vec<String> {
    let places = rows.iter().map(|row| format!("{} {}", row.class, row.place));
    places.collect()
}

#[test]
fn late_rows_name_the_closed_windows_that_they_are_of_and_count_once() {
    let mut run = mesh(&[]);
    run.window();
    run.window();
    let late = |window: i64| ProbeRow {
        time_ns: START + window * WINDOW + 5,
        outcome: "received".into(),
        ..ProbeRow::default()
    };
    for row in [late(1), late(0), late(1), late(2)] {
        run.analyzer.probe(&row);
    }
    let starts: Vec<i64> = run.analyzer.late_windows().map(|start| start.0).collect();
    assert_eq!(starts, [START, START + WINDOW]);
    assert_eq!(run.analyzer.late_windows().count(), 0);
    assert_eq!(run.window().sla.late, 3);
}

#[test]
fn a_host_whose_rows_came_late_is_no_longer_silent() {
    let (_, former) = third(&[("h1", 2 * WINDOW, FOR_EVER)]);
    assert_eq!(places(&former.verdicts), ["silent h1"]);
    let (mut now, _) = third(&[]);
    let changes = former.revise(&mut now, &mut []).unwrap();
    assert_eq!(
        (changes.found, places(&changes.gone)),
        (Vec::new(), vec!["silent h1".into()])
    );
    assert_eq!((now.sla.revision, now.sla.verdicts), (Some(1), 0));
    // Nothing came since: there is nothing to store.
    let former = PreviousAnalysis {
        sla: Some(now.sla.clone()),
        verdicts: now.verdicts.clone(),
    };
    let (mut again, _) = third(&[]);
    assert_eq!(former.revise(&mut again, &mut []), None);
}

#[test]
fn silence_of_one_host_shows_when_the_rows_of_the_others_came() {
    let all = ["h0", "h1", "h2", "h3"].map(|host| (host, 2 * WINDOW, FOR_EVER));
    let (_, former) = third(&all);
    assert_eq!(places(&former.verdicts), ["silent diagnose"]);
    let (mut now, _) = third(&all[..1]);
    let changes = former.revise(&mut now, &mut []).unwrap();
    assert_eq!(places(&changes.found), ["silent h0"]);
    assert_eq!(places(&changes.gone), ["silent diagnose"]);
}

#[test]
fn late_rows_of_others_make_no_host_silent() {
    let former = PreviousAnalysis::default();
    let (mut now, _) = third(&[("h1", 2 * WINDOW, FOR_EVER)]);
    assert_eq!((lines(&now).len(), now.places.len()), (1, 1));
    let mut links = mesh(&[]).analyzer.link_rows(&now);
    let changes = former.revise(&mut now, &mut links).unwrap();
    assert_eq!(changes.found, []);
    assert_eq!((lines(&now).len(), now.places.len(), now.sla.verdicts), (0, 0, 0));
    // The first analysis of this window.
    assert_eq!(now.sla.revision, Some(0));
}

#[test]
fn a_problem_keeps_its_begin_and_the_rows_their_count_of_late_ones() {
    let row = |since_ns| VerdictRow {
        symptom: "loss".into(),
        place: "r1>s0".into(),
        since_ns,
        ..VerdictRow::default()
    };
    let (mut now, mut former) = third(&[]);
    former.verdicts = vec![row(5)];
    former.sla = former.sla.map(|sla| rocescope_model::SlaRow {
        probes: 7,
        late: 11,
        revision: Some(3),
        ..sla
    });
    now.verdicts = vec![row(9)];
    let changes = former.revise(&mut now, &mut []).unwrap();
    assert_eq!((changes.found.len(), changes.gone.len()), (0, 0));
    assert_eq!((now.verdicts[0].since_ns, now.verdicts[0].revision), (5, Some(4)));
    assert_eq!((now.sla.late, now.sla.revision), (11, Some(4)));
}

#[test]
fn a_host_that_was_heard_before_the_first_row_is_missed() {
    let mut run = mesh(&[("h3", 0, FOR_EVER)]);
    let last = Time(START - 20 * WINDOW);
    run.analyzer.seed_host(&Text::from("h3"), last, 400);
    let found = run.window();
    assert_eq!(lines(&found), ["silent host h3"]);
    assert_eq!((found.verdicts[0].since_ns, found.verdicts[0].probes), (last.0, 400));
}
