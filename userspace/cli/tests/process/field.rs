//! Inputs after public reports, with their right answers: `../shared/field`. Not run where these data are not beside the
//! project.

use rocescope_testkit::{run, shared, text};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A file or folder of them, as an argument.
fn field(name: &str) -> Option<String> {
    shared(&format!("field/{name}")).map(argument)
}

fn argument(path: PathBuf) -> String {
    path.into_os_string().into_string().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    text(&run(arguments))
}

fn summary(file: &str) -> Value {
    serde_json::from_str(&printed(&["capture", "-r", file, "-o", "json"])).unwrap()
}

/// A dataset of a capture.
fn captured(file: &str, root: &Path) -> String {
    let out = argument(root.join("dataset"));
    printed(&["capture", "-r", file, "--out", &out]);
    out
}

#[test]
fn a_mirror_that_cuts_frames_loses_no_count() {
    let Some(folder) = field("mirror-cuts-frames") else {
        return;
    };
    for (name, length) in [
        ("erspan2_cut128_for_comparison", 128),
        ("local_span_cut128", 128),
        ("local_span_cut128_new_fcs", 132),
    ] {
        let found = summary(&format!("{folder}/{name}.pcap"));
        let counts = [
            "roce_packets",
            "malformed",
            "truncated_packets",
            "payload_bytes",
            "messages",
        ];
        let counts = counts.map(|key| found[key].as_u64().unwrap());
        assert_eq!(counts, [238, 0, 156, 126_321, 101], "{name}");
        assert_eq!(found["truncated_arrived_bytes"], 156 * length, "{name}");
    }
}

#[test]
fn every_tunnel_has_the_packets_inside() {
    let Some(folder) = field("mirror-encapsulations") else {
        return;
    };
    for file in fs::read_dir(folder).unwrap() {
        let path = argument(file.unwrap().path());
        let found = summary(&path);
        assert_eq!(
            (&found["frames"], &found["roce_packets"]),
            (&60.into(), &60.into()),
            "{path}"
        );
    }
}

#[test]
fn what_nothing_answers_is_unknown() {
    let Some(folder) = field("black-hole") else {
        return;
    };
    for (name, events) in [
        ("ends_at_the_last_try", &["unanswered"][..]),
        ("goes_on_for_26_s", &["unanswered", "retry_exhausted"]),
    ] {
        let root = tempfile::tempdir().unwrap();
        let file = format!("{folder}/{name}.pcap");
        let found = summary(&file);
        assert_eq!(
            (&found["fabric_lost_packets"], &found["unresolved_packets"]),
            (&0.into(), &32.into()),
            "{name}"
        );
        let out = captured(&file, root.path());
        let report = printed(&["report", &out]);
        assert!(!report.contains("No fabric loss"), "{report}");
        assert!(
            report.contains("Fabric loss is unknown of 32 packets that nothing answered"),
            "{report}"
        );
        let connections = printed(&["connections", "-r", &file]);
        for event in events {
            assert!(connections.contains(&format!("  {event} ")), "{connections}");
        }
    }
}

#[test]
fn who_pauses_a_priority_is_named_with_its_time() {
    let Some(folder) = field("pause-frames") else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let file = format!("{folder}/pfc_priority3_1s.pcap");
    let storm = "pause_storm  b8:3f:d2:00:00:03 priority 3: it pauses its link: 2,000 frames, for 1.00 s or less";
    for what in [&file, &captured(&file, root.path())] {
        let found = printed(&["diagnose", what]);
        assert!(found.contains(storm), "{found}");
    }
    let events = printed(&["connections", "-r", &file]);
    assert!(!events.contains("  pause  "), "{events}");
}

