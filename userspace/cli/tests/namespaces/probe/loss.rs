//! Loss, a link that is down, a missing route: each in its direction.

use crate::probe::agent::Agent;
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use std::time::{SystemTime, UNIX_EPOCH};

fn now_ns() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_nanos().try_into().unwrap()
}

fn is_between(row: &ProbeRow, src: &str, dst: &str) -> bool {
    &*row.src_nic == src && &*row.dst_nic == dst
}

#[test]
fn loss_in_one_direction_times_out_only_there() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let rule = format!("rule add from {} to {} blackhole", rails.address(0), rails.address(1));
    rails.ip("r0", &rule);
    let agent = Agent::begin(&rails, &["--interval", "10ms"]);
    agent.until_probes(90);
    let done = agent.stop("-INT");
    assert!(done.count("timeouts") > 5, "{}", done.summary);
    for row in &done.probes {
        let outcome = if is_between(row, "rail0", "rail1") {
            "timeout"
        } else {
            "received"
        };
        assert_eq!(&*row.outcome, outcome, "{row:?}");
    }
    // The probes left the host.
    assert!(done.outcome("timeout").all(|row| row.nic_send_ns.is_some()));
    assert_eq!(done.count("received_after_their_timeout"), 0);
}

#[test]
fn a_nic_that_is_down_sends_nothing_and_probes_to_it_are_lost() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let agent = Agent::begin(&rails, &["--interval", "10ms"]);
    rails.ip("h", "link set rail2 down");
    let down_ns = now_ns();
    agent.until_more_probes(90);
    let done = agent.stop("-INT");
    let (mut unsent, mut timeouts) = (0, 0);
    for row in done.probes.iter().filter(|row| row.time_ns > down_ns) {
        let outcome = match (&*row.src_nic, &*row.dst_nic) {
            ("rail2", _) => {
                unsent += 1;
                "unsent"
            }
            (_, "rail2") => {
                timeouts += 1;
                "timeout"
            }
            _ => "received",
        };
        assert_eq!(&*row.outcome, outcome, "{row:?}");
    }
    assert!(unsent > 5 && timeouts > 5, "{}", done.summary);
}

/// Without a route, the kernel treats the destination as a neighbour on the NIC and reports no route.
fn without_a_route_a_nic_sends_nothing(is_v6: bool) {
    let Some(rails) = Rails::new(0, is_v6) else {
        return;
    };
    let options = ["--interval", "10ms", "--timeout", "60s", "--paths-rate", "0"];
    let agent = Agent::begin(&rails, &options);
    agent.until_probes(30);
    let route = format!("default via {} dev rail2 metric 12", rails.gateway(2));
    rails.ip("h", &format!("route del {route}"));
    agent.until_more_probes(60);
    rails.ip("h", &format!("route add {route}"));
    agent.until_more_probes(1);
    agent.until_all_received();
    let done = agent.stop("-INT");
    // From when the agent notices that there is no route until it notices that there is one.
    let of_rail2 = done.probes.iter().filter(|row| &*row.src_nic == "rail2");
    let mut outcomes: Vec<&str> = of_rail2.map(|row| &*row.outcome).collect();
    outcomes.dedup();
    assert_eq!(outcomes, ["received", "unsent", "received"]);
    assert!(done.outcome("unsent").all(|row| &*row.src_nic == "rail2"));
    assert!(done.outcome("unsent").count() > 5, "{}", done.summary);
    assert_eq!(done.count("timeouts"), 0);
}

#[test]
fn without_a_route_over_ipv4_a_nic_sends_nothing() {
    without_a_route_a_nic_sends_nothing(false);
}

#[test]
fn without_a_route_over_ipv6_a_nic_sends_nothing() {
    without_a_route_a_nic_sends_nothing(true);
}
