//! The kernel of the host answers no probe.

use crate::probe::agent::Agent;
use crate::probe::rails::{NICS, Rails};
use crate::probe::wire::{fields, record};
use rocescope_testkit::until;
use std::process::Command;

/// Sends a datagram to the port of the probes, from a router to a NIC.
fn ask(rails: &Rails, address: &str) {
    let (router, _) = rails.router(0);
    let mut bash: Command = rails.command(&router, "bash");
    let sent = bash.args(["-c", &format!("echo > /dev/udp/{address}/4791")]).status();
    assert!(sent.unwrap().success());
}

fn the_host_sends_no_port_unreachable(is_v6: bool) {
    let Some(rails) = Rails::new(0, is_v6) else {
        return;
    };
    // Otherwise IPv4 drops every probe as martian, because its source is an address of the host.
    for nic in 0..NICS {
        rails.sysctl("h", &format!("net.ipv4.conf.rail{nic}.accept_local=1"));
        rails.sysctl("h", &format!("net.ipv4.conf.rail{nic}.rp_filter=0"));
    }
    rails.sysctl("h", "net.ipv4.conf.all.rp_filter=0");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("icmp.pcap");
    let unreachable = if is_v6 {
        "icmp6 and ip6[40] == 1"
    } else {
        "icmp[icmptype] == icmp-unreach"
    };
    let (router, _) = rails.router(0);
    let tcpdump = record(&rails, &router, "any", &file, unreachable);
    let agent = Agent::begin(&rails, &["--interval", "10ms", "--timeout", "60s", "--paths-rate", "5"]);
    ask(&rails, &rails.address(1));
    agent.until_more_probes(30);
    let done = agent.stop("-INT");
    assert_eq!(done.count("received"), done.count("probes"));
    let port = ["icmp.code", "icmpv6.code", "udp.dstport"];
    let to_us = |line: &Vec<String>| line[2].split(',').any(|port| port == "4791");
    let seen = fields(&file, &port);
    assert!(!seen.iter().any(to_us), "{seen:?}");
    // Without the agent the same datagram is answered: the test would see an answer.
    ask(&rails, &rails.address(1));
    let answered = || fields(&file, &port).iter().any(to_us);
    until("the answer of the kernel", answered);
    tcpdump.stop("-INT");
    let seen = fields(&file, &port);
    assert_eq!(seen.iter().filter(|line| to_us(line)).count(), 1, "{seen:?}");
}

#[test]
fn over_ipv4_the_host_sends_no_port_unreachable() {
    the_host_sends_no_port_unreachable(false);
}

#[test]
fn over_ipv6_the_host_sends_no_port_unreachable() {
    the_host_sends_no_port_unreachable(true);
}
