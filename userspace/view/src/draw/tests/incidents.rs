//! The verdicts about hosts: snapshots of screens, the header of other panes, sources without verdicts.

use super::Rig;
use super::mesh::compare;
use crate::pane::Pane;
use crate::view::Options;
use rocescope_model::time::SECOND_NS;
use rocescope_model::{IncidentRow, Text, Time};

const START: i64 = 1_767_225_600_000_000_000;

fn incident(class: &'static str, place: &'static str, since_s: i64, until_s: Option<i64>) -> IncidentRow {
    let time_ns = START + 200 * SECOND_NS;
    IncidentRow {
        observer: "collector".into(),
        time: Time(time_ns),
        time_ns,
        state: if until_s.is_none() { "open" } else { "ended" }.into(),
        class: class.into(),
        place_kind: "port".into(),
        place: place.into(),
        host: Some("gpu-1".into()),
        since_ns: START + since_s * SECOND_NS,
        until_ns: until_s.map(|until| START + until * SECOND_NS),
        sources: "counters".into(),
        ..IncidentRow::default()
    }
}

/// The fixture's windows end in the first seconds after `START`.
fn incidents() -> Vec<IncidentRow> {
    vec![
        IncidentRow {
            certainty: "certain".into(),
            reason: "queue pairs of it vanished, and its port is up".into(),
            evidence: "local_ack_timeout_err +7 events (gpu-0 mlx5_0/1), req_cqe_error +1 events (gpu-0 mlx5_0/1), \
                       queue_pairs 3 (gpu-1 mlx5_0/1)"
                .into(),
            victims: Some(3),
            worst_victims: Some("10.0.0.1 > 10.0.0.2 QP 17".into()),
            unknown: Some("the process: RDMA netlink of gpu-1 does not name it".into()),
            sentence: "gpu-1 mlx5_0/1: the receiving application is gone".into(),
            action: "look for the end of the application on gpu-1: its log, dmesg, the out-of-memory killer".into(),
            ..incident("receiver_died", "gpu-1 mlx5_0/1", -10, None)
        },
        IncidentRow {
            certainty: "likely".into(),
            reason: "errors of the link grow".into(),
            sentence: "gpu-2 mlx5_1/1: the cable or a transceiver is damaged".into(),
            action: "clean or replace the cable".into(),
            ..incident("sick_cable", "gpu-2 mlx5_1/1", -180, Some(-20))
        },
    ]
}

fn rig(width: u16, height: u16) -> Rig {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(width, height, options);
    rig.view.turn_to_pane(Pane::Incidents);
    rig.view.incidents(incidents());
    rig
}

#[test]
fn screens_match_their_snapshots() {
    compare("incidents-80x24.txt", &mut rig(80, 24));
    compare("incidents-120x40.txt", &mut rig(120, 40));
    let mut detail = rig(120, 40);
    detail.press("enter");
    compare("incidents-detail-120x40.txt", &mut detail);
}

#[test]
fn the_selected_incident_has_its_evidence_and_what_to_do() {
    let mut rig = rig(120, 40);
    rig.shows(&[
        "1 incident open",
        "1 ended",
        "the out-of-memory killer",
        "10.0.0.1 > 10.0.0.2 QP 17",
        "local_ack_timeout_err +7",
        "certain: queue pairs",
    ]);
    rig.press("down");
    rig.shows(&["clean or replace the cable", "likely: errors of the link grow"]);
    rig.view.set_filter("class = receiver_died").unwrap();
    rig.shows(&["8 Incidents 1 of 2"]);
}

/// Every other pane has the worst incident that goes on, and a source without an answer gives the reason.
#[test]
fn the_worst_incident_is_in_every_header() {
    let mut rig = Rig::new(120, 40, Options::default());
    rig.press("8");
    rig.shows(&["no incident at this time"]);
    let why: Text = "the dataset cannot be read".into();
    rig.view.header().no_incidents = Some(why.to_string());
    rig.shows(&[&why]);
    let mut all = incidents();
    all.push(incident("corruption", "gpu-3", -1, None));
    rig.view.incidents(all);
    rig.press("1");
    rig.shows(&[
        "! receiver_died: gpu-1 mlx5_0/1: the receiving application is gone",
        "and 1 more; i shows it",
    ]);
    rig.press("i");
    rig.shows(&["2 incidents open"]);
    rig.press("1");
    rig.view.incidents(Vec::new());
    assert!(!rig.lines().join("\n").contains("receiver_died"));
}
