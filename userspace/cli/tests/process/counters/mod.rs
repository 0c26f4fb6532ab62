//! `rocescope counters` over made devices: what it prints, and what it writes.

mod exported;
mod queue_pairs;

use rocescope_model::catalogue::{Metric, Place};
use rocescope_model::{CounterRow, Row};
use rocescope_store::scan;
use rocescope_testkit::{binary, run, text as printed, until, until_some};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The made devices of `rocescope-host`: driver, device, files.
const DEVICES: [(&str, &str, &str); 5] = [
    (
        "mlx5",
        "mlx5_0",
        include_str!("../../../../host/tests/counters/trees/mlx5.txt"),
    ),
    (
        "bnxt_re",
        "bnxt_re0",
        include_str!("../../../../host/tests/counters/trees/bnxt_re.txt"),
    ),
    (
        "irdma",
        "rocep177s0",
        include_str!("../../../../host/tests/counters/trees/irdma.txt"),
    ),
    (
        "hfi1",
        "hfi1_0",
        include_str!("../../../../host/tests/counters/trees/hfi1.txt"),
    ),
    (
        "rxe",
        "rxe0",
        include_str!("../../../../host/tests/counters/trees/rxe.txt"),
    ),
];

/// What `ethtool -S` prints for their interfaces.
const STATISTICS: [(&str, &str); 3] = [
    (
        "eth2",
        include_str!("../../../../host/tests/counters/trees/mlx5.ethtool.txt"),
    ),
    (
        "eth3",
        include_str!("../../../../host/tests/counters/trees/bnxt_re.ethtool.txt"),
    ),
    (
        "eth4",
        include_str!("../../../../host/tests/counters/trees/irdma.ethtool.txt"),
    ),
];

struct Tree(tempfile::TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (_, device, files) in DEVICES {
            for line in files.lines().filter(|line| !line.starts_with('#')) {
                let (path, content) = line.split_once(' ').unwrap();
                tree.set(device, path, content);
            }
        }
        tree
    }

    fn set(&self, device: &str, path: &str, content: &str) {
        let path = self.path("sys/class/infiniband").join(device).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{content}\n")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.arg("counters").arg("--sysfs-root").arg(self.path("sys"));
        command.args(["--observer", "host-1"]).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }
}

fn rows(dataset: &Path) -> Vec<CounterRow> {
    scan(dataset).unwrap().rows::<CounterRow>().unwrap()
}

#[test]
fn once_prints_an_array_with_device_port_name_metric_value_and_unit() {
    let tree = Tree::new();
    let all: Value = serde_json::from_str(&printed(&tree.run(&["--once", "-o", "json"]))).unwrap();
    let all = all.as_array().unwrap();
    let find = |device: &str, name: &str| {
        let mut rows = all.iter().filter(|row| row["device"] == device && row["name"] == name);
        rows.next().unwrap_or_else(|| panic!("no {device} {name}")).clone()
    };
    let row = find("mlx5_0", "port_xmit_data");
    assert_eq!((&row["port"], &row["metric"]), (&1.into(), &"port_xmit_data".into()));
    assert_eq!(row["value"].as_u64().unwrap(), row["raw_value"].as_u64().unwrap() * 4);
    assert_eq!((&row["unit"], &row["increase"]), (&"bytes".into(), &Value::Null));
    let row = find("rxe0", "rcvd_rnr_err");
    assert_eq!(
        (&row["metric"], &row["side"]),
        (&"rnr_nak_retry_err".into(), &"receiver".into())
    );
    // A copy of /sys does not contain the processors of the host that it came from.
    assert!(all.iter().all(|row| row["device"] != "host"));
    let names: BTreeSet<&str> = all[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        CounterRow::TABLE.columns.iter().map(|column| column.name).collect()
    );
}

