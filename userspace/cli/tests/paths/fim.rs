//! `rocescope paths fim` and `compare`.

use super::{json, rocescope, text};
use rocescope_model::{FLOW_PATH_TABLES, FlowPathRow, FlowRow, LinkLoadRow, Time};
use rocescope_store::{Options, Query, Writer};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Two leaves and two spines, two links between each: eight uplinks. A host at each leaf.
fn fabric(folder: &Path) {
    let mut toml = String::new();
    for (name, kind) in [
        ("leaf1", "switch"),
        ("leaf2", "switch"),
        ("spine1", "switch"),
        ("spine2", "switch"),
        ("h1", "host"),
        ("h2", "host"),
    ] {
        toml += &format!("[[node]]\nname = \"{name}\"\nkind = \"{kind}\"\n");
    }
    for leaf in 1..=2 {
        toml += &format!("[[link]]\nends = [\"h{leaf}:eth0\", \"leaf{leaf}:e9\"]\n");
        for port in 1..=4_usize {
            let (spine, far) = (port.div_ceil(2), leaf * 4 + port);
            toml += &format!("[[link]]\nends = [\"leaf{leaf}:e{port}\", \"spine{spine}:e{far}\"]\n");
        }
    }
    fs::write(folder.join("fabric.toml"), toml).unwrap();
}

/// Flows up from both leaves, `counts` on the uplinks of a leaf.
fn paths(counts: [usize; 4]) -> Value {
    let mut paths = Vec::new();
    for leaf in 1..=2 {
        for (port, count) in (1..).zip(counts) {
            for flow in 0..count {
                let flow = format!("{leaf}/{port}/{flow}");
                paths.push(json!({"flow": flow, "hops": [[format!("leaf{leaf}"), format!("e{port}")]]}));
            }
        }
    }
    Value::Array(paths)
}

#[test]
fn equal_loads_are_0_percent_and_five_and_three_are_25() {
    let folder = tempfile::tempdir().unwrap();
    fabric(folder.path());
    for (name, counts, fim) in [("equal", [4; 4], 0.0), ("uneven", [5, 3, 5, 3], 25.0)] {
        fs::write(folder.path().join(name), paths(counts).to_string()).unwrap();
        let call = [
            "paths",
            "fim",
            "--topology",
            "fabric.toml",
            "--paths",
            name,
            "-o",
            "json",
        ];
        let found = json(&call, folder.path());
        assert_eq!(found["fim_percent"].as_f64(), Some(fim));
        let layers = found["layers"].as_array().unwrap();
        let layer = |from: &str, to: &str| {
            layers
                .iter()
                .find(|layer| layer["from"] == from && layer["to"] == to)
                .unwrap()
        };
        let up = layer("leaf", "spine");
        assert_eq!((&up["links"], &up["flows"]), (&json!(8), &json!(32)));
        assert_eq!(
            (up["ideal"].as_f64(), up["fim_percent"].as_f64()),
            (Some(4.0), Some(fim))
        );
        assert_eq!(layer("spine", "leaf")["fim_percent"], Value::Null);
        assert_eq!(found["link_loads"].as_array().unwrap().len(), 20);
    }
    let call = ["paths", "compare", "equal", "uneven", "--topology", "fabric.toml"];
    let shown = text(&call, folder.path());
    assert!(
        shown.contains("leaf → spine     0.0 %    25.0 %  +25.0 points"),
        "{shown}"
    );
    assert!(
        shown.contains("28 flows in both, 0 flows on another path, 4 flows only in A, 4 flows only in B"),
        "{shown}"
    );
}

#[test]
fn hops_that_contradict_the_topology_are_counted_by_reason() {
    let folder = tempfile::tempdir().unwrap();
    fabric(folder.path());
    let flows = json!([
        {"flow": "good", "hops": [["leaf1", "e1"]]},
        {"flow": "other node", "hops": [["leaf9", "e1"]]},
        {"flow": "other port", "hops": [["leaf1", "e99"]]},
        {"flow": "jump", "hops": [["leaf1", "e1"], ["spine2", "e7"]]},
        {"flow": "loop", "hops": [["leaf1", "e1"], ["spine1", "e5"], ["leaf1", "e1"]]},
    ]);
    fs::write(folder.path().join("paths.json"), flows.to_string()).unwrap();
    let call = [
        "paths",
        "fim",
        "--topology",
        "fabric.toml",
        "--paths",
        "paths.json",
        "-o",
        "json",
    ];
    let found = json(&call, folder.path());
    let counts = json!({"unknown_node": 1, "unknown_port": 1, "not_next": 1, "loop": 1});
    assert_eq!(found["problem_counts"], counts);
    let output = rocescope(
        &["paths", "fim", "--topology", "fabric.toml", "--paths", "fabric.toml"],
        folder.path(),
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("rocescope: fabric.toml: expected"), "{error}");
}

