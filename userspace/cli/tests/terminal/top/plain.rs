//! Without a terminal.

use crate::top::input::{self, rocescope};
use rocescope_model::EventRow;
use rocescope_testkit::{binary, refusal, run};
use serde_json::Value;
use std::process::{Command, Stdio};

fn refused(arguments: &[&str]) -> String {
    refusal(&run(arguments))
}

#[test]
fn a_pipe_is_refused_with_a_remedy() {
    let error = refused(&["top", "-r", input::capture()]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("standard output is not a terminal") && error.contains("--once -o"));
    assert!(refused(&["top"]).contains("no input: set --interface or --read, or name a dataset"));
}

/// As every command that reads: a file, a directory of files, or a dataset.
#[test]
fn a_file_needs_no_option() {
    let words = ["--once", "-o", "csv", "--table", "flows"];
    let expected = rocescope(&[&["top", "-r", input::capture()], &words[..]].concat());
    let file = rocescope(&[&["top", input::capture()], &words[..]].concat());
    assert_eq!(file, expected);
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(input::capture(), folder.path().join("one.pcap")).unwrap();
    let directory = rocescope(&[&["top", folder.path().to_str().unwrap()], &words[..]].concat());
    assert_eq!(directory, expected);
    let error = refused(&["top", input::capture(), "--last", "1s", "--once"]);
    assert!(error.contains("select from a dataset"), "{error}");
}

/// Every window as JSON: its sums equal those of its rows, and all windows sum to the capture.
#[test]
fn windows_are_printed_as_json() {
    let capture: Value = {
        let text = rocescope(&["capture", "-q", "-o", "json", "-r", input::capture()]);
        serde_json::from_str(&text).unwrap()
    };
    let text = rocescope(&["top", "-r", input::capture(), "--once", "-o", "json", "--windows", "9"]);
    let windows: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(windows.len() as u64, capture["windows"].as_u64().unwrap());
    let sum = |table: &str, column: &str| -> u64 {
        let rows = windows.iter().flat_map(|w| w[table].as_array().unwrap());
        rows.map(|row| row[column].as_u64().unwrap()).sum()
    };
    let packets = capture["roce_packets"].as_u64().unwrap();
    assert_eq!(sum("windows", "roce_packets"), packets);
    assert_eq!(sum("opcodes", "packets"), packets);
    assert_eq!(sum("flows", "packets"), packets);
    assert!(
        windows
            .iter()
            .any(|window| !window["events"].as_array().unwrap().is_empty())
    );
    let connections = windows.iter().map(|w| w["connections"].as_array().unwrap().len());
    assert!(connections.max() > Some(0), "reported while they live");
}

#[test]
fn one_window_is_printed_as_text_and_csv() {
    let text = rocescope(&["top", "-r", input::capture(), "--once", "--top", "3"]);
    assert!(text.contains("flows: 3 of "), "{text}");
    assert_eq!(text.lines().count(), 2 + 2 + 4, "{text}");
    let table = ["--once", "-o", "csv", "--table", "opcodes"];
    let from_file = rocescope(&[&["top", "-r", input::capture(), "--window", "100ms"], &table[..]].concat());
    assert!(from_file.starts_with("observer,window_start,window_start_ns,window_ns,opcode,"));
    assert!(from_file.lines().count() > 3);
    // A dataset has the same window.
    let from_dataset = rocescope(&[&["top", input::dataset()], &table[..]].concat());
    assert_eq!(from_dataset, from_file);
}

fn windows(more: &[&str]) -> Vec<Value> {
    let line = ["top", "-r", input::capture(), "--once", "-o", "json"];
    let text = rocescope(&[&line, more].concat());
    let lines = text.lines();
    lines.map(|l| serde_json::from_str(l).unwrap()).collect()
}

fn rows<'a>(window: &'a Value, table: &str) -> &'a Vec<Value> {
    window[table].as_array().unwrap()
}

/// The first window must not show connections of the whole file: it closes after a lateness bound that exceeds the
/// length of the file.
#[test]
fn a_window_has_the_connections_and_events_up_to_it() {
    let windows = windows(&["--windows", "9"]);
    assert_eq!(windows.len(), 4);
    let mut before = 0;
    for window in &windows {
        let sums = &window["windows"][0];
        let ns = |value: &Value| value.as_i64().unwrap();
        let end_ns = ns(&sums["window_start_ns"]) + ns(&sums["window_ns"]);
        for event in rows(window, "events") {
            assert!(ns(&event["time_ns"]) < end_ns);
            // Otherwise the registry would not know what the event measured.
            let mut known = EventRow::KINDS.iter();
            assert!(known.any(|(kind, _)| event["kind"] == *kind), "{event}");
        }
        let connections = rows(window, "connections");
        let reported_before = end_ns + ns(&sums["window_ns"]);
        let packets = connections.iter().map(|row| {
            assert!(ns(&row["time_ns"]) < reported_before);
            ns(&row["packets"])
        });
        let packets: i64 = packets.sum();
        assert!(packets >= before, "they count from their first packet");
        before = packets;
        let mut names: Vec<String> = connections
            .iter()
            .map(|row| format!("{} {}", row["connection"], row["role"]))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all, "each direction once");
    }
}

