//! Runs of perftest: every queue pair that it printed has its life in the rows of both agents.

use super::life::Life;
use crate::softroce::fabric::{Fabric, LIMIT};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::product::text;

/// The program, its options, and whether CM connects.
const RUNS: [(&str, &str, bool); 6] = [
    ("ib_write_bw", "-c RC -q 3", false),
    ("ib_read_lat", "-c RC", false),
    ("ib_send_bw", "-c UC", false),
    ("ib_send_bw", "-c UD", false),
    ("ib_send_bw", "-c RC -R", true),
    ("ib_send_bw", "-c UD -R", true),
];
/// Whether its server listens: on a TCP port, or for CM.
const LISTENS: [&str; 2] = [
    "grep -q ':4853 0*:0000 0A' /proc/net/tcp /proc/net/tcp6",
    "rdma res show cm_id | grep -q 'state LISTEN'",
];
const NAMES: [&str; 2] = ["guest1", "guest2"];

/// A process of perftest: the client in the first guest, the server in the second one.
pub(super) struct Process {
    observer: &'static str,
    pid: u32,
    /// When it ran.
    time_ns: Range<i64>,
    /// What it printed of its own queue pairs, and of those of the peer.
    local: Vec<Printed>,
    remote: Vec<Printed>,
}

/// A queue pair as perftest prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Printed {
    qpn: u32,
    psn: u32,
}

/// A run of perftest.
pub(super) struct Run {
    program: &'static str,
    options: &'static str,
    by_cm: bool,
    processes: [Process; 2],
    /// Frames of the mirror: source address, UDP source port, destination QPN.
    frames: BTreeSet<(IpAddr, u16, u32)>,
}

pub(super) fn run(fabric: &mut Fabric) -> Result<Vec<Run>> {
    let runs = RUNS.iter().enumerate();
    runs.map(|(at, (program, options, by_cm))| {
        let (mirror, processes) = fabric.mirrored(&format!("{at}.pcap"), |fabric| {
            let line = format!("{program} {options} -d rxe0 -i 1 -x 1 -F -s 256 -n 20 -u 18");
            let first = pair(fabric, &line, *by_cm);
            // Over CM its client may ask before the server listens for its second connection, and is rejected.
            match first {
                Err(error) if *by_cm && format!("{error:#}").contains("REJECTED") => pair(fabric, &line, *by_cm),
                first => first,
            }
        })?;
        Ok(Run {
            program,
            options,
            by_cm: *by_cm,
            processes,
            frames: frames(&mirror)?,
        })
    })
    .collect()
}

/// Runs both sides; a server whose client failed is killed.
fn pair(fabric: &mut Fabric, line: &str, by_cm: bool) -> Result<[Process; 2]> {
    let server = begin(fabric, line, by_cm)?;
    let said = match fabric.first.run(&client(line), LIMIT) {
        Ok(said) => said,
        Err(error) => {
            fabric.second.run("kill -KILL $(cat server.pid); sleep 1", LIMIT)?;
            return Err(error);
        }
    };
    Ok([process(NAMES[0], &said)?, server.ended(fabric)?])
}

/// A server that runs.
struct Server;

/// Starts the server, and waits until it listens.
fn begin(fabric: &mut Fabric, line: &str, by_cm: bool) -> Result<Server> {
    let script = format!(
        "rm -f server.*; ( date +%s%N > server.begun; {line} > server.out 2>&1 & echo $! > server.pid; wait $!; \
         echo $? > server.status; date +%s%N > server.ended ) &\n\
         for try in $(seq 300); do {} && exit 0; [ -e server.status ] && break; sleep 0.1; done; cat server.out; exit 1",
        LISTENS[usize::from(by_cm)]
    );
    fabric.second.run(&script, LIMIT)?;
    Ok(Server)
}

impl Server {
    fn ended(self, fabric: &mut Fabric) -> Result<Process> {
        let wait = "for try in $(seq 600); do [ -e server.ended ] && break; sleep 0.1; done; \
                    cat server.begun server.ended server.pid server.out; exit $(cat server.status)";
        process(NAMES[1], &fabric.second.run(wait, LIMIT)?)
    }
}

fn client(line: &str) -> String {
    format!(
        "date +%s%N > client.begun; {line} 10.77.0.2 > client.out 2>&1 & pid=$!; wait $pid; status=$?; cat client.begun; \
         date +%s%N; echo $pid; cat client.out; exit $status"
    )
}

