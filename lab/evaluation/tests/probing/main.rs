//! The agent on a simulated host: minutes pass at once, and the correct results are known.
#![expect(clippy::unwrap_used, reason = "it is a test")]

mod simulated;

use rocescope_fabric::{Clocks, Fabric, Fault, FaultLocation, Rails};
use rocescope_model::{PathRow, ProbeRow};
use rocescope_probe::{Agent, Backend, Event, Nanos, NicIndex, Settings, drive};
use simulated::Simulated;
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;
const BEGIN: Nanos = Nanos(1_795_228_200 * SECOND);

fn fabric() -> Fabric {
    Fabric::new(Rails::two_tiers(2, 8, 4).build().unwrap(), 11)
}

struct Run {
    agent: Agent,
    simulated: Simulated,
    probes: Vec<ProbeRow>,
    paths: Vec<PathRow>,
}

impl Run {
    fn begin(fabric: Fabric, settings: Settings) -> Self {
        let simulated = Simulated::new(fabric, 1, BEGIN, 5);
        let agent = Agent::new(settings, simulated.nics(), simulated.clock(), BEGIN);
        Self {
            agent,
            simulated,
            probes: Vec::new(),
            paths: Vec::new(),
        }
    }

    fn settings() -> Settings {
        Settings {
            traces_per_second: 4.0,
            ..Settings::new("h1", 3)
        }
    }

    fn until(&mut self, seconds: i64) {
        let until = BEGIN + Nanos(seconds * SECOND);
        drive(&mut self.agent, &mut self.simulated, until, &mut Vec::new()).unwrap();
        let (probes, paths) = self.agent.rows();
        self.probes.append(probes);
        self.paths.append(paths);
        assert!(self.agent.counters().is_balanced());
    }

    /// Runs until nothing is in flight.
    fn end(&mut self) {
        self.agent.stop();
        self.until(1_000_000);
        assert_eq!(self.agent.counters().in_flight, 0);
        assert_eq!(self.agent.next_due(), None);
    }
}

#[test]
fn a_quarter_of_an_hour_of_a_healthy_fabric_loses_nothing() {
    let mut run = Run::begin(fabric(), Run::settings());
    run.until(900);
    run.end();
    let counters = run.agent.counters();
    assert_eq!(counters.probes, 8 * 10 * 900);
    assert_eq!(counters.received, counters.probes);
    assert_eq!(run.probes.len() as u64, counters.probes);
    assert_eq!(
        (counters.unstamped, counters.foreign_datagrams, counters.path_changes),
        (0, 0, 0)
    );
    for row in &run.probes {
        let network = row.network_latency_ns.unwrap();
        // Four links and a queue; the host takes at least its minimum time.
        assert!((3_600..60_000).contains(&network), "{network}");
        assert!(row.processing_delay_ns.unwrap() >= 3_000);
        assert_eq!(row.clock_error_ns, 0);
    }
}

#[test]
fn every_path_matches_the_route() {
    let settings = Settings {
        // No port changes meanwhile.
        pool_period: Nanos(86_400_000_000_000),
        ..Run::settings()
    };
    let mut run = Run::begin(fabric(), settings);
    run.until(120);
    assert_eq!(run.agent.paths(), (8 * 7 * 8, 8 * 7 * 8));
    let mut paths: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in &run.paths {
        assert_eq!(&*row.reason, "first");
        let tuple = (row.src_nic.to_string(), row.dst_nic.to_string(), row.udp_src_port);
        paths.entry(tuple).or_default().push(row.address);
    }
    let nics = run.simulated.nics().to_vec();
    let index = |name: &str| NicIndex(nics.iter().position(|nic| nic.name == name).unwrap() as u16);
    for ((src, dst, port), path) in paths {
        let tuple = run.simulated.tuple(index(&src), index(&dst), port);
        assert_eq!(path, run.simulated.fabric().trace(tuple, BEGIN.0));
    }
}

/// The clock of each NIC is wrong by up to 2 s and drifts by up to 20 parts per million.
#[test]
fn latency_is_right_within_the_stated_error() {
    let clocks = Clocks {
        offset_ns: 2_000_000_000,
        drift_ppb: 20_000,
        seed: 9,
    };
    let mut run = Run::begin(Fabric { clocks, ..fabric() }, Run::settings());
    run.until(300);
    run.end();
    let counters = run.agent.counters();
    assert_eq!((counters.received, counters.clock_resets), (counters.probes, 0));
    let nics = run.simulated.nics().to_vec();
    let index = |name: &str| NicIndex(nics.iter().position(|nic| nic.name == name).unwrap() as u16);
    let (mut known, mut widest) = (0, 0);
    for row in &run.probes {
        let tuple = run.simulated.tuple(index(&row.src_nic), index(&row.dst_nic), 0);
        let (left, came) = (row.nic_send_ns.unwrap(), row.nic_receive_ns.unwrap());
        // The drift of a clock over its own lead is far below a nanosecond.
        let at = |nic, reads: i64| reads - clocks.ahead_ns(nic, row.time_ns);
        let truth = at(tuple.dst, came) - at(tuple.src, left);
        let Some(latency) = row.network_latency_ns else {
            continue;
        };
        known += 1;
        let wrong = (latency - truth).abs();
        assert!(wrong <= row.clock_error_ns + 8, "{wrong}: {row:?}");
        // After a minute the drift rates are known.
        if row.time_ns > BEGIN.0 + 60 * SECOND {
            widest = widest.max(row.clock_error_ns);
        }
        assert_eq!(
            row.processing_delay_ns.unwrap() + latency,
            row.app_receive_ns.unwrap() - row.time_ns
        );
    }
    assert!(known * 100 > run.probes.len() * 95, "{known} of {}", run.probes.len());
    assert!(widest < 20_000, "{widest} ns");
}

