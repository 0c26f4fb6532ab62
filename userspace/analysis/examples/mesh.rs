//! Probes and paths of a simulated fabric: writes a dataset of them, reads it back, and analyzes it as
//! `rocescope diagnose mesh` does.
//!
//!     cargo run --release -p rocescope-analysis --example mesh -- DIR make [HOSTS] [WINDOWS] [recent]
//!     cargo run --release -p rocescope-analysis --example mesh -- DIR [probes]
//!
//! The rows are in the order of a collector: each agent sends a parcel every five seconds. With `recent` the windows end
//! five minutes ago. With `probes` the paths are not read.

use rocescope_analysis::cores::at_once;
use rocescope_analysis::dataset;
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Rails};
use rocescope_model::{PROBE_TABLES, ProbeRow, Row};
use rocescope_store::{Options, Query, TimeRange, Writer};
use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const WINDOW: i64 = 20_000_000_000;
/// The start of an hour.
const START: i64 = 1_795_200_000_000_000_000;
/// How often an agent sends its rows.
const PARCEL: i64 = 5_000_000_000;
/// Rows that are appended at a time.
const BATCH: usize = 65_536;
const NICS: u32 = 8;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let Some(root) = arguments.first() else {
        return Err("usage: DIR [make [HOSTS] [WINDOWS] [recent]] [probes]".into());
    };
    if has("make") {
        let mut numbers = arguments.iter().skip(1).filter_map(|word| word.parse::<u32>().ok());
        let (hosts, windows) = (numbers.next().unwrap_or(10_000), numbers.next().unwrap_or(1));
        let from_ns = match has("recent") {
            true => ago(300 + 20 * i64::from(windows))?,
            false => START,
        };
        return make(Path::new(root), hosts, from_ns, windows);
    }
    read(Path::new(root), has("probes"))
}

/// Reads and analyzes a dataset; prints how long each part took.
fn read(root: &Path, only_probes: bool) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let tables: &[_] = if only_probes { &[ProbeRow::TABLE] } else { PROBE_TABLES };
    let found = Query::default().tables(tables).scan(root)?;
    let mut analyzer = Analyzer::new(Settings::default(), "bench")?.with(at_once);
    let mut windows = Vec::new();
    dataset::hours(&mut analyzer, &found, TimeRange::default(), |_, window| {
        windows.push(window);
        Ok::<(), rocescope_store::Error>(())
    })?;
    let sent: u64 = windows.iter().map(|window| window.sla.probes).sum();
    let names = windows.iter().flat_map(|window| &window.verdicts);
    let names: Vec<String> = names.map(|verdict| verdict.place.to_string()).collect();
    println!(
        "{sent} probes: {:.1} s ({:.1} s CPU); peak resident {} MiB; {}",
        begun.elapsed().as_secs_f64(),
        processor_s(),
        resident_kib() / 1024,
        names.join(", ")
    );
    Ok(())
}

/// Processor time of this process, in seconds; 0 if the system does not report it.
fn processor_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time are the 12th and 13th field after the name, in ticks of 10 ms.
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = rest.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Peak resident memory of this process, in KiB; 0 if the system does not report it.
fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// The start of the window that was open this number of seconds ago.
fn ago(seconds: i64) -> Result<i64, Box<dyn Error>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let at = i64::try_from(now.as_nanos())? - seconds * 1_000_000_000;
    Ok(at - at.rem_euclid(WINDOW))
}

/// Writes the probes and the paths of a fabric with a link that loses a twentieth.
fn make(root: &Path, hosts: u32, from_ns: i64, windows: u32) -> Result<(), Box<dyn Error>> {
    let rails = match hosts {
        2_000.. => Rails::three_tiers(hosts, NICS, 64, 8, 16),
        _ => Rails::two_tiers(hosts, NICS, 4),
    };
    let mut fabric = Fabric::new(rails.build()?, 1);
    let topology = fabric.topology;
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.05 },
        place: FaultLocation::Direction(LinkDirection {
            link: LinkId(topology.nics() + 5),
            up: true,
        }),
        from_ns,
        until_ns: i64::MAX,
    });
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let options = Options {
        tables: PROBE_TABLES,
        ..Options::new("collector")
    };
    let mut writer = Writer::create(root, options)?;
    let (mut rows, mut failed) = (Vec::with_capacity(BATCH + 8), None);
    mesh.paths(&fabric, from_ns, |tuple, trace| {
        rows.extend(names.path(&fabric, tuple, from_ns, &trace));
        if rows.len() >= BATCH {
            let appended = writer.append_cells(&rows, Instant::now());
            failed = failed.take().or(appended.err());
            rows.clear();
        }
    });
    writer.append_cells(&rows, Instant::now())?;
    let mut rows = Vec::with_capacity(BATCH);
    let slices = (0..i64::from(windows) * WINDOW / PARCEL).map(|slice| from_ns + slice * PARCEL);
    for at in slices {
        for host in 0..hosts {
            mesh.probes_of(&fabric, host * NICS..(host + 1) * NICS, at, at + PARCEL, |probe| {
                rows.push(names.probe(&fabric, &mesh, &probe));
                if rows.len() == BATCH {
                    let appended = writer.append_cells(&rows, Instant::now());
                    failed = failed.take().or(appended.err());
                    rows.clear();
                }
            });
        }
    }
    writer.append_cells(&rows, Instant::now())?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let summary = writer.finish()?;
    for table in &summary.tables {
        println!("{}: {} rows in {} segments", table.table, table.rows, table.segments);
    }
    Ok(())
}
