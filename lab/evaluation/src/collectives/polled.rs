//! The same cases, seen through counters of switches that are polled: pauses of ports, as gNMI, SNMP and sFlow bring them, and
//! what `diagnose` makes of them.
//!
//! Counters have no flows, so contention has no name there whatever the resolution; what remains is where pauses begin.

use super::cases::{Case, Class};
use super::judge::{Ran, Verdict};
use super::of_number;
use crate::parallel;
use rocescope_diagnose::incidents::Incident;
use rocescope_diagnose::incidents::ports::{Cable, Cables, End, Ports};
use rocescope_fabric::packets::{Network, Paused, Port};
use rocescope_fabric::random::{Draws, mix};
use rocescope_model::{SwitchPortRow, Text, Time};
use std::collections::BTreeMap;

const MS: i64 = 1_000_000;
/// Times between two readings: what operators have (1 to 10 s), and finer ones.
const EVERY_NS: [i64; 7] = [
    10_000 * MS,
    5_000 * MS,
    1_000 * MS,
    300 * MS,
    100 * MS,
    30 * MS,
    10 * MS,
];
/// Bytes of a reading of a port: name, time, and two counters and two times of 8 bytes.
const READING_BYTES: usize = 48;
/// A paused port hears a frame at least this often: half of the longest pause of a frame at 100 Gbit/s.
const REFRESH_NS: i64 = 167_772;

/// What counters say of a case.
struct Seen {
    /// For each time between two readings.
    by_time: Vec<One>,
}

#[derive(Clone, Copy)]
struct One {
    verdict: Verdict,
    others: usize,
    bytes: usize,
}

/// Prints precision, recall and bytes for each class and each time between two readings.
pub(super) fn print(jobs: &[(Class, u64)], scale: u64) {
    let seen = parallel::each(jobs, |(class, number)| {
        let seen = of_number(*number, |seed| see(&Case::draw(*class, seed, scale), seed, scale));
        (*class, seen)
    });
    println!(
        "\n{:<18} {:>8} {:>9} {:>7} {:>8} {:>7} {:>15} {:>11}",
        "polled counters", "every", "precision", "recall", "partial", "missed", "others a case", "KB a case"
    );
    for class in Class::ALL {
        for (at, every_ns) in EVERY_NS.iter().enumerate() {
            let of_class = seen.iter().filter(|(other, _)| *other == class);
            let of_class: Vec<One> = of_class.filter_map(|(_, seen)| seen.by_time.get(at).copied()).collect();
            if of_class.is_empty() {
                continue;
            }
            let count = |verdict| of_class.iter().filter(|one| one.verdict == verdict).count() as f64;
            let (right, partial, missed) = (count(Verdict::Right), count(Verdict::Partial), count(Verdict::Missed));
            let mean =
                |figure: fn(&One) -> usize| of_class.iter().map(figure).sum::<usize>() as f64 / of_class.len() as f64;
            println!(
                "{:<18} {:>5} ms {:>9.3} {:>7.3} {:>8} {:>7} {:>15.2} {:>11.1}",
                class.name(),
                every_ns / MS,
                right / (right + partial),
                right / (right + missed),
                partial,
                missed,
                mean(|one| one.others),
                mean(|one| one.bytes) / 1e3,
            );
        }
    }
}

fn see(case: &Case, seed: u64, scale: u64) -> Option<Seen> {
    let ran = Ran::of(case, &[], scale)?;
    let network = &case.scenario.network;
    let cables = cables(network);
    let by_time = EVERY_NS.map(|every_ns| {
        let every_ns = every_ns / scale as i64;
        // A poller does not know when a collective begins.
        let phase_ns = (Draws::new(mix(&[seed, every_ns as u64])).unit() * every_ns as f64) as i64;
        let rows = readings(network, &ran.outcome.pauses, ran.outcome.end_ns, every_ns, phase_ns);
        let mut ports = Ports::default();
        rows.iter().for_each(|row| ports.add(row));
        let (verdict, others) = judge(case, &ports.find(&cables));
        One {
            verdict,
            others,
            bytes: rows.len() * READING_BYTES,
        }
    });
    Some(Seen {
        by_time: by_time.into(),
    })
}

