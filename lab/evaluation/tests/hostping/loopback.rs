//! Loopback tests: plans, runs over simulated hosts, and when they run.

use rocescope_diagnose::hostping::measured::fit;
use rocescope_diagnose::hostping::topology::{self, Topology};
use rocescope_diagnose::hostping::{Judge, Matrix, Rule};
use rocescope_fabric::random::Draws;
use rocescope_lab::hostping::host::Host;
use rocescope_lab::hostping::loopback::Simulated;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::schedule::{Alarm, Timing};
use rocescope_probe::loopback::{
    Busy, End, Limits, Load, Meter, Outcome, Own, PACKET, Plan, Reason, Sample, Schedule, Shape, Watch, Writes, run,
};

const MS: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MS;
const NO_LIMITS: Limits = Limits {
    time: Nanos(i64::MAX),
    bytes: u64::MAX,
};

fn dgx() -> Topology {
    topology::read(include_str!(
        "../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"
    ))
    .unwrap()
}

fn plan(topology: &Topology, shape: Shape) -> Plan {
    Plan::new(topology, &[], &[], shape).unwrap()
}

/// No one else uses the host.
struct Alone;

impl Watch for Alone {
    fn busy(&mut self, _: Nanos, _: &Own) -> Option<Busy> {
        None
    }
}

/// The counters of NICs, which may count the tests' own bytes, and from an instant on those of an application.
struct Counters {
    meter: Meter,
    counts_own: bool,
    onset: Nanos,
    /// The NIC of the application, and its share of the line rate.
    nic: &'static str,
    share: f64,
}

impl Counters {
    fn new(counts_own: bool) -> Self {
        Self {
            meter: Meter::default(),
            counts_own,
            onset: Nanos(i64::MAX),
            nic: "mlx5_0",
            share: 0.0,
        }
    }
}

impl Watch for Counters {
    fn busy(&mut self, now: Nanos, own: &Own) -> Option<Busy> {
        let sample = |nic: &str| {
            let ours = if self.counts_own { own.of(nic) } else { 0 };
            let time = (now - self.onset).0.max(0) as f64 / 1e9;
            let others = if nic == self.nic {
                time * self.share * 200e9 / 8.0
            } else {
                0.0
            };
            Sample {
                nic: nic.into(),
                sent_bytes: ours + others as u64,
                received_bytes: ours,
                rate_bps: 200_000_000_000,
                is_packets: false,
            }
        };
        let samples = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"].map(sample).into();
        Busy::of(&self.meter.take(now, samples, own))
    }
}

fn matrix(outcome: &Outcome, topology: &Topology) -> Matrix {
    Matrix::of(&outcome.measurements, topology).unwrap()
}

#[test]
fn the_idle_matrix_of_4_nics_and_10_endpoints_takes_under_10_s() {
    let topology = dgx();
    let plan = plan(&topology, Shape::idle());
    println!("{}", plan.text());
    assert_eq!(plan.pairs.len(), 40);
    assert!(plan.time < Nanos(10 * SECOND), "{:?}", plan.time);
    let text = plan.text();
    assert!(
        text.starts_with("40 tests: 4 NICs to 10 endpoints, one at a time\n"),
        "{text}"
    );
    let total = text.lines().last().unwrap();
    assert_eq!(total, "total      4.2 s, at most 105.0 GB");
    // The run itself, in simulated time.
    let mut backend = Simulated::new(Host::healthy(topology));
    let outcome = run(&plan, NO_LIMITS, &mut backend, &mut Alone);
    assert_eq!((&outcome.end, outcome.untested), (&End::Complete, 0));
    assert!(
        outcome.time <= plan.time && outcome.bytes() <= plan.bytes,
        "{outcome:?}"
    );
    println!("simulated: {} ms, {} bytes", outcome.time.0 / MS, outcome.bytes());
}

#[test]
fn a_plan_has_the_chosen_nics_and_endpoints() {
    let topology = dgx();
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let plan = |nics: &[&str], endpoints: &[&str]| Plan::new(&topology, &names(nics), &names(endpoints), Shape::busy());
    let found = plan(&["mlx5_2"], &["GPU3", "mem0"]).unwrap();
    assert_eq!((found.pairs.len(), found.pairs[0].endpoint.as_str()), (2, "GPU3"));
    assert!(!found.text().contains("latency"));
    let refusal = plan(&["mlx5_9"], &[]).unwrap_err();
    assert!(
        refusal.starts_with("mlx5_9 is no NIC of the topology: it has mlx5_0"),
        "{refusal}"
    );
    assert!(plan(&[], &["mlx5_0"]).unwrap_err().contains("no endpoint"));
}

