//! Queues of ports from captures on both sides, and what counters of hosts and ECN marks add.

use crate::collective::{diagnosed, document, run, text};
use rocescope_generate::{self as generate, Scenario};
use rocescope_model::{COLLECTIVE_TABLES, COUNTER_TABLES, CounterRow, FlowRow, StepRow, TelemetryRow, Text, Time};
use rocescope_store::{Options, Writer, scan};
use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;
use tempfile::TempDir;

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;
const NS: u64 = 1_000_000_000;

/// A capture as it leaves a port that needs `send_ns` for each frame, 5 µs after it entered.
fn leaving(entering: &[u8], send_ns: u64) -> Vec<u8> {
    let mut out = entering.to_vec();
    let (mut at, mut free_ns) = (FILE_HEADER, 0);
    let word = |bytes: &[u8], at: usize| u64::from(u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()));
    while at + RECORD_HEADER <= out.len() {
        let arrived_ns = word(&out, at) * NS + word(&out, at + 4) + 5_000;
        let left_ns = arrived_ns.max(free_ns);
        free_ns = left_ns + send_ns;
        out[at..at + 4].copy_from_slice(&u32::try_from(left_ns / NS).unwrap().to_le_bytes());
        out[at + 4..at + 8].copy_from_slice(&u32::try_from(left_ns % NS).unwrap().to_le_bytes());
        at += RECORD_HEADER + usize::try_from(word(&out, at + 8)).unwrap();
    }
    out
}

fn import(folder: &Path, dataset: &Path) -> (bool, String) {
    let output = run(&[
        "collective",
        "import",
        "--format",
        "taps",
        text(folder),
        "--out",
        text(dataset),
    ]);
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

const TAPS: &str = r#"
[[tap]]
file = "in.pcap"
port = "leaf1:swp1"
direction = "in"
[[tap]]
file = "out.pcap"
port = "leaf1:swp3"
direction = "out"
peer = "h3:eth0"
peer-is-host = true
"#;

#[test]
fn queues_of_a_port_come_from_captures_on_both_sides() {
    let folder = TempDir::new().unwrap();
    let ring = "snaplen = 128\n[[collective]]\nranks = \"10.0.0.1-10.0.0.4\"\n";
    let mut entering = Vec::new();
    generate::write(&Scenario::parse(ring).unwrap(), 1, &mut entering).unwrap();
    fs::write(folder.path().join("in.pcap"), &entering).unwrap();
    fs::write(folder.path().join("out.pcap"), leaving(&entering, 300)).unwrap();
    fs::write(folder.path().join("taps.toml"), TAPS).unwrap();
    let dataset = folder.path().join("dataset");
    let (is_good, messages) = import(folder.path(), &dataset);
    assert!(is_good && !messages.contains("warning"), "{messages}");
    let rows: Vec<TelemetryRow> = scan(&dataset).unwrap().rows().unwrap();
    let ports: Vec<&TelemetryRow> = rows.iter().filter(|row| *row.kind == *"port").collect();
    let is_port = |row: &&TelemetryRow| *row.node == *"leaf1" && *row.egress == *"swp3";
    assert!(!ports.is_empty() && ports.iter().all(is_port), "{rows:?}");
    let queued: u64 = ports.iter().map(|row| row.queued_packets).sum();
    assert!(queued > 1_000, "{ports:?}");
    let of_flows = rows.iter().filter(|row| *row.kind == *"flow");
    let of_flows: u64 = of_flows.map(|row| row.packets).sum();
    assert_eq!(of_flows, ports.iter().map(|row| row.packets).sum::<u64>());
    // With a port that sends at once there is no queue, and nothing to write.
    fs::write(folder.path().join("out.pcap"), leaving(&entering, 0)).unwrap();
    let (is_good, messages) = import(folder.path(), &folder.path().join("another"));
    let why = "has no steps and no telemetry in this format";
    assert!(!is_good && messages.contains(why), "{messages}");
}

#[test]
fn what_is_wrong_with_taps_is_a_line() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("dataset");
    let taps = folder.path().join("taps.toml");
    let (is_good, message) = import(folder.path(), &dataset);
    assert!(!is_good && message.contains("cannot read"), "{message}");
    for (content, why) in [
        (
            "[[tap]]\nfile = \"a\"\nport = \"x:1\"\ndirection = \"up\"\n",
            "taps.toml:4: unknown variant `up`",
        ),
        (
            "[[tap]]\nfile = \"a\"\nport = \"x\"\ndirection = \"in\"\n",
            "\"x\" is not SWITCH:PORT",
        ),
        (
            "[[tap]]\nfile = \"a\"\nport = \"x:1\"\ndirection = \"in\"\n",
            "cannot read",
        ),
        ("[[tap]]\nfile = \"a\"\nrate = 1\n", "taps.toml:3: unknown field `rate`"),
    ] {
        fs::write(&taps, content).unwrap();
        let (is_good, message) = import(folder.path(), &dataset);
        assert!(!is_good && message.contains(why), "{content:?}: {message}");
        assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    }
}

