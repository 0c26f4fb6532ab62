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
const TRACES_PER_SECOND: f64 = 0.5;
const ANSWERS_PER_SECOND: f64 = 5.0;

/// The agents of all hosts; dropping this ends them.
pub(super) struct Agents {
    running: Vec<(String, Child)>,
}

/// The summary that an agent printed at its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Ended {
    host: String,
    summary: Value,
}

impl Agents {
    pub(super) fn start(fabric: &Fabric, rocescope: &Path, options: &Options, dataset: &Path) -> Result<Self> {
        let mut agents = Self { running: Vec::new() };
        let scale = f64::from(options.scale);
        let time = |milliseconds: f64| format!("{}us", (milliseconds * 1_000.0 / scale) as u64);
        for (number, node) in fabric.wiring.nodes.iter().enumerate() {
            if !node.is_host {
                continue;
            }
            let namespace = fabric.namespace(number);
            let mut agent = command(&namespace, &rocescope.display().to_string());
            agent.args(["probe", "--all", "--quiet", "-o", "json"]);
            agent.args(["--observer", &node.name]);
            agent.args(["--interval", &time(INTERVAL_MS)]);
            agent.args(["--timeout", &time(TIMEOUT_MS)]);
            agent.args(["--paths-rate", &(TRACES_PER_SECOND * scale).to_string()]);
            agent.args(["--icmp-rate", &(ANSWERS_PER_SECOND * scale).to_string()]);
            agent.args(["--max-hops", "4", "--max-cpu", "1"]);
            agent.args(["--seed", &(options.seed + number as u64).to_string()]);
            agent.arg("--out").arg(dataset);
            agent.stdin(Stdio::null()).stdout(Stdio::piped());
            let child = agent.spawn().context("an agent")?;
            agents.running.push((node.name.clone(), child));
        }
        Ok(agents)
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

impl Drop for Agents {
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

/// The verdicts over the rows that agents wrote to a directory.
pub(super) fn diagnose(rocescope: &Path, directory: &Path, scale: u32) -> Result<Vec<Value>> {
    let mut diagnose = Command::new(rocescope);
    diagnose.args(["diagnose", "hostmesh"]);
    diagnose.arg(directory.join(super::DATASET));
    diagnose.args(["--scale", &scale.to_string(), "-o", "json"]);
    diagnose.arg("--topology").arg(directory.join(super::TOPOLOGY));
    let summary: Value = serde_json::from_str(&output(&mut diagnose)?)?;
    let verdicts = summary["verdicts"].as_array().context("verdicts")?;
    Ok(verdicts.clone())
}
