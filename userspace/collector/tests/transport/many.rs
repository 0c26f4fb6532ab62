//! As many agents at once as there may be, and one more.

use crate::rig::{Rig, probes, refused};
use rocescope_collector::Server;
use rocescope_testkit::until;

/// The default limit of `rocescope collector run`.
const AGENTS: usize = 1024;
/// Handshakes under way at once: fewer than one address may have.
const GROUP: usize = 16;
/// Most memory that an agent costs, both ends of its connection together: buffers of TLS and HTTP/2, the
/// state of two streams, a thread with its stack.
const AGENT_KIB: u64 = 512;

/// Memory of this process, in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.unwrap().split_whitespace().nth(1);
    kib.unwrap().parse().unwrap()
}

#[test]
fn as_many_agents_as_there_may_be_are_served_and_one_more_is_refused_with_a_reason() {
    let rig = Rig::new();
    let mut settings = rig.settings(0);
    settings.sync = false;
    assert_eq!(settings.max_agents, AGENTS);
    let server = Server::start(settings, None).unwrap();
    let port = server.address().port();
    let before = resident_kib();
    let names: Vec<String> = (0..AGENTS).map(|agent| format!("h{agent}")).collect();
    let mut agents = Vec::new();
    for group in names.chunks(GROUP) {
        for name in group {
            let spool = rig.spool(name);
            spool.append(&probes(name, 0..10)).unwrap();
            agents.push((rig.sender(name, port, &spool), spool));
        }
        let acknowledged = || agents.iter().all(|(_, spool)| spool.counts().parcels == 0);
        until("a group is served", acknowledged);
    }
    let status = server.status();
    assert_eq!(status.agents.len(), AGENTS);
    assert_eq!(status.counts.connections, AGENTS as u64);
    assert_eq!(status.counts.rows, 10 * AGENTS as u64);
    assert_eq!(status.refusals, []);
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < AGENT_KIB * AGENTS as u64, "{grown} KiB more");

    let spool = rig.spool("late");
    spool.append(&probes("late", 0..10)).unwrap();
    let late = rig.sender("late", port, &spool);
    until("the late one is refused", || {
        let why = late.status().last_error;
        why.is_some_and(|why| why == "late exceeds the limit of 1024 agents")
    });
    assert!(refused(&server.status(), "too_many_agents") > 0);
    // All of those who are in are served, still.
    for (name, (_, spool)) in names.iter().zip(&agents) {
        spool.append(&probes(name, 10..20)).unwrap();
    }
    let acknowledged = || agents.iter().all(|(_, spool)| spool.counts().parcels == 0);
    until("all are served again", acknowledged);
    assert_eq!(server.status().counts.connections, AGENTS as u64);
    // When one leaves, there is room.
    agents.pop();
    until("the late one is served", || spool.counts().parcels == 0);
}
