//! The program between two directories: a store on disk creates, compares and refuses as the others do.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("here")).unwrap();
        fs::create_dir(folder.path().join("there")).unwrap();
        Self(folder)
    }

    fn here(&self) -> PathBuf {
        self.0.path().join("here")
    }

    fn there(&self) -> PathBuf {
        self.0.path().join("there")
    }

    /// Segments of two tables and this many hours, each with other bytes.
    fn fill(&self, hours: u8) {
        for hour in 0..hours {
            for table in ["flows", "windows"] {
                let folder = self.here().join(format!("{table}/date=2026-11-21/hour={hour:02}"));
                fs::create_dir_all(&folder).unwrap();
                let bytes: Vec<u8> = (0..40_000_u32).map(|at| (at * 7 + u32::from(hour)) as u8).collect();
                fs::write(folder.join("rail3-0000.parquet"), bytes).unwrap();
            }
        }
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope-ship"));
        command
            .arg(self.here())
            .arg(self.there())
            .args(options)
            .stderr(Stdio::piped());
        command
    }

    fn ship(&self, options: &[&str]) -> Output {
        self.command(options).output().unwrap()
    }
}

/// Segments below a directory, by name.
fn segments(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if name.starts_with(".shipped") || name.starts_with(".open") {
                continue;
            }
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(name, fs::read(path).unwrap())),
            }
        }
    }
    found
}

fn printed(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn every_segment_is_there_once_with_the_same_bytes() {
    let folder = Folder::new();
    folder.fill(3);
    let first = folder.ship(&["--once"]);
    assert!(first.status.success(), "{}", printed(&first));
    assert!(
        printed(&first).starts_with("6 segments copied to "),
        "{}",
        printed(&first)
    );
    assert_eq!(segments(&folder.here()), segments(&folder.there()));
    // Again: nothing is sent.
    assert!(printed(&folder.ship(&["--once"])).starts_with("0 segments copied"));
    folder.fill(4);
    assert!(printed(&folder.ship(&["--once"])).starts_with("2 segments copied"));
    assert_eq!(segments(&folder.here()), segments(&folder.there()));
}

#[test]
fn a_run_that_was_killed_goes_on() {
    let folder = Folder::new();
    folder.fill(24);
    let mut kills = 0;
    while kills < 30 {
        // Slow enough that a kill comes in between.
        let mut child = folder.command(&["--once", "--max-rate", "20M"]).spawn().unwrap();
        sleep(Duration::from_millis(20 + 3 * kills));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let last = folder.ship(&["--once"]);
    assert!(last.status.success(), "{}", printed(&last));
    assert_eq!(segments(&folder.here()), segments(&folder.there()));
}

#[test]
fn an_object_with_other_bytes_is_not_overwritten() {
    let folder = Folder::new();
    folder.fill(2);
    let name = "flows/date=2026-11-21/hour=00/rail3-0000.parquet";
    let other = folder.there().join(name);
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    fs::write(&other, "other").unwrap();
    let ran = folder.ship(&["--once", "--keep", "0s"]);
    assert!(!ran.status.success());
    let text = printed(&ran);
    assert!(
        text.contains(&format!("{name}: the store has other bytes under this name")),
        "{text}"
    );
    assert!(
        text.contains("3 segments copied") && text.contains("1 not shipped"),
        "{text}"
    );
    assert_eq!(fs::read(&other).unwrap(), b"other");
    // What is not there stays here; what is there was deleted.
    let left: Vec<PathBuf> = segments(&folder.here()).into_keys().collect();
    assert_eq!(left, [PathBuf::from(name)]);
}

/// A rollup keeps its name when its rows change, and then has no marker.
#[test]
fn a_rollup_that_changed_replaces_the_one_there() {
    let folder = Folder::new();
    let rollup = folder.here().join("rollups/1h");
    let file = rollup.join("windows/date=2026-11-21/hour=00/rail3-20261121T000000Z-0000.parquet");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let ship = |options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rocescope-ship"));
        let ran = command.arg(&rollup).arg(folder.there()).args(options).output().unwrap();
        assert!(ran.status.success(), "{}", printed(&ran));
        printed(&ran)
    };
    fs::write(&file, "one hour").unwrap();
    assert!(ship(&["--once"]).starts_with("1 segments copied"));
    fs::write(&file, "two hours").unwrap();
    let marker = rollup.join(".shipped").join(file.strip_prefix(&rollup).unwrap());
    fs::remove_file(marker).unwrap();
    assert!(ship(&["--once"]).starts_with("1 segments copied"));
    assert_eq!(segments(&folder.there()), segments(&rollup));
    assert!(ship(&["--once"]).starts_with("0 segments copied"));
}

/// Markers state that one store has a segment, not any store.
#[test]
fn a_dataset_is_shipped_to_one_place_by_one_process() {
    let folder = Folder::new();
    folder.fill(1);
    let mut running = folder.command(&["--interval", "100ms"]).spawn().unwrap();
    let ended = Instant::now() + Duration::from_secs(300);
    while segments(&folder.there()).len() < 2 {
        assert!(Instant::now() < ended, "nothing was shipped");
        sleep(Duration::from_millis(20));
    }
    let second = folder.ship(&["--once"]);
    assert!(
        printed(&second).contains("another process ships"),
        "{}",
        printed(&second)
    );
    // A segment that comes later is shipped too, and a signal ends it.
    folder.fill(2);
    while segments(&folder.there()).len() < 4 {
        assert!(Instant::now() < ended, "the later ones were not shipped");
        sleep(Duration::from_millis(20));
    }
    let stop = Command::new("kill").arg(running.id().to_string()).status().unwrap();
    assert!(stop.success());
    assert!(running.wait().unwrap().success());
    let elsewhere = folder.0.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let third = Command::new(env!("CARGO_BIN_EXE_rocescope-ship"))
        .arg(folder.here())
        .arg(&elsewhere)
        .arg("--once")
        .output()
        .unwrap();
    assert!(printed(&third).contains("remove"), "{}", printed(&third));
    assert!(segments(&elsewhere).is_empty());
}

#[test]
fn wrong_input_is_one_line() {
    let folder = Folder::new();
    let no_dataset = folder.ship(&["--once"]);
    assert!(
        printed(&no_dataset).contains("is no dataset"),
        "{}",
        printed(&no_dataset)
    );
    folder.fill(1);
    fs::remove_dir(folder.there()).unwrap();
    let nowhere = folder.ship(&["--once"]);
    assert!(!nowhere.status.success());
    assert_eq!(printed(&nowhere).lines().count(), 1, "{}", printed(&nowhere));
}
