//! A verdict of the probe mesh on a NIC, and the loopback tests of its host, in one sentence: the NIC, or the PCIe path
//! behind it.

use super::diagnosis::Diagnosis;
use super::judge::{Judge, Status};
use super::rows::{Run, runs};
use super::rule::Rule;
use super::topology::{Reach, Topology};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::{LoopbackRow, Time};

/// The last run of each host, diagnosed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insides(Vec<Inside>);

#[derive(Debug, Clone, PartialEq)]
struct Inside {
    host: String,
    start_ns: i64,
    topology: Topology,
    diagnosis: Diagnosis,
}

impl Insides {
    /// Diagnoses the last run of each host in these rows.
    #[must_use]
    pub fn of(rows: Vec<LoopbackRow>, rule: Rule) -> Self {
        let mut all: Vec<Inside> = Vec::new();
        for (host, start_ns, rows) in runs(rows) {
            let run = Run::of(&rows);
            let judge = Judge {
                topology: &run.topology,
                baseline: Some(&run.baseline),
                rule,
                busy: &run.busy,
                loads: &run.loads,
            };
            let diagnosis = judge.diagnose(&run.measured);
            // Runs come in the order of their times.
            all.retain(|inside| inside.host != host);
            all.push(Inside {
                host,
                start_ns,
                topology: run.topology,
                diagnosis,
            });
        }
        Self(all)
    }

    /// What the tests show of the path behind a NIC, `host/nic`; none if its host has none.
    #[must_use]
    pub fn behind(&self, nic: &str) -> Option<String> {
        let (host, name) = nic.rsplit_once('/')?;
        let inside = self.0.iter().find(|inside| inside.host == host)?;
        let nic = inside.topology.find(name)?;
        Some(behind(inside, nic))
    }
}

/// The sentence about a NIC, a node of the topology.
fn behind(inside: &Inside, nic: usize) -> String {
    let (topology, diagnosis) = (&inside.topology, &inside.diagnosis);
    let tests = format!("loopback tests of {} at {:.0}", inside.host, Time(inside.start_ns));
    let of_nic = || diagnosis.judgement.tests.iter().filter(|test| test.nic == nic);
    // The way to the memory that its driver and its applications use.
    let near: BTreeSet<usize> = of_nic()
        .filter(|test| test.path.reach == Reach::NearMemory)
        .flat_map(|test| test.path.links.iter().copied())
        .collect();
    let accused: Vec<String> = diagnosis
        .causes
        .iter()
        .filter(|finding| finding.links.iter().any(|link| near.contains(link)))
        .map(|finding| {
            let links: Vec<String> = finding
                .links
                .iter()
                .map(|link| topology.ends(*link))
                .map(|(a, b)| format!("{a} <-> {b}"))
                .collect();
            format!(
                "{} ({}, {})",
                links.join(", "),
                finding.cause.name(),
                finding.certainty.name()
            )
        })
        .collect();
    if !accused.is_empty() {
        return format!(
            "the NIC, or the PCIe path behind it: {tests} accuse {}",
            accused.join("; ")
        );
    }
    let proven: BTreeSet<usize> = diagnosis
        .judgement
        .tests
        .iter()
        .filter(|test| test.status == Status::Normal)
        .flat_map(|test| test.path.links.iter().copied())
        .collect();
    let name = topology.nodes[nic].name.to_string();
    if !near.is_empty() && near.is_subset(&proven) {
        return format!(
            "the NIC, its link or its switch port, not the PCIe path behind it: {tests} found every link from {name} to its memory normal"
        );
    }
    format!("the NIC, or the PCIe path behind it: {tests} neither accuse nor clear the links behind {name}")
}
