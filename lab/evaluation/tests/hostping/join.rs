//! A verdict of the mesh on a NIC, joined with the loopback tests of its host.

use super::simulated::{Simulate, healthy};
use rocescope_diagnose::hostping::Rule;
use rocescope_diagnose::hostping::join::Insides;
use rocescope_diagnose::hostping::rows::{About, rows};
use rocescope_fabric::random::Draws;
use rocescope_lab::hostping::host::Host;
use rocescope_model::LoopbackRow;

fn run(host: &Host, baseline: &Host, observer: &str, start_ns: i64) -> Vec<LoopbackRow> {
    let mut draws = Draws::new(1);
    let baseline = baseline.baseline(1, 0.0, &mut draws);
    let measured = host.run(0.0, &mut draws);
    let diagnosis = host.judge(Some(&baseline)).diagnose(&measured);
    let about = About {
        observer,
        start_ns,
        length_ns: 0,
        loads: &[],
    };
    rows(&host.topology, &measured, &diagnosis.judgement, &about)
}

#[test]
fn a_nic_of_the_mesh_is_the_nic_or_the_path_behind_it() {
    let mut good = healthy(include_str!(
        "../../../../userspace/diagnose/tests/hostping/trees/dgx-a100-4.nccl.xml"
    ));
    // The mesh names NICs by their interfaces.
    let nic = good.topology.find("mlx5_0").unwrap();
    good.topology.nodes[nic].aliases.push("rail0".into());
    let link = (0..good.capacity.len())
        .find(|link| good.topology.ends(*link) == ("PCIe switch 0", "CPU root port 0"))
        .unwrap();
    let sick = good.with(link, 0.06);
    let mut all = run(&sick, &good, "h1", 1_767_225_600_000_000_000);
    all.extend(run(&good, &good, "h2", 1_767_225_600_000_000_000));
    let insides = Insides::of(all.clone(), Rule::SEED);
    for name in ["h1/mlx5_0", "h1/rail0"] {
        assert_eq!(
            insides.behind(name).unwrap(),
            "the NIC, or the PCIe path behind it: loopback tests of h1 at 2026-01-01T00:00:00Z accuse PCIe switch 0 <-> CPU root port 0 (CPU root port failure, likely)"
        );
    }
    for name in ["h1/mlx5_3", "h2/rail0"] {
        let sentence = insides.behind(name).unwrap();
        assert!(
            sentence.starts_with("the NIC, its link or its switch port, not the PCIe path behind it"),
            "{sentence}"
        );
    }
    for name in ["h3/mlx5_0", "h1/mlx5_9", "mlx5_0"] {
        assert_eq!(insides.behind(name), None, "{name}");
    }
    // The last run of a host counts: it was repaired.
    all.extend(run(&good, &good, "h1", 1_767_229_200_000_000_000));
    let sentence = Insides::of(all, Rule::SEED).behind("h1/rail0").unwrap();
    assert!(
        sentence.contains("at 2026-01-01T01:00:00Z found every link"),
        "{sentence}"
    );
    // Without a test of the near memory nothing is known.
    let mut far = run(&good, &good, "h1", 7);
    far.retain(|row| &*row.reach == "far-memory");
    let sentence = Insides::of(far, Rule::SEED).behind("h1/rail0").unwrap();
    assert!(sentence.contains("neither accuse nor clear"), "{sentence}");
}