/// Reads begin, end, process and output.
fn process(observer: &'static str, said: &str) -> Result<Process> {
    let mut lines = said.lines();
    let mut line = || lines.next().context("a line is missing");
    let (begun, ended) = (line()?.parse()?, line()?.parse()?);
    let pid = line()?.parse()?;
    Ok(Process {
        observer,
        pid,
        time_ns: begun..ended,
        local: printed(said, "local address:")?,
        remote: printed(said, "remote address:")?,
    })
}

/// The queue pairs of a side.
fn printed(said: &str, side: &str) -> Result<Vec<Printed>> {
    let number = |line: &str, key: &str| {
        let rest = line.split_once(&format!("{key} 0x"))?.1;
        u32::from_str_radix(rest.split_whitespace().next()?, 16).ok()
    };
    let lines = said.lines().filter(|line| line.trim().starts_with(side));
    let found = lines.map(|line| {
        Some(Printed {
            qpn: number(line, "QPN")?,
            psn: number(line, "PSN")?,
        })
    });
    let found: Option<Vec<Printed>> = found.collect();
    let found = found.filter(|found| !found.is_empty());
    found.with_context(|| format!("perftest printed no {side} {said}"))
}

fn frames(mirror: &Path) -> Result<BTreeSet<(IpAddr, u16, u32)>> {
    let mut tshark = Command::new("tshark");
    tshark.args([
        "-r",
        &text(&PathBuf::from(mirror)),
        "-Y",
        "infiniband.bth",
        "-T",
        "fields",
    ]);
    for field in ["ip.src", "udp.srcport", "infiniband.bth.destqp"] {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().context("tshark")?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let frames = printed.lines().map(|line| {
        let mut fields = line.split('\t');
        let mut field = || fields.next().with_context(|| format!("tshark printed {line:?}"));
        let (src, port, qpn) = (field()?, field()?, field()?);
        Ok((
            src.parse()?,
            port.parse()?,
            u32::from_str_radix(qpn.trim_start_matches("0x"), 16)?,
        ))
    });
    frames.collect()
}

impl Run {
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.program, self.options)
    }

    pub(super) fn summary(&self) -> String {
        let count: usize = self.processes.iter().map(|process| process.local.len()).sum();
        format!("{count} queue pairs: both ends, process, times and attributes are in the rows")
    }

    /// Both processes have the queue pairs that they printed, and no others that they do not use.
    pub(super) fn compare(&self, lives: &[Life<'_>]) -> Result<()> {
        for process in &self.processes {
            let own: Vec<&Life<'_>> = lives
                .iter()
                .filter(|life| life.is_of(process.observer, process.pid))
                .collect();
            let numbers: BTreeSet<u32> = own.iter().map(|life| life.last.local_qpn).collect();
            let wanted: BTreeSet<u32> = process.local.iter().map(|printed| printed.qpn).collect();
            // Over CM, perftest exchanges its parameters on a queue pair of its own, which it does not print.
            let is_whole = match self.by_cm {
                true => wanted.is_subset(&numbers),
                false => numbers == wanted && own.len() == wanted.len(),
            };
            ensure!(
                is_whole,
                "{}: rows have {numbers:?}, perftest printed {wanted:?}",
                process.observer
            );
            for (local, remote) in process.local.iter().zip(&process.remote) {
                let life = own.iter().find(|life| life.last.local_qpn == local.qpn);
                self.judge(process, life.context("no life")?, *local, *remote)?;
            }
        }
        Ok(())
    }

    fn judge(&self, process: &Process, life: &Life<'_>, local: Printed, remote: Printed) -> Result<()> {
        let last = life.last;
        life.is_whole(process.time_ns.clone())?;
        let kind = self.options.split(' ').nth(1).unwrap_or_default();
        ensure!(
            &*last.qp_type == kind && &*last.device == "rxe0" && last.port == Some(1) && &*last.process == self.program,
            "of another kind, device or process: {last:?}"
        );
        // A side that only receives stays there.
        ensure!(
            life.states.starts_with(&["RESET", "INIT", "RTR"]),
            "states {:?}",
            life.states
        );
        if kind == "UD" {
            ensure!(last.remote_qpn.is_none() && last.by_cm.is_none(), "connected: {last:?}");
            return Ok(());
        }
        let ends: [IpAddr; 2] = match process.observer {
            "guest1" => [[10, 77, 0, 1].into(), [10, 77, 0, 2].into()],
            _ => [[10, 77, 0, 2].into(), [10, 77, 0, 1].into()],
        };
        ensure!(
            last.remote_qpn == Some(remote.qpn) && [last.local_address, last.remote_address] == ends.map(Some),
            "not connected with {remote:?}: {last:?}"
        );
        ensure!(last.by_cm == Some(self.by_cm), "by CM: {last:?}");
        // CM has PSNs of its own.
        let psns = [last.receive_psn, last.send_psn];
        ensure!(
            self.by_cm
                || last.receive_psn == Some(remote.psn)
                    && (last.send_psn == Some(local.psn) || last.send_psn.is_none()),
            "PSNs {psns:?} are not those of {local:?} and {remote:?}"
        );
        ensure!(
            last.path_mtu_bytes.is_some_and(u32::is_power_of_two),
            "path MTU: {last:?}"
        );
        // What it sent, acknowledgements too, has the port.
        let ports = self
            .frames
            .iter()
            .filter(|(src, _, qpn)| *src == ends[0] && *qpn == remote.qpn);
        let ports: BTreeSet<u16> = ports.map(|(_, port, _)| *port).collect();
        let is_silent = kind == "UC" && process.observer == "guest2";
        ensure!(
            is_silent || ports == BTreeSet::from_iter(last.udp_src_port),
            "it sent from UDP ports {ports:?}: {last:?}"
        );
        Ok(())
    }
}

