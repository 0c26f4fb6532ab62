//! `rocescope hostping`, and `rocescope diagnose hostping`.

use super::{Output, SpanArguments};
use crate::units::{DAY, YEAR, bytes, name, within};
use clap::{ArgGroup, Args, Subcommand};
use rocescope_agent::hostping::HostpingSettings;
use rocescope_agent::hostping::settings::TopologySource;
use rocescope_diagnose::hostping::Rule;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::schedule::Timing;
use std::path::PathBuf;
use std::time::Duration;

/// The actions of `rocescope hostping`.
#[derive(Debug, Subcommand)]
pub enum HostpingAction {
    /// Draw the links of a host, and list what looks wrong without a test
    Topology(HostpingTopologyArguments),
    /// Measure each NIC with each endpoint of this host by loopback WRITEs, and locate the abnormal link
    Run(Box<HostpingRunArguments>),
    /// Locate the abnormal link of a host from loopback measurements
    Diagnose(Box<HostpingDiagnoseArguments>),
    /// Print the baseline of a model of hosts: the medians of healthy runs
    Baseline(HostpingBaselineArguments),
}

/// Where the topology comes from.
#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("source").multiple(false))]
pub struct HostTopologyArguments {
    /// Topology of the host: XML of `NCCL_TOPO_DUMP_FILE`, XML of `lstopo --of xml`, or the text of `nvidia-smi topo -m`
    #[arg(long, value_name = "FILE", group = "source")]
    pub topology: Option<PathBuf>,
    /// Read the topology from DIR instead of `/sys` of this host
    #[arg(long, value_name = "DIR", group = "source")]
    pub sysfs_root: Option<PathBuf>,
}

/// `rocescope hostping topology`.
#[derive(Clone, Debug, Args)]
pub struct HostpingTopologyArguments {
    /// The topology.
    #[command(flatten)]
    pub source: HostTopologyArguments,
    /// Format of the topology
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// The threshold, and what was measured under which load.
#[derive(Clone, Debug, Args)]
pub struct RuleArguments {
    /// Threshold: `seed` (80 % of the baseline), `superbench` (95 %), or Azure's figure of a model: `azure-a100`,
    /// `azure-h100`, `azure-h200`, `azure-mi300x`, `azure-hbv4`, `azure-hbv3`, `azure-v100`
    #[arg(long, value_name = "NAME", default_value = "seed", value_parser = rule)]
    pub rule: Rule,
    /// Share of the baseline below which a test is abnormal, instead of `--rule`: `0.9`
    #[arg(long, value_name = "SHARE", value_parser = min_ratio, conflicts_with = "rule")]
    pub min_ratio: Option<Rule>,
}

impl RuleArguments {
    /// The rule in force.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.min_ratio.unwrap_or(self.rule)
    }
}

/// Which loopback tests run, and their limits.
#[derive(Clone, Debug, Args)]
pub struct LoopbackTestArguments {
    /// The topology.
    #[command(flatten)]
    pub source: HostTopologyArguments,
    /// NICs to test; default: all
    #[arg(long, value_name = "NIC", num_args = 1.., value_delimiter = ',', help_heading = "Tests")]
    pub nic: Vec<String>,
    /// Endpoints to test, such as `mem0` or `GPU3`; default: all
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', help_heading = "Tests")]
    pub endpoint: Vec<String>,
    /// Stop after this time of tests
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = within::<10, DAY>, help_heading = "Limits")]
    pub max_time: Duration,
    /// Stop after the tests have written this many bytes
    #[arg(long, value_name = "SIZE", default_value = "500G", value_parser = bytes, help_heading = "Limits")]
    pub max_bytes: u64,
    /// Test although others use the NICs: short tests of bandwidth, which are compared with each other
    #[arg(long, help_heading = "Limits")]
    pub force: bool,
    /// Measurements of a healthy host of the same model, or their medians; default: compare the host with itself
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// The threshold.
    #[command(flatten)]
    pub rule: RuleArguments,
}