#[test]
fn faults_show_where_they_are_and_paths_are_kept() {
    let mut run = Run::begin(fabric(), Run::settings());
    run.until(120);
    let known = run.agent.paths();
    let nic = run.simulated.fabric().topology.nic(1, 2);
    run.simulated.fabric().faults.push(Fault {
        kind: rocescope_fabric::FaultKind::Acl { src: None, dst: None },
        place: FaultLocation::Nic(nic),
        from_ns: BEGIN.0 + 120 * SECOND,
        until_ns: BEGIN.0 + 150 * SECOND,
    });
    run.until(180);
    run.end();
    let counters = run.agent.counters();
    assert!(counters.timeouts > 0 && counters.traces_incomplete > 0, "{counters:?}");
    assert_eq!((counters.path_changes, run.agent.paths()), (0, known));
    let name = run.simulated.nics()[2].name.clone();
    for row in &run.probes {
        let touches = *row.src_nic == *name || *row.dst_nic == *name;
        let during = (120..150).contains(&((row.time_ns - BEGIN.0) / SECOND));
        let outcome = if touches && during { "timeout" } else { "received" };
        assert_eq!(&*row.outcome, outcome, "{row:?}");
    }
}

#[test]
fn corrupted_packets_are_corrupt_probes() {
    let mut run = Run::begin(fabric(), Run::settings());
    let nic = run.simulated.fabric().topology.nic(1, 5);
    run.simulated.fabric().faults.push(Fault {
        kind: rocescope_fabric::FaultKind::Corruption { probability: 0.3 },
        place: FaultLocation::Nic(nic),
        from_ns: BEGIN.0,
        until_ns: BEGIN.0 + 60 * SECOND,
    });
    run.until(60);
    run.end();
    let counters = run.agent.counters();
    assert_eq!(counters.received + counters.corrupt, counters.probes);
    // A quarter of all probes use the NIC.
    let share = counters.corrupt as f64 / counters.probes as f64;
    assert!((share - 0.25 * 0.3).abs() < 0.02, "{share}");
    let name = run.simulated.nics()[5].name.clone();
    let corrupt = run.probes.iter().filter(|row| &*row.outcome == "corrupt");
    for row in corrupt {
        assert!(*row.src_nic == *name || *row.dst_nic == *name);
        assert!(row.network_latency_ns.is_some());
    }
}

#[test]
fn the_same_seed_gives_the_same_rows() {
    let rows = || {
        let mut run = Run::begin(fabric(), Run::settings());
        run.until(20);
        (run.probes, run.paths)
    };
    assert!(rows() == rows());
}

#[test]
fn a_slowed_agent_sends_half_as_often() {
    let mut run = Run::begin(fabric(), Run::settings());
    run.until(10);
    run.agent.update_throttle(0.5);
    run.until(20);
    let before = |row: &&ProbeRow| row.time_ns < BEGIN.0 + 10 * SECOND;
    let first = run.probes.iter().filter(before).count();
    let second = run.probes.len() - first;
    assert_eq!(run.agent.slowed_by(), 2);
    assert!(second.abs_diff(first / 2) <= 16, "{first}, then {second}");
}

#[test]
fn ports_are_renewed_and_their_paths_traced() {
    let settings = Settings {
        pool_period: Nanos(60 * SECOND),
        ..Run::settings()
    };
    let mut run = Run::begin(fabric(), settings);
    run.until(600);
    let mut ports: Vec<u16> = run.probes.iter().map(|row| row.udp_src_port).collect();
    ports.sort_unstable();
    ports.dedup();
    // Eight NICs, eight ports, ten times; some repeat.
    assert!(ports.len() > 550, "{}", ports.len());
    let (tuples, known) = run.agent.paths();
    assert_eq!(tuples, 8 * 7 * 8);
    assert!(known * 10 > tuples * 9, "{known} of {tuples}");
}

#[test]
fn a_clock_step_loses_no_probe_and_gives_no_latency() {
    let mut run = Run::begin(fabric(), Run::settings());
    run.until(5);
    // Three probes are in flight, then the clock is set back by an hour.
    let mut sent = Vec::new();
    while sent.len() < 3 {
        let due = run.agent.next_due().unwrap();
        sent.extend(run.agent.next_packet(due));
    }
    let by = Nanos(-3_600 * SECOND);
    run.agent.handle(&Event::Stepped { by });
    for outgoing in &sent {
        let payload = outgoing.into();
        let at = outgoing.sent + by + Nanos(1_000);
        run.agent.handle(&Event::Sent { payload, nic_sent: at });
        run.agent.handle(&Event::Arrived {
            from: None,
            nic: outgoing.dst,
            payload,
            intact: true,
            nic_received: Some(at),
            received: at,
        });
    }
    let counters = run.agent.counters();
    let probes = sent
        .iter()
        .filter(|sent| sent.kind == rocescope_probe::DatagramKind::Probe);
    assert_eq!(
        (counters.received_across_clock_step, counters.clock_steps),
        (probes.count() as u64, 1)
    );
    assert!(counters.is_balanced());
    let (rows, _) = run.agent.rows();
    assert!(
        rows.iter()
            .all(|row| &*row.outcome == "received" && row.network_latency_ns.is_none())
    );
}
