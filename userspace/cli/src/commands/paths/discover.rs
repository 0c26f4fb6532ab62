//! `rocescope paths discover`: the paths of flows, hop by hop, over SSH.

use super::{input, workload};
use crate::arguments::{AskArguments, DiscoverArguments, Output};
use crate::commands::topology;
use anyhow::{Context, Result, anyhow, ensure};
use rocescope_model::human::visible_lines;
use rocescope_model::{FLOW_PATH_TABLES, FlowPathRow, LinkLoadRow};
use rocescope_paths::Flow;
use rocescope_paths::discover::{Plan, Run, Settings, discover_until};
use rocescope_paths::document::{discovered, rows};
use rocescope_paths::driver::Driver;
use rocescope_paths::ssh::{Ssh, SshOptions};
use rocescope_paths::topology::tiers;
use rocescope_paths::transport::Device;
use rocescope_runtime::clock::now;
use rocescope_runtime::signals::{SIGHUP, Signals};
use rocescope_store::{Options, Writer};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(super) fn run(arguments: &DiscoverArguments) -> Result<ExitCode> {
    let plan = plan(&arguments.ask)?;
    let (workload, short) = workload::read(&arguments.workload, Some(&plan.fabric))?;
    ensure!(!workload.flows.is_empty(), "the workload has no flows");
    let time = now();
    let list: Vec<Flow> = workload.flows.iter().map(|rated| rated.flow).collect();
    let run = ask(&arguments.ask, &plan, &list)?;
    if let Some(root) = &arguments.out {
        let loads = rows::link_loads(&arguments.observer, time.0, 0, &rows::imbalance(&plan, &run, &workload));
        let paths = rows::paths(&arguments.observer, time, &plan, (&run, &workload));
        write(root, (&paths, &loads), &arguments.observer)?;
    }
    let mut outcomes: BTreeMap<&'static str, u64> = BTreeMap::new();
    for trace in &run.traces {
        *outcomes.entry(trace.outcome.reason).or_default() += 1;
    }
    let hosts = arguments.hosts.names();
    crate::print(&match arguments.output {
        Output::Json => {
            let document = discovered::document(time, &plan, &run, (&workload, &short), &outcomes);
            hosts.json(&(document + "\n"))
        }
        Output::Table => visible_lines(&hosts.text(&discovered::text(&plan, &run, (&workload, &short), &outcomes))),
    })?;
    Ok(match outcomes.contains_key("complete") {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Asks the switches about flows. A signal ends the sessions: what was not answered by then is `interrupted`.
pub(super) fn ask(arguments: &AskArguments, plan: &Plan, flows: &[Flow]) -> Result<Run> {
    let ssh = Ssh::new(SshOptions {
        user: arguments.user.clone(),
        identity: arguments.identity.clone(),
        known_hosts: arguments.known_hosts.clone(),
        password_file: arguments.password_file.clone(),
        config: arguments.ssh_config.clone(),
        connect_limit: arguments.connect_limit,
    })
    .context("cannot prepare SSH")?;
    let settings = Settings {
        threads: arguments.threads.into(),
        sessions: arguments.sessions.into(),
        limit: arguments.time_limit,
        assume_5_tuple: arguments.assume_5_tuple,
        ..Settings::default()
    };
    let signals = Signals::install()?;
    signals.end_at(SIGHUP)?;
    let ender = signals.ender();
    let wait = || {
        while !signals.ended() {
            signals.wait(Duration::MAX);
        }
    };
    // Wakes the thread, as a signal would.
    let wake = || ender.end();
    Ok(discover_until(plan, flows, &ssh, &settings, (wait, wake)))
}

/// Which nodes can be asked, and how.
pub(super) fn plan(arguments: &AskArguments) -> Result<Plan> {
    let topology = topology::read_and_warn(&arguments.topology)?;
    let folder = rocescope_analysis::topology::folder(&arguments.topology);
    let mut drivers: BTreeMap<(&str, bool), Driver> = BTreeMap::new();
    let mut devices = Vec::new();
    for (node, tiered) in topology.nodes.iter().zip(tiers(&topology)) {
        let is_host = tiered.tier == Some(0);
        let default = if is_host {
            &arguments.host_driver
        } else {
            &arguments.driver
        };
        // A containerlab host is `linux` too, but only a reachable one can be asked.
        let own = node.driver.as_deref().filter(|_| !is_host || node.management.is_some());
        let (name, folder, is_own) = match (own, default) {
            (Some(own), _) => (own, folder, true),
            (None, Some(default)) => (&**default, Path::new(""), false),
            (None, None) => {
                devices.push(None);
                continue;
            }
        };
        let driver = match drivers.entry((name, is_own)) {
            Entry::Occupied(known) => known.get().clone(),
            Entry::Vacant(new) => {
                let driver = Driver::find(name, folder);
                new.insert(driver.map_err(|error| anyhow!("the driver of {}: {error}", node.name))?)
                    .clone()
            }
        };
        let device = Device {
            name: node.name.clone(),
            management: node.management.clone().unwrap_or_else(|| node.name.clone()),
            session: driver.session,
        };
        devices.push(Some((device, driver)));
    }
    let fabric = topology.fabric();
    input::ensure_links(&fabric, &arguments.topology)?;
    Ok(Plan {
        vteps: topology.nodes.iter().map(|node| node.vtep).collect(),
        fabric,
        devices,
    })
}

fn write(root: &Path, (rows, loads): (&[FlowPathRow], &[LinkLoadRow]), observer: &str) -> Result<()> {
    let options = Options {
        tables: FLOW_PATH_TABLES,
        ..Options::new(observer)
    };
    let mut writer = Writer::create(root, options)?;
    writer.append_cells(&rows, Instant::now())?;
    writer.append_cells(&loads, Instant::now())?;
    writer.finish()?;
    Ok(())
}