/// `rocescope hostping run`.
#[derive(Clone, Debug, Args)]
pub struct HostpingRunArguments {
    /// The tests.
    #[command(flatten)]
    pub tests: LoopbackTestArguments,
    /// Print which tests would run, how long and with how many bytes, and run none
    #[arg(long)]
    pub plan: bool,
    /// Write the tests to the table `loopback` of this dataset
    #[arg(long, value_name = "DATASET")]
    pub out: Option<PathBuf>,
    /// Name of the host in the rows; default: its host name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub observer: Option<String>,
    /// Format of the diagnosis
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// The table `[hostping]` of an agent.
#[derive(Clone, Debug, Args)]
pub struct HostpingPartArguments {
    /// The tests.
    #[command(flatten)]
    pub tests: LoopbackTestArguments,
    /// Run at this interval, when the host is idle
    #[arg(long, value_name = "DURATION", value_parser = within::<100, YEAR>)]
    pub every: Option<Duration>,
    /// How long all NICs must be idle before a run
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = within::<100, DAY>)]
    pub idle_for: Duration,
    /// Also test a busy host when a NIC pauses the switch or discards packets, at most once in DURATION
    #[arg(long, value_name = "DURATION", value_parser = within::<100, YEAR>)]
    pub on_alarm: Option<Duration>,
}

impl From<&HostpingPartArguments> for Timing {
    fn from(arguments: &HostpingPartArguments) -> Self {
        Self {
            every: arguments.every.unwrap_or(Duration::MAX).into(),
            idle_for: arguments.idle_for.into(),
            alarms: arguments.on_alarm.map(Nanos::from),
        }
    }
}

/// `rocescope hostping diagnose`.
#[derive(Clone, Debug, Args)]
pub struct HostpingDiagnoseArguments {
    /// The topology.
    #[command(flatten)]
    pub source: HostTopologyArguments,
    /// Measurements: matrices as text, or the output of perftest or SuperBench; `NIC:ENDPOINT=FILE` names what a file of
    /// perftest measured
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub matrix: Vec<String>,
    /// Measurements of a healthy host of the same model, or their medians; default: compare the host with itself
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// The host, if the measurements are of several
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// The threshold.
    #[command(flatten)]
    pub rule: RuleArguments,
    /// NICs that carried traffic during the tests, or `all`
    #[arg(long, value_name = "NIC", num_args = 1.., value_delimiter = ',')]
    pub busy: Vec<String>,
    /// Write the tests to the table `loopback` of this dataset
    #[arg(long, value_name = "DATASET")]
    pub out: Option<PathBuf>,
    /// Name of the host in the rows; default: `--node`, or else the name of this host
    #[arg(long, value_name = "NAME", value_parser = name, requires = "out")]
    pub observer: Option<String>,
    /// Format of the diagnosis
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `rocescope hostping baseline`.
#[derive(Clone, Debug, Args)]
pub struct HostpingBaselineArguments {
    /// The topology.
    #[command(flatten)]
    pub source: HostTopologyArguments,
    /// Healthy runs: each file is a run, or several if it names hosts
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub matrix: Vec<String>,
}

/// `rocescope diagnose hostping`.
#[derive(Clone, Debug, Args)]
pub struct DiagnoseHostpingArguments {
    /// Dataset with the table `loopback`, as `rocescope hostping diagnose --out` writes it
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Include only this host
    #[arg(long, value_name = "NAME")]
    pub observer: Option<String>,
    /// The threshold.
    #[command(flatten)]
    pub rule: RuleArguments,
    /// Format of the diagnosis
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

fn rule(name: &str) -> Result<Rule, String> {
    Rule::of_name(name).ok_or_else(|| {
        let names: Vec<&str> = Rule::NAMED.into_iter().map(Rule::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

fn min_ratio(text: &str) -> Result<Rule, String> {
    match text.parse::<f64>() {
        Ok(ratio) if ratio > 0.0 && ratio < 1.0 => Ok(Rule::Ratio {
            name: "--min-ratio",
            ratio,
        }),
        _ => Err("expected a share between 0 and 1, such as 0.9".into()),
    }
}

impl From<&HostTopologyArguments> for TopologySource {
    fn from(arguments: &HostTopologyArguments) -> Self {
        Self {
            topology: arguments.topology.clone(),
            sysfs_root: arguments.sysfs_root.clone(),
        }
    }
}

impl From<&LoopbackTestArguments> for HostpingSettings {
    fn from(arguments: &LoopbackTestArguments) -> Self {
        Self {
            source: (&arguments.source).into(),
            nics: arguments.nic.clone(),
            endpoints: arguments.endpoint.clone(),
            max_time: arguments.max_time,
            max_bytes: arguments.max_bytes,
            force: arguments.force,
            baseline: arguments.baseline.clone(),
            rule: arguments.rule.rule(),
        }
    }
}
