//! Two halves of a capture, measured separately and merged, equal the capture measured whole; and rows of hosts and
//! agents are kept.

use rocescope_generate::{self as generate, Scenario};
use rocescope_model::{
    COUNTER_TABLES, CounterRow, EventRow, FlowRow, OpcodeRow, ProbeRow, Row, Time, WindowRow, footer,
};
use rocescope_pipeline::sketch_columns::CountMinColumns;
use rocescope_store::{Options, Scan, Writer, scan};
use rocescope_testkit::{run, text as succeeded};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// A capture in memory, and the directory of its halves and datasets.
struct Bench {
    dir: tempfile::TempDir,
    capture: Vec<u8>,
}

impl Bench {
    fn new() -> Self {
        let scenario = Scenario::parse(generate::DEMO).unwrap();
        let mut capture = Vec::new();
        generate::write(&scenario, 7, &mut capture).unwrap();
        let dir = tempfile::tempdir().unwrap();
        Self { dir, capture }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The capture with the records for which `keep` returns true, given number and frame.
    fn half(&self, keep: impl Fn(usize, &[u8]) -> bool) -> Vec<u8> {
        let (header, mut rest) = self.capture.split_at(FILE_HEADER);
        let mut half = header.to_vec();
        for number in 0.. {
            let Some(length) = rest.get(8..12) else {
                break;
            };
            let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
            let (record, behind) = rest.split_at(RECORD_HEADER + length);
            if keep(number, &record[RECORD_HEADER..]) {
                half.extend_from_slice(record);
            }
            rest = behind;
        }
        half
    }

    fn measure(&self, name: &str, capture: &[u8], options: &[&str]) {
        let file = self.path(&format!("{name}.pcap"));
        fs::write(&file, capture).unwrap();
        let out = self.path(name);
        // Half of the flows is half of a connection.
        let mut arguments = vec!["capture", "--quiet", "--no-connections", "--observer", name];
        arguments.extend(["--read", text(&file), "--out", text(&out)]);
        arguments.extend(options);
        succeeded(&run(&arguments));
    }

    fn merge(&self, datasets: &[&str], out: &str) -> Output {
        let paths: Vec<PathBuf> = datasets.iter().map(|name| self.path(name)).collect();
        let out = self.path(out);
        let mut arguments = vec!["dataset", "merge", "--observer", "whole", "--out", text(&out)];
        arguments.extend(paths.iter().map(|path| text(path)));
        run(&arguments)
    }

    fn scan(&self, name: &str) -> Scan {
        scan(&self.path(name)).unwrap()
    }

    fn rows<R: Row>(&self, name: &str) -> Vec<R> {
        self.scan(name).rows().unwrap()
    }

    /// Asserts that both datasets have the same windows, flows and opcodes.
    fn assert_equal(&self, merged: &str, whole: &str) {
        let (merged_windows, windows) = (self.rows::<WindowRow>(merged), self.rows::<WindowRow>(whole));
        assert!(windows.len() >= 3);
        assert_eq!(merged_windows, windows);
        assert_eq!(self.rows::<OpcodeRow>(merged), self.rows::<OpcodeRow>(whole));
        let (merged, whole) = (self.rows::<FlowRow>(merged), self.rows::<FlowRow>(whole));
        assert_eq!(merged.len(), whole.len());
        for (merged, whole) in merged.into_iter().zip(whole) {
            // The service of a flow may depend on which half came first.
            let service = whole.service.clone();
            assert_eq!(FlowRow { service, ..merged }, whole);
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Thresholds that flows of the demo exceed.
const ELEPHANTS: [&str; 6] = [
    "--elephant",
    "10M",
    "--jitter-absolute",
    "2M",
    "--jitter-relative",
    "0.2",
];

/// Assigns each flow to one of two halves, by addresses, source port and queue pair of an untagged IPv4 frame.
fn side(frame: &[u8]) -> bool {
    let fields = [&frame[26..36], frame.get(47..50).unwrap_or_default()];
    let sum: u32 = fields.iter().flat_map(|f| f.iter()).map(|b| u32::from(*b)).sum();
    sum.is_multiple_of(2)
}

#[test]
fn halves_by_flow_make_the_whole() {
    let bench = Bench::new();
    bench.measure("whole", &bench.capture, &ELEPHANTS);
    bench.measure("even", &bench.half(|_, frame| side(frame)), &ELEPHANTS);
    bench.measure("odd", &bench.half(|_, frame| !side(frame)), &ELEPHANTS);
    succeeded(&bench.merge(&["odd", "even"], "merged"));
    bench.assert_equal("merged", "whole");

    let events = |name| {
        let mut events: Vec<EventRow> = bench.rows(name);
        events.sort_by_key(|row| (row.time_ns, row.src, row.dst, row.dst_qpn, row.psn));
        events
    };
    assert!(events("whole").len() > 5);
    assert_eq!(events("merged"), events("whole"));
}

#[test]
fn halves_by_time_make_the_whole_although_a_window_is_cut_in_two() {
    let bench = Bench::new();
    bench.measure("whole", &bench.capture, &[]);
    bench.measure("before", &bench.half(|number, _| number < 8_000), &[]);
    bench.measure("after", &bench.half(|number, _| number >= 8_000), &[]);
    succeeded(&bench.merge(&["before", "after"], "merged"));
    bench.assert_equal("merged", "whole");
}

/// Each half lists only its five largest flows: sizes stay bounds, sketches stay equal.
#[test]
fn flows_that_a_half_does_not_list_widen_the_bounds() {
    let bench = Bench::new();
    bench.measure("whole", &bench.capture, &[]);
    let few = ["--flow-rows", "5"];
    bench.measure("before", &bench.half(|number, _| number % 3 > 0), &few);
    bench.measure("after", &bench.half(|number, _| number % 3 == 0), &few);
    succeeded(&bench.merge(&["before", "after"], "merged"));
    let whole: Vec<FlowRow> = bench.rows("whole");
    let merged: Vec<FlowRow> = bench.rows("merged");
    assert!(merged.iter().any(|row| row.error_frame_bytes > 0));
    for row in merged {
        let same = |other: &&FlowRow| (other.flow_hash, other.window_start_ns) == (row.flow_hash, row.window_start_ns);
        let truth = whole.iter().find(same).unwrap();
        assert!(row.frame_bytes >= truth.frame_bytes && row.packets >= truth.packets);
        assert!(row.payload_bytes >= truth.payload_bytes && row.messages >= truth.messages);
        assert!(row.frame_bytes - row.error_frame_bytes <= truth.frame_bytes);
        assert!(row.packets - row.error_packets <= truth.packets);
    }
    let windows = bench.rows::<WindowRow>("whole").into_iter();
    let flows: Vec<FlowRow> = bench.rows("whole");
    for (merged, whole) in bench.rows::<WindowRow>("merged").into_iter().zip(windows) {
        assert!(!merged.flows_exact);
        assert!((merged.estimated_flows / whole.flows as f64 - 1.0).abs() < 0.05);
        assert_eq!(merged.linear_counting, whole.linear_counting);
        // The whole lists all its flows, so it has no tables.
        let flows: Vec<FlowRow> = flows
            .iter()
            .filter(|row| row.window_start_ns == whole.window_start_ns)
            .cloned()
            .collect();
        let tables = CountMinColumns::stored(&whole, &flows).unwrap();
        assert_eq!(merged.count_min_packets, Some(tables.packets));
        assert_eq!(merged.count_min_bytes, Some(tables.frame_bytes));
    }
}

/// One half lists all its flows and has no tables, the other lists one.
#[test]
fn a_half_that_lists_its_flows_counts_in_the_tables() {
    let bench = Bench::new();
    bench.measure("whole", &bench.capture, &["--flow-rows", "1"]);
    bench.measure("before", &bench.half(|number, _| number % 3 > 0), &[]);
    bench.measure("after", &bench.half(|number, _| number % 3 == 0), &["--flow-rows", "1"]);
    succeeded(&bench.merge(&["before", "after"], "merged"));
    assert!(
        bench
            .rows::<WindowRow>("before")
            .iter()
            .all(|row| row.count_min_bytes.is_none())
    );
    let windows = bench.rows::<WindowRow>("whole").into_iter();
    for (merged, whole) in bench.rows::<WindowRow>("merged").into_iter().zip(windows) {
        assert!(whole.count_min_bytes.is_some());
        assert_eq!(merged.count_min_packets, whole.count_min_packets);
        assert_eq!(merged.count_min_bytes, whole.count_min_bytes);
    }
}

#[test]
fn other_windows_are_refused_in_one_line_that_names_the_file() {
    let bench = Bench::new();
    bench.measure("second", &bench.capture, &[]);
    bench.measure("half", &bench.capture, &["--window", "500ms"]);
    let refused = bench.merge(&["second", "half"], "merged");
    assert!(!refused.status.success());
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("rocescope.window_ns is 500000000 in one dataset and 1000000000 in another"));
    assert!(error.contains("half") && error.contains(".parquet"));
    assert_eq!(error.lines().count(), 1);
    assert!(!bench.path("merged").exists());
}

#[test]
fn a_dataset_is_not_merged_into_itself() {
    let bench = Bench::new();
    bench.measure("one", &bench.capture, &[]);
    let refused = bench.merge(&["one"], "one");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is both input and output"));
}

#[test]
fn the_merged_dataset_has_its_own_metadata() {
    let bench = Bench::new();
    bench.measure("one", &bench.capture, &[]);
    succeeded(&bench.merge(&["one"], "merged"));
    let scan = bench.scan("merged");
    let segment = scan.table("windows").next().unwrap();
    assert_eq!(segment.footer(footer::MODE), Some("merge"));
    assert_eq!(segment.footer(footer::OBSERVER), Some("whole"));
    assert_eq!(segment.footer(footer::COUNT_MIN_CONSERVATIVE), Some("false"));
}

/// Three reads of a counter of a host, a second apart from `start_ns` on.
fn counters(host: &str, start_ns: i64) -> Vec<CounterRow> {
    let row = |second: i64| CounterRow {
        observer: host.to_owned().into(),
        time: Time(start_ns + second * 1_000_000_000),
        time_ns: start_ns + second * 1_000_000_000,
        device: "mlx5_0".into(),
        name: "local_ack_timeout_err".into(),
        increase: Some(7),
        ..CounterRow::default()
    };
    (0..3).map(row).collect()
}

impl Bench {
    /// Writes rows of a host into a dataset of its own.
    fn write(&self, host: &str, rows: &[CounterRow]) {
        let options = Options {
            tables: COUNTER_TABLES,
            ..Options::new(host)
        };
        let mut writer = Writer::create(&self.path(host), options).unwrap();
        writer.append_cells(&rows, Instant::now()).unwrap();
        writer.finish().unwrap();
    }

    fn refused(&self, datasets: &[&str], out: &str) -> String {
        let refused = self.merge(datasets, out);
        assert!(!refused.status.success());
        String::from_utf8(refused.stderr).unwrap()
    }
}

/// Until 2026-11-23 a merge dropped every row of counters, probes and paths without a word.
#[test]
fn counters_of_hosts_are_kept_beside_the_windows_of_a_capture() {
    let bench = Bench::new();
    bench.measure("box", &bench.capture, &[]);
    let start_ns = bench.rows::<WindowRow>("box")[0].window_start_ns;
    let (first, second) = (counters("host-1", start_ns), counters("host-2", start_ns));
    bench.write("host-1", &first);
    bench.write("host-2", &second);
    let merged = bench.merge(&["box", "host-1", "host-2"], "all");
    succeeded(&merged);
    let said = String::from_utf8(merged.stdout).unwrap();
    assert!(said.contains("6 rows of `counters`"), "{said}");
    let found: Vec<CounterRow> = bench.rows("all");
    assert_eq!(found, [first, second].concat());
    let names = bench.rows::<WindowRow>("all").into_iter();
    assert!(names.map(|row| row.observer).all(|name| name == "whole".into()));
    assert_eq!(bench.rows::<FlowRow>("all").len(), bench.rows::<FlowRow>("box").len());
}

#[test]
fn counters_alone_are_merged_and_no_table_of_a_capture_is_made() {
    let bench = Bench::new();
    bench.write("host-1", &counters("host-1", 0));
    bench.write("host-2", &counters("host-2", 0));
    succeeded(&bench.merge(&["host-1", "host-2"], "all"));
    assert_eq!(bench.rows::<CounterRow>("all").len(), 6);
    assert!(
        bench
            .scan("all")
            .segments
            .iter()
            .all(|segment| segment.table == "counters")
    );
    assert_eq!(bench.rows::<ProbeRow>("all").len(), 0);
}

#[test]
fn only_the_requested_time_of_counters_is_copied() {
    let bench = Bench::new();
    bench.write("host-1", &counters("host-1", 0));
    let (from, out) = (bench.path("host-1"), bench.path("all"));
    let span = ["--from", "1970-01-01T00:00:01Z", "--to", "1970-01-01T00:00:02Z"];
    succeeded(&run(&[
        &["dataset", "merge", text(&from), "--out", text(&out)],
        &span[..],
    ]
    .concat()));
    let times: Vec<i64> = bench.rows::<CounterRow>("all").iter().map(|row| row.time_ns).collect();
    assert_eq!(times, [1_000_000_000]);
    let span = ["--from", "1971-01-01", "--to", "1971-01-02"];
    let refused = run(&[&["dataset", "merge", text(&from), "--out", text(&out)], &span[..]].concat());
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(
        error.contains("has no rows in") && error.lines().count() == 1,
        "{error}"
    );
}

#[test]
fn counters_are_not_stored_twice() {
    let bench = Bench::new();
    bench.write("host-1", &counters("host-1", 0));
    bench.write("host-2", &counters("host-2", 0));
    let error = bench.refused(&["host-1", "host-2", "host-1"], "all");
    assert!(
        error.contains("have the same rows in `counters`: name each dataset once"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1);
    assert!(!bench.path("all").exists());
    succeeded(&bench.merge(&["host-1"], "all"));
    let error = bench.refused(&["host-1", "host-2"], "all");
    assert!(error.contains("already holds rows of"), "{error}");
    // Another host, or a later time, is welcome.
    succeeded(&bench.merge(&["host-2"], "all"));
    assert_eq!(bench.rows::<CounterRow>("all").len(), 6);
}
