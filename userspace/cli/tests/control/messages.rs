//! Messages that agents send each other by way of the controller.

use crate::rig::{Checks, Rig, until};
use rocescope_collector::control::message::{AgentMessage, AgentMessageTotals, Role};

#[test]
fn the_controller_passes_messages_of_agents_on_with_the_name_in_the_certificate() {
    let rig = Rig::new();
    let server = rig.controller("operators = [\"ops\"]\n");
    let port = server.address().port();
    let checks = Checks::default();
    let (h0, _first) = rig.member(Role::Agent, "h0", port, &checks);
    let (h1, _second) = rig.member(Role::Agent, "h1", port, &checks);
    let (tap, _third) = rig.member(Role::Capture, "tap", port, &checks);
    let operator = rig.operator("ops", port);
    until(&operator, "all are there", |status| {
        let there = status.members.iter().filter(|member| member.connected);
        there
            .filter(|member| member.name != "tap" || member.state.role == Role::Capture)
            .count()
            == 3
    });
    h0.send_to("h1", "offer 1".into());
    h0.send_to("h1", "offer 2".into());
    h0.send_to("h9", "to no one".into());
    h0.send_to("tap", "to no agent".into());
    h0.send_to("h1", "x".repeat(AgentMessage::MAX_BYTES + 1));
    tap.send_to("h1", "from no agent".into());
    let status = until(&operator, "six messages", |status| {
        let totals = status.agent_messages;
        totals.delivered + totals.without_agent + totals.refused + totals.undelivered == 6
    });
    let expected = AgentMessageTotals {
        delivered: 2,
        without_agent: 2,
        refused: 2,
        undelivered: 0,
    };
    assert_eq!(status.agent_messages, expected);
    let message = |text: &str| AgentMessage {
        agent: "h0".into(),
        text: text.into(),
    };
    // The controller counts a message when it leaves.
    let mut found = Vec::new();
    for _ in 0..100 {
        found.extend(h1.received());
        if found.len() == 2 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(found, [message("offer 1"), message("offer 2")]);
    assert!(h0.received().is_empty() && tap.received().is_empty());
}
