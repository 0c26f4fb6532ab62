//! The program over datasets that the test wrote.

mod made;

use made::Made;
use rocescope_sketches::count_min::Update;
use rocescope_sketches::{CountMin, FlowHash, LinearCounting};
use std::num::NonZeroU16;
use std::process::{Command, Output};

fn sql(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rocescope-sql"))
        .args(arguments)
        .output()
        .unwrap()
}

/// The rows of a statement as CSV, without the names.
fn rows(made: &Made, statement: &str, more: &[&str]) -> Vec<String> {
    let output = sql(&[&[made.root(), "-o", "csv", "-c", statement], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

/// The one line of a failure.
fn failure(arguments: &[&str]) -> String {
    let output = sql(arguments);
    assert!(!output.status.success(), "it succeeded");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn tables_are_there_by_name() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10), ("a", 1, 20)]);
    made.windows("03", &[("b", 3_600, 5)]);
    let found = rows(
        &made,
        "SELECT observer, sum(frames) FROM windows GROUP BY observer ORDER BY 1",
        &[],
    );
    assert_eq!(found, ["a,30", "b,5"]);
    let found = rows(&made, "SELECT DISTINCT date, hour FROM windows ORDER BY hour", &[]);
    assert_eq!(found, ["2026-11-21,02", "2026-11-21,03"]);
    // A table without segments is empty; columns that the segments lack are null.
    assert_eq!(rows(&made, "SELECT count(*) FROM probes", &[]), ["0"]);
    assert_eq!(rows(&made, "SELECT count(messages) FROM windows", &[]), ["0"]);
}

#[test]
fn only_the_latest_analysis_of_a_window_counts() {
    let made = Made::new();
    let sla = [
        ("a", 0, None, 10),
        ("a", 20, Some(0), 10),
        ("a", 40, Some(0), 10),
        ("a", 40, Some(1), 16),
        ("b", 40, Some(0), 5),
    ];
    made.analyses("sla", &sla);
    // The second analysis found nothing in a window; that of another one is not complete.
    let verdicts = [
        ("a", 0, None, 1),
        ("a", 20, Some(1), 2),
        ("a", 40, Some(0), 3),
        ("b", 40, Some(0), 4),
    ];
    made.analyses("verdicts", &verdicts);
    made.analyses("links", &[("a", 40, Some(0), 6), ("a", 40, Some(1), 7)]);
    let sum = |table: &str, more: &[&str]| {
        let statement = format!("SELECT observer, sum(probes) FROM {table} GROUP BY observer ORDER BY 1");
        rows(&made, &statement, more)
    };
    assert_eq!(sum("sla", &[]), ["a,36", "b,5"]);
    assert_eq!(sum("verdicts", &[]), ["a,1", "b,4"]);
    assert_eq!(sum("links", &[]), ["a,7"]);
    assert_eq!(sum("sla", &["--from", "2026-11-21T02:00:30Z"]), ["a,16", "b,5"]);
}

#[test]
fn a_condition_on_the_time_opens_only_its_hours() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10), ("a", 1_799, 20)]);
    made.windows("03", &[("a", 3_600, 5)]);
    let late = "SELECT sum(frames) FROM windows WHERE window_start >= '2026-11-21T03:00:00Z'";
    assert_eq!(rows(&made, late, &[]), ["5"]);
    let plan = rows(&made, &format!("EXPLAIN {late}"), &[]).join("\n");
    assert!(plan.contains("hour=03") && !plan.contains("hour=02"), "{plan}");
    let nanos = "SELECT sum(frames) FROM windows WHERE window_start_ns < 1795230000000000000";
    assert_eq!(rows(&made, nanos, &[]), ["30"]);
    let plan = rows(&made, &format!("EXPLAIN {nanos}"), &[]).join("\n");
    assert!(plan.contains("hour=02") && !plan.contains("hour=03"), "{plan}");
    let all = "SELECT sum(frames) FROM windows";
    assert_eq!(
        rows(
            &made,
            all,
            &["--from", "2026-11-21T02:10:00Z", "--to", "2026-11-21T03:00:00Z"]
        ),
        ["20"]
    );
    let plan = rows(&made, &format!("EXPLAIN {all}"), &["--from", "2026-11-21T03:00:00Z"]).join("\n");
    assert!(plan.contains("hour=03") && !plan.contains("hour=02"), "{plan}");
}

