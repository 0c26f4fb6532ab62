//! Small segments become larger ones: equal row for row, whenever the process is killed and while others read and
//! write.

use crate::rows::{HOUR_NS, SECOND_NS, START, files, read, scratch, together, window};
use proptest::prelude::*;
use rocescope_model::{FlowRow, SHIPPED, SHIPPING_SUFFIX, Time, WindowRow, WindowRows, footer};
use rocescope_store::{
    Compacted, Compaction, Error, Limits, Options, Scan, Writer, compact, repair, retain, scan, verify,
};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Every hour, and no limit of size.
const ALL: Compaction = Compaction {
    ended_before: Time(i64::MAX),
    max_bytes: u64::MAX,
};

/// Seals one segment a table for each window.
fn write(root: &Path, observer: &str, windows: &[WindowRows]) {
    let options = Options {
        max_age: Duration::ZERO,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options).unwrap();
    for rows in windows {
        writer.append(rows, Instant::now()).unwrap();
    }
    writer.finish().unwrap();
}

/// Joins everything, and checks what every compaction must leave behind.
fn compact_all(root: &Path) -> Compacted {
    let compacted = compact(root, &ALL, || {}).unwrap();
    assert_eq!(verify(root).unwrap().problems, []);
    assert_eq!(files(&root.join(".compact")), [] as [PathBuf; 0]);
    compacted
}

fn segments(found: &Scan, table: &str) -> usize {
    found.table(table).count()
}

#[test]
fn an_hour_becomes_one_segment_with_the_same_rows_and_metadata() {
    let root = tempfile::tempdir().unwrap();
    let windows: Vec<WindowRows> = (0..20).map(|n| window(n * SECOND_NS + n / 10 * HOUR_NS)).collect();
    write(root.path(), "rail3", &windows);
    let before = scan(root.path()).unwrap();
    assert_eq!(segments(&before, "flows"), 20);
    let compacted = compact_all(root.path());
    let after = scan(root.path()).unwrap();
    assert_eq!(read(root.path()).unwrap(), together(windows));
    for table in ["windows", "flows", "opcodes", "events", "pdcs"] {
        assert_eq!(segments(&after, table), 2, "{table}");
    }
    assert_eq!(compacted.hours.len(), 10);
    let flows = compacted.hours.iter().find(|hour| hour.table == "flows").unwrap();
    assert_eq!(
        (flows.table, flows.replaced, flows.segments, flows.rows),
        ("flows", 10, 1, 20)
    );
    let pairs = |found: &Scan| {
        let mut pairs = found.segments[0].footer.clone();
        pairs.retain(|(key, _)| key != footer::CHECKSUMS);
        pairs
    };
    assert_eq!(pairs(&before), pairs(&after));
    // There is nothing left to do.
    assert_eq!(compact_all(root.path()), Compacted::default());
    assert_eq!(scan(root.path()).unwrap(), after);
}

#[test]
fn hours_that_are_not_over_and_large_segments_remain() {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        "rail3",
        &[
            window(0),
            window(SECOND_NS),
            window(HOUR_NS),
            window(HOUR_NS + SECOND_NS),
        ],
    );
    let first = Compaction {
        // 03:59:59.999…: the hour of 02:30 is over, that of 03:30 is not.
        ended_before: Time(START + 90 * 60 * SECOND_NS - 124),
        ..ALL
    };
    let compacted = compact(root.path(), &first, || {}).unwrap();
    assert!(compacted.hours.iter().all(|hour| hour.partition.ends_with("hour=02")));
    assert_eq!(compacted.hours.len(), 5);
    let found = scan(root.path()).unwrap();
    assert_eq!(segments(&found, "flows"), 3);
    let largest = found.segments.iter().map(|segment| segment.bytes).max().unwrap();
    let small = Compaction {
        max_bytes: largest / 2,
        ..ALL
    };
    assert_eq!(compact(root.path(), &small, || {}).unwrap(), Compacted::default());
}

/// Sketches of windows with few flows and with many have different pages.
#[test]
fn sketches_remain_to_the_byte() {
    let root = scratch();
    let windows: Vec<WindowRows> = (0..12_i64)
        .map(|n| {
            let mut rows = window(n * SECOND_NS);
            let mut sketch = vec![0; 512 << 10];
            let step = if n % 3 == 0 { 3 } else { 4_001 };
            sketch.iter_mut().step_by(step).for_each(|byte| *byte = n as u8 + 1);
            rows.windows[0].count_min_bytes = (n != 5).then(|| sketch.into());
            rows
        })
        .collect();
    write(root.path(), "rail3", &windows);
    compact_all(root.path());
    assert_eq!(read(root.path()).unwrap(), together(windows));
    assert_eq!(segments(&scan(root.path()).unwrap(), "windows"), 1);
}

