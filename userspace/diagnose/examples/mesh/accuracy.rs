//! Faults at random places, and whether our scan finds them, compared with the paper's rules alone.

use crate::{START, WINDOW, analyzer};
use rocescope_diagnose::hostmesh::WindowDiagnosis;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::random::Draws;
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Nic, Rails, Topology};
use rocescope_model::Time;
use std::collections::BTreeSet;

/// The faults of a run.
#[derive(Clone, Copy)]
struct Scenario {
    name: &'static str,
    /// Loss of links between switches.
    links: &'static [f64],
    /// Whether they lose packets in both directions.
    both_ways: bool,
    /// Whether all of them belong to one switch.
    at_one_switch: bool,
    /// NICs that are down.
    nics: usize,
}

const fn one_way(name: &'static str, links: &'static [f64], nics: usize) -> Scenario {
    Scenario {
        name,
        links,
        both_ways: false,
        at_one_switch: false,
        nics,
    }
}

const fn both_ways(name: &'static str, links: &'static [f64]) -> Scenario {
    Scenario {
        both_ways: true,
        ..one_way(name, links, 0)
    }
}

const fn at_one_switch(name: &'static str, links: &'static [f64]) -> Scenario {
    Scenario {
        at_one_switch: true,
        ..one_way(name, links, 0)
    }
}

const fn at_one_switch_both_ways(name: &'static str, links: &'static [f64]) -> Scenario {
    Scenario {
        at_one_switch: true,
        ..both_ways(name, links)
    }
}

const SCENARIOS: [Scenario; 24] = [
    one_way("link, 0.3 %", &[0.003], 0),
    one_way("link, 1 %", &[0.01], 0),
    one_way("link, 5 %", &[0.05], 0),
    one_way("link, 20 %", &[0.2], 0),
    one_way("link, 50 %", &[0.5], 0),
    both_ways("link, 5 % both ways", &[0.05]),
    one_way("two links, 50 % and 5 %", &[0.5, 0.05], 0),
    one_way("two links, 100 % each", &[1.0, 1.0], 0),
    one_way("three links, 100, 20 and 5 %", &[1.0, 0.2, 0.05], 0),
    one_way("NIC down and link, 20 %", &[0.2], 1),
    one_way("two NICs down and link, 5 %", &[0.05], 2),
    at_one_switch("one switch: 100 and 100 %", &[1.0, 1.0]),
    at_one_switch("one switch: 50 and 50 %", &[0.5, 0.5]),
    at_one_switch("one switch: 5 and 5 %", &[0.05, 0.05]),
    at_one_switch("one switch: 3 and 3 %", &[0.03, 0.03]),
    at_one_switch("one switch: 100 and 5 %", &[1.0, 0.05]),
    at_one_switch("one switch: 100, 100 and 5 %", &[1.0, 1.0, 0.05]),
    at_one_switch_both_ways("one switch, both ways: 100 and 100 %", &[1.0, 1.0]),
    at_one_switch_both_ways("one switch, both ways: 50 and 50 %", &[0.5, 0.5]),
    at_one_switch_both_ways("one switch, both ways: 5 and 5 %", &[0.05, 0.05]),
    at_one_switch_both_ways("one switch, both ways: 3 and 3 %", &[0.03, 0.03]),
    at_one_switch_both_ways("one switch, both ways: 100 and 5 %", &[1.0, 0.05]),
    at_one_switch_both_ways("one switch, both ways: 100, 5 and 5 %", &[1.0, 0.05, 0.05]),
    one_way("nothing", &[], 0),
];

/// Windows with the fault, unless both methods find all of it earlier.
const WINDOWS: i64 = 2;

/// Reported places: correct ones and all.
#[derive(Default, Clone, Copy)]
struct Named {
    right: usize,
    all: usize,
    /// Faults that were found.
    found: usize,
    faults: usize,
}

impl Named {
    fn add(&mut self, truth: &BTreeSet<String>, named: &BTreeSet<String>) {
        let right = named.intersection(truth).count();
        self.right += right;
        self.all += named.len();
        self.found += right;
        self.faults += truth.len();
    }
}

fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => "–".into(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

/// Runs the scenarios whose names contain one of `chosen`, or all.
pub(crate) fn run(seeds: u64, chosen: &[&str]) {
    println!("### Accuracy\n");
    println!(
        "2,000 hosts with 8 NICs: 32 groups of 8 rail switches, 8 upper switches per rail, 16 spines; 3.2 million\n\
        probes per window, 8 source ports per NIC; every fabric also loses 1 probe in 100,000 at each switch;\n\
        {seeds} seeds per line. A place is a NIC, or a link in one direction: a link that loses in both directions is two places,\n\
        \"and back\" names two, and of several that tie each counts. Recall: the share of faulty places that are reported;\n\
        precision: the share of reported places that are faulty. A run ends when both methods report everything, or after two windows.\n"
    );
    println!(
        "| fault | rocescope, recall in the 1st window | within 2 windows | precision | paper's rules, recall in the 1st | within 2 | precision |"
    );
    println!("|---|---|---|---|---|---|---|");
    let is_chosen = |scenario: &&Scenario| chosen.is_empty() || chosen.iter().any(|part| scenario.name.contains(part));
    for scenario in SCENARIOS.iter().filter(is_chosen) {
        let mut ours = [Named::default(); 2];
        let mut papers = [Named::default(); 2];
        for (truth, windows) in runs(scenario, seeds) {
            let (mut by_us, mut by_paper) = (BTreeSet::new(), BTreeSet::new());
            for i in 0..2 {
                if let Some(window) = windows.get(i) {
                    by_us.extend(window.by_us.iter().cloned());
                    by_paper.extend(window.by_paper.iter().cloned());
                }
                ours[i].add(&truth, &by_us);
                papers[i].add(&truth, &by_paper);
            }
            let missed: Vec<&String> = truth.difference(&by_us).collect();
            if !missed.is_empty() {
                eprintln!("{}: missed {missed:?}", scenario.name);
            }
            let wrong: Vec<&String> = by_us.difference(&truth).collect();
            if !wrong.is_empty() {
                eprintln!("{}: wrong {wrong:?}", scenario.name);
            }
        }
        let cells = |named: &[Named; 2]| {
            format!(
                "{} | {} | {}",
                percent(named[0].found, named[0].faults),
                percent(named[1].found, named[1].faults),
                percent(named[1].right, named[1].all)
            )
        };
        let wrong = |named: &[Named; 2]| format!(" ({} wrong)", named[1].all - named[1].right);
        println!(
            "| {} | {}{} | {}{} |",
            scenario.name,
            cells(&ours),
            wrong(&ours),
            cells(&papers),
            wrong(&papers)
        );
    }
}

/// The places that were reported in a window.
struct Seen {
    by_us: BTreeSet<String>,
    by_paper: BTreeSet<String>,
}

/// All runs of a scenario, on two threads.
fn runs(scenario: &Scenario, seeds: u64) -> Vec<(BTreeSet<String>, Vec<Seen>)> {
    let half = |first: u64| -> Vec<_> { (first..seeds).step_by(2).map(|seed| one(scenario, seed)).collect() };
    std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        let even = half(0);
        even.into_iter().chain(odd.join().unwrap()).collect()
    })
}

