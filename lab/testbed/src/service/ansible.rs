//! The role of Ansible on a machine of its own: the package, certificates and a configuration come by it, and the agent's rows
//! reach a collector. A second run changes nothing.

use super::collector::{AGENT, METRICS, ROWS, nics};
use super::machine::{self, Machine};
use super::{metrics, step};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use xtask::process::{command, root};
use xtask::product::{target, text};

/// Names and addresses: the collector, and the host that Ansible configures.
const HOSTS: &str = "collector localhost\nh0 10.9.0.1 10.9.0.2\n";

pub(super) fn life(package: &Path) -> Result<()> {
    let Ok(playbook) = machine::output(&mut command("sh", &["-c", "command -v ansible-playbook"])) else {
        ensure!(
            std::env::var_os("CI").is_none(),
            "ansible-playbook (pip install -r .ci/requirements-deploy.txt)"
        );
        println!("skipped: the role of Ansible (pip install -r .ci/requirements-deploy.txt)");
        return Ok(());
    };
    let machine = Machine::boot(Path::new("/"))?;
    machine::output(machine.network("ip").args(["link", "set", "dev", "lo", "up"]))?;
    nics(&machine)?;
    step("collector for Ansible", || collector(&machine))?;
    fs::copy(package, machine.path("/root/rocescope.deb"))?;
    step("Ansible", || first(&machine, playbook.trim()))?;
    step("Ansible again", || again(&machine, playbook.trim()))
}

/// A collector beside what the role installs.
fn collector(machine: &Machine) -> Result<String> {
    fs::write(machine.path("/root/hosts.txt"), HOSTS)?;
    let program = text(&target()?.join("release/rocescope"));
    let made = machine.run(&format!("cd /root && {program} collector certificates hosts.txt"))?;
    machine.run(&format!(
        "systemd-run --quiet --unit fleet --property Type=notify {program} collector run --out /root/mesh \
         --cert /root/certificates/collector.pem --key /root/certificates/collector.key \
         --client-ca /root/certificates/ca.pem --metrics {METRICS}"
    ))?;
    Ok(made.trim().lines().last().unwrap_or_default().to_owned())
}

/// Runs the playbook; returns what it counted.
fn run(machine: &Machine, playbook: &str) -> Result<String> {
    let settings = "rocescope_agent_package=/root/rocescope.deb rocescope_agent_certificates=/root/certificates \
                    rocescope_agent_collector=https://localhost:4792";
    let agents = text(&root().join("deploy/ansible/agents.yml"));
    // The roles are beside the playbook; facts of it would go into the tree.
    let line = format!(
        "cd /root && ANSIBLE_NOCOLOR=1 {playbook} --connection local --inventory h0, --extra-vars '{settings}' {agents}"
    );
    let printed = machine.run(&line)?;
    let recap = printed.lines().rfind(|line| line.starts_with("h0 "));
    let recap = recap.with_context(|| printed.clone())?;
    Ok(recap.split_whitespace().skip(2).take(4).collect::<Vec<_>>().join(" "))
}

fn first(machine: &Machine, playbook: &str) -> Result<String> {
    let counted = run(machine, playbook)?;
    let powerless = AGENT.is_powerless(machine)?;
    let rows = metrics::some(machine, METRICS, ROWS)?;
    for (file, mode) in [("agent.key", "600"), ("agent.pem", "600"), ("rocescope.toml", "644")] {
        let found = machine.run(&format!("stat --format %a /etc/rocescope/{file}"))?;
        ensure!(found.trim() == mode, "{file}: {found}");
    }
    Ok(format!("{counted}; {powerless}; {rows} rows of the agent are stored"))
}

/// The same again changes nothing and restarts nothing.
fn again(machine: &Machine, playbook: &str) -> Result<String> {
    let pid = AGENT.property(machine, "MainPID")?;
    let counted = run(machine, playbook)?;
    ensure!(counted.contains("changed=0 "), "{counted}");
    ensure!(AGENT.property(machine, "MainPID")? == pid, "the agent was restarted");
    Ok(counted)
}
