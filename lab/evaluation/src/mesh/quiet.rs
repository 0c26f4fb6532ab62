//! An hour without faults, with the noise of a real cluster.

use super::{START, WINDOW, analyzer};
use crate::table::{Goal, Line, Size};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::random::Draws;
use rocescope_fabric::{Clocks, Fabric, Rails, Timing};
use rocescope_model::Time;

/// Hosts: eight groups.
const HOSTS: u32 = 512;
/// Windows of 20 s: a minute, or an hour.
const WINDOWS: i64 = 3;
const ALL_WINDOWS: i64 = 180;
/// The share of probes lost on any path: 1 in 100,000.
const LOST: f64 = 1e-5;
/// The share of probes that wait behind a burst, and its mean length.
const BURSTS: f64 = 1e-3;
const BURST_NS: i64 = 200_000;

pub(super) fn evaluate(size: Size) -> Line {
    let all = size.choose(WINDOWS, ALL_WINDOWS);
    let topology = Rails::three_tiers(HOSTS, 8, 64, 8, 16).build().unwrap();
    let mut fabric = Fabric::new(topology, 1);
    fabric.clocks = Clocks {
        offset_ns: 3_000_000,
        drift_ppb: 10_000,
        seed: 5,
    };
    fabric.timing = Timing {
        queues_ns: 2_000,
        ..Timing::default()
    };
    let mesh = Mesh {
        clock_error_ns: 2_000,
        ..Mesh::default()
    };
    let names = Names::new(&fabric);
    let mut analyzer = analyzer(&fabric);
    let mut noise = Draws::new(7);
    let (mut probes, mut drops, mut asymmetric) = (0, 0, 0.0);
    let mut verdicts = Vec::new();
    for from in (0..all).map(|window| START + window * WINDOW) {
        // Source ports are drawn again: their paths are traced.
        if (from - START) % mesh.renew_ns == 0 {
            mesh.paths(&fabric, from, |tuple, hops| {
                for row in names.path(&fabric, tuple, from, &hops) {
                    analyzer.path(&row);
                }
            });
        }
        mesh.probes(&fabric, from, from + WINDOW, |probe| {
            let mut row = names.probe(&fabric, &mesh, &probe);
            if noise.happens(LOST) {
                row.outcome = "timeout".into();
                row.network_latency_ns = None;
                row.processing_delay_ns = None;
            } else if noise.happens(BURSTS) {
                let wait = noise.exponential_ns(BURST_NS);
                row.network_latency_ns = row.network_latency_ns.map(|ns| ns + wait);
            }
            analyzer.probe(&row);
        });
        let found = analyzer.advance(Time(from + WINDOW)).remove(0);
        probes += found.sla.probes;
        drops += found.sla.timeouts;
        asymmetric = found.sla.asymmetric_ratio.unwrap_or(0.0);
        verdicts.extend(found.verdicts.iter().map(|row| row.sentence.to_string()));
    }
    if size.details {
        println!(
            "{all} windows of {HOSTS} hosts with 8 NICs, three tiers: {probes} probes, {drops} lost at random, 1 in 1,000 behind a\n\
         burst of 200 us on average; clocks up to 3 ms apart that drift by up to 10 us a second, their offset known to 2 us;\n\
         {:.1} % of 5-tuples have no return path over the same links. Verdicts: {}.",
            asymmetric * 100.0,
            verdicts.len()
        );
    }
    verdicts.iter().for_each(|sentence| println!("- {sentence}"));
    Line::new(
        "no fault, probes",
        probes,
        "verdicts",
        verdicts.len() as f64,
        Goal::AtMost(0.0),
    )
}
