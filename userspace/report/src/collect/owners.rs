//! Traffic by owner: what the queue pairs of a job, a host or a process sent.

use super::connection::Connection;
use rocescope_diagnose::owners::{Answer, Owner, Owners as Known};
use rocescope_model::QueuePairRow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// Owners with a row of their own; the traffic of further ones is in one.
const MAX_GROUPS: usize = 10_000;
/// What no agent reported.
const UNKNOWN: &str = "(unknown)";
/// What may be of several.
const AMBIGUOUS: &str = "(ambiguous)";
/// What found no row of its own.
const OTHERS: &str = "(others)";

/// What owners are grouped by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OwnedBy {
    /// The job; without one the pod, the unit or the process.
    #[default]
    Job,
    /// The host.
    Host,
    /// The process.
    Process,
}

impl FromStr for OwnedBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "job" => Ok(Self::Job),
            "host" => Ok(Self::Host),
            "process" => Ok(Self::Process),
            _ => Err(format!("unknown owner `{text}`: expected job, host or process")),
        }
    }
}

impl fmt::Display for OwnedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Job => "job",
            Self::Host => "host",
            Self::Process => "process",
        })
    }
}

impl OwnedBy {
    pub(super) fn group(self, owner: &Owner) -> String {
        match self {
            Self::Job => owner.group(),
            Self::Host => owner.host.clone(),
            Self::Process => owner.process_on_host(),
        }
    }
}

/// What the queue pairs of an owner sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct OwnerSums {
    /// The owner; in parentheses what has none.
    pub name: String,
    /// Directions of connections that it sends.
    pub directions: u64,
    /// Its hosts.
    pub hosts: u64,
    /// Its ranks.
    pub ranks: u64,
    /// Packets.
    pub packets: u64,
    /// Payload.
    pub payload_bytes: u64,
    /// Packets that were retransmitted.
    pub retransmitted_packets: u64,
    /// Packets that the fabric lost.
    pub fabric_lost_packets: u64,
    /// How often a timer expired.
    pub timeouts: u64,
    /// The highest 99th percentile of round trips of any direction.
    pub rtt_p99_ns: Option<u64>,
}

impl OwnerSums {
    /// Whether it has a name.
    pub(crate) fn is_known(&self) -> bool {
        !self.name.starts_with('(')
    }
}

/// The owners of a report.
#[derive(Debug, Clone, Default)]
pub struct OwnerFigures {
    /// What they are by.
    pub by: OwnedBy,
    /// One for each, most payload first; what has no owner last.
    pub rows: Vec<OwnerSums>,
    /// Queue pairs whose rows found no room: their traffic may be unknown.
    pub crowded_out: u64,
}

/// Owners and their traffic so far.
#[derive(Debug, Default)]
pub(super) struct Owners {
    known: Known,
    by: OwnedBy,
    sums: BTreeMap<String, Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    sums: OwnerSums,
    hosts: BTreeSet<String>,
    ranks: BTreeSet<u32>,
}

impl Owners {
    pub(super) fn new(by: OwnedBy) -> Self {
        Self { by, ..Self::default() }
    }

    /// Whose queue pairs are.
    pub(super) const fn known(&self) -> &Known {
        &self.known
    }

    /// Adds a queue pair, before the connections.
    pub(super) fn queue_pair(&mut self, row: &QueuePairRow) {
        self.known.row(row);
    }

    /// Names the owners of both ends of a connection.
    pub(super) fn name(&self, connection: &mut Connection) {
        let ends = self.known.both(connection.a_to_b.as_ref(), connection.b_to_a.as_ref());
        [connection.a_owner, connection.b_owner] = ends.map(|end| end.owner().cloned());
    }

    /// Adds what both ends of a connection sent.
    pub(super) fn add(&mut self, connection: &Connection) {
        if self.known.is_empty() {
            return;
        }
        for row in connection.directions() {
            let answer = self.known.sender(row);
            let name = match &answer {
                Answer::Unknown => UNKNOWN.to_owned(),
                Answer::Ambiguous => AMBIGUOUS.to_owned(),
                Answer::Owner(owner) => self.by.group(owner),
            };
            let has_room = self.sums.len() < MAX_GROUPS || self.sums.contains_key(&name);
            let name = if has_room { name } else { OTHERS.to_owned() };
            let group = self.sums.entry(name).or_default();
            if let Answer::Owner(owner) = &answer {
                group.hosts.insert(owner.host.clone());
                group.ranks.extend(owner.rank);
            }
            let sums = &mut group.sums;
            sums.directions += 1;
            sums.packets += row.packets;
            sums.payload_bytes += row.payload_bytes;
            sums.retransmitted_packets += row.retransmitted_packets;
            sums.fabric_lost_packets += row.fabric_lost_packets();
            sums.timeouts += row.timeouts;
            sums.rtt_p99_ns = sums.rtt_p99_ns.max(row.rtt_p99_ns);
        }
    }

