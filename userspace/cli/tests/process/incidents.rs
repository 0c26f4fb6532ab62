//! `diagnose`, and the incidents that stand first in `capture` and `report`, over captures whose truth is known.

use crate::owned;
use rocescope_testkit::command;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// What was planted into each recorded capture that is not healthy: class, and place.
const PLANTED: &[(&str, &str, &str)] = &[
    ("blackhole_retry_exceeded", "no_answer", "10.77.0.1 > 10.77.0.2"),
    ("corrupt_egress_node1", "corruption", "10.77.0.1 > 10.77.0.2"),
    ("duplicate_egress_node1", "duplicates", "10.77.0.1 > 10.77.0.2"),
    ("error_naks", "fatal_nak", "10.77.0.1 > 10.77.0.2"),
    ("loss1_egress_node1", "network_loss", "10.77.0.1 > 10.77.0.2"),
    ("loss2_after_tap_node2", "network_loss", "10.77.0.1 > 10.77.0.2"),
    (
        "loss2_after_tap_node2.receiver_after_loss",
        "network_loss",
        "10.77.0.1 > 10.77.0.2",
    ),
    ("loss_uc_ud", "network_loss", "10.77.0.1 > 10.77.0.2"),
    ("reorder_egress_node1", "reordering", "10.77.0.1 > 10.77.0.2"),
    ("rnr_nak", "slow_receiver", "10.77.0.2"),
];

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

fn capture(name: &str) -> String {
    captures().join(format!("{name}.pcap.gz")).display().to_string()
}

