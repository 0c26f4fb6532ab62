//! `rocescope diagnose mesh` over datasets of a simulated fabric.

use crate::simulated::{self, dataset};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, Nic, Rails};
use rocescope_model::{
    CAPTURE_TABLES, COUNTER_TABLES, ConnectionRow, CounterRow, FLOW_PATH_TABLES, FlowPathRow, LinkRow, PROBE_TABLES,
    ProbeRow, SlaRow, Time, VerdictRow,
};
use rocescope_store::{Options, Writer, scan};
use rocescope_testkit::{refusal, run_in, text};
use std::path::Path;
use std::process::Output;
use std::time::Instant;

fn diagnose(folder: &Path, arguments: &[&str]) -> Output {
    run_in(&[&["diagnose", "hostmesh"], arguments].concat(), folder)
}

#[test]
fn the_faulty_link_is_named_with_its_time_and_the_flows_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let (fabric, flow) = dataset(&folder.path().join("d"));
    std::fs::write(folder.path().join("fabric.toml"), fabric.topology.to_toml()).unwrap();
    let printed = text(&diagnose(folder.path(), &["d", "--topology", "fabric.toml"]));
    let first = printed.lines().next().unwrap();
    assert!(
        first.starts_with("loss  r1>s0: ") && first.contains("probes were lost"),
        "{printed}"
    );
    assert!(
        printed.contains("from 2026-11-20T19:00:00Z to 2026-11-20T19:01:20Z, 4 windows"),
        "{printed}"
    );
    assert!(
        printed.contains(&format!("captured flows that cross it: {flow}\n")),
        "{printed}"
    );
    assert!(printed.contains("worst 5-tuples: "), "{printed}");
    assert!(printed.contains("most votes ("), "{printed}");
    assert!(printed.contains("windows   6 of 20.0 s"), "{printed}");
    assert!(printed.contains("48 of 48 known links probed"), "{printed}");
    // Without the file the link is named by its addresses.
    let printed = text(&diagnose(folder.path(), &["d"]));
    assert!(printed.starts_with("loss  10.0.0."), "{printed}");

    let json = text(&diagnose(
        folder.path(),
        &["d", "-o", "json", "--topology", "fabric.toml"],
    ));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["problems"].as_array().unwrap().len(), 1);
    assert_eq!(json["problems"][0]["verdict"]["link"], "r1>s0");
    assert_eq!(json["problems"][0]["flows"], serde_json::json!([flow]));
    assert!(json["coverage"]["asymmetric_ratio"].is_number());
    assert_eq!(json["verdicts"].as_array().unwrap().len(), 4);
    assert_eq!(json["sla"].as_array().unwrap().len(), 6);
}

/// The mirror saw a flow that no probe traced: the switches state its path.
#[test]
fn flows_whose_path_the_switches_stated_are_affected_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    let (fabric, flow) = dataset(&root);
    std::fs::write(folder.path().join("fabric.toml"), fabric.topology.to_toml()).unwrap();
    let (pair, _) = flow.rsplit_once(':').unwrap();
    let untraced = format!("{pair}:1");
    let affected = || {
        let json = text(&diagnose(
            folder.path(),
            &["d", "-o", "json", "--topology", "fabric.toml"],
        ));
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let flows = json["problems"][0]["flows"].as_array().unwrap().clone();
        flows
            .into_iter()
            .map(|flow| flow.as_str().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    let run = |at: i64, spine: &'static str| {
        let (src, dst) = pair.split_once('>').unwrap();
        let hop = |hop: u16, node: &'static str| FlowPathRow {
            time: Time(at),
            time_ns: at,
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            protocol: 17,
            src_port: 1,
            dst_port: 4791,
            hop,
            node: node.into(),
            egress: Some("port".into()),
            outcome: "complete".into(),
            ..FlowPathRow::default()
        };
        let rows: Vec<FlowPathRow> = vec![hop(1, "r1"), hop(2, spine), hop(3, "r0")];
        let options = Options {
            tables: FLOW_PATH_TABLES,
            ..Options::new(spine)
        };
        let mut writer = Writer::create(&root, options).unwrap();
        writer.append_cells(&rows, Instant::now()).unwrap();
        writer.finish().unwrap();
    };
    run(0, "s1");
    assert_eq!(affected().join(" "), flow);
    run(1, "s0");
    let mut both = [flow, untraced];
    both.sort();
    assert_eq!(affected(), both);
}

#[test]
fn verdicts_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    simulated::analyse(&dataset(&root).0, folder.path(), "d");
    let found = scan(&root).unwrap();
    let sla = found.rows::<SlaRow>().unwrap();
    assert_eq!(sla.len(), 6);
    assert_eq!(sla.iter().map(|row| row.probes).sum::<u64>(), 6 * 3_200);
    let verdicts = found.rows::<VerdictRow>().unwrap();
    assert_eq!(verdicts.len(), 4);
    assert!(verdicts.iter().all(|row| &*row.class == "loss" && row.link.is_some()));
    let mut links = found.rows::<LinkRow>().unwrap();
    assert_eq!(links.len(), 6 * 48);
    links.retain(|link| link.votes > 0);
    assert!(!links.is_empty());
    let again = refusal(&diagnose(folder.path(), &["d", "--write"]));
    assert!(again.contains("has a diagnosis by diagnose"), "{again}");
    text(&diagnose(folder.path(), &["d", "--write", "--observer", "second"]));
    assert_eq!(scan(&root).unwrap().rows::<SlaRow>().unwrap().len(), 12);
}