#[test]
fn selections_and_text() {
    let tree = Tree::new();
    let text = printed(&tree.run(&["--once", "--device", "bnxt*", "--metric", "*cnp*"]));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(
        lines[0].starts_with("Device") && lines[1].contains("rx_cnp_pkts  rp_cnp_handled"),
        "{text}"
    );
    let nothing = tree.run(&["--once", "--sysfs-root", "/nowhere"]);
    assert_eq!(nothing.status.code(), Some(2), "given twice");
    let missing = run(&["counters", "--once", "--sysfs-root", "/nowhere"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("/nowhere/class/infiniband does not exist"));
}

/// Every metric of tables 1 to 4 that a driver has, from the file of the device to the row in the dataset.
#[test]
fn every_metric_of_every_driver_is_in_the_dataset() {
    let tree = Tree::new();
    let dataset = tree.path("dataset");
    let out = dataset.to_str().unwrap();
    printed(&tree.run(&["--out", out, "--interval", "20ms", "--duration", "100ms", "--quiet"]));
    let rows = rows(&dataset);
    let mut table = String::from("metric | driver | read from | raw value | value | unit\n---|---|---|---|---|---\n");
    for metric in Metric::all().filter(|metric| metric.table.is_some()) {
        for (driver, device, _) in DEVICES {
            let of_metric = rows.iter().filter(|row| &*row.device == device);
            let mut of_metric: Vec<&CounterRow> = of_metric
                .filter(|row| row.metric.as_deref() == Some(metric.name))
                .collect();
            of_metric.sort_by_key(|row| row.name.to_string());
            for row in of_metric {
                assert_eq!(
                    (&*row.observer, &*row.driver, row.event.as_deref()),
                    ("host-1", driver, Some("first"))
                );
                let number = |number: Option<i64>| number.map_or_else(|| "-".into(), |number| number.to_string());
                let value = row.value.map_or_else(|| "-".into(), |value| value.to_string());
                let raw = number(row.raw_value);
                let name = format!("{}/{}", row.source, row.name);
                table += &format!("{} | {driver} | {name} | {raw} | {value} | {}\n", metric.name, row.unit);
            }
        }
        // What hosts do not count, a capture does, or an agent measures.
        let is_read = |place| !matches!(place, Place::Dataset | Place::Operation | Place::Reader);
        let is_read = metric.sources.iter().any(|source| is_read(source.place));
        assert_eq!(
            is_read,
            table.contains(&format!("\n{} | mlx5 |", metric.name)),
            "{}",
            metric.name
        );
    }
    let expected = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/process/counters/metrics.md");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&expected, &table).unwrap();
    }
    assert_eq!(table, fs::read_to_string(&expected).unwrap());
}