/// The readings of all ports of all switches until what happened is read.
fn readings(network: &Network, pauses: &[Paused], end_ns: i64, every_ns: i64, phase_ns: i64) -> Vec<SwitchPortRow> {
    let mut of_port: BTreeMap<Port, Vec<&Paused>> = BTreeMap::new();
    for pause in pauses {
        of_port.entry(pause.port).or_default().push(pause);
    }
    let mut rows = Vec::new();
    let switches = network.nodes().filter(|node| !network.is_host(*node));
    for port in switches.flat_map(|switch| network.ports_of(switch)) {
        let counted = |port: Port, from_ns: i64, until_ns: i64| {
            let pauses = of_port.get(&port).into_iter().flatten();
            let within = pauses.filter_map(|pause| {
                let (start, end) = (pause.start_ns.max(from_ns), pause.end_ns.min(until_ns));
                (start < end).then(|| (end - start, 1 + (end - start) / REFRESH_NS))
            });
            within.fold((0, 0), |(time, frames), (more, others)| (time + more, frames + others))
        };
        let mut from_ns = phase_ns - every_ns;
        while from_ns < end_ns {
            let until_ns = from_ns + every_ns;
            let (paused_ns, received) = counted(*port, from_ns, until_ns);
            // What its peer heard, this port has sent.
            let (pausing_ns, sent) = counted(network.peer(*port), from_ns, until_ns);
            rows.push(SwitchPortRow {
                time: Time(until_ns + START_NS),
                time_ns: until_ns + START_NS,
                interval_ns: Some(every_ns),
                switch: network.name(network.node(*port)),
                port_name: Text::from(network.number(*port).to_string()),
                up: Some(true),
                speed_bps: Some(1e11),
                received_pause_frames: Some(received as u64),
                sent_pause_frames: Some(sent as u64),
                paused_ns: Some(paused_ns),
                pausing_ns: Some(pausing_ns),
                ..SwitchPortRow::default()
            });
            from_ns = until_ns;
        }
    }
    rows
}

/// When the simulation begins, as rows state times.
const START_NS: i64 = 1_795_200_000_000_000_000;

fn cables(network: &Network) -> Cables {
    let end = |port: Port| End {
        node: network.name(network.node(port)).to_string(),
        port: network.number(port).to_string(),
        is_host: network.is_host(network.node(port)),
        ..End::default()
    };
    let ports = network.nodes().flat_map(|node| network.ports_of(node).to_vec());
    let links = ports.filter(|port| *port < network.peer(*port));
    let cable = |port: Port| Cable {
        a: end(port),
        b: end(network.peer(port)),
    };
    Cables::new(links.map(cable).collect())
}

/// Whether the pauses begin where they do, and how many other places are named.
fn judge(case: &Case, found: &[Incident]) -> (Verdict, usize) {
    let Some((switch, port)) = &case.root else {
        return (Verdict::Missed, found.len());
    };
    let network = &case.scenario.network;
    let sender = || {
        let ports = network.nodes().flat_map(|node| network.ports_of(node).to_vec());
        let mut paused = ports.filter(|other| case.name(*other) == (switch.clone(), port.clone()));
        paused.next().map(|port| network.node(network.peer(port)))
    };
    let is_right = |incident: &&Incident| {
        let place = &incident.place;
        match case.class {
            // Who sends the pauses: the other end of the port that is paused.
            Class::Storm => sender().is_some_and(|sender| {
                let name = network.name(sender);
                place.switch.as_deref() == Some(&*name) || place.host.as_deref() == Some(&*name)
            }),
            // Whose queue fills.
            _ => place.switch.as_deref() == Some(&**switch),
        }
    };
    let right = found.iter().filter(is_right).count();
    match (right, found.len()) {
        (_, 0) => (Verdict::Missed, 0),
        (0, others) => (Verdict::Partial, others),
        (right, all) => (Verdict::Right, all - right),
    }
}
