//! Traces find the routes of the routers.

use crate::probe::agent::{Agent, Done};
use crate::probe::rails::{Rails, pairs};
use std::collections::{BTreeMap, BTreeSet};

type Tuple = (String, String, u16);

/// Enough traces to see every path once: 3 NICs, 2 targets, 4 ports.
const OFTEN: [&str; 10] = [
    // No port changes meanwhile.
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
];

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

fn every_path_matches_the_routers(is_v6: bool) {
    let Some(rails) = Rails::new(2, is_v6) else {
        return;
    };
    let arguments = [&OFTEN[..], &["--duration", "4s"]].concat();
    let done = Agent::begin(&rails, &arguments).end();
    let paths = paths(&done);
    assert_eq!(paths.len(), 3 * 2 * 4, "{}", done.summary);
    // IPv6 routers first have to discover each other, which may take a second.
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
    let arguments = [&OFTEN[..], &["--duration", "6s"]].concat();
    let agent = Agent::begin(&rails, &arguments);
    std::thread::sleep(std::time::Duration::from_secs(3));
    let moved = std::time::SystemTime::now();
    let moved = moved.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as i64;
    // From rail 0 all packets take the second spine.
    for nic in 1..3 {
        rails.ip("r0", &format!("route replace 10.0.{nic}.0/24 via 10.0.110.254"));
    }
    let done = agent.end();
    let changed: Vec<_> = done.paths.iter().filter(|row| &*row.reason == "changed").collect();
    assert_eq!(done.count("path_changes") * 4, changed.len() as u64);
    assert!(!changed.is_empty());
    for row in changed {
        assert_eq!(&*row.src_nic, "rail0");
        assert!(row.time_ns > moved);
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
    let arguments = [&OFTEN[..], &["--duration", "5s"]].concat();
    let agent = Agent::begin(&rails, &arguments);
    std::thread::sleep(std::time::Duration::from_secs(2));
    rails.ip("r2", "link set p2 down");
    let done = agent.end();
    assert!(done.count("traces_incomplete") > 0);
    assert_eq!(done.count("path_changes"), 0, "{}", done.summary);
    assert_eq!(paths(&done).len(), 24);
}
