//! Rollups beside kills, full disks, late rows, retention and other processes.

use crate::exact::all;
use crate::oracle;
use crate::rows::{START, Shape, scratch, window, write};
use rocescope_model::time::{HOUR_NS, SECOND_NS};
use rocescope_model::{FlowRow, Resolution, Row, Time, WindowRow};
use rocescope_rollup::{RolledUp, Settings, rollup};
use rocescope_sketches::random::SplitMix64;
use rocescope_store::rollup::directory;
use rocescope_store::{Error, Limits, Options, Rollups, Writer, retain, scan};
use rocescope_testkit::{Ballast, SmallDisk};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const SHAPE: Shape = Shape {
    seed: 5,
    windows: 24,
    step: 433,
    flows: 8,
};

/// Rows of one more window, in two datasets.
pub(crate) fn add(roots: [&Path; 2], start: i64, seed: u64) {
    for root in roots {
        let mut writer = Writer::create(root, Options::new("rail1")).unwrap();
        let mut rows = window("rail1", start, 9, &mut SplitMix64::new(seed));
        // The numbers of connections and of segments go on.
        rows.connections.clear();
        writer.append(&rows, Instant::now()).unwrap();
        writer.finish().unwrap();
    }
}

pub(crate) fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

#[test]
fn late_rows_update_their_rollups() {
    let root = scratch();
    write(root.path(), SHAPE);
    all(root.path());
    for (number, offset) in [0, 2 * HOUR_NS + 7, HOUR_NS + 59 * SECOND_NS].into_iter().enumerate() {
        add(
            [root.path(), root.path()],
            START + offset + 30 * SECOND_NS,
            number as u64,
        );
        let made = all(root.path());
        assert_eq!(made.made.len(), 3);
        // One partition of each resolution.
        assert!(made.made.iter().all(|(_, made)| made.units == 1), "{made:?}");
    }
}

/// The rows of rollups outlive those that they were made of, and take what comes late.
#[test]
fn rollups_stay_when_their_rows_are_deleted_and_late_rows_are_added() {
    let (root, whole) = (scratch(), scratch());
    write(root.path(), SHAPE);
    all(root.path());
    copy(root.path(), whole.path());
    // The first hour, and half of the second.
    let limits = Limits {
        older_than: Some(Time(START + HOUR_NS)),
        max_bytes: None,
    };
    assert!(retain(root.path(), limits).unwrap().deleted_segments > 0);
    let windows = scan(root.path()).unwrap().table("windows").next().unwrap().path.clone();
    assert!(windows.to_string_lossy().contains("hour=03"));
    let kept = scan(root.path()).unwrap();
    let bytes: u64 = kept.segments.iter().map(|segment| segment.bytes).sum();
    let limits = Limits {
        older_than: None,
        max_bytes: Some(bytes - 1),
    };
    retain(root.path(), limits).unwrap();
    assert_eq!(all(root.path()), RolledUp::default());
    oracle::assert_equal(whole.path(), root.path());
    for (number, offset) in [11, HOUR_NS + 90 * SECOND_NS, HOUR_NS + 91 * SECOND_NS]
        .into_iter()
        .enumerate()
    {
        add([root.path(), whole.path()], START + offset, 70 + number as u64);
        assert_eq!(all(root.path()).made.len(), 3);
        oracle::assert_equal(whole.path(), root.path());
        assert_eq!(all(root.path()), RolledUp::default());
    }
}

/// What retention deleted from a rollup is not made again.
#[test]
fn deleted_rollups_stay_deleted() {
    let root = scratch();
    write(root.path(), SHAPE);
    all(root.path());
    let limits = Limits {
        older_than: Some(Time(i64::MAX)),
        max_bytes: None,
    };
    let minutes = directory(root.path(), Resolution::Minute);
    retain(&minutes, limits).unwrap();
    let made = all(root.path());
    assert_eq!(made.made, []);
    assert!(made.too_late > 0);
    assert_eq!(scan(&minutes).unwrap().segments, []);
    oracle_of_hours(root.path());
}

/// The hours are still those of all rows.
fn oracle_of_hours(root: &Path) {
    let frames = |root: &Path| -> u64 {
        let rows: Vec<WindowRow> = scan(root).unwrap().rows().unwrap();
        rows.iter().map(|row| row.frames).sum()
    };
    assert_eq!(frames(root), frames(&directory(root, Resolution::Hour)));
}

