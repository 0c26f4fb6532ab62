//! Losses, queue pairs in error, missing devices.

use crate::{LONG_TIMEOUT, Run, nics};
use rocescope_probe::backend::verbs::Verbs;
use rocescope_probe::frame::QUEUE_KEY;
use rocescope_probe::types::Refusal;
use rocescope_probe::{Backend, Event, Nanos};
use rocescope_testkit::verbs::{self as double, Stamps, gid, with};

#[test]
fn lost_probes_time_out() {
    let mut run = Run::begin(Nanos::SECOND);
    run.run(200);
    with(|double| double.lose = 5);
    run.run_until(|_| with(|double| double.lose) == 0);
    run.end();
    assert_eq!(run.outcome("timeout").len(), 5);
    assert_eq!(run.outcome("received").len(), run.rows.len() - 5);
}

/// No completion reports the departure: the probe is received, without a latency.
#[test]
fn a_lost_completion_is_not_a_lost_probe() {
    let mut run = Run::begin(Nanos::SECOND);
    with(|double| double.lose_completions = 3);
    run.run_until(|_| with(|double| double.lose_completions) == 0);
    run.end();
    assert_eq!(run.outcome("received").len(), run.rows.len());
    assert_eq!(run.agent.counters().unstamped, 3);
    let without = |row: &&rocescope_model::ProbeRow| row.nic_send_ns.is_none();
    let without = run.rows.iter().filter(without);
    assert_eq!(without.filter(|row| row.network_latency_ns.is_none()).count(), 3);
}

/// A failed send did not leave and is not a network loss; later sends arrive.
fn a_queue_pair_in_error_is_reset(stamps: Stamps) {
    with(|double| double.stamps = [stamps; 2]);
    let mut run = Run::begin(LONG_TIMEOUT);
    run.run(100);
    with(|double| double.fail = 1);
    run.run_until(|_| with(|double| double.fail) == 0);
    let before = run.agent.counters().received;
    run.run_until(|run| run.agent.counters().received > before + 50);
    run.end();
    assert_eq!(run.agent.last_refusal().unwrap().1, Refusal::QueuePair);
    let unsent = run.outcome("unsent");
    assert!((1..=2).contains(&unsent.len()), "{unsent:?}");
    // Probes that arrive before the reset are lost, as on a real device.
    let lost = run.outcome("timeout");
    assert!(lost.iter().all(|row| row.dst_nic == unsent[0].src_nic), "{lost:?}");
    assert_eq!(
        run.outcome("received").len() + unsent.len() + lost.len(),
        run.rows.len()
    );
    with(|double| {
        for qp in double.qps.values() {
            assert_eq!(qp.state, rocescope_ibverbs::IBV_QPS_RTS);
            assert_eq!(qp.receives.len(), 64);
        }
    });
}

#[test]
fn a_stamped_queue_pair_in_error_is_reset_and_continues() {
    a_queue_pair_in_error_is_reset(Stamps::WallClock);
}

#[test]
fn a_plain_queue_pair_in_error_is_reset_and_continues() {
    a_queue_pair_in_error_is_reset(Stamps::Unsupported);
}

/// The kernel blocks the agent for each attempt.
#[test]
fn a_silent_next_hop_is_not_asked_again_immediately() {
    with(|double| double.deaf = Some(2));
    let mut run = Run::begin(LONG_TIMEOUT);
    run.run_until(|run| run.outcome("unsent").len() > 20);
    run.end();
    let unsent = run.outcome("unsent");
    assert!(unsent.iter().all(|row| &*row.dst_nic == "rail2"));
    assert_eq!(run.agent.last_refusal().unwrap().1, Refusal::Unreachable);
    assert_eq!(run.outcome("received").len() + unsent.len(), run.rows.len());
    // Two NICs ask once each; the others have one handle per port and pair.
    assert!(with(|double| double.handles_asked) <= 2 + 4 * 8);
}

/// A foreign datagram with our queue key: old bytes after it in the slot are not a probe.
#[test]
fn a_foreign_datagram_is_not_read_as_the_previous_probe_of_its_slot() {
    let mut run = Run::begin(LONG_TIMEOUT);
    // Every slot has held a probe.
    run.run_until(|run| run.agent.counters().received > 200);
    run.end();
    with(|double| {
        for nic in 0..3 {
            let to = double.queue_pair(nic);
            for _ in 0..64 {
                double.arrive(gid(nic), to, QUEUE_KEY, b"hi", double::now());
            }
            double.arrive(gid(nic), to, QUEUE_KEY + 1, b"hi", double::now());
        }
    });
    let mut events = Vec::new();
    let until = run.verbs.now() + Nanos::SECOND;
    run.verbs.wait(until, &mut events).unwrap();
    assert_eq!(events, vec![Event::Stranger; 3 * 64]);
}

#[test]
fn missing_devices_are_reported_in_one_line() {
    let said = || Verbs::open(&nics()).unwrap_err().to_string();
    with(|double| double.no_list = Some(libc::ENOSYS));
    assert!(said().contains("RDMA devices: the kernel has none"), "{}", said());
    with(|double| (double.no_list, double.closed) = (None, Some(1)));
    let closed = "rail2: no RDMA device has a RoCEv2 GID of 10.0.2.1";
    assert!(said().starts_with(closed), "{}", said());
    assert!(said().contains("mlx5_1: Permission denied"), "{}", said());
    with(|double| double.closed = None);
    let mut other = nics();
    other[1].1 = 42;
    let said = Verbs::open(&other).unwrap_err().to_string();
    assert!(said.starts_with("rail1: no RDMA device"), "{said}");
}
