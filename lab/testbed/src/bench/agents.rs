//! `cargo xtask bench agents [HOSTS]`: a collector that analyzes the mesh of 200 hosts while it happens, and hosts that die.
//!
//! The hosts are simulated, with eight NICs each. Their rows cross loopback as they happen, each host over its own
//! connection with its own certificate. After the minute in which a collector waits for agents, some of the hosts stop
//! one after the other, without a farewell, as if killed: each must be named within 40 s.

use super::cost::{ran, status};
use super::probe::Collector;
use crate::certificates;
use anyhow::{Context, Result, bail, ensure};
use rocescope_collector::{Files, Sender, Spool, sender};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Rails};
use rocescope_model::{PathRow, ProbeRow};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use xtask::process::command;
use xtask::product::{build, directory, text};

const HOSTS: u32 = 200;
const PORT: u16 = 14_792;
/// A collector that has just started waits a minute for its agents, and judges whole windows after it.
const SETTLE: u64 = 100;
/// The hosts that die, and the seconds between two of them.
const DEATHS: u32 = 8;
const APART: u64 = 5;
const NAMED_WITHIN: Duration = Duration::from_secs(40);
const SECOND: i64 = 1_000_000_000;

/// A host that sends its rows.
struct Host {
    spool: Arc<Spool>,
    /// None once it is dead.
    sender: Option<Sender>,
}

pub(super) fn run(options: &[&str]) -> Result<()> {
    let hosts = match options {
        [] => HOSTS,
        [hosts] => hosts.parse().context("hosts")?,
        _ => bail!("cargo xtask bench agents [HOSTS]"),
    };
    let rocescope = text(&build()?);
    let directory = directory()?.join("agents");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory)?;
    sign(&directory, hosts)?;
    let fabric = Fabric::new(Rails::two_tiers(hosts, 8, 4).build()?, 1);
    fs::write(directory.join("fabric.toml"), fabric.topology.to_toml())?;
    let collector = collect(&rocescope, &directory)?;
    let (pid, log) = (collector.0.id(), directory.join("log"));
    let mut running = (0..hosts)
        .map(|host| start(&directory, host))
        .collect::<Result<Vec<Host>>>()?;
    let mesh = Mesh {
        // Longer than this takes: agents trace each path once.
        renew_ns: 3_600 * SECOND,
        ..Mesh::default()
    };
    let names = Names::new(&fabric);

    let begun = Instant::now();
    let first = now();
    let mut deaths: BTreeMap<u32, Instant> = BTreeMap::new();
    let mut named: BTreeMap<u32, Duration> = BTreeMap::new();
    let mut used = 0;
    let end = SETTLE + u64::from(DEATHS) * APART + NAMED_WITHIN.as_secs() + 10;
    for second in 0..end {
        let at = first + i64::try_from(second)? * SECOND;
        if second == 0 {
            trace(&fabric, &mesh, &names, at, &running)?;
        }
        // Rows are sent when their second is over.
        let until = begun + Duration::from_secs(second + 1);
        sleep(until.saturating_duration_since(Instant::now()));
        send(&fabric, &mesh, &names, at, &running)?;
        if second == SETTLE / 2 {
            used = ran(pid)?;
        }
        if second == SETTLE {
            let share = (ran(pid)? - used) as f64 / (SECOND * i64::try_from(SETTLE / 2)?) as f64;
            println!(
                "{hosts} hosts, {} rows of probes a second: {:.1} % of a core, {:.0} MiB resident",
                hosts * 80,
                share * 100.0,
                status(pid, "VmRSS:")? as f64 / 1_024.0
            );
        }
        let death = second.checked_sub(SETTLE).filter(|since| since.is_multiple_of(APART));
        if let Some(death) = death
            .map(|since| since / APART)
            .filter(|death| *death < u64::from(DEATHS))
        {
            // Spread over the hosts.
            let host = u32::try_from(death)? * (hosts / DEATHS) + 3;
            running[host as usize].sender = None;
            deaths.insert(host, Instant::now());
        }
        let said = fs::read_to_string(&log)?;
        for (host, died) in &deaths {
            if !named.contains_key(host) && said.contains(&format!("silent: h{host}: ")) {
                named.insert(*host, died.elapsed());
            }
        }
    }
    let most = status(pid, "VmHWM:")?;
    collector.stop()?;
    let said = fs::read_to_string(&log)?;
    let wrong = said.lines().filter(|line| line.contains("  silent: ")).count() - named.len();
    let mut times: Vec<f64> = named.values().map(Duration::as_secs_f64).collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{} of {DEATHS} dead hosts named, after {:.0}, {:.0} and {:.0} s (min, median, max); {wrong} further verdicts on silence; \
         peak {:.0} MiB",
        named.len(),
        times.first().unwrap_or(&0.0),
        times.get(times.len() / 2).unwrap_or(&0.0),
        times.last().unwrap_or(&0.0),
        most as f64 / 1_024.0
    );
    ensure!(named.len() == deaths.len(), "not all named: see {}", log.display());
    ensure!(
        named.values().all(|took| *took <= NAMED_WITHIN),
        "named too late: see {}",
        log.display()
    );
    Ok(())
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_nanos()).unwrap_or(i64::MAX)
}

