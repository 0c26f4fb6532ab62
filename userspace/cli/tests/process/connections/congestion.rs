//! ECN and CNPs: their share, their interval, and how the rate reacts to a CNP.

use super::generated::follow;
use rocescope_generate::Scenario;

/// One sender that halves its rate for every CNP and recovers late. CNPs come 5 ms apart, so that each is measured with
/// a millisecond before and after it.
const HALVES: &str = r#"
    duration = "30ms"
    [[flows]]
    src = "10.0.0.1"
    dst = "10.0.1.1"
    rate = "8Gbit/s"
    message = "64KiB"
    mtu = 4096
    ecn = { mark = 0.5, from = "5ms", until = "16ms", cnp_interval = "5ms", cut = 0.5, recovery = "1s" }
"#;

#[test]
fn a_cnp_halves_the_rate_of_a_sender_that_reacts() {
    let followed = follow(&Scenario::parse(HALVES).unwrap(), 1);
    let truth = &followed.truth.connections[0];
    let connection = &followed.connections[0];
    let (there, back) = (connection.a_to_b.as_ref().unwrap(), connection.b_to_a.as_ref().unwrap());
    assert_eq!(truth.b_to_a.cnps, 3);
    assert_eq!((back.cnp_sent_packets, there.cnp_received_packets), (3, 3));
    assert_eq!((back.cnp_received_packets, there.cnp_sent_packets), (0, 0));
    assert_eq!(there.ecn_ce_packets, truth.a_to_b.ce_packets);
    assert!(there.ecn_ce_packets > 100);
    // The responder keeps them at least this far apart and waits for the next marked packet.
    let least_ns = back.cnp_interval_min_ns.unwrap();
    assert!((5_000_000..5_100_000).contains(&least_ns), "{least_ns}");
    // 8, 4 and 2 Gbit/s before, half of each after; a measurement interval of 250 µs may be cut.
    assert_eq!(there.cnp_rate_samples, 3);
    let (before, after) = (there.before_cnp_bps.unwrap(), there.after_cnp_bps.unwrap());
    let mean = (8e9 + 4e9 + 2e9) / 3.0;
    assert!((before / mean - 1.0).abs() < 0.03, "{before}");
    assert!((after / before - 0.5).abs() < 0.02, "{after} after {before}");
}

#[test]
fn a_sender_that_ignores_cnps_keeps_its_rate() {
    let unresponsive = HALVES.replace("cut = 0.5", "cut = 0.0");
    let followed = follow(&Scenario::parse(&unresponsive).unwrap(), 1);
    let row = followed.connections[0].a_to_b.as_ref().unwrap();
    let (before, after) = (row.before_cnp_bps.unwrap(), row.after_cnp_bps.unwrap());
    assert!((before / 8e9 - 1.0).abs() < 0.03, "{before}");
    assert!((after / before - 1.0).abs() < 0.03, "{after} after {before}");
}
