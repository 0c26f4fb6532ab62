//! The latency of RDMA operations between two agents, and between the NICs of one.

use crate::nics;
use rocescope_probe::operations::{Message, Operations, Turn, Verb};
use rocescope_testkit::verbs::with;
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_secs(1);

/// An agent with one of the NICs.
fn agent(name: &str, nic: usize, peer: &str) -> Operations {
    let nics = [nics().swap_remove(nic)];
    let (agent, left_out) = Operations::open(name, &nics, &[peer.to_owned()], INTERVAL, nic as u64);
    assert!(left_out.is_empty() && agent.has_devices());
    agent
}

/// Carries the messages of a turn as text, and the replies back.
fn carry(turn: &Turn, (from, asking): (&str, &mut Operations), (to, answering): (&str, &mut Operations)) {
    for (name, message) in &turn.messages {
        assert_eq!(name, to);
        let message = Message::parse(&message.to_string()).unwrap();
        if let Some(reply) = answering.receive(from, message) {
            assert_eq!(asking.receive(to, reply), None);
        }
    }
}

fn verbs(turn: &Turn) -> Vec<(Verb, String)> {
    let measured = turn.measured.iter().filter(|measured| measured.latency.is_some());
    measured
        .map(|measured| (measured.verb, measured.address.to_string()))
        .collect()
}

fn all(address: &str) -> Vec<(Verb, String)> {
    Verb::ALL.map(|verb| (verb, address.to_owned())).to_vec()
}

#[test]
fn two_agents_measure_each_other() {
    let (mut h0, mut h1) = (agent("h0", 0, "h1"), agent("h1", 2, "h0"));
    let now = Instant::now();
    let (first, second) = (h0.turn(now), h1.turn(now));
    assert!(first.measured.is_empty() && first.problems.is_empty());
    carry(&first, ("h0", &mut h0), ("h1", &mut h1));
    carry(&second, ("h1", &mut h1), ("h0", &mut h0));
    for round in 1..=50 {
        let now = now + INTERVAL * round;
        let (first, second) = (h0.turn(now), h1.turn(now));
        assert_eq!(verbs(&first), all("10.0.2.1"), "round {round}");
        assert_eq!(verbs(&second), all("10.0.0.1"));
        assert!(first.messages.is_empty() && first.problems.is_empty(), "{first:?}");
        // Before the interval has passed, nothing is measured.
        assert!(h0.turn(now + INTERVAL / 2).measured.is_empty());
        h1.turn(now + INTERVAL / 2);
    }
    let measured = &h0.turn(now + INTERVAL * 60).measured[0];
    let names = (&*measured.nic, &*measured.device, measured.port, &*measured.peer);
    assert_eq!(names, ("rail0", "mlx5_0", 1, "h1"));
}

#[test]
fn the_nics_of_one_process_measure_each_other() {
    let (mut alone, _) = Operations::open("h0", &nics(), &[], INTERVAL, 1);
    let now = Instant::now();
    assert!(alone.turn(now).messages.is_empty());
    let found = verbs(&alone.turn(now + INTERVAL));
    let expected: Vec<(Verb, String)> = ["10.0.1.1", "10.0.2.1", "10.0.0.1"]
        .iter()
        .flat_map(|to| all(to))
        .collect();
    assert_eq!(found, expected);
}

/// An agent that is restarted has other queue pairs.
#[test]
fn a_peer_that_ends_fails_once_and_is_measured_again_when_it_is_back() {
    let (mut h0, mut h1) = (agent("h0", 0, "h1"), agent("h1", 2, "h0"));
    let now = Instant::now();
    let first = h0.turn(now);
    carry(&first, ("h0", &mut h0), ("h1", &mut h1));
    assert_eq!(verbs(&h0.turn(now + INTERVAL)), all("10.0.2.1"));
    drop(h1);
    let failed = h0.turn(now + INTERVAL * 2);
    assert_eq!((failed.measured.len(), failed.measured[0].latency), (1, None));
    let why = &failed.problems[0].2;
    assert_eq!(
        why,
        "send to 10.0.2.1: the operation failed: transport retry counter exceeded (status 12)"
    );
    let silent = h0.turn(now + INTERVAL * 3);
    assert!(silent.measured.is_empty());
    assert_eq!(silent.problems[0].2, "h1 does not answer");
    let mut h1 = agent("h1", 2, "h0");
    // An answer to an older offer is another queue pair's.
    carry(&failed, ("h0", &mut h0), ("h1", &mut h1));
    assert!(h0.turn(now + INTERVAL * 3).measured.is_empty());
    carry(&silent, ("h0", &mut h0), ("h1", &mut h1));
    assert_eq!(verbs(&h0.turn(now + INTERVAL * 4)), all("10.0.2.1"));
}

#[test]
fn an_agent_without_the_nic_refuses() {
    let mut h1 = agent("h1", 2, "h0");
    let (mut h0, _) = Operations::open("h0", &nics(), &["h1".to_owned()], INTERVAL, 1);
    let now = Instant::now();
    let first = h0.turn(now);
    carry(&first, ("h0", &mut h0), ("h1", &mut h1));
    let next = h0.turn(now + INTERVAL);
    assert_eq!(verbs(&next), all("10.0.2.1"));
    let problems: Vec<&str> = next.problems.iter().map(|problem| &*problem.2).collect();
    let expected = ["h1 has no RDMA device for NIC 1", "h1 has no RDMA device for NIC 2"];
    assert_eq!(problems, expected);
}

#[test]
fn nics_without_a_device_are_named_and_left_out() {
    with(|double| double.closed = Some(1));
    let (alone, left_out) = Operations::open("h0", &nics(), &[], INTERVAL, 1);
    assert!(alone.has_devices());
    let left_out: Vec<String> = left_out.iter().map(ToString::to_string).collect();
    assert_eq!(left_out.len(), 1);
    assert!(left_out[0].starts_with("rail2: no RDMA device"), "{left_out:?}");
}
