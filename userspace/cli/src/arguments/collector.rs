//! The arguments of `rocescope collect`, and of an agent that sends to it.

use super::RetentionArguments;
use crate::units::{DAY, HOUR, bytes, name, positive_duration, within};
use clap::Args;
use rocescope_agent::relay::RelaySettings;
use rocescope_analysis::incidents::OnIncident;
use rocescope_collector::Files;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope collect`.
#[derive(Clone, Debug, Args)]
pub struct CollectArguments {
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
    /// The first version of the controller's configuration (TOML); later ones come with `rocescope control apply`
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
}

/// Where an agent sends its rows.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Collector")]
pub struct SendArguments {
    /// Send rows to the `rocescope collect` at URL, such as `https://collector.example:4792`
    #[arg(long, value_name = "URL")]
    pub collector: Option<String>,
    /// The agent's certificate (PEM); its first DNS name is the observer
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// CA certificate that signed the collector's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Directory for rows that the collector has not acknowledged yet
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Maximum size of the spool; when it is full, the oldest rows are deleted
    #[arg(long, value_name = "SIZE", default_value = "256Mi", value_parser = bytes)]
    pub spool_bytes: u64,
}

impl SendArguments {
    /// Where rows go, if a collector is set.
    pub(crate) fn relay(&self) -> Option<RelaySettings> {
        let Self {
            collector: Some(url),
            cert: Some(certificate),
            key: Some(key),
            ca: Some(authority),
            spool: Some(spool),
            spool_bytes,
        } = self.clone()
        else {
            return None;
        };
        let files = Files {
            certificate,
            key,
            authority,
        };
        Some(RelaySettings {
            url,
            files,
            spool,
            spool_bytes,
        })
    }

    /// The error if only some of the options that sending requires are set.
    pub(crate) fn missing(&self) -> Option<String> {
        let given = [
            ("collector", self.collector.is_some()),
            ("cert", self.cert.is_some()),
            ("key", self.key.is_some()),
            ("ca", self.ca.is_some()),
            ("spool", self.spool.is_some()),
        ];
        let (some, _) = given.iter().find(|(_, is_given)| *is_given)?;
        let (other, _) = given.iter().find(|(_, is_given)| !is_given)?;
        Some(format!("--{some} requires --{other}"))
    }
}