fn printed(arguments: &[&str]) -> String {
    let output = command(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn short(document: &Value) -> Vec<(String, String)> {
    let incidents = document["incidents"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    incidents
        .map(|one| (text(&one["class"]), text(&one["place"]["name"])))
        .collect()
}

/// Every capture of the collection: the planted fault as one incident, and none in the healthy ones.
#[test]
fn each_capture_has_the_incident_that_was_planted_and_no_other() {
    let mut names: Vec<String> = fs::read_dir(captures())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".pcap.gz")?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() > 25, "{names:?}");
    for name in &names {
        let found = short(&json(&printed(&["diagnose", &capture(name), "-o", "json"])));
        let planted = PLANTED.iter().filter(|(planted, ..)| planted == name);
        let expected: Vec<_> = planted
            .map(|(_, class, place)| (class.to_string(), place.to_string()))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

/// A mirror that samples shows no losses, wherever they are looked for, and its figures are estimates.
#[test]
fn a_mirror_that_is_stated_to_sample_shows_no_loss() {
    for (name, _, _) in PLANTED
        .iter()
        .filter(|(_, class, _)| *class == "network_loss" || *class == "no_answer")
    {
        let folder = tempfile::tempdir().unwrap();
        let dataset = folder.path().join("d").display().to_string();
        let read = [
            "capture",
            "-q",
            "-r",
            &capture(name),
            "--mirror-sampling",
            "4",
            "-o",
            "json",
            "--out",
            &dataset,
        ];
        let summary = json(&printed(&read));
        assert_eq!(
            (short(&summary), &summary["sampled_one_of"]),
            (Vec::new(), &4.into()),
            "{name}"
        );
        assert_eq!(summary["fabric_lost_packets"], Value::Null, "{name}");
        let of_all = |key: &str| summary[key].as_u64().unwrap();
        assert_eq!(of_all("estimated_packets"), 4 * of_all("roce_packets"), "{name}");
        assert_eq!(of_all("estimated_frame_bytes"), 4 * of_all("frame_bytes"), "{name}");
        assert_eq!(of_all("estimated_payload_bytes"), 4 * of_all("payload_bytes"), "{name}");
        // What was stated is kept with the dataset, and with a merged one.
        let merged = folder.path().join("m").display().to_string();
        printed(&["dataset", "merge", &dataset, "--out", &merged]);
        for dataset in [&dataset, &merged] {
            assert_eq!(
                short(&json(&printed(&["diagnose", dataset, "-o", "json"]))),
                [],
                "{name}"
            );
            let report = printed(&["report", dataset]);
            assert!(
                report.contains("Fabric loss is unknown: the mirror samples about 1 of 4 packets"),
                "{report}"
            );
        }
        let connections = printed(&["connections", &dataset]);
        assert!(
            connections.contains("Fabric loss  unknown: the mirror samples about 1 of 4"),
            "{connections}"
        );
    }
}

/// Which flow, where, since when, what to do: in the first ten lines of each.
#[test]
fn the_answer_is_in_the_first_ten_lines() {
    let path = capture("loss1_egress_node1");
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d").display().to_string();
    let said = [
        printed(&["capture", "-q", "-r", &path, "--out", &dataset]),
        printed(&["diagnose", &path]),
        printed(&["diagnose", &dataset]),
        printed(&["report", &path]),
        printed(&["report", &dataset, "-o", "markdown"]),
    ];
    for text in said {
        let first: Vec<&str> = text.lines().take(10).collect();
        let first = first.join("\n").replace("&gt;", ">");
        for expected in [
            "network_loss",
            "10.77.0.1 > 10.77.0.2",
            "16 of 1,408 packets",
            "upstream of the tap",
            "QP 244",
            "2026-11-21T01:41:29Z",
            "check the links from 10.77.0.1 to the mirrored port",
        ] {
            assert!(first.contains(expected), "no `{expected}` in\n{first}");
        }
    }
}

/// The row has what the text has, and the same identity however it is read.
#[test]
fn an_incident_is_the_same_in_every_command() {
    let path = capture("loss1_egress_node1");
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d").display().to_string();
    let of_capture = json(&printed(&[
        "capture", "-q", "-r", &path, "--out", &dataset, "-o", "json",
    ]));
    let of_file = json(&printed(&["diagnose", &path, "-o", "json"]));
    let of_dataset = json(&printed(&["diagnose", &dataset, "-o", "json", "--write"]));
    let of_report = json(&printed(&["report", &dataset, "-o", "json"]));
    for other in [&of_capture, &of_dataset, &of_report] {
        assert_eq!(other["incidents"], of_file["incidents"]);
    }
    let one = &of_file["incidents"][0];
    let victims = &one["victims"];
    assert_eq!(
        (
            &victims["connections"],
            &victims["lost_packets"],
            &victims["retransmitted_packets"]
        ),
        (&3.into(), &16.into(), &519.into())
    );
    assert_eq!(
        (&one["certainty"], &one["sources"]),
        (&"certain".into(), &serde_json::json!(["capture"]))
    );
    assert_eq!(one["until_ns"], Value::Null);
    assert!(folder.path().join("d/incidents").is_dir());
}

#[test]
fn a_command_gets_each_incident_that_opens() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let hook = format!("cat >> {}", log.display());
    printed(&["capture", "-q", "-r", &capture("rnr_nak"), "--on-incident", &hook]);
    let log = fs::read_to_string(log).unwrap();
    let changes: Vec<Value> = log.lines().map(json).collect();
    assert!(!changes.is_empty());
    let opened = &changes[0];
    assert_eq!(opened["change"], "opened");
    assert_eq!(opened["incident"]["class"], "slow_receiver");
}

/// A note is beside the incident, at its place, and stays when the incident is found again.
#[test]
fn a_note_is_shown_beside_its_incident_and_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d").display().to_string();
    printed(&["capture", "-q", "-r", &capture("loss1_egress_node1"), "--out", &dataset]);
    let refused = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["diagnose", &dataset, "--by", "place"]).contains("keeps no incidents"));
    let of_dataset = json(&printed(&["diagnose", &dataset, "-o", "json", "--write"]));
    printed(&["diagnose", &dataset, "--write", "--observer", "again"]);
    let id = of_dataset["incidents"][0]["id"].as_str().unwrap();
    assert!(refused(&["incidents", "note", "00000000", "x", &dataset]).contains("no incident 00000000 among"));
    assert!(refused(&["incidents", "note", id, " ", &dataset]).contains("1 to 1000 characters"));
    let noted = printed(&["incidents", "note", id, "replaced optics", &dataset]);
    assert!(noted.contains("10.77.0.1 > 10.77.0.2: 16 of 1,408 packets"), "{noted}");

    let text = printed(&["diagnose", &dataset]);
    let note = text.lines().find(|line| line.starts_with("  note    ")).unwrap();
    assert!(note.ends_with(" replaced optics"), "{note}");
    let places = json(&printed(&["diagnose", &dataset, "--by", "place", "-o", "json"]));
    let [place] = places["places"].as_array().unwrap().as_slice() else {
        panic!("{places}")
    };
    assert_eq!(
        (
            &place["place"],
            &place["incidents"],
            &place["classes"]["network_loss"],
            &place["since_note"]
        ),
        (&"10.77.0.1 > 10.77.0.2".into(), &1.into(), &1.into(), &0.into())
    );
    assert_eq!(place["notes"][0]["note"], "replaced optics");
    let text = printed(&["diagnose", &dataset, "--by", "place"]);
    assert!(text.starts_with("1 incident at 1 place\n"), "{text}");
}

