//! `kill -9`: the files on disk can be sealed at any moment.

use crate::rows::{SECOND_NS, files, read, scratch, together, unless_exhaustive, window};
use rocescope_model::{FlowRow, WindowRows};
use rocescope_store::{Options, Writer, repair, scan};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Creates a root as a killed writer leaves it: journals without a lock. Returns the journal of `flows` and the
/// position of the end of each window.
fn leave_open(root: &Path, windows: &[WindowRows]) -> (PathBuf, Vec<u64>) {
    let mut writer = Writer::create(root, Options::new("rail3")).unwrap();
    let mut journal = PathBuf::new();
    let mut ends = Vec::new();
    for rows in windows {
        writer.append(rows, Instant::now()).unwrap();
        journal = scan(root).unwrap().open[1].clone();
        ends.push(fs::metadata(&journal).unwrap().len());
    }
    // Simulates a kill: copies the journals, because the writer seals its own.
    let copies: Vec<(PathBuf, Vec<u8>)> = scan(root)
        .unwrap()
        .open
        .into_iter()
        .map(|path| {
            let bytes = fs::read(&path).unwrap();
            (path, bytes)
        })
        .collect();
    drop(writer);
    for segment in scan(root).unwrap().segments {
        fs::remove_file(segment.path).unwrap();
    }
    for (path, bytes) in copies {
        fs::write(path, bytes).unwrap();
    }
    assert!(journal.to_str().unwrap().contains("/flows/"));
    (journal, ends)
}