#[test]
fn segments_of_other_observers_and_captures_are_not_mixed() {
    let root = tempfile::tempdir().unwrap();
    for observer in ["rail3", "rail4"] {
        write(root.path(), observer, &[window(0), window(SECOND_NS)]);
    }
    let mut options = Options::new("rail3");
    options.metadata = vec![(footer::SOURCE.into(), "eth1".into())];
    let mut writer = Writer::create(root.path(), options).unwrap();
    writer.append(&window(2 * SECOND_NS), Instant::now()).unwrap();
    writer.finish().unwrap();
    compact_all(root.path());
    let found = scan(root.path()).unwrap();
    let sources = found.table("flows").map(|segment| {
        let source = segment.footer(footer::SOURCE).unwrap_or_default();
        (segment.footer(footer::OBSERVER).unwrap().to_owned(), source.to_owned())
    });
    let mut sources: Vec<(String, String)> = sources.collect();
    sources.sort();
    let expected = [("rail3", ""), ("rail3", "eth1"), ("rail4", "")];
    assert_eq!(
        sources,
        expected.map(|(observer, source)| (observer.into(), source.into()))
    );
}

/// All rows of a dataset as text, sorted.
fn sorted(root: &Path) -> Vec<String> {
    let rows = read(root).unwrap();
    let mut texts: Vec<String> = rows.windows.iter().map(|row| format!("{row:?}")).collect();
    texts.extend(rows.flows.iter().map(|row| format!("{row:?}")));
    texts.extend(rows.opcodes.iter().map(|row| format!("{row:?}")));
    texts.extend(rows.events.iter().map(|row| format!("{row:?}")));
    texts.extend(rows.pdcs.iter().map(|row| format!("{row:?}")));
    texts.sort();
    texts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Whatever the writers, the order of their windows and the size: the same rows; and a segment has them in the order
    /// of time if the segments that it replaced had, as readers of windows need it.
    #[test]
    fn any_segments_keep_their_rows(
        writers in proptest::collection::vec(proptest::collection::vec(0..40_i64, 1..12), 1..4),
        max_bytes in prop_oneof![Just(u64::MAX), 20_000..200_000_u64],
    ) {
        let root = scratch();
        for (number, starts) in writers.iter().enumerate() {
            let windows: Vec<WindowRows> = starts.iter().map(|n| window(n * SECOND_NS + n % 2 * HOUR_NS)).collect();
            write(root.path(), ["rail3", "rail4"][number % 2], &windows);
        }
        let before = sorted(root.path());
        let what = Compaction { max_bytes, ..ALL };
        compact(root.path(), &what, || {}).unwrap();
        prop_assert_eq!(sorted(root.path()), before);
        prop_assert_eq!(verify(root.path()).unwrap().problems, []);
        let found = scan(root.path()).unwrap();
        for segment in found.table("windows") {
            let mut one = found.clone();
            one.segments.retain(|other| other.path == segment.path);
            let times: Vec<i64> = one.rows::<WindowRow>().unwrap().iter().map(|row| row.window_start_ns).collect();
            prop_assert!(times.is_sorted(), "{:?}", times);
        }
    }
}

#[test]
fn a_damaged_segment_is_named_and_remains() {
    let root = tempfile::tempdir().unwrap();
    let windows: Vec<WindowRows> = (0..4).map(|n| window(n * SECOND_NS)).collect();
    write(root.path(), "rail3", &windows);
    let flows: Vec<PathBuf> = scan(root.path())
        .unwrap()
        .table("flows")
        .map(|s| s.path.clone())
        .collect();
    // In a page, and in the footer.
    let damage = |path: &Path, at: usize| {
        let mut bytes = fs::read(path).unwrap();
        let at = if at == 0 { bytes.len() - 40 } else { at };
        bytes[at] ^= 0x10;
        fs::write(path, &bytes).unwrap();
        bytes
    };
    let damaged = [
        (flows[1].clone(), damage(&flows[1], 60)),
        (flows[2].clone(), damage(&flows[2], 0)),
    ];
    let compacted = compact(root.path(), &ALL, || {}).unwrap();
    let mut named: Vec<PathBuf> = compacted.damaged.iter().map(|file| file.path.clone()).collect();
    named.sort();
    assert_eq!(named, [flows[1].clone(), flows[2].clone()]);
    for (path, bytes) in damaged {
        assert_eq!(fs::read(path).unwrap(), bytes);
    }
    let kept = [windows[0].flows.clone(), windows[3].flows.clone()].concat();
    let found = scan(root.path()).unwrap();
    assert_eq!(found.rows::<FlowRow>().unwrap(), kept);
    assert_eq!(files(&root.path().join("flows")).len(), 3);
}

