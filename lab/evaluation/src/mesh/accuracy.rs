//! Faults at random places, and whether our scan finds them, compared with the paper's rules alone.

use super::{START, WINDOW, analyzer};
use crate::parallel;
use crate::table::{Goal, Line, Size, percent};
use rocescope_diagnose::hostmesh::WindowDiagnosis;
use rocescope_fabric::probing::{Mesh, Names};
use rocescope_fabric::random::Draws;
use rocescope_fabric::{Fabric, Fault, FaultKind, FaultLocation, LinkDirection, LinkId, Nic, Rails, Topology};
use rocescope_model::{Time, VerdictRow};
use std::collections::BTreeSet;

/// The faults of a run.
#[derive(Clone, Copy)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Loss of links between switches.
    pub(super) links: &'static [f64],
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

pub(super) const SCENARIOS: [Scenario; 24] = [
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

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "–".into(),
        _ => format!("{:.1} %", percent(part as u64, whole as u64)),
    }
}

/// The seeds of a fault, and the smallest loss that a small cluster sends enough probes for.
pub(super) const SEEDS: u64 = 1;
pub(super) const ALL_SEEDS: u64 = 20;
pub(super) const LEAST_LOSS: f64 = 0.05;
/// Two windows are too few for this loss at the sizes of `docs/bench/mesh.md`.
const HIDDEN_LOSS: f64 = 0.003;

/// Runs the scenarios whose names contain `only`.
pub(super) fn evaluate(size: Size, only: &str) -> Vec<Line> {
    let seeds = size.choose(SEEDS, ALL_SEEDS);
    if size.details {
        println!(
            "{} hosts with 8 NICs, {seeds} seeds a line. A place is a NIC, or a link in one direction: a link that loses in\n\
            both directions is two places, \"and back\" names two, and of several that tie each counts. Recall: the share of\n\
            faulty places that are reported; precision: the share of reported places that are faulty. A run ends when both\n\
            methods report everything, or after two windows.\n",
            hosts(size)
        );
        println!(
            "| fault | rocescope, recall in the 1st window | within 2 windows | precision | paper's rules, recall in the 1st | within 2 | precision |"
        );
        println!("|---|---|---|---|---|---|---|");
    }
    let is_chosen = |scenario: &&Scenario| {
        scenario.name.contains(only) && (size.full || scenario.links.iter().all(|loss| *loss >= LEAST_LOSS))
    };
    let chosen: Vec<&Scenario> = SCENARIOS.iter().filter(is_chosen).collect();
    let of_scenario = |scenario: &&Scenario| (0..seeds).map(|seed| (**scenario, seed)).collect::<Vec<_>>();
    let work: Vec<(Scenario, u64)> = chosen.iter().flat_map(of_scenario).collect();
    let done = parallel::each(&work, |(scenario, seed)| one(scenario, *seed, size));
    let (mut all, mut hidden) = (Named::default(), Named::default());
    for (scenario, runs) in chosen.iter().zip(done.chunks(seeds as usize)) {
        let (ours, papers) = score(scenario, runs);
        if size.details {
            println!("| {} | {} | {} |", scenario.name, cells(&ours), cells(&papers));
        }
        let sum = match scenario.links {
            [HIDDEN_LOSS] => &mut hidden,
            _ => &mut all,
        };
        sum.right += ours[1].right;
        sum.all += ours[1].all;
        sum.found += ours[1].found;
        sum.faults += ours[1].faults;
    }
    let of = |part: usize, whole: usize| percent(part as u64, whole as u64);
    vec![
        Line::new(
            "faults of 1 % and more",
            work.len() as u64,
            "places reported in 2 windows, %",
            of(all.found, all.faults),
            Goal::AtLeast(95.0),
        ),
        Line::new(
            "all faults, and none",
            work.len() as u64,
            "reported places that are faulty, %",
            of(all.right + hidden.right, all.all + hidden.all),
            Goal::AtLeast(98.0),
        ),
    ]
}

fn cells(named: &[Named; 2]) -> String {
    format!(
        "{} | {} | {} ({} wrong)",
        share(named[0].found, named[0].faults),
        share(named[1].found, named[1].faults),
        share(named[1].right, named[1].all),
        named[1].all - named[1].right
    )
}

/// What both methods name in the first window, and in both windows.
fn score(scenario: &Scenario, runs: &[(BTreeSet<String>, Vec<Seen>)]) -> ([Named; 2], [Named; 2]) {
    let (mut ours, mut papers) = ([Named::default(); 2], [Named::default(); 2]);
    for (truth, windows) in runs {
        let (mut by_us, mut by_paper) = (BTreeSet::new(), BTreeSet::new());
        for i in 0..2 {
            if let Some(window) = windows.get(i) {
                by_us.extend(window.by_us.iter().cloned());
                by_paper.extend(window.by_paper.iter().cloned());
            }
            ours[i].add(truth, &by_us);
            papers[i].add(truth, &by_paper);
        }
        let missed: Vec<&String> = truth.difference(&by_us).collect();
        let wrong: Vec<&String> = by_us.difference(truth).collect();
        if !missed.is_empty() || !wrong.is_empty() {
            eprintln!("{}: missed {missed:?}, wrong {wrong:?}", scenario.name);
        }
    }
    (ours, papers)
}

fn hosts(size: Size) -> u32 {
    size.choose(256, 2_000)
}

/// The places that were reported in a window.
pub(super) struct Seen {
    /// The verdicts on it.
    pub(super) verdicts: Vec<VerdictRow>,
    by_us: BTreeSet<String>,
    by_paper: BTreeSet<String>,
}

pub(super) fn one(scenario: &Scenario, seed: u64, size: Size) -> (BTreeSet<String>, Vec<Seen>) {
    // Groups, upper switches of a rail, spines.
    let topology = Rails::three_tiers(hosts(size), 8, 64, 8, 16).build().unwrap();
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
            verdicts: found.verdicts,
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