/// What is measured of a simulated host with a broken link is enough to find it, and the model is that of the host.
#[test]
fn a_run_over_a_simulated_host_finds_the_broken_link_and_the_model() {
    let healthy = Host::healthy(dgx());
    let plan = plan(&healthy.topology, Shape::idle());
    for link in 0..healthy.capacity.len() {
        let sick = healthy.with(link, 0.1);
        let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(sick.clone()), &mut Alone);
        assert_eq!((&outcome.end, outcome.failures.len()), (&End::Complete, 0));
        let measured = matrix(&outcome, &sick.topology);
        let judge = Judge {
            topology: &sick.topology,
            baseline: None,
            rule: Rule::SEED,
            busy: &[],
            loads: &[],
        };
        let diagnosis = judge.diagnose(&measured);
        assert_eq!(diagnosis.inference.abnormal, [link], "{:?}", sick.topology.ends(link));
        for (nic, endpoint, cell) in measured.cells() {
            let path = sick.path(nic, endpoint).unwrap();
            let fitted = fit(&cell.by_size).unwrap();
            assert!((fitted.base_us / Host::base_us(path) - 1.0).abs() < 0.01, "{fitted:?}");
            assert!(
                (fitted.bandwidth_gbps / sick.bandwidth(path) - 1.0).abs() < 0.01,
                "{fitted:?}"
            );
        }
    }
}

/// The application starts at any instant of the run, on any NIC, at 3 to 100 % of the line rate; NICs count loopback
/// traffic at the port or do not.
#[test]
fn a_run_stops_within_100_ms_after_the_host_becomes_busy() {
    let host = Host::healthy(dgx());
    let plan = plan(&host.topology, Shape::idle());
    let length = run(&plan, NO_LIMITS, &mut Simulated::new(host.clone()), &mut Alone).time;
    let mut slowest = 0;
    for seed in 0..300 {
        let mut draws = Draws::new(seed);
        let mut counters = Counters::new(draws.below(2) == 0);
        counters.onset = Nanos((draws.unit() * (length.0 - 200 * MS) as f64) as i64);
        counters.nic = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"][draws.below(4) as usize];
        counters.share = 0.03 + 0.97 * draws.unit();
        let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(host.clone()), &mut counters);
        let End::Busy(busy) = &outcome.end else {
            panic!("{seed}: {:?}", outcome.end);
        };
        assert_eq!(busy.nic, counters.nic, "{seed}");
        assert!(outcome.untested > 0 && outcome.time >= counters.onset, "{seed}");
        slowest = slowest.max((outcome.time - counters.onset).0);
    }
    println!("slowest stop: {:.1} ms", slowest as f64 / 1e6);
    assert!(slowest < 100 * MS, "{slowest} ns");
}

#[test]
fn the_tests_own_bytes_are_no_traffic_of_others() {
    let host = Host::healthy(dgx());
    let plan = plan(&host.topology, Shape::idle());
    for counts_own in [false, true] {
        let mut counters = Counters::new(counts_own);
        let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(host.clone()), &mut counters);
        assert_eq!(outcome.end, End::Complete, "{counts_own}");
    }
}

/// Where only packets are counted, a message has as many as the MTU of the port needs.
#[test]
fn own_packets_are_counted_by_the_mtu() {
    for mtu in [256, 1_024, 4_096] {
        let mut meter = Meter::default();
        let mut own = Own::default();
        let sample = |packets: u64| {
            vec![Sample {
                nic: "rxe0".into(),
                sent_bytes: packets * PACKET,
                received_bytes: packets * PACKET,
                rate_bps: 2_500_000_000,
                is_packets: true,
            }]
        };
        meter.take(Nanos(0), sample(0), &own);
        let mut packets = 0;
        for at in 1..50 {
            for _ in 0..4 {
                own.add("rxe0", 1 << 20, mtu);
                // rxe acknowledges every 64th packet.
                packets += (1 << 20) / mtu + (1 << 20) / mtu / 64;
            }
            let loads = meter.take(Nanos(at * 20 * MS), sample(packets), &own);
            assert!(!loads[0].is_busy, "{mtu}: {loads:?}");
        }
    }
}

