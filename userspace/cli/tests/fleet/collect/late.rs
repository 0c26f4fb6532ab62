//! Windows that are analyzed again because rows came late: those of an agent that could not reach the collector.

use crate::collect::rig::{Collector, acknowledged, agent, certificates};
use rocescope_collector::{Sender, Spool};
use rocescope_model::{LinkRow, PathRow, ProbeRow, SlaRow, Time, VerdictRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::{binary, until};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const STEP: Duration = Duration::from_millis(100);
/// Probes of a host in a step.
const PROBES: u64 = 20;
/// Rows are sealed soon, so that windows are analyzed again soon.
const SOON: [&str; 2] = ["--segment-age", "300ms"];
/// Longer than a collector with nothing else to do waits before it analyzes windows again: for the seal, a second, and some
/// ticks.
const PAUSE: Duration = Duration::from_millis(3_500);

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_nanos()).unwrap()
}

/// A host with two NICs, and its rows on their way to the collector.
struct Host {
    name: &'static str,
    number: u8,
    spool: Arc<Spool>,
    sender: Sender,
    sent: u64,
}

impl Host {
    fn new(directory: &Path, port: u16, name: &'static str, number: u8) -> Self {
        let spool = Arc::new(Spool::open(&directory.join(format!("spool-{name}")), 64 << 20).unwrap());
        let sender = agent(directory, port, name, &spool);
        Self {
            name,
            number,
            spool,
            sender,
            sent: 0,
        }
    }

    /// The probes of a step, sent now from both NICs; those to its second one arrive, or are lost.
    fn probes(&mut self, is_lost: bool) -> Vec<ProbeRow> {
        let at = now_ns();
        let address = |nic| format!("10.0.{nic}.{}", self.number).parse().unwrap();
        let row = |sequence: u64| {
            let (src, dst) = if sequence.is_multiple_of(2) { (0, 1) } else { (1, 0) };
            let is_lost = is_lost && dst == 1;
            ProbeRow {
                observer: self.name.into(),
                time: Time(at),
                time_ns: at,
                sequence,
                src_nic: format!("n{src}").into(),
                dst_nic: format!("n{dst}").into(),
                src: address(src),
                dst: address(dst),
                udp_src_port: 50_000,
                udp_dst_port: 4791,
                outcome: if is_lost { "timeout" } else { "received" }.into(),
                network_latency_ns: (!is_lost).then_some(10_000),
                processing_delay_ns: (!is_lost).then_some(5_000),
                clock_source: "simulated".into(),
                ..ProbeRow::default()
            }
        };
        self.sent += PROBES;
        (self.sent - PROBES..self.sent).map(row).collect()
    }

    /// The paths between its NICs, over one switch.
    fn paths(&self) -> Vec<PathRow> {
        let at = now_ns();
        let address = |nic: u8| format!("10.0.{nic}.{}", self.number).parse().unwrap();
        let hop = |src: u8, dst: u8, hop: u8| PathRow {
            observer: self.name.into(),
            time: Time(at),
            time_ns: at,
            src_nic: format!("n{src}").into(),
            dst_nic: format!("n{dst}").into(),
            src: address(src),
            dst: address(dst),
            udp_src_port: 50_000,
            udp_dst_port: 4791,
            hop: hop.into(),
            hops: 2,
            address: Some(match hop {
                1 => format!("10.1.{src}.{}", self.number).parse().unwrap(),
                _ => address(dst),
            }),
            ..PathRow::default()
        };
        [(0, 1), (1, 0)]
            .into_iter()
            .flat_map(|(src, dst)| [hop(src, dst, 1), hop(src, dst, 2)])
            .collect()
    }
}

/// Two hosts that send for a while. Then the second one does not reach the collector for some seconds, and loses probes to
/// one of its NICs in two of them. Its rows come when the collector has analyzed these windows without them.
fn outage(hosts: &mut [Host; 2], collector: &Collector) {
    let (mut withheld, first) = (Vec::new(), window(now_ns()));
    for host in hosts.iter() {
        host.spool.append(&host.paths()).unwrap();
    }
    // The windows that begin before the loss ends.
    let mut windows = u64::MAX;
    for step in 0.. {
        let [h0, h1] = &mut *hosts;
        let rows = h0.probes(false);
        h0.spool.append(&rows).unwrap();
        let rows = h1.probes((65..85).contains(&step));
        match step {
            ..50 => h1.spool.append(&rows).unwrap(),
            _ => withheld.push(rows),
        }
        std::thread::sleep(STEP);
        if step == 85 {
            windows = (window(now_ns()) - first).unsigned_abs() + 1;
        }
        if step >= 100 && collector.windows() >= windows {
            break;
        }
    }
    for rows in withheld {
        hosts[1].spool.append(&rows).unwrap();
    }
    for host in hosts.iter() {
        acknowledged(&host.spool);
    }
}

