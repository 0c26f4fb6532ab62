//! Two agents with one certificate: both sides learn who took whose place, and they do not take turns at once.

use crate::control::rig::{Rig, url};
use rocescope_collector::control::Member;
use rocescope_collector::control::message::Role;
use rocescope_collector::{Sender, sender};
use rocescope_testkit::until;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn an_agent_learns_that_another_one_has_its_certificate() {
    let rig = Rig::new();
    let server = rig.controller("operators = [\"ops\"]\n");
    let files = rig.sign("h0", &["h0"]);
    let start = |file: &str| {
        let check = Box::new(|_: &str| Ok(()));
        let member = Member::new(Role::Agent, &rig.path(file), None, check, Arc::new(|_| {}));
        let mut settings = sender::Settings::new(url(server.address().port()), files.clone(), "h0");
        // Who was replaced does not return while this test runs.
        settings.retry = (Duration::from_millis(1), Duration::from_secs(600));
        Sender::start_with(None, Some(Arc::new(member)), settings).unwrap()
    };
    let older = start("older.toml");
    until("the first is connected", || older.status().connected);
    let newer = start("newer.toml");
    until("the first is replaced", || older.status().last_error.is_some());
    let why = older.status().last_error.unwrap();
    assert!(
        why.starts_with("another process with the certificate of h0, at 127.0.0.1:")
            && why.ends_with(", connected to the collector"),
        "{why}"
    );
    until("the collector reports it", || {
        rig.lines().contains("two agents use the certificate of h0")
    });
    let lines = rig.lines();
    let line = lines.lines().find(|line| line.contains("two agents")).unwrap();
    assert_eq!(line.matches("127.0.0.1:").count(), 2, "both addresses: {line}");
    std::thread::sleep(Duration::from_millis(300));
    assert!(newer.status().connected && newer.status().last_error.is_none());
    assert_eq!(server.status().counts.connections, 2);
}