/// Counters that do not change have one row; those that do, a row with their increase.
#[test]
fn a_dataset_has_what_changed() {
    let tree = Tree::new();
    let dataset = tree.path("dataset");
    let bytes = "ports/1/hw_counters/rx_bytes";
    tree.set("bnxt_re0", bytes, "1000");
    let mut command = tree.command(&["--out", dataset.to_str().unwrap(), "--interval", "50ms", "-o", "json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reads = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut next = || -> Value { serde_json::from_str(&reads.next().unwrap().unwrap()).unwrap() };
    assert!(next().as_array().unwrap().len() > 200);
    tree.set("bnxt_re0", bytes, "1700");
    let changed = until_some("the changed value", || {
        Some(next()).filter(|read| read.as_array().unwrap().iter().any(|row| row["value"] == 1700))
    });
    // And that it was read.
    assert_eq!(changed.as_array().unwrap().len(), 2, "{changed}");
    assert_eq!(
        (&changed[0]["increase"], &changed[1]["name"]),
        (&700.into(), &"reads".into())
    );
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    // What it still prints must not fill the pipe.
    for line in reads {
        drop(line);
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows = rows(&dataset);
    let read = rows.iter().filter(|row| &*row.name == "rx_bytes");
    // The file may have been empty for a moment, while it was written.
    let increases: u64 = read.clone().filter_map(|row| row.increase).sum();
    assert_eq!(increases, 700);
    assert_eq!(read.filter(|row| row.event.as_deref() == Some("first")).count(), 1);
    assert_eq!(rows.iter().filter(|row| &*row.name == "tx_bytes").count(), 1);
}

/// Lines for a terminal: a heading, and one for each port and read.
#[test]
fn lines_as_vmstat_prints_them() {
    let tree = Tree::new();
    let mut command = tree.command(&["--interval", "10ms"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let heading = lines.next().unwrap().unwrap();
    assert!(heading.starts_with("Port "), "{heading}");
    let of = lines
        .by_ref()
        .map(Result::unwrap)
        .filter(|line| line.starts_with("hfi1_0/1 "));
    for line in of.take(2) {
        assert!(line.contains(" ACTIVE "), "{line}");
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
}

/// The report of a dataset with counters has what grew, and nothing that did not.
#[test]
fn a_report_names_the_counters_that_grew() {
    let tree = Tree::new();
    let dataset = tree.path("dataset");
    let out = dataset.to_str().unwrap();
    let arguments = ["--out", out, "--interval", "50ms", "-o", "json"];
    let mut child = tree
        .command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut reads = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    reads.next().unwrap().unwrap();
    tree.set("mlx5_0", "ports/1/hw_counters/out_of_sequence", "28300");
    until("the increase", || {
        reads.next().unwrap().unwrap().contains("\"increase\":41")
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    reads.for_each(drop);
    assert!(child.wait().unwrap().success());
    let report = |options: &[&str]| {
        let mut command = Command::new(binary());
        printed(&command.args(["report", out]).args(options).output().unwrap())
    };
    let text = report(&["-o", "text"]);
    assert!(text.contains("Host counters"), "{text}");
    let finding = "1 counter of errors, discards or congestion grew: out_of_sequence of host-1 mlx5_0.";
    assert!(text.replace("\n", " ").contains(finding), "{text}");
    let json: Value = serde_json::from_str(&report(&["-o", "json"])).unwrap();
    let grown = json["counters"].as_array().unwrap();
    assert_eq!((grown.len(), &grown[0]["increase"]), (1, &41.into()));
}

/// `top` over a dataset of counters alone: ports with their states, and the counters that grew.
#[test]
fn top_shows_the_ports_of_hosts() {
    let tree = Tree::new();
    let dataset = tree.path("dataset");
    let out = dataset.to_str().unwrap();
    let mut child = tree
        .command(&["--out", out, "--interval", "50ms", "-o", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut reads = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    reads.next().unwrap().unwrap();
    tree.set("mlx5_0", "ports/1/state", "1: DOWN");
    tree.set("mlx5_0", "ports/1/hw_counters/out_of_sequence", "28300");
    until("the increase", || {
        reads.next().unwrap().unwrap().contains("\"increase\":41")
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    reads.for_each(drop);
    assert!(child.wait().unwrap().success());
    let top = |options: &[&str]| {
        let mut command = Command::new(binary());
        printed(&command.args(["top", out]).args(options).output().unwrap())
    };
    let windows = top(&["-o", "jsonl"]);
    let last: Value = serde_json::from_str(windows.lines().last().unwrap()).unwrap();
    let ports = last["host_ports"].as_array().unwrap();
    assert_eq!(ports.len(), DEVICES.len(), "{ports:?}");
    let port = ports.iter().find(|port| port["device"] == "mlx5_0").unwrap();
    assert_eq!((&port["observer"], &port["state"]), (&"host-1".into(), &"DOWN".into()));
    assert_eq!((&port["errors"], &port["new_errors"]), (&41.into(), &41.into()));
    let detail = port["detail"].as_str().unwrap();
    assert!(detail.starts_with("out_of_sequence +41, PCIe 16.0 GT/s x"), "{detail}");
    let other = ports.iter().find(|port| port["device"] == "rxe0").unwrap();
    assert_eq!((&other["state"], &other["errors"]), (&"ACTIVE".into(), &0.into()));
    // Soft-RoCE counts no pause, and has no PCIe link.
    assert_eq!((&other["paused_ratio"], &other["pcie"]), (&Value::Null, &Value::Null));
    let text = top(&["--once", "--filter", "device = bnxt_re0"]);
    assert!(
        text.contains("host_ports: 1 of 1 rows") && text.contains("bnxt_re0"),
        "{text}"
    );
    let csv = top(&["--once", "--table", "host-ports", "-o", "csv"]);
    assert_eq!(csv.lines().count(), 1 + DEVICES.len());
}

/// A fault that never changes has one row; that its host is read has one for each read.
#[test]
fn diagnose_hosts_finds_what_does_not_change() {
    let tree = Tree::new();
    for (file, value) in [("width", "8"), ("speed", "16.0 GT/s PCIe")] {
        tree.set("mlx5_0", &format!("device/current_link_{file}"), value);
    }
    tree.set("mlx5_0", "device/max_link_width", "16");
    tree.set("mlx5_0", "device/max_link_speed", "16.0 GT/s PCIe");
    let dataset = tree.path("dataset");
    let out = dataset.to_str().unwrap();
    let read = tree.run(&["--out", out, "--interval", "200ms", "--duration", "3500ms", "-q"]);
    printed(&read);
    let diagnose = |options: &[&str]| {
        let mut command = Command::new(binary());
        command.args(["diagnose", "hosts", out]).args(options).output().unwrap()
    };
    let text = printed(&diagnose(&["--window", "1s"]));
    assert!(text.contains("pcie_degraded  host-1 mlx5_0/1: "), "{text}");
    assert!(text.contains(" and not over, "), "{text}");
    // A segment that cannot be read is named, with their number.
    for file in files(&dataset.join("counters")) {
        fs::write(file, "no Parquet").unwrap();
    }
    let output = diagnose(&[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.lines().count() == 1, "{error}");
    assert!(
        error.contains("1 file is unreadable: ") && error.contains(".parquet: "),
        "{error}"
    );
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => files(&path),
            false => vec![path],
        })
        .collect()
}

/// A file without a value put up to 4 KB of any bytes into the summary.
#[test]
fn a_file_of_garbage_is_cut_to_a_short_printable_line() {
    let tree = Tree::new();
    let garbage: String = (0..2_000).map(|at| if at % 3 == 0 { '\u{1b}' } else { 'x' }).collect();
    tree.set("mlx5_0", "ports/1/hw_counters/np_cnp_sent", &garbage);
    let output = tree.run(&["--once", "--device", "mlx5_0"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let line = said
        .lines()
        .find(|line| line.contains("np_cnp_sent: no value in `"))
        .unwrap();
    let (_, shown) = line.split_once("no value in `").unwrap();
    assert!(shown.ends_with("…`") && shown.chars().count() == 42, "{line}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}

/// What names nothing is an error or a line, not silence.
#[test]
fn options_that_name_nothing_are_reported() {
    let tree = Tree::new();
    let error = |arguments: &[&str]| {
        let output = tree.run(arguments);
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let devices = error(&["--once", "--device", "nope"]);
    assert!(
        devices.contains("--device nope: no such device; there are bnxt_re0, hfi1_0, mlx5_0, rocep177s0, rxe0"),
        "{devices}"
    );
    let watched = tree.run(&["--device", "mlx5_0", "nope", "--duration", "50ms"]);
    assert!(watched.status.success());
    let said = String::from_utf8(watched.stderr).unwrap();
    assert!(said.contains("--device nope: no such device"), "{said}");
    // Its absence is a row, too: the device may have vanished before the start.
    let some = tree.run(&["--once", "--device", "mlx5_0", "nope", "-o", "json"]);
    let some: Value = serde_json::from_slice(&some.stdout).unwrap();
    let row = some
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["device"] == "nope")
        .unwrap();
    assert_eq!(
        (&row["metric"], row["value"].as_f64(), &row["event"]),
        (&Value::from("present"), Some(0.0), &Value::from("absent"))
    );
    let interface = tree.run(&["--once", "-i", "nope0"]);
    let said = String::from_utf8(interface.stderr).unwrap();
    assert!(
        interface.status.success() && said.contains("-i nope0: no such network interface"),
        "{said}"
    );
    let metrics = error(&["--once", "--metric", "nosuch*"]);
    assert!(
        metrics.contains("--metric nosuch*: no counter of this host has such a metric or name"),
        "{metrics}"
    );
    for how in [&["--once"][..], &["--duration", "50ms"]] {
        let some = tree.run(&[how, &["--metric", "nosuch*", "port_xmit_data"]].concat());
        let said = String::from_utf8(some.stderr).unwrap();
        assert!(
            some.status.success() && said.contains("--metric nosuch*: no counter"),
            "{said}"
        );
    }
    for option in ["--ethtool-root", "--proc-root"] {
        let said = error(&["--once", option, "/nope"]);
        assert!(said.contains(&format!("{option}: /nope is no directory")), "{said}");
    }
    let said = error(&["--interval", "1ns"]);
    assert!(said.contains("expected a duration from 10ms to 1h"), "{said}");
}
