//! Records with the times of a live capture give the counters of a file.
//!
//! The program in the kernel makes the same records as user space with the same configuration, byte for byte
//! (`capture/tests/kernel`). So the difference between a live capture and a file is the configuration: the time of the
//! last packet of a run is that of a tick, and few PSNs have times.

use super::follow::{Connection, class, follow, follow_with};
use rocescope_generate::REORDERED;
use rocescope_model::ConnectionRow;
use rocescope_record::Config;
use std::collections::{BTreeMap, BTreeSet};

/// A live capture: a tick of 4 ms, and exact times for as many packets of a CPU as it has on a machine with 64 of them.
fn live(window_ns: u64) -> Config {
    Config {
        tick_ns: 4_000_000,
        mark_mask: 15,
        exact_burst: 16_384,
        exact_a_tick: 125,
        ..Config::exact(window_ns)
    }
}

/// Beyond its budget: one PSN in sixteen with its time.
fn ticks(window_ns: u64) -> Config {
    Config {
        exact_burst: 0,
        ..live(window_ns)
    }
}

type Figure = (&'static str, fn(&ConnectionRow) -> u64);

/// What does not depend on how exact times are.
const FIGURES: &[Figure] = &[
    ("packets", |row| row.packets),
    ("payload", |row| row.payload_bytes),
    ("unique payload", |row| row.unique_payload_bytes),
    ("messages", |row| row.messages),
    ("unique messages", |row| row.unique_messages),
    ("retransmitted", |row| row.retransmitted_packets),
    ("out of order", |row| row.out_of_order_packets),
    ("duplicates", |row| row.duplicate_packets),
    ("repeated", |row| row.repeated_packets),
    ("lost upstream", |row| row.fabric_lost_upstream_packets),
    ("lost downstream", |row| row.fabric_lost_downstream_packets),
    ("unanswered", |row| row.unanswered_packets),
    ("in gaps", |row| row.unfilled_gap_packets),
    ("ACKs", |row| row.ack_packets),
    ("NAKs", |row| row.nak_psn_sequence),
];

/// Each direction's figures.
fn figures(connections: &[Connection]) -> BTreeMap<(String, &'static str), u64> {
    let rows = connections.iter().flat_map(|one| [&one.a_to_b, &one.b_to_a]).flatten();
    let mut figures = BTreeMap::new();
    for row in rows {
        for (name, figure) in FIGURES {
            *figures
                .entry((format!("{}, {:?}", row.src, row.dst_qpn), *name))
                .or_default() += figure(row);
        }
    }
    figures
}

/// Figures of directions over all runs that differ from the file with this configuration, and their number.
fn compare(config: fn(u64) -> Config) -> (usize, Vec<String>) {
    let mut differences = Vec::new();
    let mut all = 0;
    for (name, seed) in REORDERED {
        let scenario = class(name);
        let file = figures(&follow(&scenario, seed).connections);
        let live = figures(&follow_with(&scenario, seed, config).connections);
        all += file.len();
        for key in file.keys().chain(live.keys()).collect::<BTreeSet<_>>() {
            let (in_file, in_live) = (file.get(key), live.get(key));
            if in_file != in_live {
                differences.push(format!(
                    "{name} {seed}, {}, {}: {in_live:?}, in the file {in_file:?}",
                    key.0, key.1
                ));
            }
        }
    }
    (all, differences)
}

#[test]
fn a_live_capture_has_the_counters_of_the_file() {
    let (all, differences) = compare(live);
    assert!(
        differences.is_empty(),
        "{} of {all} figures differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

/// What differs without a budget of exact times, as for packets beyond it. Where a run holds several messages, it is not
/// known which of them was repeated.
const DIFFERENCES: usize = 11;

#[test]
fn ticks_change_few_counters() {
    let (all, differences) = compare(ticks);
    println!(
        "{} of {all} figures differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(
        differences.len() <= DIFFERENCES,
        "{} of {all} figures differ",
        differences.len()
    );
}