/// A slow NIC that counts only packets counts those of messages that have not completed, at several looks in a row, and
/// those that a test leaves in flight. An application beside the tests is noticed nevertheless.
#[test]
fn own_packets_in_flight_are_no_traffic_of_others() {
    /// The messages of the tests on rxe under emulation: 2 MB a second.
    const RATE: u64 = 2_000_000;
    let writes = Writes {
        size: 1 << 20,
        depth: 4,
    };
    for (mtu, others) in [(256, 0), (1_024, 0), (4_096, 0), (1_024, 250_000_000)] {
        let mut meter = Meter::default();
        let mut own = Own::default();
        let packets = (1 << 20) / mtu + (1 << 20) / mtu / 64;
        let (mut sent, mut of_message) = (0, 0);
        let mut busy = 0;
        for look in 0..400_u64 {
            // A test lasts 2 s.
            if look % 100 == 0 {
                own.abandon("rxe0");
                own.post("rxe0", writes, mtu);
                of_message = 0;
            }
            let step = RATE / 50 / mtu;
            (sent, of_message) = (sent + step, of_message + step);
            while of_message >= packets {
                of_message -= packets;
                own.add("rxe0", 1 << 20, mtu);
            }
            let counted = (sent + look * others / 50 / mtu) * PACKET;
            let sample = Sample {
                nic: "rxe0".into(),
                sent_bytes: counted,
                received_bytes: counted,
                rate_bps: 2_500_000_000,
                is_packets: true,
            };
            let loads = meter.take(Nanos(look as i64 * 20 * MS), vec![sample], &own);
            busy += u64::from(Busy::of(&loads).is_some());
        }
        assert_eq!(
            busy > 0,
            others > 0,
            "MTU {mtu}, {others} bytes a second of others: {busy} looks"
        );
    }
}

/// The kernel shows the counters of some drivers as they were a while ago: what a look misses, the next one has.
#[test]
fn own_packets_that_a_look_misses_are_not_those_of_others_at_the_next() {
    let mut meter = Meter::default();
    let mut own = Own::default();
    let writes = Writes { size: 8, depth: 1 };
    own.post("rxe0", writes, 1_024);
    let mut packets = 0;
    for look in 0..100 {
        let shown = packets;
        // None before the first look.
        for _ in 0..100 * i64::from(look > 0) {
            own.add("rxe0", 8, 1_024);
            packets += 2;
        }
        // Every other look has the values of before.
        let counted = PACKET * if look % 2 == 0 { packets } else { shown };
        let sample = Sample {
            nic: "rxe0".into(),
            sent_bytes: counted,
            received_bytes: counted,
            rate_bps: 2_500_000_000,
            is_packets: true,
        };
        let loads = meter.take(Nanos(look * 20 * MS), vec![sample], &own);
        assert_eq!(Busy::of(&loads), None, "{look}");
    }
}

#[test]
fn limits_of_time_and_bytes_end_a_run() {
    let host = Host::healthy(dgx());
    let plan = plan(&host.topology, Shape::idle());
    let run = |limits| run(&plan, limits, &mut Simulated::new(host.clone()), &mut Alone);
    let time = Nanos(500 * MS);
    let outcome = run(Limits { time, ..NO_LIMITS });
    assert_eq!(outcome.end, End::Time);
    assert!(
        outcome.time >= time && outcome.time < Nanos(521 * MS),
        "{:?}",
        outcome.time
    );
    assert!(outcome.measurements.len() > 20 && outcome.untested > 30);
    let bytes = 2_000_000_000;
    let outcome = run(Limits { bytes, ..NO_LIMITS });
    assert_eq!(outcome.end, End::Bytes);
    // At most what a NIC writes between two checks.
    assert!(
        outcome.bytes() >= bytes && outcome.bytes() < bytes + 500_000_000,
        "{outcome:?}"
    );
    assert!(outcome.end.text().unwrap().contains("--max-bytes"));
}

