//! `rocescope hostping`: the bottleneck inside a host.
//!
//! | module | what it does |
//! |---|---|
//! | `dataset` | the table `loopback`, written and read |
//! | `run` | loopback tests of this host |

pub(super) mod dataset;
mod run;

use crate::arguments::{
    HostpingAction, HostpingBaselineArguments, HostpingDiagnoseArguments, HostpingTopologyArguments, Output,
};
use anyhow::{Context, Result, bail};
use rocescope_agent::hostping::{measured, source};
use rocescope_diagnose::hostping::measured::Quantity;
use rocescope_diagnose::hostping::rows::{About, rows};
use rocescope_diagnose::hostping::topology::draw::draw;
use rocescope_diagnose::hostping::topology::{NodeKind, Pcie, Suspicion, suspicions};
use rocescope_diagnose::hostping::{Document, Judge, Matrix, Topology};
use rocescope_model::json;
use rocescope_runtime::clock::now;
use rocescope_runtime::host_name::host_name;
use serde::Serialize;
use std::process::ExitCode;

pub(super) fn run(action: &HostpingAction) -> Result<ExitCode> {
    match action {
        HostpingAction::Topology(arguments) => topology(arguments)?,
        HostpingAction::Run(arguments) => run::run(arguments)?,
        HostpingAction::Diagnose(arguments) => diagnose(arguments)?,
        HostpingAction::Baseline(arguments) => baseline(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A link of the topology in JSON.
#[derive(Serialize)]
struct LinkJson<'a> {
    a: &'a str,
    b: &'a str,
    kind: &'static str,
    gbps: Option<f64>,
    max_gbps: Option<f64>,
}

#[derive(Serialize)]
struct NodeJson<'a> {
    name: &'a str,
    aliases: &'a [String],
    address: &'a str,
    parent: Option<&'a str>,
}

#[derive(Serialize)]
struct TopologyJson<'a> {
    nodes: Vec<NodeJson<'a>>,
    links: Vec<LinkJson<'a>>,
    suspicions: Vec<Suspicion>,
    virtual_machine: Option<bool>,
    notes: &'a [String],
}

fn topology(arguments: &HostpingTopologyArguments) -> Result<()> {
    let topology = source::any(&(&arguments.source).into())?;
    let found = suspicions(&topology);
    crate::print(&match arguments.output {
        Output::Json => {
            let nodes = topology.nodes.iter().map(|node| NodeJson {
                name: &node.name,
                aliases: &node.aliases,
                address: &node.address,
                parent: node.parent.map(|parent| topology.nodes[parent].name.as_str()),
            });
            let gbps = |pcie: Option<Pcie>| pcie.map(|pcie| pcie.gbps);
            let links = topology.links.iter().enumerate().map(|(at, link)| LinkJson {
                a: topology.ends(at).0,
                b: topology.ends(at).1,
                kind: link.kind.name(),
                gbps: gbps(link.now),
                max_gbps: gbps(link.max),
            });
            json::pretty(&TopologyJson {
                nodes: nodes.collect(),
                links: links.collect(),
                suspicions: found,
                virtual_machine: topology.is_virtual,
                notes: &topology.notes,
            }) + "\n"
        }
        Output::Table => {
            let mut out = draw(&topology);
            if found.is_empty() {
                out.push_str("\nnothing looks wrong without a test\n");
            }
            for one in found {
                let Suspicion {
                    kind,
                    place,
                    message,
                    remedy,
                } = one;
                out.push_str(&format!("\n{kind}  {place}\n    {message}\n    do: {remedy}\n"));
            }
            out
        }
    })
}

fn diagnose(arguments: &HostpingDiagnoseArguments) -> Result<()> {
    let topology = source::read(&(&arguments.source).into())?;
    let measured = measured::one(&arguments.matrix, arguments.node.as_deref(), &topology)?;
    let files = |file: &String| measured::one(std::slice::from_ref(file), None, &topology);
    let baseline = arguments.baseline.as_ref().map(files).transpose()?;
    let busy = busy(&arguments.busy, &topology)?;
    let judge = Judge {
        topology: &topology,
        baseline: baseline.as_ref(),
        rule: arguments.rule.rule(),
        busy: &busy,
        loads: &[],
    };
    let diagnosis = judge.diagnose(&measured);
    if let Some(root) = &arguments.out {
        let observer = arguments.observer.as_deref().or(arguments.node.as_deref());
        let observer = observer.map_or_else(host_name, |name| Ok(name.to_owned()))?;
        let about = About {
            observer: &observer,
            start_ns: now().0,
            length_ns: 0,
            loads: &[],
        };
        dataset::write(
            root,
            &rows(&topology, &measured, &diagnosis.judgement, &about),
            &observer,
        )?;
    }
    print(&topology, &measured, &diagnosis, arguments.output)
}

/// Prints a diagnosis.
fn print(
    topology: &Topology,
    measured: &Matrix,
    diagnosis: &rocescope_diagnose::hostping::Diagnosis,
    output: Output,
) -> Result<()> {
    let document = Document::of(topology, measured, diagnosis);
    crate::print(&match output {
        Output::Json => {
            json::pretty(&DiagnosisJson {
                document: &document,
                suspicions: suspicions(topology),
                notes: &topology.notes,
            }) + "\n"
        }
        Output::Table => {
            let mut out = document.text(measured);
            for one in suspicions(topology) {
                out.push_str(&format!(
                    "\n{}  {}: {}\n    do: {}\n",
                    one.kind, one.place, one.message, one.remedy
                ));
            }
            for note in &topology.notes {
                out.push_str(&format!("note: {note}\n"));
            }
            out
        }
    })
}

#[derive(Serialize)]
struct DiagnosisJson<'a> {
    #[serde(flatten)]
    document: &'a Document,
    suspicions: Vec<Suspicion>,
    notes: &'a [String],
}

fn busy(names: &[String], topology: &Topology) -> Result<Vec<usize>> {
    let nics: Vec<usize> = topology.of_kind(NodeKind::Nic).collect();
    if names.iter().any(|name| name == "all") {
        return Ok(nics);
    }
    let find = |name: &String| {
        let found = topology.find(name).filter(|nic| nics.contains(nic));
        found.with_context(|| format!("--busy {name}: no NIC of the topology has this name"))
    };
    names.iter().map(find).collect()
}

fn baseline(arguments: &HostpingBaselineArguments) -> Result<()> {
    let topology = source::read(&(&arguments.source).into())?;
    let runs = measured::each(&arguments.matrix, &topology)?;
    let median = Matrix::median(&runs);
    if median.nics.is_empty() {
        bail!("no measurement");
    }
    let mut out = format!("# rocescope hostping baseline: medians of {} runs\n", runs.len());
    for quantity in [Quantity::Bandwidth, Quantity::Latency] {
        out.push_str(&median.text(quantity, |_, _| ""));
    }
    crate::print(&out)
}
