//! The agents of both guests, their collector in the second one, and the rows that it received.

use crate::softroce::checks::mesh;
use crate::softroce::fabric::{Fabric, LIMIT};
use crate::softroce::guest::Guest;
use anyhow::{Context, Result, ensure};
use rocescope_model::QueuePairRow;
use rocescope_store::scan;
use std::fmt::Write;

/// Seconds after which the agents end, if the check does not end them.
const SECONDS: u64 = 900;

/// Agents that run.
pub(super) struct Agents;

/// Starts them, and waits until they have events of the kernel.
pub(super) fn begin(fabric: &mut Fabric) -> Result<Agents> {
    for guest in [&mut fabric.first, &mut fabric.second] {
        guest.run("sysctl -qw kernel.bpf_stats_enabled=1", LIMIT)?;
    }
    mesh::begin_with(fabric, SECONDS, |_| "[queue-pairs]\n".to_owned())?;
    for (guest, name) in [
        (&mut fabric.first, mesh::NAMES[0]),
        (&mut fabric.second, mesh::NAMES[1]),
    ] {
        let events = "for try in $(seq 300); do grep -q 'queue pairs: kernel events' agent.err && exit 0; \
                      [ -e agent.status ] && break; sleep 0.1; done; cat agent.err; exit 1";
        guest.run(events, LIMIT).with_context(|| name.to_owned())?;
    }
    Ok(Agents)
}

impl Agents {
    /// What a run of each program costs in the first guest, as the kernel counts it.
    pub(super) fn cost(&self, fabric: &mut Fabric) -> Result<String> {
        // Descriptors come and go meanwhile.
        let read = "cat /proc/$(cat agent.pid)/fdinfo/* 2>/dev/null; true";
        let said = fabric.first.run(read, LIMIT)?;
        fabric.keep("fdinfo.txt", &said)?;
        let values = |key: &str| -> Vec<u64> {
            let lines = said.lines().filter_map(|line| line.strip_prefix(key));
            lines.filter_map(|rest| rest.trim().parse().ok()).collect()
        };
        let (times, counts) = (values("run_time_ns:"), values("run_cnt:"));
        ensure!(!counts.is_empty(), "the agent has no programs: {said}");
        let mut text = String::from("cost of the programs on an emulated processor, by bpf_stats:");
        for ((time_ns, count), verified) in times.iter().zip(&counts).zip(values("verified_insns:")) {
            let mean = time_ns.checked_div(*count).unwrap_or(0);
            let _ = write!(text, "\n  {verified} instructions verified; {count} runs of {mean} ns");
        }
        Ok(text)
    }

    /// Ends them and the collector; returns its rows in the order of time. No event was lost.
    pub(super) fn end(self, fabric: &mut Fabric) -> Result<Vec<QueuePairRow>> {
        let first = ended(&mut fabric.first)?;
        let second = ended(&mut fabric.second)?;
        fabric.keep("guest1.txt", &first)?;
        fabric.keep("guest2.txt", &second)?;
        mesh::end_collector(fabric)?;
        for said in [&first, &second] {
            ensure!(!said.contains("lost"), "events were lost: {said}");
            let line = said
                .lines()
                .find(|line| line.contains("queue pairs: ") && line.contains(" in "));
            println!("{}", line.context("the agent did not say what it did")?);
        }
        let results = fabric.results.clone();
        fabric.second.fetch("mesh", &results)?;
        let mut rows = scan(&results.join("mesh"))?.rows::<QueuePairRow>()?;
        rows.sort_by_key(|row| row.time_ns);
        Ok(rows)
    }
}

fn ended(guest: &mut Guest) -> Result<String> {
    let end = "kill -INT $(cat agent.pid); for try in $(seq 600); do [ -e agent.status ] && break; sleep 0.1; done; \
               cat agent.err; exit $(cat agent.status)";
    guest.run(end, LIMIT)
}