#[test]
fn what_is_no_input_is_one_clear_error() {
    let refused = |arguments: &[&str]| {
        let output = command(arguments).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["diagnose"]).contains("no input: name a dataset or capture files"));
    assert!(refused(&["diagnose", "/no/such/thing"]).contains("/no/such/thing"));
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d").display().to_string();
    let file = capture("rnr_nak");
    printed(&["capture", "-q", "-r", &file, "--out", &dataset]);
    let both = refused(&["diagnose", &dataset, &file]);
    assert!(both.contains("datasets and capture files in one command"), "{both}");
    assert!(refused(&["report", &dataset, &dataset]).contains("2 datasets: `rocescope dataset merge`"));
    assert!(refused(&["dataset", "schema", "flow"]).contains("did you mean `flows`?"));
}

/// What came before the end of a file that was cut is printed, and the status is that of an error.
#[test]
fn a_file_that_ends_early_is_judged_and_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.pcap");
    let whole = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/rnr_nak.pcap")).unwrap();
    fs::write(&cut, &whole[..whole.len() - 5]).unwrap();
    for command_name in ["diagnose", "report"] {
        let output = command([command_name, cut.to_str().unwrap()]).output().unwrap();
        assert!(
            String::from_utf8_lossy(&output.stdout).contains("slow_receiver"),
            "{command_name}"
        );
        assert!(!output.status.success() && !output.stderr.is_empty(), "{command_name}");
    }
}

/// The old way to a dataset, without connections: NAKs are proof all the same.
#[test]
fn without_connections_the_capture_states_what_it_cannot_know() {
    let path = capture("loss1_egress_node1");
    let said = printed(&["capture", "-q", "-r", &path, "--no-connections"]);
    assert!(said.contains("fabric loss is unknown"), "{said}");
    assert!(
        said.contains("12 NAKs prove that packets were lost or reordered"),
        "{said}"
    );
}

/// A dataset of a capture and of the agents of both hosts: the incident names the owners of its connections.
#[test]
fn incidents_name_the_owners_of_their_victims_where_agents_report_them() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = owned::captured(folder.path(), "loss1_egress_node1");
    let path = dataset.display().to_string();
    let before = json(&printed(&["diagnose", &path, "-o", "json"]));
    assert_eq!(before["incidents"][0].get("owners"), None);
    owned::report(&dataset, &owned::pairs(&dataset));

    let document = json(&printed(&["diagnose", &path, "-o", "json"]));
    let one = &document["incidents"][0];
    let worst = &one["victims"]["worst"][0];
    let (src, dst) = (worst["src_qpn"].as_u64().unwrap(), worst["dst_qpn"].as_u64().unwrap());
    assert_eq!(worst["src_owner"]["rank"], src);
    assert_eq!(worst["dst_owner"]["rank"], dst);
    let expected = format!("job {}, ranks {} and {}", src.min(dst), src.min(dst), src.max(dst));
    assert_eq!(one["owners"][0], expected.as_str());
    // Nothing else changed.
    assert_eq!(short(&document), short(&before));
    let text = printed(&["diagnose", &path]);
    assert!(text.contains(&format!("whose   {expected}")), "{text}");
    let report = printed(&["report", &path]);
    assert!(report.contains(&expected), "{report}");
}
