//! Faults that are older than the first trace, and faults that outlast the source ports: with 2, 3 and 4 NICs a host, and with 2
//! and 12 spines. Every window that loses probes must have a verdict, on the place of the fault and on no other.

use super::{START, WINDOW, analyzer};
use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, FiveTuple, LinkDirection, Rails, Role};
use rocescope_model::{ROCE_UDP_PORT, Time, VerdictRow};

/// Hosts, and the one at fault.
const HOSTS: u32 = 4;
const HOST: u32 = 2;
/// Source ports are renewed every minute: three windows.
const RENEWAL: i64 = 3;
/// Windows without the fault, where it is younger than the agents, and windows with it: more than three renewals.
const BEFORE: i64 = 2;
const WITH: i64 = 11;

/// The faults.
#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    /// The routes of a spine to all NICs of a rail.
    RoutesToRail,
    RouteToNic,
    LinkDown,
    LinkLoss(f64),
    LinkCorruption,
    SpineLoss,
    NicDown,
    NicLoss(f64),
    NicFlapping,
    AccessList,
    Blackhole,
}

const KINDS: [What; 13] = [
    What::RoutesToRail,
    What::RouteToNic,
    What::LinkDown,
    What::LinkLoss(0.5),
    What::LinkLoss(0.2),
    What::LinkCorruption,
    What::SpineLoss,
    What::NicDown,
    What::NicLoss(0.5),
    What::NicLoss(0.2),
    What::NicFlapping,
    What::AccessList,
    What::Blackhole,
];

/// A fault in a fabric.
#[derive(Debug, Clone, Copy)]
struct Case {
    what: What,
    is_old: bool,
    nics: u32,
    spines: u32,
    seed: u64,
}

/// The result of a case.
#[derive(Debug, Default, Clone, Copy)]
struct Outcome {
    /// Windows that lost probes, and those of them without a verdict.
    lossy: u64,
    unnamed: u64,
    /// Whether the place was named in every such window, and no other was.
    is_right: bool,
}

pub(super) fn evaluate(size: Size) -> Vec<Line> {
    let seeds = size.choose(1, 10);
    let mut cases = Vec::new();
    for seed in 0..seeds {
        for (nics, spines) in [(2, 2), (2, 12), (3, 2), (3, 12), (4, 2), (4, 12)] {
            for what in KINDS {
                for is_old in [true, false] {
                    cases.push(Case {
                        what,
                        is_old,
                        nics,
                        spines,
                        seed,
                    });
                }
            }
        }
    }
    let outcomes = parallel::each(&cases, run);
    let all = cases.len() as u64;
    let right = outcomes.iter().filter(|one| one.is_right).count() as u64;
    let unnamed: u64 = outcomes.iter().map(|one| one.unnamed).sum();
    vec![
        Line::new(
            "old and lasting faults",
            all,
            "named in every window with loss, and nothing else, %",
            percent(right, all),
            Goal::AtLeast(95.0),
        ),
        Line::new(
            "old and lasting faults, windows",
            outcomes.iter().map(|one| one.lossy).sum(),
            "with loss and without a verdict",
            unnamed as f64,
            Goal::AtMost(0.0),
        ),
    ]
}

fn run(case: &Case) -> Outcome {
    let topology = Rails::two_tiers(HOSTS, case.nics, case.spines).build().unwrap();
    let mut fabric = Fabric::new(topology, case.seed);
    let mesh = Mesh {
        seed: case.seed,
        renew_ns: RENEWAL * WINDOW,
        ..Mesh::default()
    };
    let before = if case.is_old { 0 } else { BEFORE };
    let truth = suffer(case, &mut fabric, &mesh, START + before * WINDOW);
    let names = Names::new(&fabric);
    let mut analyzer = analyzer(&fabric);
    let mut outcome = Outcome {
        is_right: true,
        ..Outcome::default()
    };
    for from in (0..before + WITH).map(|window| START + window * WINDOW) {
        mesh.paths(&fabric, from, |tuple, hops| {
            for row in names.path(&fabric, tuple, from, &hops) {
                analyzer.path(&row);
            }
        });
        mesh.probes(&fabric, from, from + WINDOW, |probe| {
            analyzer.probe(&names.probe(&fabric, &mesh, &probe));
        });
        let found = analyzer.advance(Time(from + WINDOW)).remove(0);
        let is_lossy = found.sla.timeouts + found.sla.corrupt > 0;
        // Where no more is known, the sentence has between whom the loss is.
        let text = |verdict: &VerdictRow| match &*verdict.place_kind {
            "mesh" => verdict.sentence.to_string(),
            _ => verdict.place.to_string(),
        };
        let is_named = |verdict: &VerdictRow| truth.iter().any(|place| text(verdict).contains(place.as_str()));
        let is_window_right = is_lossy != found.verdicts.is_empty() && found.verdicts.iter().all(is_named);
        outcome.lossy += u64::from(is_lossy);
        outcome.unnamed += u64::from(is_lossy && found.verdicts.is_empty());
        if !is_window_right {
            let verdicts = found.verdicts.iter();
            let verdicts: Vec<String> = verdicts
                .map(|verdict| format!("{} {}", verdict.class, verdict.place))
                .collect();
            eprintln!(
                "{case:?}, window {}: {verdicts:?} instead of {truth:?}",
                (from - START) / WINDOW
            );
        }
        outcome.is_right &= is_window_right;
    }
    outcome
}