#[test]
fn windows_can_be_shorter_and_bad_input_gives_one_line() {
    let folder = tempfile::tempdir().unwrap();
    dataset(&folder.path().join("d"));
    let printed = text(&diagnose(folder.path(), &["d", "--window", "10s"]));
    assert!(printed.contains("windows   12 of 10.0 s"), "{printed}");
    std::fs::create_dir(folder.path().join("folder")).unwrap();
    let error = refusal(&diagnose(folder.path(), &["folder"]));
    assert!(
        error.contains("folder contains no dataset: `rocescope capture`, `counters` and `probe`"),
        "{error}"
    );
    // A writer left no rows.
    std::fs::create_dir_all(folder.path().join("empty/.open")).unwrap();
    let error = refusal(&diagnose(folder.path(), &["empty"]));
    assert!(
        error.contains("has no rows in `probes`") && error.lines().count() == 1,
        "{error}"
    );
    let twice = "[[node]]\nname='a'\nkind='switch'\naddresses=['10.0.0.1']\n\
                 [[node]]\nname='b'\nkind='switch'\naddresses=['10.0.0.1']\n";
    std::fs::write(folder.path().join("t.toml"), twice).unwrap();
    let error = refusal(&diagnose(folder.path(), &["d", "--topology", "t.toml"]));
    assert!(error.contains("t.toml: 10.0.0.1 belongs to both a and b"), "{error}");
    let error = refusal(&diagnose(folder.path(), &["d", "--window", "2h"]));
    assert!(error.contains("the window must be 1 us to 17 minutes long"), "{error}");
}

/// A NIC that loses packets, and loopback tests of its host that accuse the link behind it: one sentence, from either side.
#[test]
fn a_nic_of_the_mesh_and_the_path_behind_it_are_joined() {
    const START: i64 = 1_795_201_200_000_000_000;
    const WINDOW: i64 = 20_000_000_000;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    let mut fabric = Fabric::new(Rails::two_tiers(4, 4, 2).build().unwrap(), 3);
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.3 },
        place: FaultLocation::Nic(Nic(6)),
        from_ns: START,
        until_ns: i64::MAX,
    });
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let (mut probes, mut paths) = (Vec::new(), Vec::new());
    for at in (0..3).map(|window| START + window * WINDOW) {
        mesh.paths(&fabric, at, |tuple, hops| {
            paths.extend(names.path(&fabric, tuple, at, &hops));
        });
        mesh.probes(&fabric, at, at + WINDOW, |probe| {
            probes.push(names.probe(&fabric, &mesh, &probe));
        });
    }
    let options = Options {
        tables: PROBE_TABLES,
        ..Options::new("agents")
    };
    let mut writer = Writer::create(&root, options).unwrap();
    writer.append_cells(&probes, Instant::now()).unwrap();
    writer.append_cells(&paths, Instant::now()).unwrap();
    writer.finish().unwrap();
    let problem = |output: &Output| -> serde_json::Value {
        let document: serde_json::Value = serde_json::from_str(&text(output)).unwrap();
        document["problems"][0].clone()
    };
    let alone = problem(&diagnose(folder.path(), &["d", "-o", "json", "--write"]));
    assert_eq!(
        (&alone["verdict"]["place_kind"], &alone["hostping"]),
        (&"nic".into(), &serde_json::Value::Null),
        "{alone}"
    );
    let (host, nic) = alone["verdict"]["nic"].as_str().unwrap().split_once('/').unwrap();

    assert_eq!(alone["counters"], serde_json::Value::Null);
    let counter = |metric: &'static str, seconds: i64, increase| CounterRow {
        observer: host.to_owned().into(),
        device: "mlx5_0".into(),
        netdev: Some(nic.to_owned().into()),
        metric: Some(metric.into()),
        time_ns: START + seconds * 1_000_000_000,
        time: Time(START + seconds * 1_000_000_000),
        value: Some(9.0),
        increase,
        interval_ns: increase.map(|_| 1_000_000_000),
        ..CounterRow::default()
    };
    let counters = vec![
        counter("rx_prio_discards", 1, None),
        counter("rx_prio_discards", 30, Some(9)),
        counter("tx_pause_frames", 1, None),
    ];
    let options = Options {
        tables: COUNTER_TABLES,
        ..Options::new(host)
    };
    let mut writer = Writer::create(&root, options).unwrap();
    writer.append_cells(&counters, Instant::now()).unwrap();
    writer.finish().unwrap();

    let tree = format!(
        r#"<system version="1"><cpu numaid="0"><pci busid="0000:01:00.0" class="0x060400">
        <pci busid="0000:03:00.0" class="0x020700"><nic><net name="{nic}" speed="200000"/></nic></pci>
        <pci busid="0000:04:00.0" class="0x030200"><gpu dev="0"/></pci>
        </pci></cpu><cpu numaid="1"/></system>"#
    );
    std::fs::write(folder.path().join("topo.xml"), tree).unwrap();
    let hostping = |action: &[&str], more: &[&str]| text(&run_in(&[action, more].concat(), folder.path()));
    let measure = |gbps: [f64; 3]| {
        let [near, far, gpu] = gbps;
        let matrix = format!("**** loopback ****\nmem0 mem1 GPU0\n{nic} {near} {far} {gpu}\n");
        std::fs::write(folder.path().join("matrix.txt"), matrix).unwrap();
        let files = ["--topology", "topo.xml", "--matrix", "matrix.txt"];
        hostping(&["hostping", "diagnose", "--out", "d", "--observer", host], &files)
    };
    measure([10.0, 10.0, 10.0]);
    let joined = problem(&diagnose(folder.path(), &["d", "-o", "json"]));
    let counters = joined["counters"].as_str().unwrap();
    assert!(
        counters.starts_with(&format!(
            "counters of {host} {nic}: it dropped packets for lack of buffers, which PFC prevents in a lossless class (rx_prio_discards +9); "
        )) && counters.ends_with(
            "none: pause frames sent; not counted: discards instead of sending, pause frames received, link errors"
        ),
        "{counters}"
    );
    let sentence = joined["hostping"].as_str().unwrap();
    assert!(
        sentence.starts_with(&format!(
            "the NIC, or the PCIe path behind it: loopback tests of {host} at "
        )),
        "{sentence}"
    );
    assert!(
        sentence.contains(&format!(
            "accuse {nic} <-> PCIe switch 0 (NIC PCIe link failure, likely)"
        )),
        "{sentence}"
    );
    let printed = text(&diagnose(folder.path(), &["d"]));
    assert!(printed.contains(&format!("    hostping: {sentence}\n")), "{printed}");
    // The other side: the verdict of the mesh beside the accused link.
    let printed = hostping(&["diagnose", "hostping", "d"], &[]);
    assert!(
        printed.contains("hostmesh   loss: ") && printed.contains(sentence),
        "{printed}"
    );
    let found: serde_json::Value =
        serde_json::from_str(&hostping(&["diagnose", "hostping", "d", "-o", "json"], &[])).unwrap();
    assert_eq!(found["runs"][0]["hostmesh"][0]["hostping"], sentence);
    // A later run with a normal path leaves the NIC.
    measure([197.0, 197.0, 192.0]);
    let joined = problem(&diagnose(folder.path(), &["d", "-o", "json"]));
    let sentence = joined["hostping"].as_str().unwrap();
    assert!(
        sentence.starts_with("the NIC, its link or its switch port, not the PCIe path behind it"),
        "{sentence}"
    );
}

