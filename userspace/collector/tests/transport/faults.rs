//! Disks that fail at either end: what is acknowledged is stored, and what was sent is stored, spooled or counted as lost.

use crate::rig::{Rig, probes, stored};
use rocescope_collector::{Sender, Server, Spool};
use rocescope_testkit::{Ballast, SmallDisk, until};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Rows of a parcel.
const ROWS: u64 = 7;
const AGENTS: u64 = 4;
/// Parcels that each agent appends before, during and after a fault.
const PARCELS: u64 = 40;
const FAULTS: u64 = 4;

/// An agent that appends parcels.
struct Agent {
    name: String,
    spool: Arc<Spool>,
    sender: Sender,
    appended: u64,
}

impl Agent {
    fn start(rig: &Rig, name: String, port: u16) -> Self {
        let spool = rig.spool(&name);
        let sender = rig.sender(&name, port, &spool);
        Self {
            name,
            spool,
            sender,
            appended: 0,
        }
    }

    fn append(&mut self, parcels: u64) {
        for _ in 0..parcels {
            // A row that cannot be written is counted.
            let _ = self
                .spool
                .append(&probes(&self.name, self.appended..self.appended + ROWS));
            self.appended += ROWS;
        }
    }

    /// Compares what is stored with what the agent knows of its rows.
    fn check(self, dataset: &Path) {
        self.sender.finish(Duration::ZERO);
        let counts = self.spool.counts();
        let lost =
            counts.dropped_full_rows + counts.dropped_disk_rows + counts.dropped_damaged_rows + counts.refused_rows;
        let found = stored(dataset, &self.name);
        assert!(found.is_sorted_by(|a, b| a < b), "{}: none twice", self.name);
        assert_eq!(
            counts.acknowledged_rows,
            found.len() as u64,
            "{}: {counts:?}",
            self.name
        );
        assert_eq!(
            found.len() as u64 + counts.rows + lost,
            self.appended,
            "{}: {counts:?}",
            self.name
        );
    }
}

/// A directory of the dataset that cannot be written, until it is dropped. Root may write everywhere, so a file is in its
/// place.
struct Blocked<'a>(&'a Path);

impl<'a> Blocked<'a> {
    fn new(directory: &'a Path) -> Self {
        until("there is a directory", || directory.is_dir());
        fs::write(directory.with_extension("aside"), "").unwrap();
        exchange(directory);
        Self(directory)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        exchange(self.0);
        fs::remove_file(self.0.with_extension("aside")).unwrap();
    }
}

fn exchange(directory: &Path) {
    let aside = directory.with_extension("aside");
    renameat_with(CWD, directory, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
}

/// Appends before, during and after each of several faults, and compares in the end.
fn survives<F>(rig: &Rig, server: Server, dataset: &Path, mut fault: impl FnMut(u64) -> F) {
    let port = server.address().port();
    let names = (0..AGENTS).map(|n| format!("h{n}"));
    let mut agents: Vec<Agent> = names.map(|name| Agent::start(rig, name, port)).collect();
    for n in 0..FAULTS {
        agents.iter_mut().for_each(|agent| agent.append(PARCELS));
        let failing = fault(n);
        until("storing stops", || {
            agents.iter_mut().for_each(|agent| agent.append(1));
            server.status().storing_stopped
        });
        agents.iter_mut().for_each(|agent| agent.append(PARCELS));
        let before = server.status().counts.failed_parcels;
        until("parcels are turned away", || {
            agents.iter_mut().for_each(|agent| agent.append(1));
            server.status().counts.failed_parcels > before
        });
        drop(failing);
        // The next fault comes while they still send what waits.
        until("it stores again", || !server.status().storing_stopped);
    }
    until("all is sent", || {
        agents.iter().all(|agent| agent.spool.counts().parcels == 0)
    });
    server.stop().unwrap();
    for agent in agents {
        agent.check(dataset);
    }
}

#[test]
fn a_collector_whose_disk_is_full_again_and_again_stores_what_it_acknowledges() {
    let Some(disk) = SmallDisk::mount("16m") else {
        return;
    };
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.dataset = disk.path().join("dataset");
    settings.retry = Duration::from_millis(5);
    let dataset = settings.dataset.clone();
    let server = Server::start(settings, None).unwrap();
    survives(&rig, server, &dataset, |n| {
        Ballast::fill(disk.path().join(format!("ballast-{n}")))
    });
}

#[test]
fn a_collector_that_cannot_write_a_directory_stores_what_it_acknowledges() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.retry = Duration::from_millis(5);
    // Every commit seals what came before it.
    settings.options.max_age = Duration::ZERO;
    let dataset = settings.dataset.clone();
    let server = Server::start(settings, None).unwrap();
    let sealed = dataset.join("probes");
    survives(&rig, server, &dataset, |_| Blocked::new(&sealed));
}

#[test]
fn rows_of_a_spool_whose_disk_is_full_or_gone_are_counted() {
    let Some(disk) = SmallDisk::mount("1m") else {
        return;
    };
    let rig = Rig::new();
    let server = rig.server();
    let name = "h0".to_owned();
    let spool = Arc::new(Spool::open(&disk.path().join("spool"), 64 << 20).unwrap());
    let sender = rig.sender(&name, server.address().port(), &spool);
    let mut agent = Agent {
        name,
        spool,
        sender,
        appended: 0,
    };
    agent.append(PARCELS);
    let ballast = Ballast::fill(disk.path().join("ballast"));
    until("rows are dropped", || {
        agent.append(1);
        agent.spool.counts().dropped_disk_rows > 0
    });
    drop(ballast);
    until("rows are spooled again", || {
        let before = agent.spool.counts().dropped_disk_rows;
        agent.append(1);
        agent.spool.counts().dropped_disk_rows == before
    });
    agent.append(PARCELS);
    fs::remove_dir_all(disk.path().join("spool")).unwrap();
    agent.append(PARCELS);
    until("the rest is sent or dropped", || agent.spool.counts().parcels == 0);
    server.stop().unwrap();
    agent.check(&rig.path("dataset"));
}