#[test]
fn two_datasets_are_read_as_one() {
    let (one, other) = (Made::new(), Made::new());
    one.windows("02", &[("a", 0, 10)]);
    other.windows("02", &[("b", 0, 7)]);
    assert_eq!(rows(&one, "SELECT sum(frames) FROM windows", &[other.root()]), ["17"]);
}

/// To the digit what the library that wrote them gives.
#[test]
fn sketches_merge_as_in_the_library() {
    let hash = |number: u64| FlowHash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let bitmap = |flows: std::ops::Range<u64>| {
        let mut bitmap = LinearCounting::new(NonZeroU16::MIN);
        flows.for_each(|flow| bitmap.add(hash(flow)));
        let bytes: Vec<u8> = bitmap.row_bytes().flatten().collect();
        (LinearCounting::from_row_bytes(&[&bytes]).unwrap(), bytes)
    };
    let traffic = |flows: std::ops::Range<u64>| {
        let mut sketch = CountMin::new(4, 256, 1, Update::Plain).unwrap();
        flows.for_each(|flow| sketch.add(hash(flow), 100 + flow));
        sketch
    };
    let ((mut flows, one), (others, other)) = (bitmap(0..3_000), bitmap(2_000..5_000));
    let (mut sent, more) = (traffic(0..300), traffic(200..500));
    let made = Made::new();
    made.sketches(&[(&one, &sent.to_spark()), (&other, &more.to_spark())]);
    flows.merge(&others).unwrap();
    sent.merge(&more).unwrap();
    let found = rows(
        &made,
        "SELECT flow_count(merge_bitmap(linear_counting)) FROM windows",
        &[],
    );
    assert_eq!(found, [format!("{:?}", flows.estimate().flows)]);
    for flow in [0, 250, 499, 9_999] {
        let key = hash(flow).0.cast_signed();
        let statement = format!("SELECT flow_bytes(merge_count_min(count_min_bytes), {key}) FROM windows");
        assert_eq!(
            rows(&made, &statement, &[]),
            [sent.estimate(hash(flow)).to_string()],
            "flow {flow}"
        );
    }
    // One sketch, many flows.
    let many = "SELECT sum(flow_bytes(s, k)) FROM (SELECT merge_count_min(count_min_bytes) AS s FROM windows), \
                (SELECT unnest([1, 2, 3]) AS k)";
    let expected: u64 = [1, 2, 3].iter().map(|key| sent.estimate(FlowHash(*key))).sum();
    assert_eq!(rows(&made, many, &[]), [expected.to_string()]);
    let wrong = failure(&[made.root(), "-c", "SELECT flow_count(count_min_bytes) FROM windows"]);
    assert!(wrong.contains("a bitmap row has 4096 bytes"), "{wrong}");
}

/// Windows that list all their flows have no sketch: it is made of the flows. An estimate is never below the truth: what has
/// neither ends the query.
#[test]
fn sketches_of_windows_that_list_their_flows_are_made() {
    let made = Made::new();
    made.listed(&[(0, 12, &[(5, 10), (6, 2)]), (1, 7, &[(5, 7)]), (2, 0, &[])]);
    let mut sent = CountMin::default();
    for (flow, packets) in [(5, 17), (6, 2)] {
        sent.add(FlowHash(flow), packets * 100);
    }
    for flow in [5, 6, 99] {
        let statement = format!("SELECT flow_bytes(merge_count_min(count_min_bytes), {flow}) FROM window_sketches");
        assert_eq!(
            rows(&made, &statement, &[]),
            [sent.estimate(FlowHash(flow)).to_string()]
        );
    }
    let by_window = "SELECT window_start_ns, flow_bytes(count_min_packets, 5) FROM window_sketches ORDER BY 1";
    assert_eq!(
        rows(&made, by_window, &[]),
        [
            "1795226400000000000,10",
            "1795226401000000000,7",
            "1795226402000000000,0"
        ]
    );
    let direct = "SELECT flow_bytes(count_min(flow_hash, packets), 6) FROM flows";
    assert_eq!(rows(&made, direct, &[]), ["2"]);
    let stored = failure(&[
        made.root(),
        "-c",
        "SELECT merge_count_min(count_min_bytes) FROM windows",
    ]);
    assert!(stored.contains("window_sketches"), "{stored}");

    // One packet is of a flow that is not listed.
    made.listed(&[(0, 13, &[(5, 10), (6, 2)])]);
    assert_eq!(rows(&made, by_window, &[]), ["1795226400000000000,"]);
    failure(&[
        made.root(),
        "-c",
        "SELECT merge_count_min(count_min_bytes) FROM window_sketches",
    ]);
}