#[test]
fn without_a_capture_the_priority_of_what_nics_sent_is_that_warning() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    dataset(&root);
    let probes = scan(&root).unwrap().rows::<ProbeRow>().unwrap();
    let time_ns = probes[0].time_ns;
    let counter = CounterRow {
        time: Time(time_ns),
        time_ns,
        metric: Some("tx_prio_bytes".into()),
        priority: Some(3),
        increase: Some(1_000),
        ..CounterRow::default()
    };
    let options = Options {
        tables: COUNTER_TABLES,
        ..Options::new("h0")
    };
    let mut writer = Writer::create(&root, options).unwrap();
    writer.append_cells(&vec![counter], Instant::now()).unwrap();
    writer.finish().unwrap();
    let warning = "probes have DSCP 0, and 100 % of the bytes that NICs sent have priority 3";
    let printed = text(&diagnose(folder.path(), &["d"]));
    assert!(printed.contains(&format!("\nclass     {warning}")), "{printed}");
}

#[test]
fn captured_traffic_of_a_class_that_no_probe_has_is_one_warning() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("d");
    dataset(&root);
    assert!(!text(&diagnose(folder.path(), &["d"])).contains("class     "));
    let probes = scan(&root).unwrap().rows::<ProbeRow>().unwrap();
    let time_ns = probes[0].time_ns;
    let connection = ConnectionRow {
        time: Time(time_ns),
        time_ns,
        data_dscp: Some("26".into()),
        payload_bytes: 1_000,
        ..ConnectionRow::default()
    };
    let options = Options {
        tables: CAPTURE_TABLES,
        ..Options::new("box")
    };
    let mut writer = Writer::create(&root, options).unwrap();
    writer.append_cells(&vec![connection], Instant::now()).unwrap();
    writer.finish().unwrap();
    let warning = "probes have DSCP 0, and 100 % of the captured payload has DSCP 26";
    let printed = text(&diagnose(folder.path(), &["d"]));
    assert!(printed.contains(&format!("\nclass     {warning}")), "{printed}");
    let found = text(&diagnose(folder.path(), &["d", "-o", "json"]));
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert!(found["unprobed_classes"].as_str().unwrap().starts_with(warning));
}
