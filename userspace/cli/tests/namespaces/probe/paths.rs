//! Traces find the routes of the routers.

use crate::probe::agent::{Agent, Done};
use crate::probe::rails::{Rails, pairs};
use rocescope_diagnose::hostmesh::{Analyzer, Settings};
use std::collections::{BTreeMap, BTreeSet};

type Tuple = (String, String, u16);

/// Enough traces to see every path once: 3 NICs, 2 targets, 4 ports.
const OFTEN: [&str; 12] = [
    // The longest period: a port changes at twelve moments of a day, and hardly ever meanwhile.
    "--renew",
    "1d",
    "--paths-rate",
    "20",
    "--icmp-rate",
    "1000",
    "--source-ports",
    "4",
    "--max-hops",
    "6",
    "--interval",
    "10ms",
];

/// As many probes: each NIC has begun 24 traces, one for every five of its probes, and has eight 5-tuples.
const TRACED: u64 = 360;

/// The last path of each 5-tuple.
fn paths(done: &Done) -> BTreeMap<Tuple, Vec<String>> {
    let mut paths: BTreeMap<Tuple, Vec<String>> = BTreeMap::new();
    for row in &done.paths {
        let tuple = (row.src.to_string(), row.dst.to_string(), row.udp_src_port);
        let path = paths.entry(tuple).or_default();
        if row.hop == 1 {
            path.clear();
        }
        path.push(row.address.map_or_else(|| "*".into(), |address| address.to_string()));
        assert_eq!(path.len(), usize::from(row.hop));
        // A hop that did not answer the last trace keeps its known address.
        assert!(row.round_trip_ns.is_none_or(|time| time > 0), "{row:?}");
    }
    paths
}

/// Each pair has the paths of its four ports, or of five if one changed meanwhile.
fn assert_all_are_there(paths: &BTreeMap<Tuple, Vec<String>>, done: &Done) {
    let mut of_pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (src, dst, _) in paths.keys() {
        *of_pairs.entry((src, dst)).or_default() += 1;
    }
    assert_eq!(of_pairs.len(), 3 * 2, "{}", done.summary);
    assert!(
        of_pairs.values().all(|ports| (4..=5).contains(ports)),
        "{of_pairs:?} {}",
        done.summary
    );
}

fn every_path_matches_the_routers(is_v6: bool) {
    let Some(rails) = Rails::new(2, is_v6) else {
        return;
    };
    // IPv6 routers first have to discover each other, which may take a second: a trace that waits for that is repeated.
    let timeout = if is_v6 { "500ms" } else { "60s" };
    let agent = Agent::begin(&rails, &[&OFTEN[..], &["--timeout", timeout]].concat());
    agent.until_probes(TRACED);
    let done = agent.stop("-INT");
    let paths = paths(&done);
    assert_all_are_there(&paths, &done);
    assert!(is_v6 || done.count("traces_incomplete") == 0);
    assert_eq!(done.count("path_changes"), 0);
    let mut spines = BTreeSet::new();
    for (src, dst) in pairs() {
        let (from, to) = (rails.address(src), rails.address(dst));
        let of_pair = paths.iter().filter(|((s, d, _), _)| *s == from && *d == to);
        for ((_, _, port), path) in of_pair {
            let (router, ingress) = rails.router(src);
            let question = format!("route get {to} from {from} iif {ingress} ipproto udp sport {port} dport 4791");
            let answer = rails.ip(&router, &question);
            let mut words = answer.split_whitespace().skip_while(|word| *word != "via");
            let spine = words.nth(1).unwrap().to_owned();
            assert_eq!(path[0], rails.gateway(src));
            if !is_v6 {
                assert_eq!(path[1], spine, "{question}");
            }
            assert_eq!((path.len(), &path[3]), (4, &to), "{path:?}");
            spines.insert(spine);
        }
    }
    assert!(spines.len() > 3, "at least both spines of a router: {spines:?}");
    // Every probe took a known path.
    for row in &done.probes {
        let tuple = (row.src.to_string(), row.dst.to_string(), row.udp_src_port);
        assert!(paths.contains_key(&tuple));
    }
}

#[test]
fn over_ipv4_every_path_matches_the_routers() {
    every_path_matches_the_routers(false);
}

/// IPv6 routers answer from an address of their choice, not necessarily that of the ingress port.
#[test]
fn over_ipv6_every_path_has_its_hops() {
    every_path_matches_the_routers(true);
}