#[test]
fn flows_are_printed_in_the_requested_order() {
    let packets = |window: &Value| -> Vec<u64> {
        let flows = rows(window, "flows").iter();
        flows.map(|flow| flow["packets"].as_u64().unwrap()).collect()
    };
    let (ranked, sorted) = (windows(&[]), windows(&["--sort", "packets"]));
    let (ranked, sorted) = (packets(&ranked[0]), packets(&sorted[0]));
    assert!(sorted.is_sorted_by(|a, b| a >= b) && ranked != sorted);
    let error = refused(&["top", "-r", input::capture(), "--once", "--sort", "size"]);
    assert!(error.contains("--sort: flows has no column `size`"), "{error}");
}

#[test]
fn rates_are_printed_in_bytes_on_request() {
    let text = rocescope(&["top", "-r", input::capture(), "--once", "--bytes"]);
    assert!(text.contains("MiB/s") && !text.contains("bit/s"), "{text}");
}

#[test]
fn values_of_events_have_units() {
    let line = ["top", "-r", input::capture(), "--once", "--table", "events"];
    let text = rocescope(&[&line[..], &["--windows", "9", "--top", "99"]].concat());
    for measured in ["  1.39 ms  ", "  28 pps  "] {
        assert!(text.contains(measured), "{text}");
    }
}

#[test]
fn a_time_after_the_last_window_is_an_error() {
    for source in [&["-r", input::capture()][..], &[input::dataset()]] {
        let once = [&["top"], source, &["--once", "--at"]].concat();
        let error = refused(&[&once[..], &["2026-01-01T00:00:04Z"]].concat());
        let expected = "rocescope: --at 2026-01-01T00:00:04.000000000Z is after the last window, which starts at 2026-01-01T00:00:03.000000000Z\n";
        assert_eq!(error, expected);
        let last = rocescope(&[&once[..], &["2026-01-01T00:00:03Z"]].concat());
        assert!(last.contains("2026-01-01T00:00:03.000Z"), "{last}");
    }
}

#[test]
fn a_filter_keeps_packets_of_a_file() {
    let window = |filter: &[&str]| -> Value {
        let line = [&["top", "-r", input::capture(), "--once", "-o", "json"], filter].concat();
        serde_json::from_str(&rocescope(&line)).unwrap()
    };
    let (all, some) = (window(&[]), window(&["--filter", "src host 10.10.0.11"]));
    let packets = |window: &Value, column: &str| window["windows"][0][column].as_u64().unwrap();
    assert!(packets(&some, "roce_packets") < packets(&all, "roce_packets"));
    assert_eq!(packets(&some, "frames"), packets(&all, "frames"));
    let flows = some["flows"].as_array().unwrap();
    assert!(flows.iter().all(|flow| flow["src"] == "10.10.0.11"));
}

/// A filter on a dataset selects rows, and the sums stay those of all packets.
#[test]
fn a_filter_selects_rows_of_a_dataset() {
    let once = ["top", input::dataset(), "--once"];
    let printed = |more: &[&str]| rocescope(&[&once, more].concat());
    let window = |more: &[&str]| -> Value {
        let json = printed(&[&["-o", "json"], more].concat());
        serde_json::from_str(&json).unwrap()
    };
    let (all, some) = (window(&[]), window(&["--filter", "src host 10.10.0.11"]));
    assert_eq!(some["windows"], all["windows"]);
    assert_eq!(some["opcodes"], all["opcodes"]);
    let flows = |window: &Value| window["flows"].as_array().unwrap().clone();
    let expected: Vec<Value> = flows(&all)
        .into_iter()
        .filter(|flow| flow["src"] == "10.10.0.11")
        .collect();
    assert!(!expected.is_empty() && expected.len() < flows(&all).len());
    assert_eq!(flows(&some), expected);
    let none = printed(&["--filter", "host 9.9.9.9", "-o", "csv"]);
    assert_eq!(none.lines().count(), 1, "{none}");
    let error = refused(&[&once[..], &["--filter", "opcode *SEND*"]].concat());
    assert!(error.contains("flows have no column `opcode`"), "{error}");
}

