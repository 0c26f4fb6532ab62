//! Loss, and a link that is down: in the direction where they are.

use crate::agent::Agent;
use crate::rails::Rails;
use rocescope_model::ProbeRow;

fn is_between(row: &ProbeRow, src: &str, dst: &str) -> bool {
    &*row.src_nic == src && &*row.dst_nic == dst
}

#[test]
fn what_one_direction_loses_times_out_there_and_nowhere_else() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let rule = format!(
        "rule add from {} to {} blackhole",
        rails.address(0),
        rails.address(1)
    );
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
    // It left all the same.
    assert!(done.outcome("timeout").all(|row| row.nic_send_ns.is_some()));
    assert_eq!(done.count("received_after_their_timeout"), 0);
}

#[test]
fn a_nic_that_is_down_sends_nothing_and_what_goes_there_is_lost() {
    let Some(rails) = Rails::new(0, false) else {
        return;
    };
    let agent = Agent::begin(&rails, &["--duration", "3s"]);
    rails.ip("h", "link set rail2 down");
    let done = agent.end();
    let (mut unsent, mut timeouts) = (0, 0);
    // A probe may have been under way.
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