#[test]
fn a_changed_path_is_written_again_with_its_time() {
    let Some(rails) = Rails::new(2, false) else {
        return;
    };
    let agent = Agent::begin(&rails, &OFTEN);
    agent.until_probes(TRACED);
    let moved = std::time::SystemTime::now();
    let moved = moved.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    // From rail 0 all packets take the second spine.
    for nic in 1..3 {
        rails.ip("r0", &format!("route replace 10.0.{nic}.0/24 via 10.0.110.254"));
    }
    agent.until_more_probes(TRACED);
    let done = agent.stop("-INT");
    let changed: Vec<_> = done.paths.iter().filter(|row| &*row.reason == "changed").collect();
    assert_eq!(done.count("path_changes") * 4, changed.len() as u64);
    assert!(!changed.is_empty());
    // The agent reads the clock before it reads the answers that it has then.
    let early: BTreeSet<i64> = changed
        .iter()
        .map(|row| row.time_ns)
        .filter(|time| *time <= moved)
        .collect();
    assert!(early.len() <= 1, "{early:?}");
    for row in changed {
        assert_eq!(&*row.src_nic, "rail0");
        if row.hop == 2 {
            assert_eq!(row.address.unwrap().to_string(), "10.0.110.254");
        }
    }
    for ((from, ..), path) in paths(&done) {
        assert!(from != "10.0.0.1" || path[1] == "10.0.110.254", "{path:?}");
    }
}

#[test]
fn an_incomplete_trace_keeps_the_known_path() {
    let Some(rails) = Rails::new(2, false) else {
        return;
    };
    let agent = Agent::begin(&rails, &OFTEN);
    agent.until_probes(TRACED);
    rails.ip("r2", "link set p2 down");
    agent.until_more_probes(TRACED);
    let done = agent.stop("-INT");
    assert!(done.count("traces_incomplete") > 0);
    assert_eq!(done.count("path_changes"), 0, "{}", done.summary);
    assert_all_are_there(&paths(&done), &done);
}

/// The fault is older than the agent: no trace reaches rail 2 over the second spine.
#[test]
fn a_spine_that_never_had_a_route_ends_the_paths_over_it_and_is_among_those_named() {
    let Some(rails) = Rails::new(2, false) else {
        return;
    };
    rails.ip("s1", "route del 10.0.2.0/24");
    let agent = Agent::begin(&rails, &OFTEN);
    agent.until_probes(600);
    let done = agent.stop("-INT");
    let cut = paths(&done)
        .into_iter()
        .filter(|(_, path)| path.last().is_some_and(|last| last == "*"));
    for (tuple, path) in cut {
        // A kernel may call the network unreachable, and is a hop then, or not answer.
        let is_known = path.len() == 2 || path[1].starts_with("10.0.11");
        assert!(
            tuple.1 == "10.0.2.1" && path[0].ends_with(".254") && is_known,
            "{tuple:?} {path:?}"
        );
    }
    // All probes are in one window, or in two if one ends meanwhile; most are in one of them, however long they took.
    let settings = Settings {
        window_ns: 1_000_000_000_000,
        ..Settings::default()
    };
    let mut analyzer = Analyzer::new(settings, "test").unwrap();
    for router in 0..3 {
        analyzer.know(rails.gateway(router).parse().unwrap(), &format!("r{router}"));
        for spine in 0..2 {
            analyzer.know(
                rails.of(100 + spine * 10 + router, 254).parse().unwrap(),
                &format!("s{spine}"),
            );
        }
    }
    done.paths.iter().for_each(|row| analyzer.path(row));
    done.probes.iter().for_each(|row| analyzer.probe(row));
    let mut windows = 0;
    for found in analyzer.finish() {
        let lossy = found.verdicts.iter().filter(|verdict| &*verdict.symptom == "loss");
        let places: BTreeSet<&str> = lossy.map(|verdict| &*verdict.place).collect();
        if found.sla.probes >= 300 {
            windows += 1;
            let guilty = ["s1 or its next hops", "r0 or its next hops", "r1 or its next hops"];
            let is_right = !places.is_empty() && places.iter().all(|place| guilty.contains(place));
            assert!(is_right, "{:?}", found.verdicts);
        }
    }
    assert!(windows >= 1, "{windows}");
}
