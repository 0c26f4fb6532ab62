//! One window of 16 million probes, host by host, as agents send theirs.

use super::{START, WINDOW, analyzer};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Rails};
use rocescope_model::Time;
use std::time::{Duration, Instant};

/// Rows that are generated at a time, outside the measured time.
const BATCH: usize = 4_096;

pub(super) fn run() {
    println!("\n### Speed\n");
    let topology = Rails::three_tiers(10_000, 8, 64, 8, 16).build().unwrap();
    let mut fabric = Fabric::new(topology, 1);
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 0.05 },
        place: FaultLocation::Direction(LinkDirection {
            link: LinkId(topology.nics() + 77),
            up: true,
        }),
        from_ns: START,
        until_ns: i64::MAX,
    });
    let (mesh, names) = (Mesh::default(), Names::new(&fabric));
    let mut analyzer = analyzer(&fabric).with(at_once);
    let empty = resident("VmRSS");
    let mut tracing = Duration::ZERO;
    let (mut paths, mut hops) = (0_u64, Vec::with_capacity(BATCH + 8));
    mesh.paths(&fabric, START, |tuple, trace| {
        paths += 1;
        hops.extend(names.path(&fabric, tuple, START, &trace));
        if hops.len() >= BATCH {
            let began = Instant::now();
            hops.iter().for_each(|row| analyzer.path(row));
            tracing += began.elapsed();
            hops.clear();
        }
    });
    hops.iter().for_each(|row| analyzer.path(row));
    println!(
        "10,000 hosts with 8 NICs, three tiers. Learning {paths} paths once: {:.1} s.\n",
        tracing.as_secs_f64()
    );
    println!("| window | probes | adding rows | analysis | total | verdicts | resident |");
    println!("|---|---|---|---|---|---|---|");
    for window in 0..3 {
        let from = START + window * WINDOW;
        let mut taking = Duration::ZERO;
        let (mut number, mut rows) = (0_u64, Vec::with_capacity(BATCH));
        for host in 0..10_000 {
            let nics = host * 8..host * 8 + 8;
            mesh.probes_of(&fabric, nics, from, from + WINDOW, |probe| {
                number += 1;
                rows.push(names.probe(&fabric, &mesh, &probe));
                if rows.len() == BATCH {
                    let began = Instant::now();
                    rows.iter().for_each(|row| analyzer.probe(row));
                    taking += began.elapsed();
                    rows.clear();
                }
            });
        }
        rows.iter().for_each(|row| analyzer.probe(row));
        let began = Instant::now();
        let found = analyzer.advance(Time(from + WINDOW)).remove(0);
        let analysis = began.elapsed();
        let verdicts: Vec<&str> = found.verdicts.iter().map(|verdict| &*verdict.place).collect();
        println!(
            "| {window} | {number} | {:.1} s | {:.1} s | {:.1} s | {} | {} MiB |",
            taking.as_secs_f64(),
            analysis.as_secs_f64(),
            (taking + analysis).as_secs_f64(),
            verdicts.join(", "),
            resident("VmRSS") / 1024
        );
    }
    println!(
        "\nOne thread adds the rows, the analysis has two. Peak resident: {} MiB, of which {} MiB are the fabric and the names of its switches.",
        resident("VmHWM") / 1024,
        empty / 1024
    );
}

/// Runs one task on its own thread, the other here.
fn at_once(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    std::thread::scope(|scope| {
        scope.spawn(one);
        other();
    });
}

/// A field of this process' status, in KiB; 0 if the system does not report it.
fn resident(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(field));
    let figure = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    figure.unwrap_or(0)
}
