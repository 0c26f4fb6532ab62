//! Measurements, from files.

use crate::error::{AgentError, Result};
use rocescope_diagnose::hostping::measured::{self, Measurement, Nic};
use rocescope_diagnose::hostping::{Matrix, Topology};

/// The measurements of one host, from files that belong together.
///
/// # Errors
/// A file cannot be read, or is of other hosts or another topology.
pub fn one(files: &[String], node: Option<&str>, topology: &Topology) -> Result<Matrix> {
    let mut all = Vec::new();
    for file in files {
        all.extend(read(file)?);
    }
    let hosts = Matrix::hosts(&all);
    let names = hosts.iter().copied().collect::<Vec<_>>().join(", ");
    match node {
        Some(node) if !hosts.contains(node) => {
            return Err(AgentError::Refused(format!(
                "--node {node}: the measurements are of {names}"
            )));
        }
        None if hosts.len() > 1 => {
            return Err(AgentError::Refused(format!(
                "the measurements are of several hosts: choose one with --node: {names}"
            )));
        }
        _ => {}
    }
    let of_node = |one: &Measurement| node.is_none() || one.host.as_deref() == node;
    all.retain(of_node);
    Matrix::of(&all, topology).map_err(|why| AgentError::Refused(format!("{}: {why}", files.join(", "))))
}

/// The runs of files: one each, or one for each host that a file names.
///
/// # Errors
/// A file cannot be read, or is of another topology.
pub fn each(files: &[String], topology: &Topology) -> Result<Vec<Matrix>> {
    let mut runs = Vec::new();
    for file in files {
        let all = read(file)?;
        let mut hosts: Vec<Option<&str>> = all.iter().map(|one| one.host.as_deref()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        for host in hosts {
            let of_host: Vec<Measurement> = all.iter().filter(|one| one.host.as_deref() == host).cloned().collect();
            runs.push(Matrix::of(&of_host, topology).map_err(|why| AgentError::Refused(format!("{file}: {why}")))?);
        }
    }
    Ok(runs)
}

/// Reads `FILE` or `NIC:ENDPOINT=FILE`.
fn read(argument: &str) -> Result<Vec<Measurement>> {
    let named = argument
        .split_once('=')
        .and_then(|(pair, file)| Some((pair.split_once(':')?, file)));
    let file = named.map_or(argument, |(_, file)| file);
    let text = rocescope_input::text(file.as_ref()).map_err(|error| AgentError::Input(file.into(), error))?;
    let mut all = measured::read(&text).map_err(|refusal| AgentError::Refused(refusal.in_file(file).to_string()))?;
    if let Some(((nic, endpoint), _)) = named {
        for one in &mut all {
            one.nic = Nic::Name(nic.to_owned());
            one.endpoint = Some(endpoint.to_owned());
        }
    }
    Ok(all)
}
