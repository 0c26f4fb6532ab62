//! The ports of hosts: snapshots of screens, marks, sorting, filters.

use super::Rig;
use super::mesh::compare;
use crate::pane::Pane;
use crate::view::Options;
use rocescope_model::{HostPortRow, Text, Time};

const START: i64 = 1_767_225_600_000_000_000;

fn port(host: &'static str, device: &'static str) -> HostPortRow {
    HostPortRow {
        observer: host.into(),
        window_start: Time(START),
        window_start_ns: START,
        window_ns: 1_000_000_000,
        device: device.into(),
        port: Some(1),
        driver: "mlx5".into(),
        state: Some("ACTIVE".into()),
        link_bps: Some(4e11),
        sent_bps: Some(9.43e10),
        received_bps: Some(3.19e10),
        paused_ratio: Some(0.0),
        pausing_ratio: Some(0.0),
        cnp_sent_pps: Some(0.0),
        cnp_handled_pps: Some(0.0),
        ecn_marked_pps: Some(0.0),
        pcie: Some("32.0 GT/s x16".into()),
        ..HostPortRow::default()
    }
}

fn ports() -> Vec<HostPortRow> {
    vec![
        HostPortRow {
            port: None,
            state: None,
            sent_bps: None,
            received_bps: None,
            cpu_ratio: Some(0.125),
            memory_ratio: Some(0.4),
            detail: "processors 12.5 % busy, memory 40.0 % used".into(),
            ..port("node-a", "host")
        },
        port("node-a", "mlx5_0"),
        HostPortRow {
            paused_ratio: Some(0.187),
            cnp_handled_pps: Some(7_100.0),
            ..port("node-a", "mlx5_1")
        },
        HostPortRow {
            errors: 9,
            new_errors: 2,
            detail: "local_ack_timeout_err +7, out_of_sequence +2".into(),
            ..port("node-b", "mlx5_0")
        },
        HostPortRow {
            state: Some("DOWN".into()),
            errors: 3,
            pcie: Some("8.0 GT/s x4 of 32.0 GT/s x16".into()),
            detail: "link_downed +3, PCIe 8.0 GT/s x4 of 32.0 GT/s x16".into(),
            ..port("node-b", "mlx5_1")
        },
    ]
}

/// A dataset of counters alone.
fn rig(width: u16, height: u16) -> Rig {
    let options = Options {
        seekable: true,
        ..Options::default()
    };
    let mut rig = Rig::new(width, height, options);
    rig.view.replace(Vec::new());
    rig.view.turn_to_pane(Pane::Hosts);
    rig.view.host_ports(ports());
    rig
}

#[test]
fn screens_match_their_snapshots() {
    compare("hosts-80x24.txt", &mut rig(80, 24));
    compare("hosts-120x40.txt", &mut rig(120, 40));
    let mut detail = rig(120, 40);
    detail.press("enter");
    compare("hosts-detail-120x40.txt", &mut detail);
}

#[test]
fn ports_with_errors_come_first_and_are_marked() {
    let mut rig = rig(120, 40);
    let lines = rig.lines();
    assert!(lines[6].contains("!···") && lines[7].contains("+··v"), "{lines:?}");
    assert!(
        lines
            .iter()
            .any(|line| line.contains("mlx5_1") && line.contains("·PC·"))
    );
    rig.shows(&["4 ports", "1 not active", "2 with errors in the last minute"]);
}

#[test]
fn ports_are_sorted_and_filtered_by_any_column() {
    let mut rig = rig(120, 40);
    rig.view.sort(Pane::Hosts, "paused_ratio").unwrap();
    assert!(rig.lines()[6].contains("18.7 %"));
    rig.view.set_filter("observer = node-b and errors > 5").unwrap();
    rig.shows(&["7 Hosts 1 of 5", "local_ack_timeout_err"]);
    rig.view.set_filter("link_downed").unwrap();
    rig.shows(&["7 Hosts 1 of 5", "DOWN"]);
}

/// Other panes have the number of ports with errors, and a source without counters gives the reason.
#[test]
fn errors_of_ports_are_in_every_header_and_a_source_without_counters_says_so() {
    let mut rig = Rig::new(120, 40, Options::default());
    rig.press("7");
    rig.shows(&["no host was read at this time"]);
    let why: Text = "this dataset has no counters of hosts: `rocescope counters --out` writes them".into();
    rig.view.header().no_counters = Some(why.to_string());
    rig.shows(&[&why]);
    rig.view.host_ports(ports());
    rig.press("1");
    rig.shows(&["ports with errors 2"]);
    // A frozen screen keeps its ports.
    rig.press("7 f");
    rig.view.host_ports(Vec::new());
    rig.shows(&["FROZEN", "local_ack_timeout_err"]);
}
