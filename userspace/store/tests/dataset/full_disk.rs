//! A full disk: a small tmpfs, which only root can mount.

use crate::rows::{SECOND_NS, files, read, together, window};
use rocescope_model::{WindowRow, WindowRows};
use rocescope_store::{Error, Options, Writer, repair, scan};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A small tmpfs, unmounted when dropped.
struct SmallDisk {
    directory: tempfile::TempDir,
}

impl SmallDisk {
    /// Mounts a tmpfs of `kib` KiB. Without permission, prints the reason and returns `None`; fails in CI.
    fn mount(kib: u32) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "tmpfs"])
            .arg(directory.path())
            .output();
        let why = match mounted {
            Ok(output) if output.status.success() => return Some(Self { directory }),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        println!("skipped: a tmpfs cannot be mounted here: {why}");
        assert!(std::env::var_os("CI").is_none(), "skipped in CI");
        None
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("dataset")
    }

    fn grow(&self, kib: u32) {
        let grown = Command::new("mount")
            .args(["-o", &format!("remount,size={kib}k")])
            .arg(self.directory.path())
            .status();
        assert!(grown.unwrap().success());
    }

    /// Fills the disk.
    fn fill(&self) -> PathBuf {
        let path = self.directory.path().join("ballast");
        let mut ballast = std::fs::File::create(&path).unwrap();
        while ballast.write_all(&[0; 4 << 10]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.directory.path()).status();
    }
}

/// A window with a sketch that does not compress.
fn large(n: i64) -> WindowRows {
    let mut rows = window(n * SECOND_NS);
    let mut state = n.unsigned_abs() + 1;
    let mut noise = || {
        // xorshift64
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let sketch = (0..32 << 10).flat_map(|_| noise().to_le_bytes());
    rows.windows[0].count_min_bytes = Some(sketch.collect::<Vec<u8>>().into());
    rows
}

/// Appends until the disk is full. Returns the accepted windows, and the error.
fn write_until_full(writer: &mut Writer) -> (Vec<WindowRows>, Error) {
    let mut taken = Vec::new();
    loop {
        let rows = large(taken.len() as i64);
        match writer.append(&rows, Instant::now()) {
            Ok(()) => taken.push(rows),
            Err(error) => return (taken, error),
        }
        assert!(taken.len() < 100, "the disk is never full");
    }
}

fn hidden(root: &Path) -> Vec<PathBuf> {
    let mut files = files(root);
    files.retain(|path| path.to_str().unwrap().ends_with(".tmp"));
    files
}

#[test]
fn a_full_disk_ends_writing_and_accepted_rows_are_stored() {
    let Some(disk) = SmallDisk::mount(4 << 10) else {
        return;
    };
    let root = disk.root();
    let options = Options {
        max_bytes: 1 << 20,
        ..Options::new("rail3")
    };
    let mut writer = Writer::create(&root, options).unwrap();
    let (taken, error) = write_until_full(&mut writer);
    assert!(error.is_no_space(), "{error}");
    assert!(error.to_string().starts_with("the disk is full: cannot "));
    let again = writer.append(&window(0), Instant::now()).unwrap_err();
    assert!(again.is_no_space());
    let summary = writer.finish().unwrap();
    assert_eq!(summary.refused_windows, 2);

    let found = scan(&root).unwrap();
    assert_eq!(found.unreadable, []);
    assert_eq!(found.row_count("windows"), summary.table("windows").rows);
    let sealed = found.rows::<WindowRow>().unwrap();
    assert!(sealed.len() >= 4, "{} windows", sealed.len());
    assert_eq!(hidden(&root).len(), summary.unsealed.len());
    disk.grow(8 << 10);
    repair(&root).unwrap();
    let all = read(&root).unwrap();
    let wanted = together(taken);
    assert!(sealed.iter().zip(&wanted.windows).all(|(a, b)| a == b));
    assert!(all == wanted, "rows differ");
}

/// A disk that is full for a while costs only the rows of that time.
#[test]
fn a_writer_resumes_when_there_is_space() {
    let Some(disk) = SmallDisk::mount(8 << 10) else {
        return;
    };
    let root = disk.root();
    let mut writer = Writer::create(&root, Options::new("rail3")).unwrap();
    writer.append(&large(0), Instant::now()).unwrap();
    let ballast = disk.fill();
    assert!(writer.append(&large(1), Instant::now()).unwrap_err().is_no_space());
    assert!(writer.resume().unwrap_err().is_no_space());
    assert!(
        hidden(&root)
            .iter()
            .all(|path| path.to_str().unwrap().ends_with(".arrows.tmp"))
    );
    std::fs::remove_file(ballast).unwrap();
    writer.resume().unwrap();
    writer.append(&large(2), Instant::now()).unwrap();
    let summary = writer.finish().unwrap();
    assert_eq!((summary.refused_windows, summary.unsealed.len()), (1, 0));
    assert_eq!(summary.table("windows").rows, 2);
    assert_eq!(hidden(&root), [] as [PathBuf; 0]);
    assert_eq!(read(&root).unwrap(), together([large(0), large(2)]));
}

/// Not enough space even to seal: the journals remain, and are sealed once there is space.
#[test]
fn journals_that_cannot_be_sealed_are_repaired_later() {
    let Some(disk) = SmallDisk::mount(8 << 10) else {
        return;
    };
    let root = disk.root();
    let sealed = large(1_000);
    let mut writer = Writer::create(&root, Options::new("rail4")).unwrap();
    writer.append(&sealed, Instant::now()).unwrap();
    writer.finish().unwrap();

    let mut writer = Writer::create(&root, Options::new("rail3")).unwrap();
    writer.append(&large(0), Instant::now()).unwrap();
    let ballast = disk.fill();
    let (taken, error) = write_until_full(&mut writer);
    assert!(error.is_no_space(), "{error}");
    assert_eq!(taken.len(), 0);
    let summary = writer.finish().unwrap();
    assert!(!summary.unsealed.is_empty());
    assert_eq!(summary.refused_windows, 1);
    let names = hidden(&root);
    assert!(names.iter().all(|p| p.to_str().unwrap().ends_with(".arrows.tmp")));
    assert_eq!(scan(&root).unwrap().unreadable, []);
    let full = repair(&root).unwrap_err();
    assert!(full.is_no_space(), "{full}");

    std::fs::remove_file(ballast).unwrap();
    repair(&root).unwrap();
    assert_eq!(hidden(&root), [] as [PathBuf; 0]);
    assert_eq!(read(&root).unwrap(), together([large(0), sealed]));
}
