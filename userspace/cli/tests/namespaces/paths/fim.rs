//! `rocescope paths fim` and `compare`.

use super::{json, text};
use rocescope_model::{FLOW_PATH_TABLES, FlowPathRow, FlowRow, LinkLoadRow, Time};
use rocescope_store::{Options, Query, Writer};
use rocescope_testkit::run_in;
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

/// 5 flows on the 8 uplinks of both leaves: at best, five links have one and three none.
#[test]
fn the_least_fim_of_whole_flows_and_flows_that_are_listed_again_are_stated() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fabric(folder);
    let mut flows = paths([2, 0, 0, 0]);
    let list = flows.as_array_mut().unwrap();
    list.push(list[0].clone());
    fs::write(folder.join("few.json"), flows.to_string()).unwrap();
    let call = ["paths", "fim", "--topology", "fabric.toml", "--paths", "few.json"];
    let found = json(&[&call[..], &["-o", "json"]].concat(), folder);
    let layer = &found["layers"][1];
    assert_eq!(
        (&layer["from"], &layer["to"], &layer["flows"]),
        (&json!("leaf"), &json!("spine"), &json!(5))
    );
    // |1 - 5/8| on five links and 5/8 on three; 2 r (L - r) / (L F) = 2 × 5 × 3 / (8 × 5).
    for min in [&found["min_fim_percent"], &layer["min_fim_percent"]] {
        assert_eq!(min.as_f64(), Some(75.0), "{found:#}");
    }
    assert_eq!(found["layers"][2]["min_fim_percent"], Value::Null);
    assert_eq!(found["flows_listed_again"], 1);
    let shown = text(&call, folder);
    assert!(
        shown.contains(": 5 flows; whole flows allow 75.0 % at best\n"),
        "{shown}"
    );
    assert!(
        shown.contains("1 flow listed again: each entry counts, list a flow once\n"),
        "{shown}"
    );
    fs::write(folder.join("even.json"), paths([4; 4]).to_string()).unwrap();
    let even = text(
        &["paths", "fim", "--topology", "fabric.toml", "--paths", "even.json"],
        folder,
    );
    assert!(even.starts_with("FIM 0.0 %: 32 flows\n"), "{even}");
    // A dataset with the loads alone has a report of them.
    text(&[&call[..], &["--out", "loads"]].concat(), folder);
    let report = json(&["report", "loads", "-o", "json"], folder);
    let layers = report["paths"]["layers"].as_array().unwrap();
    let layer = layers
        .iter()
        .find(|layer| layer["from"] == "leaf" && layer["to"] == "spine");
    for key in ["flows", "fim_percent", "min_fim_percent"] {
        assert_eq!(layer.unwrap()[key], found["layers"][1][key], "{key}: {layers:#?}");
    }
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
    let output = run_in(
        &["paths", "fim", "--topology", "fabric.toml", "--paths", "fabric.toml"],
        folder.path(),
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("rocescope: fabric.toml: expected"), "{error}");
}

const SECOND: i64 = 1_000_000_000;

const START: i64 = 1_700_000_000 * SECOND;

/// `dataset`: two windows of flows from `START` on, and a run of `paths discover` that started at this time.
fn dataset(folder: &Path, run_ns: i64) {
    fabric(folder);
    let addresses = ("10.0.0.1".parse().unwrap(), "10.0.0.2".parse().unwrap());
    // Port 49152 + n leaves leaf1 by its port n + 1.
    let hop = |port: u16| FlowPathRow {
        time: Time(run_ns),
        time_ns: run_ns,
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
        window_start: Time(START + window * SECOND),
        window_start_ns: START + window * SECOND,
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
    let mut writer = Writer::create(&folder.join("dataset"), options).unwrap();
    let paths: Vec<FlowPathRow> = (0..4).map(hop).collect();
    writer.append_cells(&paths, Instant::now()).unwrap();
    let mut flows: Vec<FlowRow> = (0..4).map(|port| captured(0, port, 10)).collect();
    flows.extend([captured(1, 0, 38), captured(1, 1, 2), captured(1, 7, 10)]);
    writer.append_cells(&flows, Instant::now()).unwrap();
    writer.finish().unwrap();
}

/// Paths stay as they are until another run finds others: a run before or after the time of a capture holds for it.
#[test]
fn a_run_of_another_time_holds_for_a_capture() {
    for run_ns in [START - 7_200 * SECOND, START + 7_200 * SECOND] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        dataset(folder, run_ns);
        let time = ["--from", "2023-11-14T22:13:20Z", "--to", "2023-11-14T22:13:21Z"];
        let fim = ["paths", "fim", "--topology", "fabric.toml", "--paths", "dataset"];
        let windows = [&fim[..], &time, &["--windows", "--out", "dataset", "-o", "json"]].concat();
        let found = json(&windows, folder);
        assert_eq!(found["windows"].as_array().unwrap().len(), 1);
        assert_eq!(found["windows"][0]["flows"], 4);
        // The first window has 10 Gbit/s of each flow: by rate as uneven as by flows.
        assert_eq!(
            (&found["flows"], found["bytes_fim_percent"].as_f64()),
            (&json!(4), Some(100.0))
        );
        // The report of that time has the paths, too.
        let report = ["report", "dataset", "-o", "json"];
        let found = json(&[&report[..], &time].concat(), folder);
        assert_eq!(
            (&found["paths"]["flows"], found["paths"]["fim_percent"].as_f64()),
            (&json!(4), Some(100.0))
        );
        assert!(text(&[&report[..2], &time].concat(), folder).contains("Paths of flows"));
        // A time without any rows has no report.
        let later = ["--from", "2023-11-20T00:00:00Z", "--to", "2023-11-21T00:00:00Z"];
        let output = run_in(&[&report[..], &later].concat(), folder);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("dataset has no rows"), "{error}");
        // Without windows, a run of that time is meant.
        let output = run_in(&[&fim[..], &time].concat(), folder);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("dataset has 1 run, from 20"), "{error}");
        let output = run_in(&[&fim[..], &later, &["--windows"]].concat(), folder);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("dataset has no rows"), "{error}");
    }
}

