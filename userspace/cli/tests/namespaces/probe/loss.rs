//! Loss, a link that is down, a missing route: each in its direction.

use crate::probe::agent::Agent;
use crate::probe::rails::Rails;
use rocescope_model::ProbeRow;
use std::time::Duration;

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
    let done = Agent::begin(&rails, &["--duration", "3s"]).end();
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
    let agent = Agent::begin(&rails, &["--duration", "3s"]);
    rails.ip("h", "link set rail2 down");
    let done = agent.end();
    let (mut unsent, mut timeouts) = (0, 0);
    // A probe may have been in flight.
    for row in done.probes.iter().skip(15) {
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
    let agent = Agent::begin(&rails, &["--duration", "4s"]);
    let route = format!("default via {} dev rail2 metric 12", rails.gateway(2));
    rails.ip("h", &format!("route del {route}"));
    std::thread::sleep(Duration::from_secs(2));
    rails.ip("h", &format!("route add {route}"));
    let done = agent.end();
    // 20 turns of `rail2`, except those before the agent noticed.
    let unsent = done.outcome("unsent").count();
    assert!((15..=22).contains(&unsent), "{}", done.summary);
    assert!(done.outcome("unsent").all(|row| &*row.src_nic == "rail2"));
    assert_eq!(done.count("timeouts"), 0);
    let back = done.probes.iter().rev().take(20);
    assert!(back.clone().any(|row| &*row.src_nic == "rail2"));
    assert!(back.clone().all(|row| &*row.outcome == "received"));
}

#[test]
fn without_a_route_over_ipv4_a_nic_sends_nothing() {
    without_a_route_a_nic_sends_nothing(false);
}

#[test]
fn without_a_route_over_ipv6_a_nic_sends_nothing() {
    without_a_route_a_nic_sends_nothing(true);
}
