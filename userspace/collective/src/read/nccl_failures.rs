//! Transfers that failed, in the log of NCCL: lines that `NCCL_DEBUG=WARN` has already.
//!
//! | line | what it gives |
//! |---|---|
//! | `[TIME] HOST:PID:TID [GPU] … NCCL WARN NET/IB: Got completion from peer … with status=12 … localGid A remoteGids B hca D` | an error of a queue pair between two addresses |
//!
//! Versions write it in several ways: `error 12`, `status=12`, `status=IBV_WC_RETRY_EXC_ERR(12)`; `vendor err 129` or
//! `vendor_err=129`; `remoteGid`, or `remoteGids` with no space before the address.

use super::File;
use super::nccl_debug::process;
use crate::complaints::Complaints;
use crate::time;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv6Addr};

/// Kinds of failures that are kept: a job that ends has one for each pair of its hosts.
const MOST: usize = 10_000;
/// What all these lines have.
const SIGN: &str = "Got completion from peer ";

/// `ibv_wc_status` of what a queue pair had to do still when it failed.
pub const FLUSHED: u32 = 5;

/// Transfers between two hosts that failed with one status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Host and process that report it; `None` if the line has none.
    pub process: Option<(String, String)>,
    /// `ibv_wc_status`.
    pub status: u32,
    /// What the vendor of the NIC adds.
    pub vendor_error: Option<u32>,
    /// Address of the NIC that reports it, and of the other end; `None` on InfiniBand, and in old versions.
    pub ends: Option<(IpAddr, IpAddr)>,
    /// The NIC that reports it.
    pub device: Option<String>,
    /// First and last time, in nanoseconds since 1970; `None` if the lines have none.
    pub time_ns: Option<(i64, i64)>,
    /// How many lines there are of it.
    pub lines: u64,
}

/// All failures of logs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// Each once.
    pub all: Vec<Failure>,
    /// What was skipped.
    pub complaints: Complaints,
}

/// Reads logs. NCCL writes local times: `utc_offset_ns` is what they are ahead of UTC.
#[must_use]
pub fn read(files: &[File], utc_offset_ns: i64) -> Failures {
    let mut failures = Failures::default();
    let mut known = BTreeMap::new();
    for file in files {
        for line in file.text.lines() {
            let Some((before, text)) = line.split_once(SIGN) else {
                continue;
            };
            let Some(mut failure) = failure(before, text) else {
                failures
                    .complaints
                    .add("a completion of NCCL without a status; skipped", &file.name);
                continue;
            };
            failure.time_ns = failure
                .time_ns
                .map(|(first, last)| (first.saturating_sub(utc_offset_ns), last.saturating_sub(utc_offset_ns)));
            let key = (
                failure.process.clone(),
                failure.status,
                failure.ends,
                failure.device.clone(),
            );
            if let Some(at) = known.get(&key) {
                let same: &mut Failure = &mut failures.all[*at];
                same.lines += 1;
                same.time_ns = match (same.time_ns, failure.time_ns) {
                    (Some((first, last)), Some((time_ns, _))) => Some((first.min(time_ns), last.max(time_ns))),
                    (one, other) => one.or(other),
                };
            } else if failures.all.len() < MOST {
                known.insert(key, failures.all.len());
                failures.all.push(failure);
            } else {
                failures
                    .complaints
                    .add("more failures than are kept; left out", &file.name);
            }
        }
    }
    // A framework prints the message again, without process and time.
    let reported: BTreeSet<_> = failures
        .all
        .iter()
        .filter(|one| one.process.is_some())
        .map(sign)
        .collect();
    failures
        .all
        .retain(|one| one.process.is_some() || !reported.contains(&sign(one)));
    failures
}

/// What a line and its repeat share.
fn sign(failure: &Failure) -> (u32, Option<(IpAddr, IpAddr)>) {
    (failure.status, failure.ends)
}

fn failure(before: &str, text: &str) -> Option<Failure> {
    let status = number(after(text, &["status=", "with error "])?)?;
    let vendor_error = after(text, &["vendor_err=", "vendor err "]).and_then(number);
    let gid = |names: &[&str]| -> Option<IpAddr> {
        let gid = after(text, names)?.split_whitespace().next()?;
        Some(gid.parse::<Ipv6Addr>().ok()?.to_canonical())
    };
    let ends = gid(&[" localGid "]).zip(gid(&[" remoteGids", " remoteGid "]));
    let device = after(text, &[" hca "]).and_then(|rest| rest.split_whitespace().next());
    let time_ns = before
        .split('[')
        .skip(1)
        .find_map(|part| time::local(part.split_once(']')?.0));
    Some(Failure {
        process: process(before).map(|(host, pid)| (host.to_string(), pid.to_string())),
        status,
        vendor_error,
        ends,
        device: device.map(String::from),
        time_ns: time_ns.map(|time_ns| (time_ns, time_ns)),
        lines: 1,
    })
}

