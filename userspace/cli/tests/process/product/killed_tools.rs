//! `kill -9` of `repair` and `merge` at 30 moments of each: no row is missing, none is there twice, and what is left can
//! be repaired.

use crate::product::captures;
use crate::product::killed::{Rows, files};
use crate::product::rocescope;
use crate::product::traffic;
use rocescope_model::{Text, WindowRow, WindowRows};
use rocescope_store::{Options, Writer, scan};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const KILLS: u32 = 30;
/// Of these, as many must meet the command at work: it has begun to write and has not ended.
const AT_WORK: u32 = 10;
/// Windows of each dataset to merge, 300 of them before the end of an hour.
const WINDOWS: usize = 450;

/// A dataset of windows of a second around the end of an hour.
fn dataset(root: &Path, observer: &str, windows: usize) {
    let pcap = traffic::repeated(&captures::named("cm_rping"), windows, 1_795_229_700, 1_000_000);
    let file = root.with_extension("pcap");
    fs::write(&file, pcap).unwrap();
    let arguments = ["--out", root.to_str().unwrap(), "--observer", observer, "--no-sketches"];
    rocescope::json(&file, &arguments);
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let copy = to.join(file.strip_prefix(from).unwrap());
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(file, copy).unwrap();
    }
}

/// The content of a directory: when it changes, the command has begun to write.
fn content(root: &Path) -> Vec<PathBuf> {
    let mut found = files(root);
    found.sort();
    found
}

/// The moments of the kills, spread evenly over the time that the command takes.
struct Moments {
    took: Duration,
    at_work: u32,
}

impl Moments {
    /// Of a command that takes `took`.
    fn over(took: Duration) -> Self {
        Self { took, at_work: 0 }
    }