#[test]
fn a_resolution_is_a_schema() {
    let (made, other) = (Made::new(), Made::new());
    made.windows("02", &[("a", 0, 10)]);
    other.windows("02", &[("b", 0, 10)]);
    let hour = 3_600;
    // A day of hours, from midnight on; a month of days.
    made.rolled_up(
        "1h",
        "date=2026-11-21/hour=00",
        &[("a", -2 * hour, 1), ("a", 11 * hour, 2)],
    );
    other.rolled_up("1h", "date=2026-11-21/hour=00", &[("b", 11 * hour, 40)]);
    made.rolled_up(
        "1d",
        "date=2026-11-01/hour=00",
        &[("a", -10 * 24 * hour, 3), ("a", -2 * hour, 4)],
    );
    let both = [other.root()];
    assert_eq!(rows(&made, "SELECT sum(frames) FROM \"1h\".windows", &both), ["43"]);
    assert_eq!(rows(&made, "SELECT sum(frames) FROM windows", &both), ["20"]);
    let after = "WHERE window_start >= '2026-11-21T13:00:00Z'";
    assert_eq!(
        rows(&made, &format!("SELECT sum(frames) FROM \"1h\".windows {after}"), &[]),
        ["2"]
    );
    let since = ["--from", "2026-11-21T00:00:00Z"];
    assert_eq!(rows(&made, "SELECT sum(frames) FROM \"1d\".windows", &since), ["4"]);
    // The same by its path.
    let path = format!("{}/rollups/1h", made.root());
    let found = sql(&[
        &path,
        "-o",
        "csv",
        "-c",
        &format!("SELECT sum(frames) FROM windows {after}"),
    ]);
    assert_eq!(String::from_utf8_lossy(&found.stdout).lines().last(), Some("2"));
    let none = failure(&[made.root(), "-c", "SELECT * FROM \"1m\".windows"]);
    assert!(none.contains("1m"), "{none}");
}

#[test]
fn rows_in_all_formats() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10), ("b", 1, 200)]);
    let statement = "SELECT observer, window_start, frames, messages FROM windows ORDER BY 1";
    let text = |format: &str| String::from_utf8(sql(&[made.root(), "-o", format, "-c", statement]).stdout).unwrap();
    assert_eq!(
        text("csv"),
        "observer,window_start,frames,messages\na,2026-11-21T02:00:00Z,10,\nb,2026-11-21T02:00:01Z,200,\n"
    );
    assert_eq!(
        text("json"),
        "[{\"observer\":\"a\",\"window_start\":\"2026-11-21T02:00:00Z\",\"frames\":10,\"messages\":null},\
         {\"observer\":\"b\",\"window_start\":\"2026-11-21T02:00:01Z\",\"frames\":200,\"messages\":null}]\n"
    );
    assert_eq!(
        text("table"),
        "observer  window_start          frames  messages\n\
         a         2026-11-21T02:00:00Z      10         –\n\
         b         2026-11-21T02:00:01Z     200         –\n"
    );
    assert_eq!(
        text("jsonl"),
        "{\"observer\":\"a\",\"window_start\":\"2026-11-21T02:00:00Z\",\"frames\":10,\"messages\":null}\n\
         {\"observer\":\"b\",\"window_start\":\"2026-11-21T02:00:01Z\",\"frames\":200,\"messages\":null}\n"
    );
    assert_eq!(
        text("markdown"),
        "| observer | window_start         | frames | messages |\n\
         | -------- | -------------------- | -----: | -------: |\n\
         | a        | 2026-11-21T02:00:00Z |     10 |        – |\n\
         | b        | 2026-11-21T02:00:01Z |    200 |        – |\n"
    );
    let file = made.path("rows.parquet");
    assert!(
        sql(&[made.root(), "-o", "parquet", "--out", &file, "-c", statement])
            .status
            .success()
    );
    assert_eq!(made::integers(&file, "frames"), [10, 200]);
    let two = failure(&[made.root(), "-o", "parquet", "--out", &file, "-c", "SELECT 1; SELECT 2"]);
    assert!(two.contains("the rows of one statement"), "{two}");
}