#[test]
fn a_sampled_mirror_shows_no_loss() {
    let Some(folder) = field("sampled-mirror") else {
        return;
    };
    let root = tempfile::tempdir().unwrap();
    let file = format!("{folder}/erspan2_1_of_16.pcap");
    let found = summary(&file);
    assert_eq!(found["sampled_one_of"], 16);
    assert_eq!(found["fabric_lost_packets"], Value::Null);
    assert_eq!(found["mirror_lost_packets"], Value::Null);
    assert_eq!(found["estimated_packets"], 1_021 * 16);
    let connections = printed(&["connections", "-r", &file]);
    assert!(
        connections.contains("Fabric loss  unknown: the mirror samples about 1 of 16 packets"),
        "{connections}"
    );
    let report = printed(&["report", &captured(&file, root.path())]);
    assert!(
        report.contains("Fabric loss is unknown: the mirror samples about 1 of 16 packets. About 16,336 packets and"),
        "{report}"
    );
    assert!(!report.contains("No fabric loss"), "{report}");
}

#[test]
fn the_rank_that_hangs_a_collective_is_named() {
    let Some(folder) = field("flight-recorder-hang") else {
        return;
    };
    for (name, sentence) in [
        (
            "stuck",
            "Collective 6 of group 0 hangs: rank 2 enqueued it and never started, ranks 0, 1, 3 started nccl:all_reduce and \
             wait.\n",
        ),
        (
            "missing",
            "Collective 6 of group 0 hangs: rank 2 never called it (last: 5), ranks 0, 1, 3 wait in nccl:all_reduce.\n",
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        let out = argument(root.path().join("dataset"));
        let dumps = format!("{folder}/{name}");
        printed(&[
            "collective",
            "import",
            "--format",
            "flight-recorder",
            &dumps,
            "--out",
            &out,
        ]);
        let found = printed(&["diagnose", "collective", &out]);
        assert!(found.starts_with(sentence), "{found}");
        let found = printed(&["diagnose", &out]);
        assert!(found.contains("rank 2"), "{found}");
    }
}

#[test]
fn topologies_of_hosts_are_those_of_the_files() {
    let (Some(hwloc), Some(nccl)) = (field("hwloc3"), field("nccl-topologies")) else {
        return;
    };
    let drawn = |path: String| printed(&["hostping", "topology", "--topology", &path]);
    assert_eq!(drawn(format!("{hwloc}/v3.xml")), drawn(format!("{hwloc}/v2.xml")));
    let found = drawn(format!("{hwloc}/v3.xml"));
    assert!(found.contains("mlx5_7") && !found.contains("eno1"), "{found}");
    assert!(drawn(format!("{hwloc}/v2_omnipath_class_0208.xml")).contains("hfi1_0"));
    let found = drawn(format!("{nccl}/no_rdma_nic.xml"));
    assert!(
        found.contains("link-below-maximum  GPU2") && found.contains("GPU3"),
        "{found}"
    );
    let found = drawn(format!("{nccl}/wifi_and_c2c.xml"));
    assert!(
        found.contains("GPU0  000f:01:00.0  C2C 345 GB/s") && !found.contains("wlan0"),
        "{found}"
    );
    let found = drawn(format!("{nccl}/two_trays_fused.xml"));
    assert!(
        found.contains("host0 CPU 1") && found.contains("host1 CPU 1"),
        "{found}"
    );
    assert!(!found.contains("host0 CPU 0 <-> host1"), "{found}");
}

#[test]
fn reports_of_sonic_and_network_systems_of_containerlab_are_the_fabric() {
    let (Some(lldp), Some(lab)) = (field("sonic-lldp"), field("containerlab-srl")) else {
        return;
    };
    assert_eq!(
        printed(&["topology", "check", &lldp]),
        "5 nodes, 4 links, 0 contradictions\n"
    );
    let found = printed(&["topology", "show", &lldp]);
    for link in [
        "leaf1:Ethernet0   spine1:Ethernet4",
        "leaf2:Ethernet0   spine1:Ethernet8",
    ] {
        assert!(found.contains(link), "{found}");
    }
    let found = printed(&["topology", "show", &format!("{lab}/two.clab.yml")]);
    assert_eq!(found.matches(" switch ").count(), 2, "{found}");
}
