//! Messages of agents that the controller passes on: to each other, and to capture boxes.

use crate::control::rig::{Checks, Rig, until};
use rocescope_collector::control::message::{
    AgentMessage, AgentMessageTotals, RecordingCounts, RecordingRequest, RecordingTotals, Role,
};

const PLAN: &str =
    "operators = [\"ops\"]\n[[group]]\nname = \"boxes\"\nmembers = [\"tap\", \"other\"]\nrole = \"capture\"\n";

#[test]
fn the_controller_passes_messages_of_agents_on_with_the_name_in_the_certificate() {
    let rig = Rig::new();
    let server = rig.controller(PLAN);
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
    rocescope_testkit::until("both offers", || {
        assert!(h1.received(|text| text.starts_with("other")).is_empty());
        found.extend(h1.received(|text| text.starts_with("offer")));
        found.len() == 2
    });
    assert_eq!(found, [message("offer 1"), message("offer 2")]);
    assert!(h0.received(|_| true).is_empty() && tap.received(|_| true).is_empty());
}

#[test]
fn requests_for_recordings_reach_the_boxes_that_record_with_the_name_in_the_certificate() {
    let rig = Rig::new();
    let server = rig.controller(PLAN);
    let port = server.address().port();
    let checks = Checks::default();
    let (h0, _first) = rig.member(Role::Agent, "h0", port, &checks);
    let (tap, _second) = rig.member(Role::Capture, "tap", port, &checks);
    let (other, _third) = rig.member(Role::Capture, "other", port, &checks);
    let operator = rig.operator("ops", port);
    let request = |collective: &str| RecordingRequest {
        agent: "someone".into(),
        src: [10, 0, 0, 1].into(),
        dst: [10, 0, 0, 2].into(),
        time_ns: 1,
        round_trip_ns: 2,
        collective: collective.into(),
        host: "0".into(),
        step: 3,
    };
    until(&operator, "all are there", |status| {
        let there = status.members.iter().filter(|member| member.connected);
        there
            .filter(|member| member.name != "tap" || member.state.role == Role::Capture)
            .count()
            == 3
    });
    h0.ask_for_recording(request("early"));
    until(&operator, "none records", |status| status.recordings.without_box == 1);
    tap.has_recorded(RecordingCounts::default());
    until(&operator, "one records", |status| {
        status.members.iter().any(|member| member.state.records)
    });
    h0.ask_for_recording(request("c"));
    h0.ask_for_recording(request(&"x".repeat(RecordingRequest::MAX_BYTES)));
    let status = until(&operator, "three requests", |status| status.recordings.requested == 3);
    let expected = RecordingTotals {
        requested: 3,
        passed_on: 1,
        without_box: 1,
        refused: 1,
        undelivered: 0,
    };
    assert_eq!(status.recordings, expected);
    let found = rocescope_testkit::until_some("a request", || {
        Some(tap.recording_requests()).filter(|found| !found.is_empty())
    });
    let agent = "h0".into();
    assert_eq!(found, [RecordingRequest { agent, ..request("c") }]);
    assert!(other.recording_requests().is_empty() && h0.recording_requests().is_empty());
}
