//! `kill -9` at any moment costs at most one window, and never a sealed segment.

use crate::product::captures;
use crate::product::rocescope;
use crate::product::traffic;
use rocescope_model::{EventRow, FlowRow, OpcodeRow, Text, WindowRow};
use rocescope_store::scan;
use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const FRAMES: usize = 28_800;
/// A frame per second: a window has 60 of them, and a segment is an hour.
const STEP_US: u64 = 1_000_000;
const WINDOW_FRAMES: usize = 60;
/// The start of an hour.
const START_S: u32 = 1_795_226_400;
/// The unread bytes between the test and the windows: a pipe and the reader's buffer.
const IN_FLIGHT: usize = (64 + 256) << 10;
/// Without connections: what their sender repeats goes on after a kill, and is one event of another count.
const CAPTURE: [&str; 10] = [
    "capture",
    "--no-connections",
    "-r",
    "-",
    "--window",
    "60s",
    "--lateness",
    "0s",
    "--no-sketches",
    "--out",
];

/// When the capture is killed.
enum Moment {
    /// After this many bytes of input.
    Written(usize),
    /// The input ends after this many bytes, while the capture seals the open segments.
    Sealing(usize),
}

#[test]
fn a_kill_costs_at_most_one_window() {
    let pcap = traffic::repeated(&captures::named("cm_rping"), FRAMES, START_S, STEP_US);
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    feed(&pcap, &whole, None);
    let whole = Rows::read(&whole);
    assert_eq!(whole.windows.len(), FRAMES / WINDOW_FRAMES);

    let written = (0..=19).map(|part| Moment::Written(pcap.len() * part / 19));
    let sealing = (1..=10).map(|part| Moment::Sealing(traffic::bytes_of_first(&pcap, FRAMES * part / 12)));
    let mut running = 0;
    for (number, moment) in written.chain(sealing).enumerate() {
        let root = folder.path().join(number.to_string());
        let (fed, was_running) = feed(&pcap, &root, Some(&moment));
        running += u32::from(was_running);
        let min = fed.saturating_sub(IN_FLIGHT) * FRAMES / pcap.len() / WINDOW_FRAMES;
        check(&root, &whole, min.saturating_sub(1));
    }
    println!("capture: {running} of 30 kills while it ran");
    assert!(running >= 25, "{running}");
}

/// Captures `pcap` into `root` and kills the process at `moment`. Returns the number of bytes that it got, and whether it
/// was still running.
fn feed(pcap: &[u8], root: &Path, moment: Option<&Moment>) -> (usize, bool) {
    let given = match moment {
        None => pcap.len(),
        Some(Moment::Written(bytes) | Moment::Sealing(bytes)) => *bytes,
    };
    let mut child = rocescope::command(&[&CAPTURE, [root.to_str().unwrap()].as_slice()].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&pcap[..given]).unwrap();
    match moment {
        None => {
            drop(stdin);
            assert!(child.wait().unwrap().success());
            return (given, false);
        }
        Some(Moment::Written(_)) => {}
        Some(Moment::Sealing(_)) => {
            // The end of the input seals every table: the first one is enough.
            drop(stdin);
            let before = unfinished(root);
            while child.try_wait().unwrap().is_none() && unfinished(root) == before {
                std::hint::spin_loop();
            }
        }
    }
    child.kill().unwrap();
    (given, child.wait().unwrap().signal() == Some(9))
}

/// The number of segments that are being sealed.
fn unfinished(root: &Path) -> usize {
    files(root)
        .iter()
        .filter(|path| path.to_string_lossy().ends_with(".parquet.tmp"))
        .count()
}

pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        // The capture removed it since the listing.
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let mut found = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

/// Asserts that `root` has the first windows of `whole`, at least `min`, and at most one partial window.
fn check(root: &Path, whole: &Rows, min: usize) {
    if !root.exists() {
        assert_eq!(min, 0);
        return;
    }
    assert_eq!(scan(root).unwrap().unreadable, []);
    let output = rocescope::run(&["dataset", "repair", root.to_str().unwrap()]);
    assert!(output.status.success());
    assert!(!rocescope::text(&output.stdout).contains("skipped"));
    assert!(scan(root).unwrap().open.is_empty());

    let verified = rocescope::run(&["dataset", "verify", root.to_str().unwrap()]);
    assert!(verified.status.success(), "{}", rocescope::text(&verified.stdout));

    let rows = Rows::read(root);
    let windows = rows.windows.len();
    assert!(windows >= min, "{windows} windows of {min}");
    rows.begins(whole);
}