/// The number of the window of a time.
fn window(time_ns: i64) -> i64 {
    time_ns.div_euclid(1_000_000_000)
}

/// Waits until the rows of every window are analyzed.
fn until_complete(directory: &Path, sent: u64) {
    until("every window is analyzed with all its rows", || {
        Stored::sealed(&directory.join("dataset")).is_some_and(|stored| stored.is_complete(sent))
    });
}

struct Stored {
    sla: Vec<SlaRow>,
    verdicts: Vec<VerdictRow>,
    links: Vec<LinkRow>,
    probes: BTreeMap<i64, u64>,
}

impl Stored {
    fn read(dataset: &Path) -> Self {
        repair(dataset).unwrap();
        Self::sealed(dataset).unwrap()
    }

    /// What is sealed so far.
    fn sealed(dataset: &Path) -> Option<Self> {
        let found = scan(dataset).ok()?;
        let sla = found.rows::<SlaRow>().unwrap();
        let window_ns = sla.first()?.window_ns;
        let mut probes: BTreeMap<i64, u64> = BTreeMap::new();
        for row in found.rows::<ProbeRow>().unwrap() {
            *probes
                .entry(row.time_ns - row.time_ns.rem_euclid(window_ns))
                .or_default() += 1;
        }
        Some(Self {
            sla,
            verdicts: found.rows().unwrap(),
            links: found.rows().unwrap(),
            probes,
        })
    }

    /// Whether all probes are stored, and the latest analysis of each window has all of its probes.
    fn is_complete(&self, hosts_sent: u64) -> bool {
        let is_current = |(start, row): (&i64, &&SlaRow)| self.probes.get(start).copied().unwrap_or(0) == row.probes;
        self.probes.values().sum::<u64>() == hosts_sent && self.latest().iter().all(is_current)
    }

    /// The latest row of `sla` of each window.
    fn latest(&self) -> BTreeMap<i64, &SlaRow> {
        let mut latest: BTreeMap<i64, &SlaRow> = BTreeMap::new();
        for row in &self.sla {
            let known = latest.entry(row.window_start_ns).or_insert(row);
            if row.revision > known.revision {
                *known = row;
            }
        }
        latest
    }

    /// Checks that each analysis is stored once, and that the latest one of each window has all its probes.
    fn check(&self) {
        let analyses: BTreeSet<_> = self.sla.iter().map(|row| (row.window_start_ns, row.revision)).collect();
        assert_eq!(analyses.len(), self.sla.len(), "an analysis is stored twice");
        for (start, row) in self.latest() {
            let stored = self.probes.get(&start).copied().unwrap_or(0);
            assert_eq!(row.probes, stored, "window {start}");
            let of_window =
                |verdict: &&VerdictRow| (verdict.window_start_ns, verdict.revision) == (start, row.revision);
            let verdicts = self.verdicts.iter().filter(of_window).count() as u64;
            assert_eq!(verdicts, row.verdicts, "window {start}");
            let of_window = |link: &&LinkRow| (link.window_start_ns, link.revision) == (start, row.revision);
            let links = self.links.iter().filter(of_window).count();
            assert!(links >= 4, "window {start}: {links} links");
        }
    }

    /// Symptoms and places of the verdicts of the latest analyses, or of the first ones, until the hosts ended.
    fn verdicts(&self, of_latest: bool) -> BTreeSet<String> {
        let (last, _) = self.probes.last_key_value().unwrap();
        self.verdicts_before(of_latest, *last)
    }

    fn verdicts_before(&self, of_latest: bool, until_ns: i64) -> BTreeSet<String> {
        let latest = self.latest();
        let counts = |row: &&VerdictRow| match of_latest {
            true => row.revision == latest[&row.window_start_ns].revision,
            false => row.revision == Some(0),
        };
        let named = |row: &VerdictRow| format!("{} {}", row.symptom, row.place);
        let verdicts = self.verdicts.iter().filter(|row| row.window_start_ns < until_ns);
        verdicts.filter(counts).map(named).collect()
    }
}

