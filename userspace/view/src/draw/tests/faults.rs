//! The verdicts about hosts: snapshots of screens, the header of other panes, sources without verdicts.

use super::Rig;
use super::mesh::compare;
use crate::pane::Pane;
use crate::view::Options;
use rocescope_model::time::SECOND_NS;
use rocescope_model::{HostVerdictRow, Text, Time};

const START: i64 = 1_767_225_600_000_000_000;

fn verdict(state: &'static str, class: &'static str, place: &'static str, since_s: i64) -> HostVerdictRow {
    let time_ns = START + 200 * SECOND_NS;
    HostVerdictRow {
        observer: "collector".into(),
        time: Time(time_ns),
        time_ns,
        state: state.into(),
        class: class.into(),
        place_kind: "port".into(),
        place: place.into(),
        host: Some("gpu-1".into()),
        device: Some("mlx5_0".into()),
        port: Some(1),
        since_ns: START + since_s * SECOND_NS,
        until_ns: time_ns,
        windows: 4,
        ..HostVerdictRow::default()
    }
}

fn verdicts() -> Vec<HostVerdictRow> {
    vec![
        HostVerdictRow {
            confidence: "certain: queue pairs of it vanished, and its port is up".into(),
            evidence: "local_ack_timeout_err +7 events (gpu-0 mlx5_0/1), req_cqe_error +1 events (gpu-0 mlx5_0/1), \
                       queue_pairs 3 (gpu-1 mlx5_0/1)"
                .into(),
            unknown: Some("the process: RDMA netlink of gpu-1 does not name it".into()),
            sentence: "gpu-1 mlx5_0/1: the receiving application is gone".into(),
            action: "look for the end of the application on gpu-1: its log, dmesg, the out-of-memory killer".into(),
            ..verdict("began", "receiver_died", "gpu-1 mlx5_0/1", 190)
        },
        HostVerdictRow {
            confidence: "likely: errors of the link grow".into(),
            sentence: "gpu-2 mlx5_1/1: the cable or a transceiver is damaged".into(),
            action: "clean or replace the cable".into(),
            ..verdict("ended", "sick_cable", "gpu-2 mlx5_1/1", 20)
        },
    ]
}

fn rig(width: u16, height: u16) -> Rig {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(width, height, options);
    rig.view.turn_to_pane(Pane::Faults);
    rig.view.host_verdicts(verdicts());
    rig
}

#[test]
fn screens_match_their_snapshots() {
    compare("faults-80x24.txt", &mut rig(80, 24));
    compare("faults-120x40.txt", &mut rig(120, 40));
    let mut detail = rig(120, 40);
    detail.press("enter");
    compare("faults-detail-120x40.txt", &mut detail);
}

#[test]
fn the_selected_fault_has_its_evidence_and_what_to_do() {
    let mut rig = rig(120, 40);
    rig.shows(&[
        "1 fault open",
        "1 ended",
        "the out-of-memory killer",
        "local_ack_timeout_err +7",
        "certain: queue pairs",
    ]);
    rig.press("down");
    rig.shows(&["clean or replace the cable", "likely: errors of the link grow"]);
    rig.view.set_filter("class = receiver_died").unwrap();
    rig.shows(&["8 Faults 1 of 2"]);
}

/// Other panes have the number of faults that go on, and a source without verdicts gives the reason.
#[test]
fn faults_are_in_every_header_and_a_source_without_verdicts_says_so() {
    let mut rig = Rig::new(120, 40, Options::default());
    rig.press("8");
    rig.shows(&["no fault at this time"]);
    let why: Text = "this dataset has no verdicts about hosts".into();
    rig.view.header().no_host_verdicts = Some(why.to_string());
    rig.shows(&[&why]);
    rig.view.host_verdicts(verdicts());
    rig.press("1");
    rig.shows(&["faults of hosts 1"]);
    // A frozen screen keeps its faults.
    rig.press("8 f");
    rig.view.host_verdicts(Vec::new());
    rig.shows(&["FROZEN", "receiver_died"]);
}