fn sign(directory: &Path, hosts: u32) -> Result<()> {
    let owners: Vec<(String, String)> = (0..hosts)
        .map(|host| (format!("h{host}"), format!("DNS:h{host}")))
        .collect();
    let owners = owners.iter().map(|(file, names)| (file.as_str(), names.as_str()));
    let owners: Vec<(&str, &str)> = [("collector", "DNS:localhost")].into_iter().chain(owners).collect();
    let mut shell = command("sh", &["-euc", &certificates::script(&owners)?]);
    let made = shell.current_dir(directory).output()?;
    ensure!(made.status.success(), "certificates: {made:?}");
    Ok(())
}

fn collect(rocescope: &str, directory: &Path) -> Result<Collector> {
    let mut collect = command(rocescope, &["collector", "run", "--diagnose", "--listen"]);
    collect.arg(format!("127.0.0.1:{PORT}"));
    for (option, file) in [
        ("--out", "collected"),
        ("--cert", "collector.pem"),
        ("--key", "collector.key"),
        ("--client-ca", "ca.pem"),
        ("--topology", "fabric.toml"),
    ] {
        collect.arg(option).arg(directory.join(file));
    }
    let log = File::create(directory.join("log"))?;
    let child = collect.stdout(Stdio::null()).stderr(log).spawn()?;
    Ok(Collector(child))
}

fn start(directory: &Path, host: u32) -> Result<Host> {
    let name = format!("h{host}");
    let files = Files {
        certificate: directory.join(format!("{name}.pem")),
        key: directory.join(format!("{name}.key")),
        authority: directory.join("ca.pem"),
    };
    let spool = Arc::new(Spool::open(&directory.join(format!("spool-{name}")), 64 << 20)?);
    let settings = sender::Settings::new(format!("https://localhost:{PORT}"), files, name);
    let sender = Some(Sender::start(Arc::clone(&spool), settings)?);
    Ok(Host { spool, sender })
}

/// Sends the paths of all 5-tuples.
fn trace(fabric: &Fabric, mesh: &Mesh, names: &Names, at: i64, hosts: &[Host]) -> Result<()> {
    let mut rows: Vec<Vec<PathRow>> = vec![Vec::new(); hosts.len()];
    mesh.paths(fabric, at, |tuple, hops| {
        let host = fabric.topology.host_of(tuple.src) as usize;
        rows[host].extend(names.path(fabric, tuple, at, &hops));
    });
    for (host, rows) in hosts.iter().zip(&rows) {
        host.spool.append(rows)?;
    }
    Ok(())
}

/// Sends the probes of a second.
fn send(fabric: &Fabric, mesh: &Mesh, names: &Names, at: i64, hosts: &[Host]) -> Result<()> {
    let mut rows: Vec<Vec<ProbeRow>> = vec![Vec::new(); hosts.len()];
    mesh.probes(fabric, at, at + SECOND, |probe| {
        let host = fabric.topology.host_of(probe.tuple.src) as usize;
        rows[host].push(names.probe(fabric, mesh, &probe));
    });
    for (host, rows) in hosts.iter().zip(&rows) {
        if host.sender.is_some() {
            host.spool.append(rows)?;
        }
    }
    Ok(())
}
