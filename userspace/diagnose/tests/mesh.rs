//! Pairs and their matrix over a simulated fabric, compared with the analysis of the same rows.

use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use rocescope_diagnose::mesh::{Matrix, Metric, Pairs, Severity};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, Rails};
use rocescope_model::{PairRow, PathRow, ProbeRow};

const WINDOW: i64 = 20_000_000_000;

/// Four hosts of four NICs; from a time on, all probes to the third NIC of the second host are lost.
fn rows(lossy_from_ns: i64) -> (Fabric, Vec<ProbeRow>, Vec<PathRow>) {
    let mut fabric = Fabric::new(Rails::two_tiers(4, 4, 2).build().unwrap(), 3);
    let nic = fabric.topology.nic_address(fabric.topology.nic(1, 2));
    let (link, _) = fabric.topology.find(nic).unwrap();
    fabric.faults.push(Fault {
        kind: FaultKind::Loss { probability: 1.0 },
        place: FaultLocation::Direction(LinkDirection { link, up: false }),
        from_ns: lossy_from_ns,
        until_ns: i64::MAX,
    });
    let mesh = Mesh {
        clock_error_ns: 700,
        ..Mesh::default()
    };
    let names = Names::new(&fabric);
    let (mut probes, mut paths) = (Vec::new(), Vec::new());
    mesh.probes(&fabric, 0, WINDOW, |probe| {
        probes.push(names.probe(&fabric, &mesh, &probe));
    });
    mesh.paths(&fabric, 0, |tuple, hops| {
        paths.extend(names.path(&fabric, tuple, 0, &hops));
    });
    (fabric, probes, paths)
}

fn pairs(probes: &[ProbeRow], paths: &[PathRow]) -> Vec<PairRow> {
    let mut pairs = Pairs::default();
    probes.iter().for_each(|probe| pairs.probe(probe));
    paths.iter().for_each(|hop| pairs.path(hop));
    assert_eq!((pairs.unfollowed(), pairs.unreadable()), (0, 0));
    pairs.rows(0, WINDOW)
}

#[test]
fn pairs_add_up_to_the_counts_of_the_analysis() {
    let (_, probes, paths) = rows(WINDOW / 2);
    let pairs = pairs(&probes, &paths);
    assert_eq!(pairs.len(), 4 * 4 * 3);
    let mut analyzer = Analyzer::new(Settings::default(), "test").unwrap();
    probes.iter().for_each(|probe| analyzer.probe(probe));
    let sla = analyzer.finish().remove(0).sla;
    let sum = |of: fn(&PairRow) -> u64| pairs.iter().map(of).sum::<u64>();
    assert!(sla.timeouts > 0);
    assert_eq!(sum(|pair| pair.probes), sla.probes);
    assert_eq!(sum(|pair| pair.timeouts), sla.timeouts);
    assert_eq!(sum(|pair| pair.corrupt), sla.corrupt);
    assert!(pairs.iter().all(|pair| pair.clock_error_ns == 700 && pair.tuples == 8));
}

#[test]
fn quantiles_are_within_their_error_bound() {
    let (_, probes, _) = rows(i64::MAX);
    for pair in pairs(&probes, &[]) {
        let mut exact: Vec<i64> = probes
            .iter()
            .filter(|probe| (probe.src, probe.dst) == (pair.src, pair.dst))
            .filter_map(|probe| probe.network_latency_ns)
            .collect();
        exact.sort_unstable();
        for (share, found) in [(0.5, pair.network_p50_ns), (0.99, pair.network_p99_ns)] {
            let rank = (share * exact.len() as f64 - 1e-9).ceil() as usize;
            let (exact, found) = (exact[rank - 1] as f64, found.unwrap() as f64);
            assert!((found / exact - 1.0).abs() <= 0.008, "{found} for {exact}");
        }
    }
}

#[test]
fn paths_match_the_fabric_and_end_at_the_probed_nic() {
    let (fabric, probes, paths) = rows(i64::MAX);
    for pair in pairs(&probes, &paths) {
        let all: Vec<&str> = pair.path.split(' ').collect();
        // Rail switches, one of two spines, and the NIC.
        assert!((1..=2).contains(&all.len()), "{}", pair.path);
        for path in all {
            let hops: Vec<&str> = path.split('>').collect();
            assert_eq!(hops.len(), 4, "{path}");
            assert_eq!(hops[3], pair.dst.to_string());
            let node = |hop: &str| fabric.topology.find(hop.parse().unwrap());
            assert!(hops[..3].iter().all(|hop| node(hop).is_some()), "{path}");
        }
    }
    // An incomplete trace, and one of a 5-tuple that no agent probes, change nothing.
    let cut: Vec<PathRow> = paths.iter().filter(|hop| hop.hop < hop.hops).cloned().collect();
    assert!(pairs(&probes, &cut).iter().all(|pair| pair.path.is_empty()));
    let other = |hop: &PathRow| PathRow {
        udp_src_port: 1,
        ..hop.clone()
    };
    let other: Vec<PathRow> = paths.iter().map(other).collect();
    assert!(pairs(&probes, &other).iter().all(|pair| pair.path.is_empty()));
}

#[test]
fn a_dead_nic_is_a_bad_column_of_its_host_in_the_matrix() {
    let (_, probes, _) = rows(0);
    let pairs = pairs(&probes, &[]);
    let matrix = Matrix::of(&pairs, 0..pairs.len());
    assert_eq!((matrix.rows.len(), matrix.columns.len()), (16, 4));
    for pair in &pairs {
        let dead = &*pair.observer == "h1" && &*pair.dst_nic == "rail2";
        let severity = matrix.severity(Metric::Drops, pair);
        assert_eq!(severity == Severity::Bad, dead, "{pair:?}");
        assert_eq!(pair.network_p50_ns.is_none(), dead);
    }
}
