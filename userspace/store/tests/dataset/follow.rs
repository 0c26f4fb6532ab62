//! A follower reads what a running writer adds, each row once: from journals, from the segments that they become, and
//! from neither again when those are joined.

use crate::rows::{HOUR_NS, SECOND_NS, START, scratch, window};
use proptest::prelude::*;
use rocescope_model::{CAPTURE_TABLES, Cells as _, EventRow, FlowRow, Row, Time, WindowRow};
use rocescope_store::{Batch, Compaction, Follower, Options, Writer, compact, scan};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const ALL_TIME: Time = Time(0);

fn options(age_s: u64) -> Options {
    Options {
        max_age: Duration::from_secs(age_s),
        ..Options::new("rail3")
    }
}

/// The rows of a table in these batches.
fn rows<R: Row>(batches: &[Batch]) -> Vec<R> {
    let of_table = batches.iter().filter(|batch| batch.table() == R::TABLE);
    of_table.flat_map(|batch| batch.typed::<R>().unwrap()).collect()
}

/// The rows that were added since the last look.
fn added(follower: &mut Follower, since: Time) -> Vec<Batch> {
    let mut batches = Vec::new();
    follower.poll(since, |batch| batches.push(batch)).unwrap();
    batches
}

/// The starts of the windows of the rows of `windows`, and the number of flows.
fn polled(follower: &mut Follower) -> (Vec<i64>, usize) {
    let batches = added(follower, ALL_TIME);
    let starts = rows::<WindowRow>(&batches);
    let starts = starts.iter().map(|row| (row.window_start_ns - START) / SECOND_NS);
    (starts.collect(), rows::<FlowRow>(&batches).len())
}

#[test]
fn each_window_is_there_once_before_and_after_it_is_sealed() {
    let root = tempfile::tempdir().unwrap();
    let mut follower = Follower::new(root.path(), CAPTURE_TABLES);
    assert_eq!(polled(&mut follower), (vec![], 0));
    let begun = Instant::now();
    let mut writer = Writer::create(root.path(), options(2)).unwrap();
    for second in 0..7 {
        let now = begun + Duration::from_secs(second);
        writer.append(&window(second as i64 * SECOND_NS), now).unwrap();
        assert_eq!(polled(&mut follower), (vec![second as i64], 2));
    }
    assert!(
        scan(root.path()).unwrap().table("windows").count() >= 2,
        "nothing was sealed"
    );
    writer.append(&window(7 * SECOND_NS), begun).unwrap();
    writer.append(&window(8 * SECOND_NS), begun).unwrap();
    // The journal was never read, only the segment.
    writer.finish().unwrap();
    assert_eq!(polled(&mut follower), (vec![7, 8], 4));
    assert_eq!(polled(&mut follower), (vec![], 0));
}

#[test]
fn joined_segments_are_not_read_again() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), options(0)).unwrap();
    for second in 0..5 {
        writer.append(&window(second * SECOND_NS), Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    let mut follower = Follower::new(root.path(), CAPTURE_TABLES);
    assert_eq!(polled(&mut follower).1, 10);
    let all = Compaction {
        ended_before: Time(i64::MAX),
        max_bytes: u64::MAX,
    };
    assert!(!compact(root.path(), &all, || {}).unwrap().hours.is_empty());
    assert_eq!(polled(&mut follower), (vec![], 0));
    // Others are.
    let mut writer = Writer::create(root.path(), options(60)).unwrap();
    writer.append(&window(HOUR_NS), Instant::now()).unwrap();
    assert_eq!(polled(&mut follower).1, 2);
}

#[test]
fn what_ended_before_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), options(0)).unwrap();
    for hour in 0..3 {
        writer.append(&window(hour * HOUR_NS), Instant::now()).unwrap();
    }
    writer.finish().unwrap();
    let mut follower = Follower::new(root.path(), CAPTURE_TABLES);
    let batches = added(&mut follower, Time(START + HOUR_NS));
    assert_eq!(rows::<FlowRow>(&batches).len(), 4);
    assert!(added(&mut follower, Time(START + HOUR_NS)).is_empty());
}

#[test]
fn a_batch_that_is_being_written_is_read_when_it_is_whole() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), options(3_600)).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    let open = root.path().join(".open/flows");
    let mut journals = fs::read_dir(open).unwrap().map(|entry| entry.unwrap().path());
    let journal = journals.find(|path| path.to_string_lossy().ends_with(".arrows.tmp"));
    let journal = journal.unwrap();
    let whole = fs::read(&journal).unwrap();
    let mut follower = Follower::new(root.path(), CAPTURE_TABLES);
    for cut in [whole.len() - 1, whole.len() / 2, 9, 0] {
        let torn = tempfile::tempdir().unwrap();
        copy(root.path(), torn.path());
        let journal = torn.path().join(journal.strip_prefix(root.path()).unwrap());
        fs::write(&journal, &whole[..cut]).unwrap();
        let mut of_torn = Follower::new(torn.path(), CAPTURE_TABLES);
        assert_eq!(polled(&mut of_torn), (vec![0], 0), "{cut}");
        fs::write(&journal, &whole).unwrap();
        assert_eq!(polled(&mut of_torn), (vec![], 2), "{cut}");
    }
    assert_eq!(polled(&mut follower), (vec![0], 2));
    assert_eq!(follower.unreadable(), 0);
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&to).unwrap();
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whenever it looks, and whenever the writer seals: at the end each row was read once.
    #[test]
    fn every_row_is_read_once(age in 0_u64..4, looks in prop::collection::vec(any::<bool>(), 1..20)) {
        let root = scratch();
        let begun = Instant::now();
        let mut follower = Follower::new(root.path(), CAPTURE_TABLES);
        let mut writer = Writer::create(root.path(), options(age)).unwrap();
        let mut batches = Vec::new();
        for (second, looks) in looks.iter().enumerate() {
            let now = begun + Duration::from_secs(second as u64);
            writer.append(&window(second as i64 * SECOND_NS), now).unwrap();
            if *looks {
                batches.append(&mut added(&mut follower, ALL_TIME));
                let (windows, events) = (rows::<WindowRow>(&batches), rows::<EventRow>(&batches));
                prop_assert_eq!((windows.len(), events.len()), (second + 1, second + 1));
            }
        }
        writer.finish().unwrap();
        batches.append(&mut added(&mut follower, ALL_TIME));
        let mut found = rows::<FlowRow>(&batches);
        found.sort_by_key(|row| (row.window_start_ns, row.dst_qpn));
        let mut stored = scan(root.path()).unwrap().rows::<FlowRow>().unwrap();
        stored.sort_by_key(|row| (row.window_start_ns, row.dst_qpn));
        prop_assert_eq!(found, stored);
    }
}