fn one(scenario: &Scenario, seed: u64) -> (BTreeSet<String>, Vec<Seen>) {
    let topology = Rails::three_tiers(2_000, 8, 64, 8, 16).build().unwrap();
    let mut fabric = Fabric::new(topology, seed);
    let mut draws = Draws::new(seed ^ 0xFA);
    let mut truth = BTreeSet::new();
    let mut fail = |kind, place| {
        fabric.faults.push(Fault {
            kind,
            place,
            from_ns: START,
            until_ns: i64::MAX,
        });
    };
    for (link, probability) in links(scenario, &topology, &mut draws).into_iter().zip(scenario.links) {
        let way = LinkDirection {
            link,
            up: draws.happens(0.5),
        };
        let (from, to) = topology.from_to(way);
        let (from, to) = (topology.name(from), topology.name(to));
        truth.insert(format!("{from}>{to}"));
        if scenario.both_ways {
            truth.insert(format!("{to}>{from}"));
        }
        let place = match scenario.both_ways {
            true => FaultLocation::Link(link),
            false => FaultLocation::Direction(way),
        };
        fail(
            FaultKind::Loss {
                probability: *probability,
            },
            place,
        );
    }
    for _ in 0..scenario.nics {
        let nic = Nic(draws.below(topology.nics()));
        truth.insert(nic_name(&topology, nic));
        fail(FaultKind::LinkDown, FaultLocation::Nic(nic));
    }
    let healthy = Fabric {
        faults: Vec::new(),
        ..fabric.clone()
    };
    let (mesh, names) = (
        Mesh {
            seed,
            ..Mesh::default()
        },
        Names::new(&fabric),
    );
    let mut analyzer = analyzer(&fabric);
    // Paths are traced before the fault begins.
    mesh.paths(&healthy, START, |tuple, hops| {
        for row in names.path(&healthy, tuple, START, &hops) {
            analyzer.path(&row);
        }
    });
    let mut background = Draws::new(seed ^ 0xB6);
    let mut windows = Vec::new();
    for window in 0..WINDOWS {
        let from = START + window * WINDOW;
        mesh.probes(&fabric, from, from + WINDOW, |probe| {
            let mut row = names.probe(&fabric, &mesh, &probe);
            // Five switches on the path.
            if background.happens(5e-5) {
                row.outcome = "timeout".into();
            }
            analyzer.probe(&row);
        });
        let found = analyzer.advance(Time(from + WINDOW)).remove(0);
        let mut by_paper: BTreeSet<String> = found.anomalous_nics.iter().cloned().collect();
        let links = analyzer.link_rows(&found);
        let most = links.iter().map(|link| link.votes).max().unwrap_or(0);
        let first = links.iter().filter(|link| most > 0 && link.votes == most);
        by_paper.extend(first.map(|link| format!("{}>{}", link.from, link.to)));
        windows.push(Seen {
            by_us: named(&found),
            by_paper,
        });
        let is_all = |named: fn(&Seen) -> &BTreeSet<String>| {
            let so_far = windows.iter().flat_map(named).collect::<BTreeSet<_>>();
            truth.iter().all(|place| so_far.contains(place))
        };
        if !truth.is_empty() && is_all(|seen| &seen.by_us) && is_all(|seen| &seen.by_paper) {
            break;
        }
    }
    (truth, windows)
}

/// Draws different links between switches, all of them of one switch if the scenario states it.
fn links(scenario: &Scenario, topology: &Topology, draws: &mut Draws) -> Vec<LinkId> {
    let inner: Vec<LinkId> = (topology.nics()..topology.links()).map(LinkId).collect();
    let draw = |from: &[LinkId], draws: &mut Draws| {
        from[usize::try_from(draws.below(u32::try_from(from.len()).unwrap())).unwrap()]
    };
    let mut from = inner.clone();
    if scenario.at_one_switch {
        let (lower, upper) = topology.ends(draw(&inner, draws));
        let switch = if draws.happens(0.5) { lower } else { upper };
        from.retain(|link| {
            let (lower, upper) = topology.ends(*link);
            lower == switch || upper == switch
        });
    }
    let mut drawn: Vec<LinkId> = Vec::new();
    while drawn.len() < scenario.links.len() {
        let link = draw(&from, draws);
        if !drawn.contains(&link) {
            drawn.push(link);
        }
    }
    drawn
}

/// The name of a NIC in rows of `probes`.
fn nic_name(topology: &Topology, nic: Nic) -> String {
    format!("h{}/rail{}", topology.host_of(nic), topology.rail_of(nic))
}

/// Returns every place that a verdict names: a link in one direction, a NIC or another place.
fn named(found: &WindowDiagnosis) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for verdict in &found.verdicts {
        match &verdict.link {
            Some(links) => all.extend(links.split(' ').map(String::from)),
            None => all.extend([verdict.place.to_string()]),
        }
    }
    all
}
