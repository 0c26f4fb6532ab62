//! The arguments of `rocescope collect`, and of an agent that sends to it.

use crate::units::{bytes, name, positive_duration};
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope collect`.
#[derive(Clone, Debug, Args)]
pub struct CollectArguments {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "[::]:4792")]
    pub listen: SocketAddr,
    /// Dataset that all agents' rows go into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// The collector's certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub cert: PathBuf,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub key: PathBuf,
    /// Certificate of the authority that signs agents (PEM); an agent's name is the first DNS name in its
    /// certificate
    #[arg(long, value_name = "FILE", help_heading = "Certificates")]
    pub client_ca: PathBuf,
    /// Agents at once
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub max_agents: usize,
    /// Most bytes of rows that wait to be written; when there are more, agents wait
    #[arg(long, value_name = "BYTES", default_value = "64Mi", value_parser = bytes)]
    pub max_waiting: u64,
    /// Acknowledge rows that the kernel has and the disk has not: a loss of power may cost some
    #[arg(long)]
    pub no_sync: bool,
    /// End after this time
    #[arg(long, value_name = "TIME", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Serve figures for Prometheus at this address, such as 127.0.0.1:9465
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// How often a line says what was stored
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = positive_duration)]
    pub status: Duration,
    /// Say nothing but what goes wrong
    #[arg(short, long)]
    pub quiet: bool,
    /// Name of the collector, in file names and in the rows of its diagnosis
    #[arg(long, value_name = "NAME", default_value = "collector", value_parser = name, help_heading = "Dataset")]
    pub observer: String,
    /// A segment is sealed when its first rows are this old
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = positive_duration, help_heading = "Dataset")]
    pub segment_age: Duration,
    /// Delete sealed segments whose hour ended longer ago than this
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = "Dataset")]
    pub keep_age: Option<Duration>,
    /// Delete the oldest sealed segments when all together have more bytes than this
    #[arg(long, value_name = "BYTES", value_parser = bytes, help_heading = "Dataset")]
    pub keep_bytes: Option<u64>,
    /// Analyse each window of 20 s as `diagnose hostmesh` does, say what fails, and write the tables `sla`,
    /// `verdicts` and `links`
    #[arg(long, help_heading = "Diagnosis")]
    pub diagnose: bool,
    /// Nodes and their addresses (TOML); without it every address is a node of its own
    #[arg(
        long,
        value_name = "FILE",
        requires = "diagnose",
        help_heading = "Diagnosis"
    )]
    pub topology: Option<PathBuf>,
    /// A window is analysed this long after its end; rows that come later are stored and not analysed
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = positive_duration, help_heading = "Diagnosis")]
    pub lateness: Duration,
    /// Divide the lengths of windows by this: for a mesh whose every time was divided so
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..), help_heading = "Diagnosis")]
    pub scale: u16,
}

/// Where an agent sends its rows.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Collector")]
pub struct SendArguments {
    /// Send rows to `rocescope collect`, as in `https://collector.example:4792`
    #[arg(long, value_name = "URL")]
    pub collector: Option<String>,
    /// The agent's certificate (PEM), whose first DNS name is the observer
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Certificate of the authority that signed the collector's (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Directory for rows that the collector has not acknowledged
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Most bytes of the spool; when it is full its oldest rows go
    #[arg(long, value_name = "BYTES", default_value = "256Mi", value_parser = bytes)]
    pub spool_bytes: u64,
}

impl SendArguments {
    /// What is wanted where only some of the options are there that sending takes.
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
        Some(format!("--{some} takes --{other}, which is missing"))
    }
}
