//! Pinglists end to end: the controller hands out whom agents probe, they go on without it, and it follows who is there.

use crate::control::hub::{CONTROLLER, Hub};
use crate::control::rig::{Rig, write};
use rocescope_model::ProbeRow;
use rocescope_store::{repair, scan};
use rocescope_testkit::{Running, binary, until};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::process::Command;
use std::time::Duration;

const FLEET: &str = "operators = [\"ops\"]\n[peers]\nmembers = [\"h*\"]\ndscp = [26]\n\
    [[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n[group.probe]\npeer-interval = \"50ms\"\n";

struct Fleet {
    hub: Hub,
    rig: Rig,
}

impl Fleet {
    fn at(&self, name: &str) -> String {
        self.rig.path(name).display().to_string()
    }

    /// The controller, in the switch, with a certificate of this name.
    fn controller(&self) -> Running {
        let mut command = self.hub.command("s", binary());
        command.args([
            "collector",
            "run",
            "--listen",
            "0.0.0.0:4792",
            "--out",
            &self.at("collected"),
        ]);
        command.args(["--client-ca", &self.at("ca.pem"), "--control-dir", &self.at("control")]);
        command.args(["--cert", &self.at("collector.pem"), "--key", &self.at("collector.key")]);
        command.args(["--control", &self.at("fleet.toml")]);
        Running::spawn(&mut command)
    }

    /// The agent of a host with one NIC.
    fn agent(&self, host: u8) -> Running {
        let name = format!("h{host}");
        let file = format!(
            "observer = \"{name}\"\n[agent]\nwindow = \"1s\"\ncollector = \"https://{CONTROLLER}:4792\"\ncert = \"{}\"\n\
            key = \"{}\"\nca = \"{}\"\nspool = \"{}\"\n[probe]\ninterface = [\"rail0\"]\nmax-cpu = 1\n",
            self.at(&format!("{name}.pem")),
            self.at(&format!("{name}.key")),
            self.at("ca.pem"),
            self.at(&format!("spool-{name}")),
        );
        let file = write(&self.rig.path(&format!("{name}.toml")), &file);
        let mut command = self.hub.command(&host.to_string(), binary());
        Running::spawn(command.arg("agent").arg("--config").arg(file))
    }

    fn operator(&self, arguments: &[&str]) -> Command {
        let mut command = self.hub.command("s", binary());
        command.arg("collector").args(arguments);
        command.args([
            "--collector",
            &format!("https://{CONTROLLER}:4792"),
            "--ca",
            &self.at("ca.pem"),
        ]);
        command.args(["--cert", &self.at("ops.pem"), "--key", &self.at("ops.key")]);
        command
    }

    /// What `status` prints; nothing while the controller starts.
    fn status(&self) -> String {
        let output = self.operator(&["status"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn agents_probe_whom_the_controller_hands_out_and_go_on_without_it() {
    let Some(hub) = Hub::new(3, Duration::ZERO, None) else {
        return;
    };
    let fleet = Fleet { hub, rig: Rig::new() };
    fleet.rig.sign("collector", &[CONTROLLER]);
    fleet.rig.sign("ops", &["ops"]);
    for host in 1..=3 {
        let name = format!("h{host}");
        fleet.rig.sign(&name, &[&name, &format!("10.9.0.{host}")]);
    }
    write(&fleet.rig.path("fleet.toml"), FLEET);
    let controller = fleet.controller();
    let agents = [1, 2, 3].map(|host| fleet.agent(host));
    for agent in &agents {
        agent.until_said("probing 2 NICs of other hosts, as the controller hands out");
    }
    // The hosts share a network: no trace shows a switch.
    let line = "pinglists: 3 NICs probed, their switches unknown: no trace shows a router\n";
    until("the plan is in the status", || fleet.status().contains(line));
    // An agent that starts again while the controller is away goes on with the last pinglist.
    let [first, second, third] = agents;
    controller.stop("-TERM").success();
    first.stop("-TERM").success();
    let first = fleet.agent(1);
    first.until_said("probing 2 NICs of other hosts, as the controller hands out");
    let controller = fleet.controller();
    until("all are back", || fleet.status().matches(" up since ").count() == 3);
    // A file without [peers] ends it.
    write(
        &fleet.rig.path("fleet.toml"),
        &FLEET.replace("[peers]\nmembers = [\"h*\"]\ndscp = [26]\n", ""),
    );
    let applied = fleet.operator(&["apply", &fleet.at("fleet.toml")]).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");
    for agent in [first, second, third] {
        agent.until_said("probing 0 NICs of other hosts, as the controller hands out");
        agent.stop("-TERM").success();
    }
    let status = fleet.status();
    assert!(
        status.starts_with("version 2 ") && !status.contains("pinglists"),
        "{status}"
    );
    controller.stop("-TERM").success();

    repair(&fleet.rig.path("collected")).unwrap();
    let rows = scan(&fleet.rig.path("collected")).unwrap().rows::<ProbeRow>().unwrap();
    let there = rows
        .iter()
        .filter(|row| row.src_nic.as_str() == "rail0" && row.dst_nic.is_empty());
    let received = there.filter(|row| &*row.outcome == "received");
    let mut pairs = BTreeSet::new();
    for row in received {
        assert_eq!(row.dscp, Some(26));
        pairs.insert((row.src, row.dst));
    }
    let address = |host: u8| IpAddr::from([10, 9, 0, host]);
    let all = (1..=3).flat_map(|src| (1..=3).map(move |dst| (address(src), address(dst))));
    assert_eq!(pairs, all.filter(|(src, dst)| src != dst).collect());
    // No loss, although agents came and went: what an agent that was away did not answer is unknown.
    let lost: Vec<&ProbeRow> = rows.iter().filter(|row| &*row.outcome == "timeout").collect();
    assert!(lost.is_empty(), "{lost:#?}");
}
