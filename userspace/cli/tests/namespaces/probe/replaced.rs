//! NICs that disappear and return while the agent runs.

use crate::probe::agent::{Agent, Done};
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

/// Outcomes of the matching probes that were due in a range of seconds after the first probe.
fn outcomes(done: &Done, of: impl Fn(&ProbeRow) -> bool, from: f64, to: f64) -> BTreeSet<String> {
    let begun = done.probes[0].time_ns;
    let at = |row: &&ProbeRow| (row.time_ns - begun) as f64 / 1e9;
    let rows = done.probes.iter().filter(|row| of(row));
    let rows = rows.filter(|row| (from..to).contains(&at(row)));
    rows.map(|row| row.outcome.to_string()).collect()
}

fn is_from(row: &ProbeRow) -> bool {
    &*row.src_nic == "rail2"
}

fn is_to(row: &ProbeRow) -> bool {
    &*row.dst_nic == "rail2"
}

/// The interface returns with another index and MAC address, and the agent has no capability left to open a socket.
fn comes_back(is_v6: bool, last: u8) {
    let Some(rails) = Rails::new(0, is_v6) else {
        return;
    };
    let agent = Agent::begin(&rails, &["--duration", "12s"]);
    sleep(Duration::from_secs(2));
    rails.ip("h", "link del rail2");
    sleep(Duration::from_secs(3));
    rails.plug(2, last);
    let done = agent.end();
    let only = |outcome: &str| BTreeSet::from([outcome.to_owned()]);
    for (of, meanwhile) in [(is_from as fn(&ProbeRow) -> bool, "unsent"), (is_to, "timeout")] {
        assert_eq!(outcomes(&done, of, 0.0, 1.0), only("received"));
        assert_eq!(outcomes(&done, of, 2.5, 4.5), only(meanwhile));
        assert_eq!(outcomes(&done, of, 9.0, 12.0), only("received"));
    }
    let others = |row: &ProbeRow| !is_from(row) && !is_to(row);
    assert_eq!(outcomes(&done, others, 0.0, 12.0), only("received"));
    assert_eq!(done.count("nics_replaced"), 1);
    let address = rails.of(2, last);
    let gone = done
        .said
        .find("rail2 disappeared: ")
        .unwrap_or_else(|| panic!("{}", done.said));
    let back = format!("rail2 is back, at {address}\n");
    assert!(done.said[gone..].contains(&back), "{}", done.said);
    let rows = done.probes.iter().rev().filter(|row| is_from(row)).take(5);
    for row in rows {
        assert_eq!(row.src.to_string(), address);
    }
}

#[test]
fn a_nic_that_is_created_again_continues() {
    comes_back(false, 1);
}

#[test]
fn a_nic_that_is_created_again_with_another_address_continues_with_it() {
    comes_back(false, 7);
}

#[test]
fn an_ipv6_nic_that_is_created_again_continues() {
    comes_back(true, 1);
}