#[test]
fn nothing_is_changed() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10)]);
    let target = made.path("copy.parquet");
    for statement in [
        "INSERT INTO windows (observer) VALUES ('b')".to_owned(),
        "DELETE FROM windows".to_owned(),
        format!("COPY windows TO '{target}'"),
    ] {
        failure(&[made.root(), "-c", &statement]);
    }
    assert!(!std::path::Path::new(&target).exists());
    // A view belongs to the session alone.
    let both = "CREATE VIEW busy AS SELECT * FROM windows WHERE frames > 5; SELECT count(*) FROM busy";
    assert_eq!(rows(&made, both, &[]), ["1"]);
}

#[test]
fn what_exceeds_the_memory_is_spilled_to_disk() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10)]);
    let statement = "SELECT sum(r * n) FROM (SELECT n, row_number() OVER (ORDER BY repeat(md5(n), 4)) AS r \
                     FROM (SELECT unnest(range(0, 200000)) AS n))";
    // `md5` is not one of the engine's functions here: text of the same length.
    let statement = statement.replace("md5(n)", "lpad(CAST((n * 7919) % 200000 AS VARCHAR), 32, '0')");
    let spill = made.path("spill");
    let much = rows(&made, &statement, &["--memory", "1G"]);
    assert_eq!(rows(&made, &statement, &["--memory", "24M", "--spill", &spill]), much);
    let little = failure(&[made.root(), "--memory", "1M", "-c", &statement]);
    assert!(little.contains("--memory allows more"), "{little}");
}

#[test]
fn wrong_input_is_one_line() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10)]);
    let nowhere = failure(&["/nowhere", "-c", "SELECT 1"]);
    assert!(nowhere.contains("/nowhere"), "{nowhere}");
    let empty = tempfile::tempdir().unwrap();
    let other = failure(&[empty.path().to_str().unwrap(), "-c", "SELECT 1"]);
    assert!(other.contains("is no dataset"), "{other}");
    let table = failure(&[made.root(), "-c", "SELECT * FROM flow"]);
    assert!(table.contains("flow"), "{table}");
    failure(&[made.root(), "-c", "SELEC 1"]);
    let question = failure(&[made.root(), "--question", "nothing"]);
    assert!(question.contains("--list"), "{question}");
    made.damage("02");
    let damaged = failure(&[made.root(), "-c", "SELECT sum(frames) FROM windows"]);
    assert!(damaged.contains("arquet"), "{damaged}");
}

#[test]
fn statements_come_from_files_and_the_standard_input() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10)]);
    let file = made.path("question.sql");
    std::fs::write(
        &file,
        "-- Frames of all windows\nSELECT sum(frames) AS frames FROM windows;\n",
    )
    .unwrap();
    let expected = "frames\n10\n";
    assert_eq!(
        sql(&[made.root(), "-o", "csv", "-f", &file]).stdout,
        expected.as_bytes()
    );
    let piped = Command::new(env!("CARGO_BIN_EXE_rocescope-sql"))
        .args([made.root(), "-o", "csv"])
        .stdin(std::fs::File::open(&file).unwrap())
        .output()
        .unwrap();
    assert_eq!(piped.stdout, expected.as_bytes());
}

/// Without rows, too: none may name a table or a column that does not exist.
#[test]
fn every_question_runs() {
    let made = Made::new();
    made.windows("02", &[("a", 0, 10)]);
    let list = String::from_utf8(sql(&["--list"]).stdout).unwrap();
    let mut names = list
        .lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(name, _)| name.trim());
    assert_eq!(names.clone().count(), 20);
    names.all(|name| {
        rows(&made, "SELECT 1", &["--question", name]);
        true
    });
}