/// A broken link may need longer than a test for a few messages; one that carries nothing does not hold up the others.
#[test]
fn slow_links_are_measured_and_dead_ones_reported() {
    let host = Host::healthy(dgx());
    let plan = plan(&host.topology, Shape::idle());
    let gpu = |link: &usize| host.topology.ends(*link).0 == "GPU0";
    let link = (0..host.capacity.len()).find(gpu).unwrap();
    let slow = host.with(link, 0.0005);
    let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(slow), &mut Alone);
    assert_eq!(
        (&outcome.end, outcome.failures.len()),
        (&End::Complete, 0),
        "{:?}",
        outcome.failures
    );
    let measured = matrix(&outcome, &host.topology);
    let gbps = measured.cell("mlx5_3", "GPU0").unwrap().bandwidth_gbps.unwrap();
    assert!((gbps - 0.1).abs() < 0.001, "{gbps}");
    // In 600 ms it carries 300 kB: one message of 1 MiB takes 2 s, so the messages are smaller.
    let creeping = host.with(link, 0.00002);
    let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(creeping), &mut Alone);
    assert_eq!(outcome.failures, []);
    let measured = matrix(&outcome, &host.topology);
    let gbps = measured.cell("mlx5_3", "GPU0").unwrap().bandwidth_gbps.unwrap();
    assert!((gbps - 0.004).abs() < 0.0001, "{gbps}");
    let dead = host.with(link, 0.0);
    let outcome = run(&plan, NO_LIMITS, &mut Simulated::new(dead), &mut Alone);
    assert_eq!(outcome.failures.len(), 4);
    assert_eq!(
        outcome.failures[0].1.to_string(),
        "no two messages of 8 bytes completed within 600 ms"
    );
}

fn loads(share: f64) -> [Load; 1] {
    [Load {
        nic: "mlx5_0".into(),
        sent_bps: share * 200e9,
        received_bps: 0.0,
        is_busy: share > 0.01,
    }]
}

const TIMING: Timing = Timing {
    every: Nanos(3_600 * SECOND),
    idle_for: Nanos(30 * SECOND),
    alarms: None,
};

/// The seconds at which runs are due, over some time, each complete.
fn due(timing: Timing, seconds: i64, look: impl Fn(i64) -> (f64, Option<Alarm>)) -> Vec<(i64, Reason)> {
    let mut schedule = Schedule::new(timing);
    let mut all = Vec::new();
    for second in 0..seconds {
        let (share, alarm) = look(second);
        if let Some(reason) = schedule.due(Nanos(second * SECOND), Some(&loads(share)), alarm) {
            schedule.has_run(Nanos(second * SECOND), &reason, &End::Complete);
            all.push((second, reason));
        }
    }
    all
}

#[test]
fn idle_hosts_are_tested_periodically_and_busy_ones_never() {
    let all = due(TIMING, 8_000, |second| {
        (if (100..5_000).contains(&second) { 0.5 } else { 0.0 }, None)
    });
    let seconds: Vec<i64> = all.iter().map(|(second, _)| *second).collect();
    // After the first run the host was busy when the hour was over, and idle again from second 5,000 on.
    assert_eq!(seconds, [30, 5_030]);
    assert!(due(TIMING, 8_000, |_| (0.02, None)).is_empty());
    // Without counters nothing proves that the host is idle.
    let mut schedule = Schedule::new(TIMING);
    assert!((0..100).all(|second| schedule.due(Nanos(second * SECOND), None, None).is_none()));
}

#[test]
fn a_run_that_the_host_stopped_is_tried_again_after_a_minute() {
    let mut schedule = Schedule::new(TIMING);
    let mut runs = Vec::new();
    for second in 0..300 {
        let now = Nanos(second * SECOND);
        if let Some(reason) = schedule.due(now, Some(&loads(0.0)), None) {
            let busy = Busy {
                nic: "mlx5_0".into(),
                bps: 1e9,
            };
            schedule.has_run(now, &reason, &End::Busy(busy));
            runs.push(second);
        }
    }
    assert_eq!(runs, [30, 90, 150, 210, 270]);
}

#[test]
fn counters_call_for_runs_of_busy_hosts_if_that_is_allowed() {
    let alarm = || {
        Some(Alarm {
            nic: "mlx5_0".into(),
            metric: "tx_pause_duration".into(),
            rate: 90_000.0,
        })
    };
    let with_alarms = Timing {
        alarms: Some(Nanos(600 * SECOND)),
        ..TIMING
    };
    // One second with pause is nothing; three are.
    let look = |second: i64| (0.5, alarm().filter(|_| second == 10 || (50..1_000).contains(&second)));
    let all = due(with_alarms, 1_200, look);
    let seconds: Vec<i64> = all.iter().map(|(second, _)| *second).collect();
    assert_eq!(seconds, [52, 652]);
    assert!(all[0].1.is_busy());
    assert_eq!(all[0].1.text(), "tx_pause_duration of mlx5_0 grows by 90000/s");
    assert!(due(TIMING, 1_200, look).is_empty());
    // A host that pauses the switch while it is idle is tested as an idle one, at once.
    let all = due(with_alarms, 20, |_| (0.0, alarm()));
    assert_eq!(all.len(), 1);
    assert!(all[0].0 == 2 && !all[0].1.is_busy());
}