#[test]
fn files_that_rocescope_did_not_name_remain() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "rail3", &[window(0), window(SECOND_NS)]);
    let hour = root.path().join("flows/date=2026-11-21/hour=02");
    fs::write(hour.join(".part.parquet.Xy1"), "half a copy").unwrap();
    fs::copy(
        &scan(root.path()).unwrap().table("flows").next().unwrap().path,
        hour.join("part-0.parquet"),
    )
    .unwrap();
    let compacted = compact_all(root.path());
    assert_eq!(compacted.hours.len(), 5);
    assert_eq!(fs::read(hour.join(".part.parquet.Xy1")).unwrap(), b"half a copy");
    assert_eq!(files(&hour).len(), 3);
    assert_eq!(scan(root.path()).unwrap().row_count("flows"), 6);
    // A directory is nothing that a segment may share an hour with.
    fs::create_dir(hour.join("copies")).unwrap();
    write(root.path(), "rail3", &[window(2 * SECOND_NS)]);
    let compacted = compact(root.path(), &ALL, || {}).unwrap();
    assert_eq!(compacted.changed, [hour]);
    assert_eq!(scan(root.path()).unwrap().row_count("flows"), 8);
}

/// A kill between the rename of a segment and the removal of its journal: repair removes the journal because the segment
/// is there, and would seal it again if the segment were not.
#[test]
fn a_segment_whose_journal_is_left_remains() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    let open = scan(root.path()).unwrap().open;
    let journals: Vec<(PathBuf, Vec<u8>)> = open
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    writer.finish().unwrap();
    write(root.path(), "rail3", &[window(SECOND_NS), window(2 * SECOND_NS)]);
    for (path, bytes) in journals {
        fs::write(path, bytes).unwrap();
    }
    let compacted = compact(root.path(), &ALL, || {}).unwrap();
    assert!(
        compacted
            .hours
            .iter()
            .all(|hour| (hour.replaced, hour.segments) == (2, 1))
    );
    repair(root.path()).unwrap();
    compact_all(root.path());
    let expected = together([window(0), window(SECOND_NS), window(2 * SECOND_NS)]);
    assert_eq!(read(root.path()).unwrap(), expected);
}

fn marker(root: &Path, segment: &Path) -> PathBuf {
    root.join(SHIPPED).join(segment.strip_prefix(root).unwrap())
}

fn make(marker: &Path) {
    fs::create_dir_all(marker.parent().unwrap()).unwrap();
    fs::write(marker, "").unwrap();
}

/// A joined segment is shipped if all its parts are: otherwise the store would get rows twice, or never.
#[test]
fn shipped_segments_are_joined_with_shipped_ones() {
    let root = tempfile::tempdir().unwrap();
    let windows: Vec<WindowRows> = (0..7).map(|n| window(n * SECOND_NS)).collect();
    write(root.path(), "rail3", &windows);
    let found = scan(root.path()).unwrap();
    let of = |table: &str| found.table(table).map(|s| s.path.clone()).collect::<Vec<PathBuf>>();
    let tables: BTreeSet<&str> = found.segments.iter().map(|segment| &*segment.table).collect();
    let begun = |path: &Path| marker(root.path(), path).display().to_string() + SHIPPING_SUFFIX;
    // Of each table: the rows of a window are deleted with it. Two are there, one is on its way, and four wait.
    for table in &tables {
        let paths = of(table);
        for shipped in paths.iter().take(2) {
            make(&marker(root.path(), shipped));
        }
        if let Some(third) = paths.get(2) {
            make(Path::new(&begun(third)));
        }
    }
    let flows = of("flows");
    let begun = begun(&flows[2]);
    compact_all(root.path());
    assert_eq!(read(root.path()).unwrap(), together(windows.clone()));
    let left: Vec<PathBuf> = scan(root.path())
        .unwrap()
        .table("flows")
        .map(|s| s.path.clone())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
    let shipped: Vec<bool> = left.iter().map(|path| marker(root.path(), path).exists()).collect();
    assert_eq!(shipped.iter().filter(|shipped| **shipped).count(), 1);
    assert!(left.contains(&flows[2]) && Path::new(&begun).exists());
    assert!(flows[..2].iter().all(|gone| !marker(root.path(), gone).exists()));
    // What is shipped may be deleted, the others wait.
    let none = Limits {
        older_than: Some(Time(i64::MAX)),
        max_bytes: None,
    };
    let retained = retain(root.path(), none).unwrap();
    // Windows, flows, opcodes, events and packet delivery contexts; the last of a connection is of a later window.
    assert_eq!(retained.deleted_segments, 5);
    let rows = scan(root.path()).unwrap().rows::<FlowRow>().unwrap();
    let expected: Vec<_> = windows[2..].iter().flat_map(|rows| rows.flows.clone()).collect();
    assert_eq!(rows, expected);
}