const MS: i64 = 1_000_000;
const START_NS: i64 = 1_795_228_200 * 1_000 * MS;

fn counter(metric: &'static str) -> CounterRow {
    CounterRow {
        observer: Text::from_static("h2"),
        time: Time(START_NS + 1_000 * MS),
        time_ns: START_NS + 1_000 * MS,
        device: Text::from_static("mlx5_0"),
        port: Some(1),
        netdev: Some(Text::from_static("eth0")),
        name: Text::from_static(metric),
        metric: Some(Text::from_static(metric)),
        ..CounterRow::default()
    }
}

/// A dataset with a step, with counters of its hosts and with marks of its flow.
#[test]
fn pauses_of_hosts_and_marks_are_shown_beside_the_causes() {
    let folder = TempDir::new().unwrap();
    let [one, two]: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
    let steps = vec![StepRow {
        observer: Text::from_static("import"),
        time: Time(START_NS),
        time_ns: START_NS,
        collective: Text::from_static("c"),
        host: Text::from_static("a"),
        step: 1,
        dst_host: Text::from_static("b"),
        waits_known: true,
        src: Some(one),
        dst: Some(two),
        src_port: Some(49_200),
        duration_ns: Some(50 * MS),
        expected_ns: Some(30 * MS),
        ..StepRow::default()
    }];
    let counters = vec![
        CounterRow {
            text: Some(Text::from_static("10.0.0.2")),
            ..counter("addresses")
        },
        CounterRow {
            unit: Text::from_static("µs"),
            increase: Some(12_000),
            interval_ns: Some(5_000 * MS),
            ..counter("tx_pause_duration")
        },
    ];
    let flows = vec![FlowRow {
        observer: Text::from_static("tap"),
        window_start: Time(START_NS),
        window_start_ns: START_NS,
        window_ns: 100 * MS,
        src: one,
        dst: two,
        udp_src_port: Some(49_200),
        packets: 1_000,
        ecn_ce_packets: 120,
        ..FlowRow::default()
    }];
    let dataset = folder.path().join("dataset");
    for (observer, tables) in [("import", COLLECTIVE_TABLES), ("h2", COUNTER_TABLES), ("tap", &[][..])] {
        let options = Options {
            tables,
            ..Options::new(observer)
        };
        let mut writer = Writer::create(&dataset, options).unwrap();
        let now = Instant::now();
        let written = match observer {
            "import" => writer.append_cells(&steps, now),
            "h2" => writer.append_cells(&counters, now),
            _ => writer.append_cells(&flows, now),
        };
        written.unwrap();
        writer.finish().unwrap();
    }
    let found = document(&dataset, &[]);
    let evidence = found["evidence"].as_array().unwrap();
    let kinds: Vec<&str> = evidence.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["paused_by_host", "ecn_marks"], "{found}");
    assert_eq!(evidence[0]["paused_ns"], 12 * MS);
    assert_eq!(evidence[1]["marked_packets"], 120);
    let text = diagnosed(&dataset, &[]);
    for line in [
        "h2 eth0 (10.0.0.2) paused its switch for 12.000 ms within 5000.000 ms.",
        "120 of 1000 packets of 10.0.0.1 > 10.0.0.2 from port 49200 had ECN marks at tap: they met a queue before it.",
    ] {
        assert!(text.contains(line), "{text}");
    }
}