/// Kills a server whose queue pair is connected.
pub(super) fn killed(fabric: &mut Fabric) -> Result<Killed> {
    let line = "ib_write_bw -d rxe0 -i 1 -x 1 -F -c RC -m 1024 -u 16 -s 16384 -D 100";
    begin(fabric, line, false)?;
    let client = format!("{line} 10.77.0.2 > killed.out 2>&1 & echo $! > killed.pid");
    fabric.first.run(&client, LIMIT)?;
    let kill = "pid=$(cat server.pid); \
                for try in $(seq 60); do rdma res show qp > qp.out; grep -q \"state RTS.* pid $pid \" qp.out && break; \
                [ -e server.status ] && break; sleep 0.2; done; \
                begun=$(date +%s%N); kill -KILL $pid || { cat server.out qp.out; exit 1; }; \
                for try in $(seq 300); do [ -e server.ended ] && break; sleep 0.1; done; echo $begun; date +%s%N; echo $pid";
    let said = fabric.second.run(kill, LIMIT);
    fabric
        .first
        .run("kill -KILL $(cat killed.pid); cat killed.out", LIMIT)?;
    let said = said?;
    let numbers: Vec<i64> = said.lines().filter_map(|line| line.trim().parse().ok()).collect();
    let [begun, ended, pid] = numbers[..] else {
        anyhow::bail!("the server was not killed: {said}");
    };
    Ok(Killed {
        pid: pid.try_into()?,
        time_ns: begun..ended,
    })
}

/// A process that was killed, and when.
pub(super) struct Killed {
    pid: u32,
    time_ns: Range<i64>,
}

impl Killed {
    pub(super) fn compare(&self, lives: &[Life<'_>]) -> Result<()> {
        let own: Vec<&Life<'_>> = lives.iter().filter(|life| life.is_of(NAMES[1], self.pid)).collect();
        ensure!(!own.is_empty(), "no queue pair of process {}", self.pid);
        for life in own {
            let last = life.last;
            let is_gone = last.ended_ns.is_some_and(|ended| self.time_ns.contains(&ended));
            ensure!(is_gone && last.event.as_deref() == Some("gone"), "not gone: {last:?}");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Printed, printed, process};

    #[test]
    fn queue_pairs_of_perftest_are_read() {
        let said = "100\n200\n4242\n local address: LID 0000 QPN 0x003e PSN 0x54e465 RKey 0x000f1d\n GID: 00:00\n \
                    local address: LID 0000 QPN 0x003f PSN 0x1\n remote address: LID 0000 QPN 0x003a PSN 0xd77c7\n";
        let found = process("guest1", said).unwrap();
        assert_eq!((found.pid, found.time_ns), (4242, 100..200));
        let pair = |qpn, psn| Printed { qpn, psn };
        assert_eq!(found.local, [pair(62, 0x0054_e465), pair(63, 1)]);
        assert_eq!(found.remote, [pair(58, 0x000d_77c7)]);
        assert!(printed("no output", "local address:").is_err());
    }
}
