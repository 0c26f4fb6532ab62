//! `diagnose` joins losses of a capture with the drops that switches report in the same dataset.

use rocescope_model::{SWITCH_TABLES, SwitchDropRow, SwitchPortRow, Time};
use rocescope_store::{Options, Writer};
use rocescope_testkit::command;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

fn diagnosed(dataset: &Path) -> Value {
    let output = command(["diagnose", dataset.to_str().unwrap(), "-o", "json"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn write(dataset: &Path, observer: &str, drops: &[SwitchDropRow], ports: &[SwitchPortRow]) {
    let options = Options {
        tables: SWITCH_TABLES,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(dataset, options).unwrap();
    writer.append_cells(&drops, Instant::now()).unwrap();
    writer.append_cells(&ports, Instant::now()).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_captured_loss_has_the_switch_that_dropped_the_packets() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d");
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures/loss1_egress_node1.pcap.gz");
    let read = [
        "capture",
        "-q",
        "-r",
        capture.to_str().unwrap(),
        "--out",
        dataset.to_str().unwrap(),
    ];
    assert!(command(read).output().unwrap().status.success());
    let before = diagnosed(&dataset);
    let loss = &before["incidents"][0];
    let lost = loss["victims"]["lost_packets"].as_u64().unwrap();
    assert_eq!(loss["place"]["name"], "10.77.0.1 > 10.77.0.2");
    let time_ns = loss["since_ns"].as_i64().unwrap();

    // Counters without flows leave the place, and are worth a look.
    let port = SwitchPortRow {
        time: Time(time_ns),
        time_ns,
        interval_ns: Some(10_000_000_000),
        switch: "leaf1".into(),
        port_name: "swp3".into(),
        out_dropped_frames: Some(lost),
        ..SwitchPortRow::default()
    };
    write(&dataset, "counters", &[], std::slice::from_ref(&port));
    let counted = diagnosed(&dataset);
    assert_eq!(counted["incidents"][0]["place"], loss["place"]);
    let unknown = counted["incidents"][0]["unknown"].to_string();
    assert!(
        unknown.contains(&format!("dropped at leaf1 swp3 ({lost})")),
        "{unknown}"
    );

    let drop = SwitchDropRow {
        time: Time(time_ns),
        time_ns,
        first_ns: time_ns,
        switch: "leaf1".into(),
        in_port: Some("swp1".into()),
        out_port: Some("swp3".into()),
        queue: Some(3),
        reason: "no_buffer_space".into(),
        src: Some([10, 77, 0, 1].into()),
        dst: Some([10, 77, 0, 2].into()),
        dropped_frames: lost,
        ..SwitchDropRow::default()
    };
    write(&dataset, "drops", &[drop], &[]);
    let found = diagnosed(&dataset);
    let incidents = found["incidents"].as_array().unwrap();
    assert_eq!(incidents.len(), 1, "{incidents:#?}");
    let one = &incidents[0];
    assert_eq!(
        (&one["class"], &one["certainty"]),
        (&"network_loss".into(), &"certain".into())
    );
    assert_eq!(one["place"]["name"], "switch leaf1, port swp3, queue 3");
    assert_eq!(
        (&one["place"]["switch"], &one["place"]["src"]),
        (&"leaf1".into(), &"10.77.0.1".into())
    );
    let sentence = one["sentence"].as_str().unwrap();
    let reported = format!("leaf1 reported {lost} packets of 1 pair as dropped: no_buffer_space");
    assert!(sentence.ends_with(&reported), "{sentence}");
    assert!(
        one["sources"].as_array().unwrap().contains(&"switches".into()),
        "{}",
        one["sources"]
    );
    assert_eq!(one["victims"]["lost_packets"], lost);
    let judged = found["judged"].to_string();
    assert!(judged.contains("1 reading and 1 drop report of switches"), "{judged}");
    let report = command(["report", dataset.to_str().unwrap()]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("switch leaf1, port swp3, queue 3"), "{report}");
    assert!(
        report.contains(&format!("1 port dropped {lost} frames: swp3 of leaf1 ({lost}).")),
        "{report}"
    );
    assert!(
        report.contains(&format!("by reason: no_buffer_space ({lost}).")),
        "{report}"
    );
}

#[test]
fn counters_of_switches_alone_name_the_port_that_pauses_and_the_cable_that_damages() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d");
    let topology = folder.path().join("fabric.toml");
    std::fs::write(
        &topology,
        "tiers = [\"host\", \"leaf\", \"spine\"]
         [[node]]\nname = \"h3\"\nkind = \"host\"\naddresses = [\"10.0.0.3\"]
         [[node]]\nname = \"l2\"\nkind = \"switch\"\ntier = \"leaf\"
         [[node]]\nname = \"s\"\nkind = \"switch\"\ntier = \"spine\"
         [[link]]\nends = [\"h3:nic0\", \"l2:e1\"]
         [[link]]\nends = [\"l2:up\", \"s:e2\"]\n",
    )
    .unwrap();
    let reading = |switch: &'static str, port: &'static str| SwitchPortRow {
        time: Time(1_790_000_010_000_000_000),
        time_ns: 1_790_000_010_000_000_000,
        interval_ns: Some(10_000_000_000),
        switch: switch.into(),
        port_name: port.into(),
        ..SwitchPortRow::default()
    };
    let paused = |switch, port, share_ns| SwitchPortRow {
        priority: Some(3),
        received_pause_frames: Some(80_000),
        paused_ns: Some(share_ns),
        ..reading(switch, port)
    };
    let damaged = SwitchPortRow {
        in_frames: Some(5_000_000),
        fcs_errors: Some(700),
        ..reading("s", "e2")
    };
    let ports = [
        paused("l2", "e1", 9_000_000_000),
        paused("s", "e2", 4_000_000_000),
        damaged,
    ];
    write(&dataset, "prometheus", &[], &ports);
    let printed = |further: &[&str]| {
        let output = command(["diagnose", dataset.to_str().unwrap()])
            .args(further)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = printed(&["--topology", topology.to_str().unwrap()]);
    assert!(
        text.contains("pause_storm  h3/nic0: it pauses its link in priority 3: l2 e1 received 80,000 pause frames"),
        "{text}"
    );
    assert!(
        text.contains("1 further port is paused by switches that are paused themselves"),
        "{text}"
    );
    assert!(
        text.contains("sick_cable  l2 up – s e2: s e2 received 700 damaged frames of 5,000,000"),
        "{text}"
    );
    assert_eq!(text.matches("pause_storm").count(), 1, "{text}");
    // Without a topology the other ends are not known, and the text asks for it.
    let text = printed(&[]);
    assert!(
        text.contains("the other end of l2 e1") && text.contains("--topology"),
        "{text}"
    );
}