/// A reader that has left gets no error, and the program does not panic.
#[test]
fn an_error_without_a_reader_still_fails() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = Command::new(binary())
        .args(["top", "nowhere", "--once"])
        .stderr(writer)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_broken_file_shows_its_whole_part_and_the_place_of_the_damage() {
    let whole = std::fs::read(input::capture()).unwrap();
    let broken = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(broken.path(), &whole[..whole.len() - 10]).unwrap();
    let path = broken.path().to_str().unwrap();
    let output = run(&["top", "-r", path, "--once", "-o", "json", "--windows", "100"]);
    assert!(!output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 4);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// `no windows` alone hides that a newer program can read it.
#[test]
fn a_dataset_of_a_newer_version_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let options = rocescope_store::Options {
        metadata: vec![(rocescope_model::footer::FORMAT.into(), "3".into())],
        ..rocescope_store::Options::new("box")
    };
    let mut writer = rocescope_store::Writer::create(folder.path(), options).unwrap();
    let rows = vec![rocescope_model::WindowRow::default()];
    writer.append_cells(&rows, std::time::Instant::now()).unwrap();
    writer.finish().unwrap();
    let error = refused(&["top", folder.path().to_str().unwrap(), "--once"]);
    assert!(
        error.contains("no windows, no probes, no counters and no loopback tests; skipped "),
        "{error}"
    );
    assert!(
        error.contains("format 3, but this program reads up to format 2") && error.contains("use a newer rocescope"),
        "{error}"
    );
}

/// The first window of a dataset has the connections that began in it, though their rows come later.
#[test]
fn a_window_of_a_dataset_has_its_connections() {
    let line = ["top", input::dataset(), "--once", "-o", "json", "--windows", "5"];
    let text = rocescope(&line);
    for line in text.lines() {
        let window: Value = serde_json::from_str(line).unwrap();
        let sums = &window["windows"][0];
        let end_ns = sums["window_start_ns"].as_i64().unwrap() + sums["window_ns"].as_i64().unwrap();
        let connections = rows(&window, "connections");
        assert!(!connections.is_empty(), "{window}");
        for row in connections {
            assert!(row["first_ns"].as_i64().unwrap() < end_ns, "it has not begun: {row}");
        }
    }
}

#[test]
fn groups_sum_to_their_window() {
    for by in ["src", "dst", "qp", "opcode"] {
        for source in [&["-r", input::capture()][..], &[input::dataset()]] {
            let line = [&["top"], source, &["--once", "--by", by, "-o", "json"]].concat();
            let window: Value = serde_json::from_str(&rocescope(&line)).unwrap();
            let groups = rows(&window, "groups");
            assert!(groups.len() > 2, "{by}");
            for (column, of_window) in [("packets", "roce_packets"), ("frame_bytes", "frame_bytes")] {
                let sum: u64 = groups.iter().map(|group| group[column].as_u64().unwrap()).sum();
                assert_eq!(window["windows"][0][of_window], sum, "{by} {column}");
            }
        }
    }
    let text = rocescope(&["top", "-r", input::capture(), "--once", "--by", "src"]);
    assert!(text.contains("groups: ") && text.contains("Group  "), "{text}");
    assert!(text.contains("10.10.0.11") && text.contains("Share"), "{text}");
    let csv = rocescope(&["top", "-r", input::capture(), "--once", "--by", "qp", "-o", "csv"]);
    assert!(csv.contains(" QP "), "{csv}");
}

#[test]
fn json_lines_go_on_to_the_end() {
    let line = ["top", "-r", input::capture(), "-o", "jsonl"];
    let lines = rocescope(&line);
    let windows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(windows.len(), 4);
    let stored = rocescope_store::scan(std::path::Path::new(input::dataset())).unwrap();
    let lines = rocescope(&["top", input::dataset(), "-o", "jsonl"]);
    assert_eq!(lines.lines().count() as u64, stored.row_count("windows"));
    // A format for one window is an error, not a screen.
    let error = refused(&["top", "-r", input::capture(), "-o", "json"]);
    assert!(error.contains("need --once; -o jsonl prints every window"), "{error}");
    // The capture prints the same windows, and the summary.
    let lines = rocescope(&["capture", "-q", "-r", input::capture(), "-o", "jsonl"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 5);
    let summary = &lines[4]["summary"];
    for key in ["frames", "roce_packets", "messages", "fabric_lost_packets"] {
        let sum: u64 = lines[..4]
            .iter()
            .map(|line| line["windows"][0][key].as_u64().unwrap())
            .sum();
        assert_eq!(summary[key], sum, "{key}");
    }
    for line in &lines[..4] {
        let flows: u64 = rows(line, "flows")
            .iter()
            .map(|row| row["packets"].as_u64().unwrap())
            .sum();
        assert_eq!(line["windows"][0]["roce_packets"], flows);
    }
}

/// `head` ends the capture, which would otherwise read to the end for no one.
#[test]
fn json_lines_end_with_their_reader() {
    let mut child = Command::new(binary())
        .args([
            "capture",
            "-q",
            "-r",
            input::capture(),
            "-o",
            "jsonl",
            "--window",
            "1ms",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