fn remove(directory: &Path) {
    if directory.exists() {
        fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn a_journal_truncated_at_any_byte_keeps_its_complete_windows() {
    let root = scratch();
    let windows = [window(0), window(SECOND_NS), window(2 * SECOND_NS)];
    let (journal, ends) = leave_open(root.path(), &windows);
    let whole = fs::read(&journal).unwrap();
    let step = unless_exhaustive(11, 1);
    let near_an_end = |cut: &usize| ends.iter().any(|end| (*end as usize).abs_diff(*cut) < 10);
    for cut in (0..=whole.len()).filter(|cut| cut % step == 0 || near_an_end(cut)) {
        remove(&root.path().join("flows"));
        fs::write(&journal, &whole[..cut]).unwrap();
        let repaired = repair(root.path()).unwrap();
        assert_eq!(repaired.busy, [] as [&str; 0], "cut at {cut}");
        assert_eq!(repaired.unreadable, [], "cut at {cut}");
        let kept = ends.iter().filter(|&&end| end <= cut as u64).count();
        let expected: Vec<FlowRow> = windows[..kept].iter().flat_map(|w| w.flows.clone()).collect();
        let scan = scan(root.path()).unwrap();
        assert_eq!(scan.rows::<FlowRow>().unwrap(), expected, "cut at {cut}");
        assert_eq!(scan.open, [] as [PathBuf; 0], "cut at {cut}");
    }
}

/// Returns the files set aside.
fn set_aside(root: &Path) -> Vec<PathBuf> {
    let mut found = files(&root.join(".damaged"));
    found
        .iter_mut()
        .for_each(|path| *path = root.join(".damaged").join(&*path));
    found
}

/// One changed byte costs the rows of one batch at most, and never the journal: it is set aside and named, byte for
/// byte, and the batches before and after the damage are sealed.
#[test]
fn a_journal_with_any_byte_changed_is_set_aside_and_its_whole_windows_are_sealed() {
    let root = scratch();
    let windows = [window(0), window(SECOND_NS), window(2 * SECOND_NS)];
    let (journal, ends) = leave_open(root.path(), &windows);
    let whole = fs::read(&journal).unwrap();
    let batch = (ends[1] - ends[0]) as usize;
    let schema = ends[0] as usize - batch;
    for at in (0..whole.len()).step_by(unless_exhaustive(29, 5)) {
        remove(&root.path().join("flows"));
        remove(&root.path().join(".damaged"));
        let mut damaged = whole.clone();
        let flip = [0x01, 0x80, 0xff][at % 3];
        damaged[at] ^= flip;
        fs::write(&journal, &damaged).unwrap();
        let repaired = repair(root.path()).unwrap();
        let aside = set_aside(root.path());
        assert_eq!(aside.len(), 1, "byte {at} flipped by {flip:#x}");
        assert_eq!(fs::read(&aside[0]).unwrap(), damaged, "byte {at}");
        let named: Vec<_> = repaired.damaged.iter().map(|file| file.path.clone()).collect();
        assert_eq!(named, aside, "byte {at}");
        // Without the schema nothing can be decoded.
        let lost = at.checked_sub(schema).map(|at| at / batch);
        let kept = windows
            .iter()
            .enumerate()
            .filter(|(n, _)| lost.is_some_and(|lost| lost != *n));
        let expected: Vec<FlowRow> = kept.flat_map(|(_, window)| window.flows.clone()).collect();
        let scan = scan(root.path()).unwrap();
        assert_eq!(
            scan.rows::<FlowRow>().unwrap(),
            expected,
            "byte {at} flipped by {flip:#x}"
        );
        assert_eq!(scan.open, [] as [PathBuf; 0], "byte {at}");
    }
}

/// The journals of versions without checksums: nothing proves that a torn end is no damage, so they are kept.
#[test]
fn a_journal_without_checksums_is_sealed_and_never_deleted_unless_all_of_it_is() {
    let root = scratch();
    let (journal, ends) = leave_open(root.path(), &[window(0), window(SECOND_NS)]);
    let ends: Vec<usize> = ends.iter().map(|&end| end as usize).collect();
    let schema = 2 * ends[0] - ends[1];
    let old = without_checksums(&fs::read(&journal).unwrap(), &[schema, ends[0], ends[1]]);
    for at in (0..old.len()).step_by(unless_exhaustive(29, 5)) {
        remove(&root.path().join("flows"));
        remove(&root.path().join(".damaged"));
        let mut damaged = old.clone();
        damaged[at] ^= [0x01, 0x80, 0xff][at % 3];
        fs::write(&journal, &damaged).unwrap();
        let repaired = repair(root.path()).unwrap();
        let rows = scan(root.path()).unwrap().row_count("flows");
        assert!(rows <= 4, "byte {at}: {rows} rows");
        assert!(
            rows == 4 || set_aside(root.path()).len() == 1,
            "byte {at}: {repaired:?}"
        );
    }
    remove(&root.path().join("flows"));
    remove(&root.path().join(".damaged"));
    fs::write(&journal, &old).unwrap();
    let repaired = repair(root.path()).unwrap();
    assert_eq!((repaired.segments.len(), repaired.damaged.len()), (1, 0));
    assert_eq!(scan(root.path()).unwrap().row_count("flows"), 4);
}

/// Removes the checksums from the messages of a journal, which end at these positions.
fn without_checksums(journal: &[u8], ends: &[usize]) -> Vec<u8> {
    let mut old = Vec::new();
    let mut start = 0;
    for end in ends {
        let message = &journal[start..*end];
        let len = u32::from_le_bytes(message[4..8].try_into().unwrap()) as usize;
        let (header, body) = message[8..].split_at(len);
        let header = &header[..len - 16];
        old.extend_from_slice(&[0xff; 4]);
        old.extend_from_slice(&u32::try_from(header.len()).unwrap().to_le_bytes());
        old.extend_from_slice(header);
        old.extend_from_slice(body);
        start = *end;
    }
    old
}

#[test]
fn the_next_writer_of_the_observer_repairs_and_another_does_not() {
    let root = tempfile::tempdir().unwrap();
    leave_open(root.path(), &[window(0)]);
    let other = Writer::create(root.path(), Options::new("rail4")).unwrap();
    assert_eq!(other.summary().repaired.segments, []);
    assert_eq!(scan(root.path()).unwrap().open.len(), 5);
    let mut same = Writer::create(root.path(), Options::new("rail3")).unwrap();
    let repaired = &same.summary().repaired.segments;
    assert_eq!(repaired.len(), 5);
    assert!(repaired.iter().all(|segment| segment.torn_bytes == 0));
    same.append(&window(SECOND_NS), Instant::now()).unwrap();
    same.finish().unwrap();
    assert_eq!(read(root.path()).unwrap(), together([window(0), window(SECOND_NS)]));
}

#[test]
fn a_running_writer_is_not_repaired() {
    let root = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(root.path(), Options::new("rail3")).unwrap();
    writer.append(&window(0), Instant::now()).unwrap();
    let repaired = repair(root.path()).unwrap();
    assert_eq!(repaired.busy, ["rail3"]);
    assert_eq!(repaired.segments, []);
    writer.append(&window(SECOND_NS), Instant::now()).unwrap();
    writer.finish().unwrap();
    assert_eq!(read(root.path()).unwrap(), together([window(0), window(SECOND_NS)]));
}

/// Killed after the segment was renamed, before the journal was removed: rows must not be duplicated.
#[test]
fn a_journal_beside_its_sealed_segment_is_removed() {
    let root = tempfile::tempdir().unwrap();
    let (journal, _) = leave_open(root.path(), &[window(0)]);
    let bytes = fs::read(&journal).unwrap();
    repair(root.path()).unwrap();
    fs::write(&journal, &bytes).unwrap();
    let repaired = repair(root.path()).unwrap();
    assert_eq!(repaired.removed, [journal.as_path()]);
    assert_eq!(read(root.path()).unwrap(), window(0));
    assert_eq!(repair(root.path()).unwrap(), rocescope_store::Repaired::default());
}

/// Killed while sealing: the unfinished segment is removed, the journal is sealed.
#[test]
fn an_unfinished_segment_is_rewritten() {
    let root = tempfile::tempdir().unwrap();
    let (journal, _) = leave_open(root.path(), &[window(0)]);
    let name = journal.to_str().unwrap().replace(".arrows.tmp", ".parquet.tmp");
    fs::write(&name, "PAR1 and no more").unwrap();
    let repaired = repair(root.path()).unwrap();
    assert_eq!(repaired.removed, [Path::new(&name)]);
    assert_eq!(read(root.path()).unwrap(), window(0));
    assert_eq!(files(root.path()).len(), 6);
}

const CHILD: &str = "ROCESCOPE_STORE_TEST_ROOT";

/// Not a test: the process that the next test kills. Writes until then, one segment for each window.
#[test]
#[ignore = "the victim of a_kill_at_any_moment_loses_no_written_window"]
fn write_until_killed() {
    let Some(root) = std::env::var_os(CHILD) else {
        return;
    };
    let options = Options {
        max_age: Duration::from_millis(2),
        ..Options::new("rail3")
    };
    let mut writer = Writer::create(Path::new(&root), options).unwrap();
    for n in 0.. {
        writer.append(&window(n * SECOND_NS), Instant::now()).unwrap();
        if n == 0 {
            println!("writing");
        }
    }
}

#[test]
fn a_kill_at_any_moment_loses_no_written_window() {
    use std::io::Read;
    let root = tempfile::tempdir().unwrap();
    let mut before = 0;
    for round in 0..20 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--ignored", "--nocapture", "kill::write_until_killed"])
            .env(CHILD, root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = Vec::new();
        let mut stdout = child.stdout.take().unwrap();
        while !output.ends_with(b"writing\n") {
            let mut byte = [0];
            assert_eq!(stdout.read(&mut byte).unwrap(), 1, "the victim did not start");
            output.push(byte[0]);
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));

        let sealed = scan(root.path()).unwrap();
        assert_eq!(sealed.unreadable, [], "round {round}");
        let repaired = repair(root.path()).unwrap();
        assert_eq!((repaired.busy, repaired.unreadable), (vec![], vec![]));
        let after = scan(root.path()).unwrap();
        let windows = after.row_count("windows");
        assert!(windows > before, "round {round}: the first window was reported");
        // A window in `windows` is complete in every other table; a kill truncates at most one per round.
        let behind = after.row_count("flows") / 2 - windows;
        assert!(behind <= round + 1, "round {round}: {behind} windows cut");
        before = windows;
    }
}
