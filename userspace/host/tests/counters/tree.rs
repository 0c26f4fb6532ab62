//! Made trees: copies of `/sys` with the devices of the files in `trees/`.

use rocescope_host::counters::reader::StatisticsFrom;
use rocescope_host::counters::{Moment, Reader, Rows, Sources, Wanted};
use rocescope_model::{CounterRow, Time};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// The made devices: name of the driver, of the device, and its files.
pub(crate) const DEVICES: [(&str, &str, &str); 10] = [
    ("mlx5", "mlx5_0", include_str!("trees/mlx5.txt")),
    ("bnxt_re", "bnxt_re0", include_str!("trees/bnxt_re.txt")),
    ("irdma", "rocep177s0", include_str!("trees/irdma.txt")),
    ("hfi1", "hfi1_0", include_str!("trees/hfi1.txt")),
    ("rxe", "rxe0", include_str!("trees/rxe.txt")),
    ("mana", "mana_0", include_str!("trees/mana.txt")),
    ("erdma", "erdma_0", include_str!("trees/erdma.txt")),
    ("ionic", "ionic_0", include_str!("trees/ionic.txt")),
    ("efa", "rdmap16s27", include_str!("trees/efa.txt")),
    ("hns", "hns_0", include_str!("trees/hns.txt")),
];

/// What `ethtool -S` prints for their interfaces.
pub(crate) const STATISTICS: [(&str, &str, &str); 4] = [
    ("mlx5", "eth2", include_str!("trees/mlx5.ethtool.txt")),
    ("bnxt_re", "eth3", include_str!("trees/bnxt_re.ethtool.txt")),
    ("irdma", "eth4", include_str!("trees/irdma.ethtool.txt")),
    ("ionic", "eth6", include_str!("trees/ionic.ethtool.txt")),
];

/// A copy of `/sys` in a directory of its own.
pub(crate) struct Tree(TempDir);

impl Tree {
    /// Without devices.
    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With all made devices and their statistics.
    pub(crate) fn full() -> Self {
        let tree = Self::empty();
        for (_, device, files) in DEVICES {
            tree.add(device, files);
        }
        for (_, interface, text) in STATISTICS {
            tree.write(&format!("ethtool/{interface}"), text);
        }
        tree
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Adds a device.
    pub(crate) fn add(&self, device: &str, files: &str) {
        for (path, content) in lines(files) {
            self.set(device, path, content);
        }
    }

    /// Writes a file of a device.
    pub(crate) fn set(&self, device: &str, path: &str, content: &str) {
        self.write(&format!("class/infiniband/{device}/{path}"), &format!("{content}\n"));
    }

    /// Removes a device.
    pub(crate) fn remove(&self, device: &str) {
        fs::remove_dir_all(self.device(device)).unwrap();
    }

    pub(crate) fn device(&self, device: &str) -> PathBuf {
        self.path().join("class/infiniband").join(device)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn sources(&self) -> Sources {
        Sources {
            ethtool: StatisticsFrom::Files(self.path().join("ethtool")),
            ..Sources::copy(self.path().to_owned())
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::new(self.sources(), Wanted::default(), "host-1")
    }
}

/// The files of a made device: path and content.
pub(crate) fn lines(files: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = files.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap())
}

/// Reads all counters at a second.
pub(crate) fn read_at(reader: &mut Reader, second: u64, rows: Rows) -> Vec<CounterRow> {
    let moment = Moment {
        time: Time(1_700_000_000_000_000_000 + second as i64 * 1_000_000_000),
        clock: Duration::from_secs(second),
    };
    let mut all = Vec::new();
    reader.read(moment, rows, &mut |row| all.push(row));
    all
}

/// The row of a counter.
pub(crate) fn row<'a>(rows: &'a [CounterRow], device: &str, name: &str) -> &'a CounterRow {
    let mut found = rows.iter().filter(|row| &*row.device == device && &*row.name == name);
    let row = found.next().unwrap_or_else(|| panic!("no row of {device} {name}"));
    assert_eq!(found.next(), None, "{device} {name} has two rows");
    row
}