const SECOND: i64 = 1_000_000_000;

#[test]
fn a_dataset_gives_the_metric_of_each_window_with_rates() {
    let folder = tempfile::tempdir().unwrap();
    fabric(folder.path());
    let root = folder.path().join("dataset");
    let start = 1_700_000_000 * SECOND;
    let addresses = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
    // Port 49152 + n leaves leaf1 by its port n + 1.
    let hop = |port: u16| FlowPathRow {
        time: Time(start),
        time_ns: start,
        src: addresses.0,
        dst: addresses.1,
        protocol: 17,
        src_port: 49_152 + port,
        dst_port: 4791,
        outcome: "complete".into(),
        hops: 1,
        hop: 1,
        node: "leaf1".into(),
        egress: Some(format!("e{}", port + 1).into()),
        ..FlowPathRow::default()
    };
    let captured = |window: i64, port: u16, gigabits: u64| FlowRow {
        window_start: Time(start + window * SECOND),
        window_start_ns: start + window * SECOND,
        window_ns: SECOND,
        src: addresses.0,
        dst: addresses.1,
        udp_src_port: Some(49_152 + port),
        frame_bytes: gigabits * 125_000_000,
        frame_bps: 1e9 * f64::from(u32::try_from(gigabits).unwrap()),
        ..FlowRow::default()
    };
    let options = Options {
        tables: FLOW_PATH_TABLES,
        ..Options::new("test")
    };
    let mut writer = Writer::create(&root, options).unwrap();
    let paths: Vec<FlowPathRow> = (0..4).map(hop).collect();
    writer.append_cells(&paths, Instant::now()).unwrap();
    let mut flows: Vec<FlowRow> = (0..4).map(|port| captured(0, port, 10)).collect();
    flows.extend([captured(1, 0, 38), captured(1, 1, 2), captured(1, 7, 10)]);
    writer.append_cells(&flows, Instant::now()).unwrap();
    writer.finish().unwrap();
    let call = [
        "paths",
        "fim",
        "--topology",
        "fabric.toml",
        "--paths",
        "dataset",
        "--windows",
        "--out",
        "loads",
        "-o",
        "json",
    ];
    let found = json(&call, folder.path());
    let windows = found["windows"].as_array().unwrap();
    let figures = |window: &Value| {
        let member = |name: &str| window[name].as_f64().unwrap();
        ["flows", "flows_without_path", "fim_percent", "bytes_fim_percent"].map(member)
    };
    // Both leaves count: the links of leaf2 are unused. Ideal 0.5, and 0.25 and 5 Gbit/s in the second window.
    assert_eq!(figures(&windows[0]), [4.0, 0.0, 100.0, 100.0]);
    assert_eq!(figures(&windows[1]), [2.0, 1.0, 150.0, 165.0]);
    let scan = Query::default().open(&folder.path().join("loads")).unwrap();
    let mut rows = Vec::new();
    scan.select::<LinkLoadRow>()
        .for_each(|row: LinkLoadRow| rows.push(row))
        .unwrap();
    assert_eq!(rows.len(), 40);
    let used: Vec<&LinkLoadRow> = rows.iter().filter(|row| row.flows > 0).collect();
    assert_eq!(used.len(), 6);
    assert_eq!((used[0].ideal_flows, used[0].deviation_ratio), (Some(0.5), Some(1.0)));
    let shown = text(
        &["paths", "fim", "--topology", "fabric.toml", "--paths", "dataset"],
        folder.path(),
    );
    assert!(shown.starts_with("FIM 100.0 %: 4 flows\nweighted by rate 1"), "{shown}");
}
