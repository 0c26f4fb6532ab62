//! Loopback tests of Hostping over queue pairs of the double.

use rocescope_diagnose::hostping::topology;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::verbs::Verbs;
use rocescope_probe::loopback::{Busy, End, Limits, Outcome, Own, Pair, Plan, Shape, Watch, run};
use rocescope_testkit::verbs::{load, with};

struct Alone;

impl Watch for Alone {
    fn busy(&mut self, _: Nanos, _: &Own) -> Option<Busy> {
        None
    }
}

fn measure(names: &[(&str, &str)], verbs: &mut Verbs) -> Outcome {
    let topology = topology::read(include_str!(
        "../../../diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"
    ))
    .unwrap();
    let shape = Shape {
        latency: Nanos(500_000),
        warm_up: Nanos(500_000),
        bandwidth: Nanos(2_000_000),
        ..Shape::idle()
    };
    let mut plan = Plan::new(&topology, &[], &[], shape).unwrap();
    plan.pairs = names
        .iter()
        .map(|(nic, endpoint)| Pair {
            nic: (*nic).into(),
            endpoint: (*endpoint).into(),
        })
        .collect();
    let limits = Limits {
        time: Nanos(10_000_000_000),
        bytes: u64::MAX,
    };
    run(&plan, limits, verbs, &mut Alone)
}

#[test]
fn latencies_and_bandwidth_of_memory_are_measured_and_gpus_are_named() {
    load();
    let mut verbs = Verbs::open([("mlx5_0".into(), vec![0])]).unwrap();
    let outcome = measure(
        &[("mlx5_0", "mem0"), ("mlx5_0", "GPU1"), ("mlx5_0", "mem9")],
        &mut verbs,
    );
    assert_eq!(outcome.end, End::Complete);
    assert_eq!(outcome.measurements.len(), 5, "{outcome:?}");
    let sizes: Vec<Option<u64>> = outcome.measurements.iter().map(|one| one.size_bytes).collect();
    assert_eq!(
        sizes,
        [Some(8), Some(4_096), Some(65_536), Some(262_144), Some(1_048_576)]
    );
    assert!(
        outcome.measurements[..4]
            .iter()
            .all(|one| one.latency_us.unwrap() > 0.0)
    );
    assert!(outcome.measurements[4].bandwidth_gbps.unwrap() > 0.0);
    assert!(outcome.bytes() > 1 << 20);
    let why: Vec<String> = outcome.failures.iter().map(|(_, why)| why.to_string()).collect();
    assert!(why[0].starts_with("GPU memory is not measured"), "{why:?}");
    assert!(why[1].starts_with("memory on a NUMA node"), "{why:?}");
    // What a test opens, it closes.
    with(|double| assert!(double.qps.is_empty()));
}

#[test]
fn missing_devices_are_refused() {
    load();
    let refusal = Verbs::open([("mlx5_7".into(), Vec::new())]).unwrap_err().to_string();
    assert!(
        refusal.contains("mlx5_7: no RDMA device of this name opens"),
        "{refusal}"
    );
}