/// Asserts that `found` has all rows of `whole` in the windows `within`, and at most one more window.
fn same<R: PartialEq + std::fmt::Debug>(found: &[R], whole: &[R], within: &BTreeSet<i64>, window: fn(&R) -> i64) {
    let inside = |row: &&R| within.contains(&window(row));
    assert!(found.iter().filter(inside).eq(whole.iter().filter(inside)));
    let beyond: Vec<&R> = found.iter().filter(|row| !inside(row)).collect();
    let windows: BTreeSet<i64> = beyond.iter().map(|row| window(row)).collect();
    assert!(windows.len() <= 1, "parts of {windows:?}");
    assert!(beyond.iter().all(|row| whole.contains(row)));
}

/// All rows of a dataset, in the order of their windows.
#[derive(PartialEq)]
pub(crate) struct Rows {
    pub(crate) windows: Vec<WindowRow>,
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) opcodes: Vec<OpcodeRow>,
    pub(crate) events: Vec<EventRow>,
}

impl Rows {
    pub(crate) fn read(root: &Path) -> Self {
        let scan = scan(root).unwrap();
        assert_eq!(scan.unreadable, []);
        let mut rows = Self {
            windows: scan.rows().unwrap(),
            flows: scan.rows().unwrap(),
            opcodes: scan.rows().unwrap(),
            events: scan.rows().unwrap(),
        };
        let observer = |name: &Text| name.as_str().to_owned();
        rows.windows
            .sort_by_cached_key(|row| (row.window_start_ns, observer(&row.observer)));
        rows.flows
            .sort_by_cached_key(|row| (row.window_start_ns, observer(&row.observer), row.rank));
        rows.opcodes
            .sort_by_cached_key(|row| (row.window_start_ns, observer(&row.observer), row.opcode_number));
        rows.events.sort_by_cached_key(|row| {
            (
                row.time_ns,
                observer(&row.observer),
                row.kind.as_str().to_owned(),
                row.psn,
            )
        });
        rows
    }

    /// Asserts that these are the first windows of `whole`, each once and complete in every table, and at most one
    /// partial window.
    pub(crate) fn begins(&self, whole: &Self) {
        assert_eq!(self.windows, whole.windows[..self.windows.len()]);
        let within: BTreeSet<i64> = self.windows.iter().map(|row| row.window_start_ns).collect();
        same(&self.flows, &whole.flows, &within, |row| row.window_start_ns);
        same(&self.opcodes, &whole.opcodes, &within, |row| row.window_start_ns);
        for event in &self.events {
            let times = |all: &[EventRow]| all.iter().filter(|other| *other == event).count();
            assert!((1..=times(&whole.events)).contains(&times(&self.events)), "{event:?}");
        }
    }
}

#[test]
fn a_torn_file_is_named_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_str().unwrap();
    let capture = captures::named("rnr_nak");
    rocescope::json(&capture.path, &["--out", root]);
    let before = Rows::read(folder.path());

    let segment = scan(folder.path()).unwrap().table("flows").next().unwrap().path.clone();
    let torn = segment.with_file_name("torn.parquet");
    let bytes = fs::read(&segment).unwrap();
    for torn_bytes in [0, 3, bytes.len() / 2, bytes.len() - 1] {
        fs::write(&torn, &bytes[..torn_bytes]).unwrap();
        let output = rocescope::run(&["dataset", "repair", root]);
        assert!(output.status.success());
        let said = rocescope::text(&output.stdout);
        let line = format!("skipped  {}: ", torn.display());
        assert!(said.lines().any(|l| l.starts_with(&line)), "{said}");
        assert_eq!(said.matches("torn.parquet").count(), 1, "{said}");
        let scan = scan(folder.path()).unwrap();
        assert_eq!(scan.unreadable.len(), 1);
        assert_eq!(scan.rows::<FlowRow>().unwrap().len(), before.flows.len());
    }

    // It does not prevent further captures.
    rocescope::json(&capture.path, &["--out", root, "--observer", "other"]);
    let both = scan(folder.path()).unwrap();
    assert_eq!(both.row_count("windows"), 2 * before.windows.len() as u64);
    assert_eq!(both.unreadable.len(), 1);
}
