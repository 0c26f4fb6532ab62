//! NICs that disappear and return while the agent runs.

use crate::probe::agent::{Agent, Done};
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos().try_into().unwrap()
}

/// Outcomes of the matching probes that were due after a time, up to a number of them.
fn outcomes(done: &Done, of: impl Fn(&ProbeRow) -> bool, since_ns: i64, most: usize) -> BTreeSet<String> {
    let rows = done.probes.iter().filter(|row| of(row) && row.time_ns > since_ns);
    rows.take(most).map(|row| row.outcome.to_string()).collect()
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
    let agent = Agent::begin(&rails, &["--interval", "10ms"]);
    agent.until_probes(60);
    rails.ip("h", "link del rail2");
    agent.until_said("rail2 disappeared: ");
    let gone_ns = now_ns();
    agent.until_more_probes(120);
    rails.plug(2, last);
    agent.until_said("rail2 is back, ");
    agent.until_more_probes(1);
    agent.until_all_received();
    let back_ns = now_ns();
    agent.until_more_probes(60);
    let done = agent.stop("-INT");
    let only = |outcome: &str| BTreeSet::from([outcome.to_owned()]);
    // Of the probes that it had reported before the next change, the first ones: some are reported before earlier ones.
    for (of, meanwhile) in [(is_from as fn(&ProbeRow) -> bool, "unsent"), (is_to, "timeout")] {
        assert_eq!(outcomes(&done, of, 0, 5), only("received"));
        assert_eq!(outcomes(&done, of, gone_ns, 10), only(meanwhile));
        assert_eq!(outcomes(&done, of, back_ns, usize::MAX), only("received"));
    }
    let others = |row: &ProbeRow| !is_from(row) && !is_to(row);
    assert_eq!(outcomes(&done, others, 0, usize::MAX), only("received"));
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