/// Verdicts and probes of a window are counted once by each reader.
fn read_once(dataset: &Path, stored: &Stored) {
    let run = |arguments: &[&str]| {
        let mut rocescope = Command::new(binary());
        let output = rocescope.args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let dataset = dataset.to_str().unwrap();
    let report: serde_json::Value = serde_json::from_str(&run(&["report", dataset, "-o", "json"])).unwrap();
    let mesh = &report["mesh"];
    let latest = stored.latest();
    let probes: u64 = latest.values().map(|row| row.probes).sum();
    assert_eq!(mesh["windows"], latest.len());
    let sla = mesh["sla"].as_array().unwrap();
    let of_report: u64 = sla.iter().map(|row| row["probes"].as_u64().unwrap()).sum();
    assert_eq!(of_report, probes);
    let places: BTreeSet<String> = mesh["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| &problem["verdict"])
        .map(|verdict| {
            format!(
                "{} {}",
                verdict["symptom"].as_str().unwrap(),
                verdict["place"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(places, stored.verdicts_before(true, i64::MAX));
    let top = [
        "top",
        dataset,
        "--once",
        "--windows",
        "1000",
        "--table",
        "sla",
        "-o",
        "csv",
    ];
    let rows = run(&top);
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<String>>();
    let mut lines = rows.lines();
    let heading = cells(lines.next().unwrap());
    let column = heading.iter().position(|name| name == "probes").unwrap();
    let of_top: u64 = lines.map(|line| cells(line)[column].parse::<u64>().unwrap()).sum();
    assert_eq!(of_top, probes, "{rows}");
}

#[test]
fn a_host_that_could_not_reach_the_collector_is_not_silent_and_its_loss_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    certificates(directory);
    let collector = Collector::start(directory, 0, "500ms", &SOON);
    let mut hosts = [("h0", 1), ("h1", 2)].map(|(name, number)| Host::new(directory, collector.port, name, number));
    outage(&mut hosts, &collector);
    until_complete(directory, hosts.iter().map(|host| host.sent).sum());
    let reported = [
        "found in rows that came late: ",
        "no longer holds, rows came late: silence at h1",
    ];
    // It reports when it has stored the rows.
    reported.iter().for_each(|line| collector.until_said(line));
    for host in hosts {
        host.sender.finish(Duration::from_secs(5));
    }
    let (_, lines) = collector.end();
    let dataset = directory.join("dataset");
    let stored = Stored::read(&dataset);
    stored.check();
    assert!(stored.verdicts(false).contains("silence h1"), "{lines}");
    let latest = stored.verdicts(true);
    assert!(!latest.contains("silence h1"), "{latest:?}\n{lines}");
    assert!(latest.contains("loss h1/n0 or h1/n1"), "{latest:?}\n{lines}");
    assert!(!stored.verdicts(false).contains("loss h1/n0 or h1/n1"), "{lines}");
    for line in reported {
        assert_eq!(lines.matches(line).count(), 1, "{line}\n{lines}");
    }
    read_once(&dataset, &stored);
}

#[test]
fn a_collector_that_was_killed_analyzes_late_rows_once() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    certificates(directory);
    // It seals rows, and so analyzes those that come late, after a minute.
    let collector = Collector::start(directory, 0, "500ms", &[]);
    let port = collector.port;
    let mut hosts = [("h0", 1), ("h1", 2)].map(|(name, number)| Host::new(directory, port, name, number));
    outage(&mut hosts, &collector);
    let sent = hosts.iter().map(|host| host.sent).sum();
    // The late rows are stored, and not analyzed.
    collector.kill();
    for host in hosts {
        host.sender.finish(Duration::from_millis(10));
    }
    let dataset = directory.join("dataset");
    let stored = Stored::read(&dataset);
    assert!(stored.sla.iter().all(|row| row.revision == Some(0)));
    assert!(stored.verdicts(true).contains("silence h1"));
    let collector = Collector::start(directory, port, "500ms", &SOON);
    until_complete(directory, sent);
    let (_, lines) = collector.end();
    let stored = Stored::read(&dataset);
    stored.check();
    let latest = stored.verdicts(true);
    assert!(
        latest.contains("loss h1/n0 or h1/n1") && !latest.contains("silence h1"),
        "{latest:?}\n{lines}"
    );
    // Another one finds nothing to do.
    let collector = Collector::start(directory, port, "500ms", &SOON);
    std::thread::sleep(PAUSE);
    let (_, lines) = collector.end();
    let again = Stored::read(&dataset);
    again.check();
    assert!(!lines.contains("late"), "{lines}");
    let revised = |stored: &Stored| stored.sla.iter().filter(|row| row.revision > Some(0)).count();
    assert_eq!(revised(&again), revised(&stored));
}
