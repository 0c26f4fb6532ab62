//! Fabric loss, capture loss and mirror loss: three numbers, each the same wherever it is printed or stored.

use crate::product::rocescope::{json, run, text};
use crate::product::{captures, traffic};
use rocescope_model::{ConnectionRow, EventRow, WindowRow};
use std::collections::BTreeMap;
use std::fs;

/// The events of a report counted one loss more than its connections: a timeout was in one of them only.
#[test]
fn summary_windows_events_and_connections_count_the_same_losses() {
    let mut troubled = 0;
    for capture in captures::all(&captures::ours()) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_str().unwrap();
        let said = json(&capture.path, &["--out", root]);
        let scan = rocescope_store::scan(folder.path()).unwrap();
        let connections = scan.rows::<ConnectionRow>().unwrap();
        // A file ends within a minute, so each direction has one row.
        let of_connections: u64 = connections.iter().map(ConnectionRow::fabric_lost_packets).sum();
        let events = scan.rows::<EventRow>().unwrap();
        let losses = events.iter().filter(|event| &*event.kind == "loss");
        let of_events: u64 = losses.map(|event| event.count).sum();
        let windows = scan.rows::<WindowRow>().unwrap();
        let of_windows: u64 = windows.iter().map(|row| row.fabric_lost_packets.unwrap()).sum();
        let name = &capture.name;
        assert_eq!(said["fabric_lost_packets"], of_connections, "{name}: connections");
        assert_eq!(said["fabric_lost_packets"], of_events, "{name}: events");
        assert_eq!(said["fabric_lost_packets"], of_windows, "{name}: windows");
        let again: u64 = connections.iter().map(|row| row.retransmitted_packets).sum();
        let in_windows: u64 = windows.iter().map(|row| row.retransmitted_packets.unwrap()).sum();
        assert_eq!(said["retransmitted_packets"], again, "{name}: connections");
        assert_eq!(said["retransmitted_packets"], in_windows, "{name}: windows");
        let mirror: u64 = windows.iter().map(|row| row.mirror_lost_packets.unwrap()).sum();
        assert_eq!(said["mirror_lost_packets"], mirror, "{name}: mirror loss");
        troubled += u64::from(of_connections > 0 && again > 0);
    }
    assert!(troubled > 3, "{troubled} captures with losses");
}

/// The first window to close had the losses of all, in a file shorter than the lateness bound.
#[test]
fn a_window_has_the_losses_of_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let capture = captures::named("loss1_egress_node1");
    json(&capture.path, &["--window", "10ms", "--out", root]);
    let scan = rocescope_store::scan(folder.path()).unwrap();
    let windows = scan.rows::<WindowRow>().unwrap();
    let mut expected: BTreeMap<i64, u64> = BTreeMap::new();
    for event in scan.rows::<EventRow>().unwrap() {
        if &*event.kind == "loss" {
            *expected.entry(event.time_ns / 10_000_000 * 10_000_000).or_default() += event.count;
        }
    }
    let found = windows.iter().filter(|row| row.fabric_lost_packets > Some(0));
    let found: BTreeMap<i64, u64> = found
        .map(|row| (row.window_start_ns, row.fabric_lost_packets.unwrap()))
        .collect();
    assert!(expected.len() > 1, "{expected:?}");
    // One is known only by a timeout, after its window is closed.
    let agreed = expected.iter().filter(|(start, count)| found.get(start) == Some(count));
    assert!(agreed.count() + 1 >= expected.len(), "{found:?} {expected:?}");
    assert_eq!(found.values().sum::<u64>(), expected.values().sum::<u64>());
}

#[test]
fn the_summary_begins_with_its_losses() {
    let path = captures::ours().join("loss1_egress_node1.pcap.gz");
    let said = json(&path, &[]);
    let (lost, again) = (&said["fabric_lost_packets"], &said["retransmitted_packets"]);
    assert!(lost.as_u64().unwrap() > 0 && again.as_u64().unwrap() > 0);
    let run = |more: &[&str]| {
        let output = run(&[&["capture", "-r", path.to_str().unwrap()], more].concat());
        text(&output.stdout).to_owned()
    };
    let summary = run(&[]);
    // What is wrong is before the figures.
    assert!(summary.starts_with("1 incident"), "{summary}");
    let figures = summary.lines().skip_while(|line| !line.starts_with("Fabric loss"));
    let lines: Vec<&str> = figures.take(4).collect();
    assert!(
        lines[0].starts_with(&format!("Fabric loss    {lost} packets: ")),
        "{summary}"
    );
    assert_eq!(lines[1], format!("Retransmitted  {again} packets"));
    assert_eq!(lines[2], "Capture loss   0 frames");
    assert!(lines[3].starts_with("Mirror loss    "), "{summary}");
    // Each number names what was lost where; a file has no escape codes.
    assert!(
        !lines.concat().contains(" lost") && !summary.contains('\x1b'),
        "{summary}"
    );
    let unknown = run(&["--no-connections"]);
    assert!(
        unknown.contains("Fabric loss    unknown: --no-connections leaves it out\n"),
        "{unknown}"
    );
}

/// Zeros alone leave a newcomer without the next step.
#[test]
fn a_capture_without_rocev2_says_what_it_contains() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.pcap");
    fs::write(&path, traffic::not_roce()).unwrap();
    let summary = text(&run(&["capture", "-r", path.to_str().unwrap()]).stdout).to_owned();
    let hint = "No RoCEv2 packet: RoCEv2 is UDP to port 4791 (--udp-port names other ports). The frames are: \
                2 IP but not UDP, such as TCP or ICMP; 1 not IP, such as ARP or LLDP; 1 UDP to other ports; \
                1 RoCE v1 (Ethernet type 0x8915), which is counted but not analyzed.\n";
    assert!(summary.contains(hint), "{summary}");
    let summary = text(&run(&["capture", "-r", path.to_str().unwrap(), "--udp-port", "53"]).stdout).to_owned();
    assert!(
        summary.contains("RoCEv2 is UDP to port 53 ") && summary.contains("; 1 malformed.\n"),
        "{summary}"
    );
}
