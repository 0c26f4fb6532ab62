//! 200 agents and 4 capture boxes take a configuration at the end of the window in which it comes, or refuse it and go on.

use crate::control::rig::{Checks, Rig, until};
use rocescope_collector::Sender;
use rocescope_collector::control::Member;
use rocescope_collector::control::member::Held;
use rocescope_collector::control::message::Role;
use std::sync::Arc;

const AGENTS: usize = 200;
const CAPTURES: usize = 4;

fn plan(interval: &str, elephant: &str) -> String {
    format!(
        "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n[group.probe]\ninterval = \"{interval}\"\n\
        [group.counters]\ninterval = \"{interval}\"\n[[group]]\nname = \"boxes\"\nmembers = [\"box-*\"]\n\
        [group.capture]\nelephant = \"{elephant}\"\n"
    )
}

#[test]
fn two_hundred_agents_and_four_boxes_take_a_configuration_and_refuse_a_bad_one() {
    let rig = Rig::new();
    let first = plan("100ms", "1G");
    let server = rig.controller(&first);
    let port = server.address().port();
    let operator = rig.operator("ops", port);
    let checks = Checks::default();
    let agents = (0..AGENTS).map(|n| (Role::Agent, format!("h{n}")));
    let captures = (0..CAPTURES).map(|n| (Role::Capture, format!("box-{n}")));
    let mut senders: Vec<Sender> = Vec::new();
    let mut members: Vec<(String, Arc<Member>)> = Vec::new();
    for (role, name) in agents.chain(captures) {
        let (member, sender) = rig.member(role, &name, port, &checks);
        members.push((name, member));
        senders.push(sender);
    }
    let count = AGENTS + CAPTURES;
    // The version waits at every member for the end of its window, and that of one window suffices.
    let run = |version: u64| {
        until(&operator, "a version waits everywhere", move |status| {
            let waiting = status.members.iter().map(|member| member.state.waiting);
            waiting.filter(|waiting| *waiting == Some(version)).count() == count
        });
        for (_, member) in &members {
            member.take();
        }
        until(&operator, "all run a version", move |status| {
            let running = status.members.iter().filter(|member| member.state.running == version);
            running.count() == count
        })
    };
    run(1);

    let second = plan("50ms", "2G");
    assert_eq!(operator.apply(second.clone()).unwrap().version, 2);
    let status = run(2);
    let of = |name: &str| status.members.iter().find(|member| member.name == name).unwrap();
    assert_eq!(of("h7").group.as_deref(), Some("hosts"));
    assert_eq!(of("box-3").state.role, Role::Capture);

    // Members refuse a bad one, each with its reason, and go on with what they have.
    let applied = operator.apply(plan("50 parsecs", "fast")).unwrap();
    assert_eq!((applied.version, applied.members), (3, count));
    let status = until(&operator, "all refused", |status| {
        let refused = status.members.iter().filter_map(|member| member.state.refused.as_ref());
        refused.filter(|refused| refused.version == 3).count() == count
    });
    for member in &status.members {
        let reason = &member.state.refused.as_ref().unwrap().reason;
        let expected = match member.state.role {
            Role::Agent => "50 parsecs",
            Role::Capture => "fast",
        };
        assert!(reason.contains(expected), "{}: {reason}", member.name);
        assert_eq!(member.state.running, 2);
    }
    for (name, _) in &members {
        let held = Held::read(&rig.path(&format!("{name}.toml"))).unwrap().unwrap();
        assert_eq!(held.version, 2, "{name}");
    }
    // What is undone is taken: it is another version, and the same text.
    assert_eq!(operator.roll_back(None).unwrap().version, 4);
    let status = run(4);
    assert!(status.members.iter().all(|member| member.state.refused.is_none()));
    assert_eq!(operator.version(None).unwrap().text, second);

    // Who leaves is away since then, also for the next controller.
    let gone = senders.remove(0);
    drop(gone);
    until(&operator, "h0 is away", |status| {
        status.members.iter().any(|m| m.name == "h0" && !m.connected)
    });
    drop(senders);
    server.stop().unwrap();
    let server = rig.controller(&first);
    let status = rig.operator("ops", server.address().port()).status().unwrap();
    assert_eq!((status.version, status.members.len()), (4, count));
    assert!(
        status
            .members
            .iter()
            .all(|member| !member.connected && member.since_ns > 0)
    );
    assert!(status.members.iter().all(|member| member.state.running == 4));
}