/// What follows the first of these that is there.
fn after<'a>(text: &'a str, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| text.split_once(name).map(|(_, rest)| rest))
}

/// A number at the start, or behind its name: `12`, `NAME(12)`.
fn number(text: &str) -> Option<u32> {
    let text = text.trim_start();
    let text = text
        .split_once('(')
        .filter(|(name, _)| name.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_'))
        .filter(|(name, _)| name.starts_with(|sign: char| sign.is_ascii_alphabetic()))
        .map_or(text, |(_, number)| number);
    let end = text.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Failure, read};
    use crate::read::File;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn of(text: &str) -> Vec<Failure> {
        let file = File {
            name: "nccl.log".into(),
            text: text.into(),
        };
        read(&[file], 0).all
    }

    #[test]
    fn all_ways_to_write_a_failure_are_read() {
        let (local, remote) = ("10.0.0.1", "10.0.0.2");
        let ends = Some((local.parse().unwrap(), remote.parse().unwrap()));
        for line in [
            "[2026-06-19 06:51:56] node1:10:11 [1] transport/net_ib.cc:2453 NCCL WARN NET/IB: Got completion from peer \
             10.9.0.2<51161> with status=12 opcode=129 len=65536 vendor err 129 (Recv) localGid ::ffff:10.0.0.1 \
             remoteGids::ffff:10.0.0.2 hca mlx5_1",
            "[2026-06-19 06:51:56] node1:10:11 [1] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer \
             10.9.0.2<51161> with error 12, opcode 0, len 1, vendor err 129 (Send) localGid ::ffff:10.0.0.1 remoteGid \
             ::ffff:10.0.0.2 hca mlx5_1",
            "[1,0]<stderr>:[2026-06-19 06:51:56] [1,0]<stderr>:node1:10:11 [1] transport/net_ib/p2p.cc:688 NCCL WARN NET/IB: Got completion from peer \
             10.9.0.2<51161> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RECV_RDMA_WITH_IMM(129) vendor_err=129  \
             localGid ::ffff:10.0.0.1 remoteGids::ffff:10.0.0.2 hca mlx5_1",
        ] {
            let expected = Failure {
                process: Some(("node1".to_string(), "10".to_string())),
                status: 12,
                vendor_error: Some(129),
                ends,
                device: Some("mlx5_1".to_string()),
                time_ns: Some((1_781_851_916_000_000_000, 1_781_851_916_000_000_000)),
                lines: 1,
            };
            assert_eq!(of(line), [expected], "{line}");
        }
    }

    #[test]
    fn lines_of_one_failure_are_one_and_repeats_of_a_framework_are_none() {
        let line = |second: u32| {
            alloc::format!(
                "[2026-06-19 06:51:{second:02}] node1:10:11 [1] NCCL WARN NET/IB: Got completion from peer 10.9.0.2<5> with \
                 status=12 opcode=0 localGid fe80::1 remoteGids fe80::2 hca mlx5_1\n"
            )
        };
        let again = "Last error:\nNET/IB: Got completion from peer 10.9.0.2<5> with status=12 opcode=0 localGid fe80::1 \
                     remoteGidsfe80::2 hca mlx5_1\n";
        let found = of(&(line(10) + again + &line(20)));
        assert_eq!((found.len(), found[0].lines), (1, 2));
        assert_eq!(found[0].time_ns.map(|(first, last)| last - first), Some(10_000_000_000));
        // On InfiniBand there are no GIDs, and a cut line has no status.
        let found =
            of("x NCCL WARN NET/IB: Got completion from peer p with status=5 hca mlx5_0\nGot completion from peer p");
        assert_eq!((found.len(), found[0].ends, found[0].status), (1, None, 5));
        let moved = read(
            &[File {
                name: "nccl.log".into(),
                text: line(10),
            }],
            3_600_000_000_000,
        );
        assert_eq!(
            moved.all[0].time_ns.map(|(first, _)| first),
            Some(1_781_848_270_000_000_000)
        );
    }
}