/// A marker without its segment must not make another segment of that name count as shipped.
#[test]
fn the_name_of_a_shipped_segment_is_not_used_again() {
    let root = tempfile::tempdir().unwrap();
    write(root.path(), "rail3", &[window(0)]);
    for segment in scan(root.path()).unwrap().segments {
        make(&marker(root.path(), &segment.path));
        fs::remove_file(&segment.path).unwrap();
    }
    write(root.path(), "rail3", &[window(0), window(1)]);
    compact_all(root.path());
    let found = scan(root.path()).unwrap();
    assert_eq!(segments(&found, "flows"), 1);
    assert!(
        found
            .segments
            .iter()
            .all(|segment| !marker(root.path(), &segment.path).exists())
    );
}

#[test]
fn a_scan_of_before_reads_on_and_a_second_compaction_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let windows: Vec<WindowRows> = (0..5).map(|n| window(n * SECOND_NS)).collect();
    write(root.path(), "rail3", &windows);
    let before = scan(root.path()).unwrap();
    compact(root.path(), &ALL, || {
        assert_eq!(before.rows::<WindowRow>().unwrap(), together(windows.clone()).windows);
        assert_eq!(before.damaged(), []);
        assert!(matches!(
            compact(root.path(), &ALL, || {}),
            Err(Error::Compacting { .. })
        ));
    })
    .unwrap();
    let after = before.rows::<WindowRow>().unwrap();
    assert_eq!(
        (after.len(), before.damaged().len()),
        (0, 5),
        "deleted while it was read"
    );
}

/// Writers add segments to the hour that is being exchanged, and readers list it.
#[test]
fn writers_and_readers_go_on_meanwhile() {
    let root = scratch();
    write(root.path(), "rail3", &[window(0)]);
    let done = AtomicBool::new(false);
    let written = 60;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..written {
                write(root.path(), "rail4", &[window(n * SECOND_NS)]);
            }
            done.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            let mut before = 0;
            while !done.load(Ordering::Relaxed) {
                let found = scan(root.path()).unwrap();
                let rows = found.rows::<WindowRow>().unwrap().len();
                // What this machine was too slow to open in time is named.
                if found.damaged().is_empty() {
                    assert!(rows >= before, "{rows} windows after {before}");
                    before = rows;
                }
            }
        });
        while !done.load(Ordering::Relaxed) {
            compact(root.path(), &ALL, || std::thread::sleep(Duration::from_millis(50))).unwrap();
        }
    });
    compact_all(root.path());
    let found = scan(root.path()).unwrap();
    assert_eq!(found.row_count("windows"), 1 + written as u64);
    assert_eq!(segments(&found, "windows"), 2);
}

const CHILD: &str = "ROCESCOPE_STORE_TEST_COMPACT";

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "the victim of killed_compactions_lose_and_double_nothing"]
fn compact_until_killed() {
    let Some(root) = std::env::var_os(CHILD) else { return };
    println!("compacting");
    compact(Path::new(&root), &ALL, || {}).unwrap();
}

#[test]
fn killed_compactions_lose_and_double_nothing() {
    use std::io::Read;
    let root = scratch();
    let mut expected = Vec::new();
    let mut killed = 0;
    for round in 0..30_i64 {
        // Four hours get two more segments a table each, so that there is something to join.
        let added: Vec<WindowRows> = (0..8)
            .map(|n| window(n / 2 * HOUR_NS + (2 * round + n % 2) * SECOND_NS))
            .collect();
        write(root.path(), "rail3", &added);
        expected.extend(added);
        expected.sort_by_key(|rows| rows.windows[0].window_start_ns);
        let all = together(expected.clone());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "--ignored",
                "--nocapture",
                "compaction::compact_until_killed",
            ])
            .env(CHILD, root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        while !output.ends_with(b"compacting\n") {
            let mut byte = [0];
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the victim did not start");
            output.push(byte[0]);
        }
        std::thread::sleep(Duration::from_micros(1_500 * round.unsigned_abs()));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
        assert_eq!(read(root.path()).unwrap(), all, "round {round}");
        assert_eq!(verify(root.path()).unwrap().problems, [], "round {round}");
    }
    assert!(killed >= 20, "only {killed} of 30 were killed before they ended");
    compact_all(root.path());
    assert_eq!(read(root.path()).unwrap(), together(expected));
    assert_eq!(segments(&scan(root.path()).unwrap(), "flows"), 4);
}