    /// Runs the command and kills it at the moment of this number.
    fn kill(&mut self, number: u32, arguments: &[&str], root: &Path) {
        let before = content(root);
        let mut command = rocescope::command(arguments);
        let begun = Instant::now();
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let after = self.took * (2 * number + 1) / (2 * KILLS);
        while begun.elapsed() < after {
            if child.try_wait().unwrap().is_some() {
                // The machine was busier before: the kills that follow come sooner.
                self.took = begun.elapsed();
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        let was_running = child.wait().unwrap().signal() == Some(9);
        self.at_work += u32::from(was_running && content(root) != before);
    }
}

/// How long the command takes, which must succeed.
fn time(arguments: &[&str]) -> Duration {
    let begun = Instant::now();
    let output = rocescope::run(arguments);
    assert!(output.status.success(), "{}", rocescope::text(&output.stderr));
    begun.elapsed()
}

fn is_clean(root: &Path) {
    let verified = rocescope::run(&["dataset", "verify", root.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", rocescope::text(&verified.stdout));
}

/// The rows of a window, as of this observer.
fn of_observer(rows: &Rows, window: &WindowRow, observer: &'static str) -> WindowRows {
    let start_ns = window.window_start_ns;
    let within = start_ns..start_ns + window.window_ns;
    let observer = Text::from_static(observer);
    let mut found = WindowRows {
        windows: vec![window.clone()],
        ..WindowRows::default()
    };
    found
        .flows
        .extend(rows.flows.iter().filter(|row| row.window_start_ns == start_ns).cloned());
    found.opcodes.extend(
        rows.opcodes
            .iter()
            .filter(|row| row.window_start_ns == start_ns)
            .cloned(),
    );
    found
        .events
        .extend(rows.events.iter().filter(|row| within.contains(&row.time_ns)).cloned());
    found
        .windows
        .iter_mut()
        .for_each(|row| row.observer.clone_from(&observer));
    found
        .flows
        .iter_mut()
        .for_each(|row| row.observer.clone_from(&observer));
    found
        .opcodes
        .iter_mut()
        .for_each(|row| row.observer.clone_from(&observer));
    found
        .events
        .iter_mut()
        .for_each(|row| row.observer.clone_from(&observer));
    found
}

/// Journals of four observers, as killed captures leave them.
fn leave_journals(folder: &Path) -> PathBuf {
    let captured = folder.join("captured");
    dataset(&captured, "local", 500);
    let rows = Rows::read(&captured);
    let root = folder.join("journals");
    let left = folder.join("left");
    let mut writers = Vec::new();
    for observer in ["a", "b", "c", "d"] {
        let options = Options {
            max_age: Duration::from_secs(3_600),
            ..Options::new(observer)
        };
        let mut writer = Writer::create(&root, options).unwrap();
        // Windows of one hour: the end of an hour would seal them.
        for window in rows.windows.iter().skip(300) {
            writer
                .append(&of_observer(&rows, window, observer), Instant::now())
                .unwrap();
        }
        writers.push(writer);
    }
    assert_eq!(scan(&root).unwrap().segments, []);
    copy(&root, &left);
    left
}

#[test]
fn a_killed_repair_loses_no_row_and_doubles_none() {
    let folder = tempfile::tempdir().unwrap();
    let left = leave_journals(folder.path());
    let whole = folder.path().join("whole");
    copy(&left, &whole);
    let took = time(&["dataset", "repair", whole.to_str().unwrap()]);
    is_clean(&whole);
    let expected = Rows::read(&whole);
    assert_eq!(expected.windows.len(), 4 * 200);
    let mut moments = Moments::over(took);
    for number in 0..KILLS {
        let root = folder.path().join(number.to_string());
        copy(&left, &root);
        let repair = ["dataset", "repair", root.to_str().unwrap()];
        moments.kill(number, &repair, &root);
        time(&repair);
        assert_eq!(scan(&root).unwrap().open, [] as [PathBuf; 0]);
        assert!(Rows::read(&root) == expected, "kill {number}");
        is_clean(&root);
        fs::remove_dir_all(&root).unwrap();
    }
    let Moments { took, at_work } = moments;
    println!("repair: {at_work} of {KILLS} kills at work, which takes {took:?}");
    assert!(at_work >= AT_WORK, "{at_work}");
}

#[test]
#[ignore = "takes 26 s; `cargo xtask ci --full` runs it"]
fn a_killed_merge_leaves_whole_windows_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (one, two) = (path("one"), path("two"));
    dataset(Path::new(&one), "one", WINDOWS);
    dataset(Path::new(&two), "two", WINDOWS);
    let whole = path("whole");
    let took = time(&["dataset", "merge", &one, &two, "--out", &whole]);
    is_clean(Path::new(&whole));
    let expected = Rows::read(Path::new(&whole));
    assert_eq!(expected.windows.len(), WINDOWS);
    let mut moments = Moments::over(took);
    for number in 0..KILLS {
        let out = path(&number.to_string());
        let root = Path::new(&out);
        let merge = ["dataset", "merge", &one, &two, "--out", &out];
        moments.kill(number, &merge, root);
        if !root.exists() {
            continue;
        }
        let sealed = scan(root).unwrap().row_count("windows");
        time(&["dataset", "repair", &out]);
        let rows = Rows::read(root);
        assert!(rows.windows.len() as u64 >= sealed, "kill {number}");
        rows.begins(&expected);
        is_clean(root);
        if !rows.windows.is_empty() {
            // Again into the same directory: a window would be there twice.
            let again = rocescope::run(&merge);
            assert!(!again.status.success(), "kill {number}");
            let said = rocescope::text(&again.stderr);
            assert!(said.contains("already holds") && said.lines().count() == 1, "{said}");
            assert!(Rows::read(root) == rows, "kill {number}");
        }
        fs::remove_dir_all(root).unwrap();
    }
    let Moments { took, at_work } = moments;
    println!("merge: {at_work} of {KILLS} kills at work, which takes {took:?}");
    assert!(at_work >= AT_WORK, "{at_work}");
}
