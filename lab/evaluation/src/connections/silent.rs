//! Directions of which no packet passed.

use super::follow::follow;
use rocescope_generate::Scenario;

/// CM names both directions of a queue pair of UC; only one of them sends.
#[test]
fn a_direction_without_packets_has_no_first_one() {
    let text = r#"
        name = "silent"
        snaplen = 400
        [[flows]]
        src = "10.1.0.1"
        dst = "10.1.1.1"
        service = "uc"
        cm = true
        rate = "1Gbit/s"
        messages = 10
    "#;
    let followed = follow(&Scenario::parse(text).unwrap(), 1);
    let [connection] = &followed.connections[..] else {
        panic!("{:?}", followed.connections)
    };
    let (there, back) = (connection.a_to_b.as_ref().unwrap(), connection.b_to_a.as_ref().unwrap());
    assert!(there.packets > 0 && back.packets == 0);
    assert!(there.first_ns.is_some_and(|first_ns| first_ns <= there.last_ns));
    assert_eq!(back.first_ns, None);
}
