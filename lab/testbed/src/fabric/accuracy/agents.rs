//! The product: an agent on every host, and the analysis of their rows.

use super::Options;
use crate::fabric::live::Fabric;
use crate::fabric::namespace::{command, output};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Timing of the probes of a NIC; the scale divides times and multiplies rates.
const INTERVAL_MS: f64 = 100.0;
const TIMEOUT_MS: f64 = 500.0;
/// An agent that is killed loses the rows of at most one window.
const WINDOW_MS: f64 = 20_000.0;
const TRACES_PER_SECOND: f64 = 0.5;
const ANSWERS_PER_SECOND: f64 = 5.0;
/// As many as paths over three tiers have.
const MAX_HOPS: &str = "6";

/// The agents of all hosts; dropping this ends them.
pub(super) struct Agents<'a> {
    rocescope: &'a Path,
    options: &'a Options,
    dataset: &'a Path,
    running: Vec<(String, Child)>,
}

/// The summary that an agent printed at its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    host: String,
    summary: Value,
}

impl<'a> Agents<'a> {
    pub(super) fn start(fabric: &Fabric, rocescope: &'a Path, options: &'a Options, dataset: &'a Path) -> Result<Self> {
        let mut agents = Self {
            rocescope,
            options,
            dataset,
            running: Vec::new(),
        };
        for node in fabric.wiring.nodes.iter().filter(|node| node.is_host) {
            agents.start_one(fabric, &node.name)?;
        }
        Ok(agents)
    }

    /// Starts the agent of a host, also after it was killed.
    pub(super) fn start_one(&mut self, fabric: &Fabric, host: &str) -> Result<()> {
        let number = fabric.node(host)?;
        let mut agent = command(&fabric.namespace(number), &self.rocescope.display().to_string());
        agent.args(["probe", "--all", "--quiet", "-o", "json"]);
        agent.args(["--observer", host]);
        agent.args(["--window", &time(self.options, WINDOW_MS)]);
        for (name, value) in pace(self.options) {
            agent.args([&format!("--{name}"), &value]);
        }
        agent.args(["--seed", &(self.options.seed + number as u64).to_string()]);
        agent.arg("--out").arg(self.dataset);
        agent.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = agent.spawn().context("an agent")?;
        self.running.push((host.to_owned(), child));
        Ok(())
    }

    /// Kills the agent of a host.
    pub(super) fn kill(&mut self, host: &str) -> Result<()> {
        let at = self.running.iter().position(|(running, _)| running == host);
        let (_, mut child) = self.running.remove(at.context("no agent on this host")?);
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    /// Ends all agents; returns their summaries.
    pub(super) fn end(mut self) -> Result<Vec<Ended>> {
        for (_, child) in &self.running {
            output(Command::new("kill").args(["-INT", &child.id().to_string()]))?;
        }
        let mut ended = Vec::new();
        for (host, child) in std::mem::take(&mut self.running) {
            let output = child.wait_with_output()?;
            ensure!(output.status.success(), "the agent of {host}: {}", output.status);
            let summary = serde_json::from_slice(&output.stdout).context("the agent's summary")?;
            ended.push(Ended { host, summary });
        }
        Ok(ended)
    }
}

impl Drop for Agents<'_> {
    fn drop(&mut self) {
        for (_, child) in &mut self.running {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Ended {
    pub(super) fn line(&self) -> String {
        format!("agent of {}: {}", self.host, self.summary["probes"])
    }
}

fn time(options: &Options, milliseconds: f64) -> String {
    format!("{}us", (milliseconds * 1_000.0 / f64::from(options.scale)) as u64)
}

/// The settings of an agent.
pub(super) fn pace(options: &Options) -> [(&'static str, String); 6] {
    let scale = f64::from(options.scale);
    [
        ("interval", time(options, INTERVAL_MS)),
        ("timeout", time(options, TIMEOUT_MS)),
        ("paths-rate", (TRACES_PER_SECOND * scale).to_string()),
        ("icmp-rate", (ANSWERS_PER_SECOND * scale).to_string()),
        ("max-hops", MAX_HOPS.to_owned()),
        ("max-cpu", "1".to_owned()),
    ]
}

/// What the product finds in the rows that agents wrote to a directory: its JSON.
pub(super) fn diagnose(rocescope: &Path, directory: &Path, scale: u32) -> Result<Value> {
    let mut diagnose = Command::new(rocescope);
    diagnose.args(["diagnose", "hostmesh"]);
    diagnose.arg(directory.join(super::DATASET));
    let time = |seconds: u32| format!("{}ms", seconds * 1_000 / scale);
    diagnose.args(["--window", &time(20), "--sticky", &time(60), "-o", "json"]);
    diagnose.arg("--topology").arg(directory.join(super::TOPOLOGY));
    Ok(serde_json::from_str(&output(&mut diagnose)?)?)
}

/// An array of it.
pub(super) fn rows(found: &Value, name: &str) -> Result<Vec<Value>> {
    Ok(found[name].as_array().context("rows")?.clone())
}
