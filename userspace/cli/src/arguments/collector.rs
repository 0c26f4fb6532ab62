//! The arguments of `rocescope collector`.

use super::subscription::not_set;
use super::{Output, PageArguments, RetentionArguments};
use crate::units::{DAY, HOUR, bytes, name, positive_duration, within};
use clap::{Args, Subcommand};
use rocescope_analysis::incidents::OnIncident;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope collector`.
#[derive(Debug, Subcommand)]
pub enum CollectorAction {
    /// Collect the rows of agents into one dataset, diagnose them, and hand out one configuration
    Run(Box<CollectorRunArguments>),
    /// Make the certificates of a fleet from a list of its hosts
    Certificates(CertificatesArguments),
    /// Print which agent and capture box runs which version, who refused one and why, and who is away
    Status(StatusArguments),
    /// Put the configuration in FILE in force, as the next version
    Apply(CandidateArguments),
    /// Print what would change if FILE were applied; refuse what `apply` refuses
    Diff(CandidateArguments),
    /// Put an earlier version in force, as the next version
    Rollback(RollbackArguments),
}

impl CollectorAction {
    /// The error if options that are required are not set.
    pub(crate) fn missing(&self) -> Option<String> {
        match self {
            Self::Run(run) => {
                let is_missing = run.control.is_some() && run.control_dir.is_none();
                is_missing.then(|| "--control requires --control-dir".to_owned())
            }
            Self::Certificates(_) => None,
            Self::Status(status) => status.operator.missing(),
            Self::Apply(candidate) | Self::Diff(candidate) => candidate.operator.missing(),
            Self::Rollback(rollback) => rollback.operator.missing(),
        }
    }
}

/// `rocescope collector certificates`.
#[derive(Clone, Debug, Args)]
pub struct CertificatesArguments {
    /// The hosts: a name a line, and for the collector the DNS names and addresses that agents reach it by, as in
    /// `collector collector.example 192.0.2.10`; `-` for standard input
    #[arg(value_name = "HOSTS")]
    pub hosts: PathBuf,
    /// Directory of the authority (`ca.pem`, `ca.key`) and of the certificates (`NAME.pem`, `NAME.key`); what is there stays
    #[arg(long, value_name = "DIR", default_value = "certificates")]
    pub out: PathBuf,
    /// How long certificates are valid
    #[arg(long, value_name = "DURATION", default_value = "365d", value_parser = positive_duration)]
    pub valid: Duration,
    /// Replace certificates that are there
    #[arg(long)]
    pub renew: bool,
}

/// `rocescope collector status`.
#[derive(Clone, Debug, Args)]
pub struct StatusArguments {
    /// Format of the status
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// The operator.
    #[command(flatten)]
    pub operator: OperatorArguments,
}

/// `rocescope collector apply` and `rocescope collector diff`.
#[derive(Clone, Debug, Args)]
pub struct CandidateArguments {
    /// The controller's configuration (TOML)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Take settings that this version of rocescope does not know; members check them
    #[arg(long)]
    pub unchecked: bool,
    /// The operator.
    #[command(flatten)]
    pub operator: OperatorArguments,
}

/// `rocescope collector rollback`.
#[derive(Clone, Debug, Args)]
pub struct RollbackArguments {
    /// The version; default: the one before that in force
    #[arg(value_name = "VERSION")]
    pub number: Option<u64>,
    /// The operator.
    #[command(flatten)]
    pub operator: OperatorArguments,
}

/// Which controller an operator asks, and the certificate that permits it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Operator")]
pub struct OperatorArguments {
    /// Ask the controller at URL, such as `https://collector.example:4792`
    #[arg(long, value_name = "URL")]
    pub collector: Option<String>,
    /// The operator's certificate (PEM); its first DNS name is the operator's name
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// CA certificate that signed the collector's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

impl OperatorArguments {
    /// The error if options that are required are not set.
    fn missing(&self) -> Option<String> {
        not_set(&[
            ("--collector", self.collector.is_some()),
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--ca", self.ca.is_some()),
        ])
        .map(|missing| format!("{missing} not set"))
    }
}

/// `rocescope collector run`.
#[derive(Clone, Debug, Args)]
pub struct CollectorRunArguments {
    /// Listen on this address
    #[arg(long, value_name = "ADDRESS", default_value = "[::]:4792")]
    pub listen: SocketAddr,
    /// Write the rows of all agents to the dataset in this directory
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The collector's certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub cert: PathBuf,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub key: PathBuf,
    /// CA certificate that signs agents (PEM); an agent's name is the first DNS name in its certificate
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub client_ca: PathBuf,
    /// Be the controller too: keep the versions of its configuration in DIR
    #[arg(long, value_name = "DIR", help_heading = "Controller")]
    pub control_dir: Option<PathBuf>,
    /// The first version of the controller's configuration (TOML); later ones come with `rocescope collector apply`
    #[arg(long, value_name = "FILE", help_heading = "Controller")]
    pub control: Option<PathBuf>,
    /// Maximum number of connected agents
    #[arg(long, value_name = "COUNT", default_value_t = 1024)]
    pub max_agents: usize,
    /// Maximum size of the rows that wait to be written; above it, agents wait
    #[arg(long, value_name = "SIZE", default_value = "64Mi", value_parser = bytes)]
    pub max_waiting: u64,
    /// Acknowledge rows before they are synced to disk; a power failure may lose some
    #[arg(long)]
    pub no_sync: bool,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Serve Prometheus metrics on this address, such as 127.0.0.1:9465
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Print a status line every DURATION
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = within::<100, DAY>)]
    pub status: Duration,
    /// Print only errors and new problems
    #[arg(short, long)]
    pub quiet: bool,
    /// Name of the collector in file names and in the rows of its diagnosis
    #[arg(long, value_name = "NAME", default_value = "collector", value_parser = name, help_heading = "Dataset")]
    pub observer: String,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
    /// Diagnose probes as `diagnose mesh` does, in windows of 20 s, and counters with rows of capture boxes as
    /// `diagnose hosts` does, in windows of 10 s; join both with captured connections to incidents. Print what is new, and
    /// write the tables `sla`, `verdicts`, `links`, `host_verdicts` and `incidents`
    #[arg(long, help_heading = "Diagnosis")]
    pub diagnose: bool,
    /// Nodes and their addresses (TOML); default: each address is a node
    #[arg(long, value_name = "FILE", requires = "diagnose", help_heading = "Diagnosis")]
    pub topology: Option<PathBuf>,
    /// When an incident opens, changes or closes: run COMMAND in a shell, with the change as one line of JSON on its
    /// standard input; or post it to URL (`http://`, `https://`), or to an Alertmanager (`alertmanager+http://HOST:9093`)
    #[arg(long, value_name = "COMMAND|URL", requires = "diagnose", help_heading = "Diagnosis")]
    pub on_incident: Option<OnIncident>,
    /// Analyze a window DURATION after its end, and again when rows of it that came later have stopped coming: those of the
    /// last hour
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = within::<1, HOUR>, help_heading = "Diagnosis")]
    pub lateness: Duration,
    /// The page.
    #[command(flatten)]
    pub page: PageArguments,
}