/// Lets the fault begin; returns what the place of its verdict contains: one of these.
fn suffer(case: &Case, fabric: &mut Fabric, mesh: &Mesh, from_ns: i64) -> Vec<String> {
    let topology = fabric.topology;
    let (spine, rail) = (case.spines - 1, case.nics - 1);
    let spine_node = topology.node(Role::Spine(spine));
    let leaf = topology.node(Role::Rail { group: 0, rail });
    let nic = topology.nic(HOST, rail);
    let (spine_name, leaf_name) = (topology.name(spine_node), topology.name(leaf));
    let of_nic = vec![format!("h{HOST}/rail{rail}")];
    let of_link = vec![format!("{spine_name}>{leaf_name}"), format!("{leaf_name}>{spine_name}")];
    let link = topology.between(leaf, spine_node).unwrap();
    let at_link = FaultLocation::Link(link);
    let mut fail = |kind, place| {
        fabric.faults.push(Fault {
            kind,
            place,
            from_ns,
            until_ns: i64::MAX,
        });
    };
    match case.what {
        What::RoutesToRail => {
            for host in 0..HOSTS {
                let to = topology.nic(host, rail);
                fail(FaultKind::MissingRoute { to }, FaultLocation::Node(spine_node));
            }
            of_link
        }
        What::RouteToNic => {
            fail(FaultKind::MissingRoute { to: nic }, FaultLocation::Node(spine_node));
            // A spine that does not answer is a next hop of each leaf.
            let next_hop = " or its next hops".to_owned();
            vec![format!("h{HOST}/rail{rail} at {spine_name}"), next_hop]
        }
        What::LinkDown => {
            fail(FaultKind::LinkDown, at_link);
            of_link
        }
        What::LinkLoss(probability) => {
            fail(FaultKind::Loss { probability }, at_link);
            of_link
        }
        What::LinkCorruption => {
            fail(FaultKind::Corruption { probability: 0.2 }, at_link);
            of_link
        }
        What::SpineLoss => {
            fail(FaultKind::Loss { probability: 0.2 }, FaultLocation::Node(spine_node));
            vec![spine_name]
        }
        What::NicDown => {
            fail(FaultKind::LinkDown, FaultLocation::Nic(nic));
            of_nic
        }
        What::NicLoss(probability) => {
            fail(FaultKind::Loss { probability }, FaultLocation::Nic(nic));
            of_nic
        }
        What::NicFlapping => {
            let period_ns = 4_000_000_000;
            fail(FaultKind::Flapping { period_ns }, FaultLocation::Nic(nic));
            of_nic
        }
        What::AccessList => {
            let (src, dst) = (Some(topology.nic(HOST, 0)), Some(nic));
            fail(FaultKind::Acl { src, dst }, FaultLocation::Node(leaf));
            of_nic
        }
        What::Blackhole => {
            let src = topology.nic(HOST, 0);
            // Every port that a slot has in these windows: a filter of a few bits.
            for renewal in 0..=WITH / RENEWAL {
                let at_ns = from_ns + renewal * RENEWAL * WINDOW;
                let tuple = FiveTuple {
                    src,
                    dst: nic,
                    udp_src_port: mesh.port(src, 1, at_ns),
                    udp_dst_port: ROCE_UDP_PORT,
                };
                let up = LinkDirection {
                    link: fabric.route(tuple, at_ns).ways()[1].link,
                    up: true,
                };
                fabric.faults.push(Fault {
                    kind: FaultKind::Blackhole { tuple },
                    place: FaultLocation::Direction(up),
                    from_ns,
                    until_ns: i64::MAX,
                });
            }
            vec![format!("h{HOST}/rail0 to h{HOST}/rail{rail}, source port ")]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Line, Size};

    #[test]
    fn old_and_lasting_faults_have_a_verdict_in_every_window() {
        let lines = super::evaluate(Size {
            full: false,
            details: false,
        });
        assert!(lines.iter().all(Line::is_met), "{lines:?}");
    }
}