    /// The figures; `None` if no agent reported a queue pair.
    pub(super) fn finish(self) -> Option<OwnerFigures> {
        if self.known.is_empty() {
            return None;
        }
        let all = self.sums.into_iter().map(|(name, group)| OwnerSums {
            name,
            hosts: group.hosts.len() as u64,
            ranks: group.ranks.len() as u64,
            ..group.sums
        });
        let mut rows: Vec<OwnerSums> = all.collect();
        rows.sort_by_key(|row| (!row.is_known(), Reverse((row.payload_bytes, row.packets))));
        Some(OwnerFigures {
            by: self.by,
            rows,
            crowded_out: self.known.crowded_out(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::ConnectionRow;

    /// Both directions of a connection between QP 7 of host 1 and QP 8 of host 2.
    fn connection() -> Connection {
        let direction = |src: u8, dst: u8, src_qpn, dst_qpn| ConnectionRow {
            src: [10, 0, 0, src].into(),
            dst: [10, 0, 0, dst].into(),
            src_qpn: Some(src_qpn),
            dst_qpn: Some(dst_qpn),
            packets: 100,
            payload_bytes: 1_000 * u64::from(src),
            fabric_lost_upstream_packets: 3,
            first_ns: Some(20_000_000_000),
            last_ns: 30_000_000_000,
            ..ConnectionRow::default()
        };
        Connection {
            a_to_b: Some(direction(1, 2, 7, 8)),
            b_to_a: Some(direction(2, 1, 8, 7)),
            ..Connection::default()
        }
    }

    fn pair(host: u8, qpn: u32, job: &str) -> QueuePairRow {
        QueuePairRow {
            observer: format!("gpu-{host}").into(),
            device: "mlx5_0".into(),
            local_qpn: qpn,
            first_ns: 10_000_000_000,
            time_ns: 10_000_000_000,
            pid: Some(42),
            process: "python".into(),
            job_id: Some(job.to_owned().into()),
            rank: Some(qpn),
            local_address: Some([10, 0, 0, host].into()),
            ..QueuePairRow::default()
        }
    }

    fn figures(by: OwnedBy, pairs: &[QueuePairRow]) -> Option<OwnerFigures> {
        let mut owners = Owners::new(by);
        pairs.iter().for_each(|row| owners.queue_pair(row));
        owners.add(&connection());
        owners.finish()
    }

    #[test]
    fn traffic_is_that_of_the_owner_of_its_sender() {
        let pairs = [pair(1, 7, "4711"), pair(2, 8, "4711")];
        let found = figures(OwnedBy::Job, &pairs).unwrap().rows;
        let expected = OwnerSums {
            name: "job 4711".into(),
            directions: 2,
            hosts: 2,
            ranks: 2,
            packets: 200,
            payload_bytes: 3_000,
            fabric_lost_packets: 6,
            ..OwnerSums::default()
        };
        assert_eq!(found, [expected]);
        let names = |by| -> Vec<(String, u64)> {
            let rows = figures(by, &pairs).unwrap().rows;
            rows.into_iter().map(|row| (row.name, row.payload_bytes)).collect()
        };
        let of = |name: &str, bytes| (name.to_owned(), bytes);
        assert_eq!(names(OwnedBy::Host), [of("gpu-2", 2_000), of("gpu-1", 1_000)]);
        assert_eq!(
            names(OwnedBy::Process),
            [
                of("python (PID 42) on gpu-2", 2_000),
                of("python (PID 42) on gpu-1", 1_000)
            ]
        );
    }

    #[test]
    fn what_has_no_owner_is_last_and_not_guessed() {
        let other = QueuePairRow {
            observer: "gpu-9".into(),
            ..pair(2, 8, "9")
        };
        let found = figures(OwnedBy::Job, &[pair(2, 8, "4711"), other]).unwrap().rows;
        let names: Vec<&str> = found.iter().map(|row| &*row.name).collect();
        assert_eq!(names, [AMBIGUOUS, UNKNOWN]);
        assert!(figures(OwnedBy::Job, &[]).is_none());
    }

    #[test]
    fn worst_connections_name_both_ends() {
        let mut owners = Owners::new(OwnedBy::Job);
        owners.queue_pair(&pair(1, 7, "4711"));
        let mut named = connection();
        owners.name(&mut named);
        assert_eq!(named.a_owner.unwrap().job.as_deref(), Some("4711"));
        assert_eq!(named.b_owner, None);
    }
}