/// A window lists its five largest flows: sizes are never below the truth, and above it by at most their error.
#[test]
fn sizes_of_flows_stay_bounds_where_windows_do_not_list_all() {
    let (root, whole) = (scratch(), scratch());
    let mut random = SplitMix64::new(9);
    let mut writers = [root.path(), whole.path()].map(|root| Writer::create(root, Options::new("rail1")).unwrap());
    for second in 0..150 {
        let mut rows = window("rail1", START + second * SECOND_NS, 14, &mut random);
        rows.connections.clear();
        writers[1].append(&rows, Instant::now()).unwrap();
        rows.flows.sort_by_key(|row| std::cmp::Reverse(row.frame_bytes));
        rows.flows.truncate(5);
        rows.windows[0].flows_exact = false;
        writers[0].append(&rows, Instant::now()).unwrap();
    }
    for writer in writers {
        writer.finish().unwrap();
    }
    all(root.path());
    all(whole.path());
    let mut wide = 0;
    for resolution in Resolution::ROLLED_UP {
        let rows = |root: &Path| -> Vec<FlowRow> { scan(&directory(root, resolution)).unwrap().rows().unwrap() };
        let truth = rows(whole.path());
        for row in rows(root.path()) {
            let is_same =
                |other: &&FlowRow| (other.flow_hash, other.window_start_ns) == (row.flow_hash, row.window_start_ns);
            let truth = truth.iter().find(is_same).unwrap();
            assert!(row.frame_bytes >= truth.frame_bytes && row.packets >= truth.packets);
            assert!(row.payload_bytes >= truth.payload_bytes && row.messages >= truth.messages);
            assert!(row.frame_bytes - row.error_frame_bytes <= truth.frame_bytes);
            assert!(row.packets - row.error_packets <= truth.packets);
            wide += u32::from(row.error_frame_bytes > 0);
        }
    }
    assert!(wide > 10);
}

#[test]
fn one_process_makes_the_rollups_of_a_dataset() {
    let root = scratch();
    write(root.path(), SHAPE);
    let lock = Rollups::lock(root.path()).unwrap();
    let settings = Settings {
        ended_before: Time(i64::MAX),
        flow_rows: 10,
    };
    let error = rollup(root.path(), settings).unwrap_err();
    assert!(matches!(error, Error::RollingUp { .. }), "{error}");
    drop(lock);
    // Some rows fit, and are the largest.
    rollup(root.path(), settings).unwrap();
    let hours = scan(&directory(root.path(), Resolution::Hour)).unwrap();
    let rows: Vec<FlowRow> = hours.rows().unwrap();
    assert!(rows.iter().all(|row| row.rank <= 10));
}

/// A full disk leaves what was there; with space, the next run completes it.
#[test]
fn a_full_disk_costs_nothing() {
    let Some(disk) = SmallDisk::mount("48m") else { return };
    let root = disk.path().join("dataset");
    write(&root, SHAPE);
    all(&root);
    add([&root, &root], START + 30 * SECOND_NS, 3);
    let before = scan(&directory(&root, Resolution::Minute)).unwrap();
    let settings = Settings {
        ended_before: Time(i64::MAX),
        flow_rows: usize::MAX,
    };
    let ballast = Ballast::fill(disk.path().join("ballast"));
    let error = rollup(&root, settings).unwrap_err();
    assert!(matches!(error, Error::NoSpace { .. }), "{error}");
    assert_eq!(scan(&directory(&root, Resolution::Minute)).unwrap(), before);
    drop(ballast);
    assert_eq!(all(&root).made.len(), 3);
}

const CHILD: &str = "ROCESCOPE_TEST_ROLLUP";

/// Not a test: the process that the next test kills.
#[test]
#[ignore = "the victim of killed_rollups_are_completed"]
fn roll_up_until_killed() {
    let Some(root) = std::env::var_os(CHILD) else { return };
    println!("rolling up");
    all(&PathBuf::from(root));
}

#[test]
fn killed_rollups_are_completed() {
    use std::io::Read;
    let (root, whole) = (scratch(), scratch());
    write(root.path(), SHAPE);
    copy(root.path(), whole.path());
    let mut killed = 0;
    for round in 0..30_u64 {
        if round == 15 {
            // From now on, rows are added to those that are there.
            all(root.path());
            let limits = Limits {
                older_than: Some(Time(START + 2 * HOUR_NS)),
                max_bytes: None,
            };
            retain(root.path(), limits).unwrap();
        }
        for hour in 0..3 {
            let start = START + hour * HOUR_NS + (round as i64 * 61 + 7) * SECOND_NS;
            add([root.path(), whole.path()], start, 100 + round);
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "faults::roll_up_until_killed"])
            .env(CHILD, root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        while !output.ends_with(b"rolling up\n") {
            let mut byte = [0];
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the victim did not start");
            output.push(byte[0]);
        }
        std::thread::sleep(Duration::from_millis(9 * round));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().signal() == Some(9));
    }
    all(root.path());
    oracle::assert_equal(whole.path(), root.path());
    println!("{killed} of 30 were killed before they ended");
    assert!(killed > 0);
    let rows: Vec<WindowRow> = scan(&directory(root.path(), Resolution::Day)).unwrap().rows().unwrap();
    assert!(rows.iter().all(|row| row.value(0) != rocescope_model::Value::Null));
}
