//! The services of a mesh: a collector and an agent on one machine, with the certificates of `docs/hostmesh.md`. The
//! agent's two NICs are the ends of one cable.

use super::machine::{self, Machine};
use super::unit::Unit;
use super::{CONFIGURATION, metrics, step};
use crate::certificates;
use anyhow::{Context, Result, ensure};
use std::fs;

const COLLECTOR: Unit = Unit("rocescope-collector");
pub(super) const AGENT: Unit = Unit("rocescope-agent");
/// The address of the collector's metrics.
pub(super) const METRICS: &str = "127.0.0.1:9465";
pub(super) const ROWS: &str = "rocescope_collector_rows_total";
/// Name, MAC address and address of the agent's NICs.
const NICS: [(&str, &str, &str); 2] = [
    ("rail0", "02:00:00:00:00:01", "10.9.0.1"),
    ("rail1", "02:00:00:00:00:02", "10.9.0.2"),
];
/// Files in /etc/rocescope that do not belong to the package.
const FILES: &str = "ca.* collector.* agent.* h0.*";

/// Runs both services from their certificates to their end.
pub(super) fn life(machine: &Machine) -> Result<()> {
    step("certificates", || certificates(machine))?;
    wire(machine)?;
    step("collector", || start(machine, COLLECTOR))?;
    step("agent", || start(machine, AGENT))?;
    step("rows", || rows(machine))?;
    step("collector restarts", || restart(machine))?;
    step("mesh stops", || stop(machine))
}

fn certificates(machine: &Machine) -> Result<String> {
    let script = certificates::script(&[("collector", "DNS:localhost"), ("agent", "DNS:h0")])?;
    machine.run(&format!("cd /etc/rocescope\n{script}"))?;
    let made = machine.run("cd /etc/rocescope && ls *.pem")?;
    Ok(made.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Two NICs with fixed neighbour entries: a host does not answer its own ARP requests.
pub(super) fn nics(machine: &Machine) -> Result<()> {
    let run = |line: &str| {
        let mut ip = machine.network("ip");
        machine::output(ip.args(line.split(' ')))
    };
    let [(one, one_mac, _), (two, two_mac, _)] = NICS;
    run(&format!(
        "link add {one} address {one_mac} type veth peer name {two} address {two_mac}"
    ))?;
    for ((nic, _, address), (_, mac, other)) in [(NICS[0], NICS[1]), (NICS[1], NICS[0])] {
        run(&format!("address add {address}/24 dev {nic}"))?;
        run(&format!("link set dev {nic} up"))?;
        run(&format!("neigh add {other} lladdr {mac} dev {nic} nud permanent"))?;
    }
    Ok(())
}

fn wire(machine: &Machine) -> Result<()> {
    nics(machine)?;
    let [(one, ..), (two, ..)] = NICS;
    let settings = format!(
        "\n[collector]\nmetrics = \"{METRICS}\"\n\n[probe]\ninterface = [\"{one}\", \"{two}\"]\n\
         \n[agent]\nobserver = \"h0\"\ncollector = \"https://localhost:4792\"\n"
    );
    let path = machine.path(CONFIGURATION);
    let before = fs::read_to_string(&path)?;
    fs::write(&path, before + &settings)?;
    machine.run("rocescope config check")?;
    Ok(())
}

/// Returns when the service reports that it is ready, or fails.
fn start(machine: &Machine, unit: Unit) -> Result<String> {
    machine.run(&format!("systemctl enable --quiet --now {}", unit.0))?;
    unit.is_powerless(machine)
}

fn rows(machine: &Machine) -> Result<String> {
    let rows = metrics::some(machine, METRICS, ROWS)?;
    Ok(format!("{rows} rows of the agent are stored"))
}

/// A restart loads new certificates and loses no row.
fn restart(machine: &Machine) -> Result<String> {
    machine.run(&format!("systemctl reload-or-restart {}", COLLECTOR.0))?;
    let rows = metrics::some(machine, METRICS, ROWS)?;
    Ok(format!("{rows} rows more"))
}

/// Rows that the agent reports as acknowledged equal those that the collector stored, before and after its restart.
fn stop(machine: &Machine) -> Result<String> {
    for unit in [AGENT, COLLECTOR] {
        machine.run(&format!("systemctl disable --quiet --now {}", unit.0))?;
        let result = unit.property(machine, "Result")?;
        ensure!(result == "success", "{}: {result}", unit.0);
    }
    let number = |line: &str| line.split(' ').next().and_then(|word| word.parse::<u64>().ok());
    let journal = AGENT.journal(machine)?;
    let acknowledged = journal.lines().find_map(|line| {
        let line = line.strip_prefix("collector: ")?;
        line.contains("acknowledged, 0 left in the spool")
            .then(|| number(line))?
    });
    let acknowledged = acknowledged.with_context(|| format!("the agent printed {journal}"))?;
    let journal = COLLECTOR.journal(machine)?;
    let ends = journal.lines().filter(|line| line.contains(" batches stored, "));
    let stored: Vec<u64> = ends.filter_map(number).collect();
    ensure!(
        stored.len() == 2 && stored.iter().sum::<u64>() == acknowledged,
        "{acknowledged} rows were acknowledged, {stored:?} stored: {journal}"
    );
    machine.run(&format!("cd /etc/rocescope && rm {FILES}"))?;
    Ok(format!("{acknowledged} rows acknowledged, {stored:?} stored"))
}