#[test]
fn a_dataset_gives_the_metric_of_each_window_with_rates() {
    let folder = tempfile::tempdir().unwrap();
    dataset(folder.path(), START);
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
    assert!(
        shown.starts_with("FIM 100.0 %: 4 flows; whole flows allow 100.0 % at best\nweighted by rate 1"),
        "{shown}"
    );
}

#[test]
fn input_that_cannot_be_meant_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let fabric = "[[node]]\nname = \"leaf1\"\n[[node]]\nname = \"h0\"\naddresses = [\"10.0.0.1\"]\n\
                  [[link]]\nends = [\"h0:eth0\", \"leaf1:e1\"]\n";
    let paths = r#"[{"flow": "a", "hops": [["h0", "eth0"], ["leaf1", "e9"]]}]"#;
    let flows = r#"["10.0.0.1:49152>10.0.0.2:4791"]"#;
    for (name, text) in [
        ("fabric.toml", fabric),
        ("paths.json", paths),
        ("flows.json", flows),
        ("empty.json", "[]"),
        ("own.toml", "egress = [\"{egress}\"]\n[ask]\nipv4 = \"which {dst\"\n"),
        ("unknown", "h9 10.0.0.2\n"),
        ("twice", "h0 10.0.0.2 4\nh0 10.0.0.2 2\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let options = Options {
        tables: FLOW_PATH_TABLES,
        ..Options::new("test")
    };
    let mut runs = Writer::create(&folder.join("runs"), options).unwrap();
    let rows = [FlowPathRow::default()];
    runs.append_cells(&rows.as_slice(), Instant::now()).unwrap();
    runs.finish().unwrap();
    let error = |arguments: &str| {
        let output = run_in(&arguments.split(' ').collect::<Vec<&str>>(), folder);
        assert!(!output.status.success(), "{arguments}");
        String::from_utf8(output.stderr).unwrap()
    };
    let list = "paths flows --topology fabric.toml --flows flows.json --pairs";
    let cases = [
        (
            format!("{list} unknown"),
            "unknown: h9 is no address, and no node of the topology",
        ),
        (format!("{list} twice"), "twice: the pair h0 10.0.0.2 is listed twice"),
        (
            "paths fim --topology fabric.toml --paths paths.json --from 2026-01-01T00:00:00Z".into(),
            "needs a dataset, and paths.json is a file",
        ),
        (
            "paths flows --ss fabric.toml".into(),
            "fabric.toml: no line is one of `ss -tun`",
        ),
        (
            "paths flows --dataset runs".into(),
            "runs has no rows in `flows`: `rocescope capture --out` writes them",
        ),
        (
            "paths flows --flows flows.json --from 2026-01-01T00:00:00Z".into(),
            "--from, --to and --last select flows of --dataset and --from-agents, which are missing",
        ),
        (
            "paths flows --flows flows.json --filter dst=10.0.0.2".into(),
            "--filter selects flows of --dataset and -r, which are missing",
        ),
        (
            "paths discover --topology fabric.toml --flows empty.json".into(),
            "the workload has no flows",
        ),
        (
            "topology check none.toml".into(),
            "none.toml: No such file or directory (os error 2)\n",
        ),
        (
            "paths discover --topology fabric.toml --flows flows.json --password-file none".into(),
            "the password file none: No such file",
        ),
        (
            "paths discover --topology fabric.toml --flows flows.json --identity none".into(),
            "the private key none: No such file",
        ),
        (
            "paths discover --topology fabric.toml --flows flows.json --ssh-config none".into(),
            "the configuration of the SSH client none: No such file",
        ),
        (
            "paths discover --topology fabric.toml --flows flows.json --driver own.toml".into(),
            ": own.toml:3: a command has a brace without a name: a plain brace is doubled\n",
        ),
    ];
    for (arguments, expected) in cases {
        let error = error(&arguments);
        assert!(
            error.contains(expected) && error.matches("No such file").count() < 2,
            "{error}"
        );
    }
    // A hop that contradicts the topology is in the text of both.
    for arguments in ["paths fim --paths paths.json", "paths compare paths.json paths.json"] {
        let arguments = format!("{arguments} --topology fabric.toml");
        let shown = text(&arguments.split(' ').collect::<Vec<&str>>(), folder);
        assert!(
            shown.contains("contradicts the topology (unknown_port): a: "),
            "{shown}"
        );
    }
}
