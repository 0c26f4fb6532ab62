//! Names of the hosts of steps: their jobs and ranks, by their queue pairs.
//!
//! Two sources know them: the queue pairs that agents report, and the log of NCCL. Where agents know the owner of a queue
//! pair, the log is not asked. Names are all that they add: an analysis is the same without them.

use crate::read::nccl_debug::Ranks;
use crate::steps::Steps;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::IpAddr;
use rocescope_diagnose::owners::{Answer, End, Owners};
use rocescope_model::StepRow;

/// What is known of queue pairs.
#[derive(Debug, Default)]
pub struct Names {
    /// By the log of NCCL.
    pub ranks: Ranks,
    /// By agents.
    pub owners: Owners,
}

/// The owners of hosts with their ranks, by the names of hosts. The owner of ranks of the log has no name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(BTreeMap<String, BTreeMap<String, BTreeSet<u32>>>);

/// What [`Names`] asks of agents about a step: addresses and queue pair numbers of both ends.
pub fn asked(row: &StepRow) -> impl Iterator<Item = (IpAddr, u32)> {
    let ends = [row.src.zip(row.src_qpn), row.dst.zip(row.dst_qpn)];
    ends.into_iter().flatten()
}

impl Names {
    /// Learns the owners and ranks of the hosts of a step.
    pub fn learn(&self, row: &StepRow, hosts: &mut Hosts) {
        let src = (row.src, row.src_qpn);
        let dst = (row.dst, row.dst_qpn);
        for (host, own, peer) in [(&row.host, src, dst), (&row.dst_host, dst, src)] {
            let (group, rank) = match self.owner(row, own, peer) {
                Answer::Owner(owner) => {
                    // Of what has no job, a rank means nothing.
                    let has_ranks = owner.job.is_some() || owner.pod.is_some();
                    (owner.group(), owner.rank.filter(|_| has_ranks))
                }
                _ => match own.1.and_then(|qpn| self.ranks.of(own.0, qpn)) {
                    Some(rank) => (String::new(), Some(rank)),
                    None => continue,
                },
            };
            let groups = hosts.0.entry(host.to_string()).or_default();
            groups.entry(group).or_default().extend(rank);
        }
    }

    fn owner(&self, row: &StepRow, own: (Option<IpAddr>, Option<u32>), peer: (Option<IpAddr>, Option<u32>)) -> Answer {
        let ((Some(address), Some(qpn)), Some(peer_address)) = (own, peer.0) else {
            return Answer::Unknown;
        };
        self.owners.of(&End {
            address,
            qpn,
            peer: peer_address,
            peer_qpn: peer.1,
            first_ns: row.time_ns,
            last_ns: row.time_ns.saturating_add(row.duration_ns.unwrap_or(0)),
        })
    }
}

impl Hosts {
    /// Names the hosts: `10.0.0.1 (rank 3)`, `10.0.0.1 (job 4711, ranks 3, 4)`.
    pub fn name(&self, steps: &mut Steps) {
        for host in &mut steps.hosts {
            let Some(groups) = self.0.get(&**host) else { continue };
            let names: Vec<String> = groups.iter().map(|(group, ranks)| name(group, ranks)).collect();
            *host = format!("{host} ({})", names.join("; ")).into();
        }
    }
}

/// `job 4711, ranks 3, 4`; `rank 3`; `train.service on gpu-1`.
fn name(group: &str, ranks: &BTreeSet<u32>) -> String {
    let word = if ranks.len() == 1 { "rank" } else { "ranks" };
    let numbers: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    match (group, ranks.is_empty()) {
        (group, true) => group.to_string(),
        ("", false) => format!("{word} {}", numbers.join(", ")),
        (group, false) => format!("{group}, {word} {}", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::Builder;
    use rocescope_model::QueuePairRow;

    const SECOND_NS: i64 = 1_000_000_000;

    fn pair(host: &'static str, address: u8, qpn: u32, job: Option<&'static str>, rank: Option<u32>) -> QueuePairRow {
        QueuePairRow {
            observer: host.into(),
            device: "mlx5_0".into(),
            local_qpn: qpn,
            local_address: Some([10, 0, 0, address].into()),
            first_ns: SECOND_NS,
            time_ns: SECOND_NS,
            pid: Some(7),
            process: "python".into(),
            job_id: job.map(Into::into),
            rank,
            ..QueuePairRow::default()
        }
    }

    /// A step between the hosts with these addresses and queue pairs.
    fn step(number: u32, src: (u8, u32), dst: (u8, u32), time_ns: i64) -> StepRow {
        let address = |of: u8| IpAddr::from([10, 0, 0, of]);
        StepRow {
            host: address(src.0).to_string().into(),
            dst_host: address(dst.0).to_string().into(),
            step: number,
            src: Some(address(src.0)),
            dst: Some(address(dst.0)),
            src_qpn: Some(src.1),
            dst_qpn: Some(dst.1),
            time_ns,
            duration_ns: Some(1_000),
            ..StepRow::default()
        }
    }

    fn named(names: &Names, rows: &[StepRow]) -> Vec<String> {
        let (mut hosts, mut builder) = (Hosts::default(), Builder::default());
        for row in rows {
            names.learn(row, &mut hosts);
            builder.add(row);
        }
        let mut steps = builder.finish();
        hosts.name(&mut steps);
        steps.hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn hosts_have_the_jobs_and_ranks_of_their_queue_pairs() {
        let mut names = Names::default();
        for row in [
            pair("gpu-1", 1, 11, Some("4711"), Some(3)),
            pair("gpu-1", 1, 12, Some("4711"), Some(4)),
            pair("gpu-2", 2, 21, Some("4711"), Some(7)),
            pair("gpu-3", 3, 31, None, Some(0)),
        ] {
            names.owners.row(&row);
        }
        let at = 2 * SECOND_NS;
        let rows = [
            step(1, (1, 11), (2, 21), at),
            step(2, (1, 12), (3, 31), at + 1_000),
            step(1, (3, 31), (4, 41), at),
        ];
        let expected = [
            "10.0.0.1 (job 4711, ranks 3, 4)",
            "10.0.0.2 (job 4711, rank 7)",
            "10.0.0.3 (python (PID 7) on gpu-3)",
            "10.0.0.4",
        ];
        let mut found = named(&names, &rows);
        found.sort();
        assert_eq!(found, expected);
        assert_eq!(asked(&rows[0]).count(), 2);
    }

    #[test]
    fn a_queue_pair_of_two_owners_names_nothing() {
        let mut names = Names::default();
        names.owners.row(&pair("gpu-1", 1, 11, Some("1"), Some(0)));
        names.owners.row(&pair("gpu-9", 1, 11, Some("2"), Some(0)));
        let rows = [step(1, (1, 11), (2, 21), 2 * SECOND_NS)];
        assert_eq!(named(&names, &rows), ["10.0.0.1", "10.0.0.2"]);
    }
}
