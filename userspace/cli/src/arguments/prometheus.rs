//! `rocescope paths prometheus`.

use super::{Output, RetentionArguments, SpanArguments};
use crate::units::positive_duration;
use clap::Args;
use clap::builder::PossibleValuesParser;
use rocescope_collector::http::Url;
use rocescope_paths::prometheus::PRESETS;
use std::path::PathBuf;
use std::time::Duration;

/// Which server is asked for what, and where the rows go.
#[derive(Debug, Args)]
pub struct PrometheusArguments {
    /// Address of the server, with the path before `/api` if it has one
    #[arg(value_name = "URL", value_parser = Url::parse)]
    pub url: Url,
    /// Write the table `switch_ports` to this dataset
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Read the metrics of this exporter; without a preset or mapping, those of all presets
    #[arg(long = "preset", value_name = "NAME", value_parser = PossibleValuesParser::new(PRESETS.map(|preset| preset.0)))]
    pub presets: Vec<String>,
    /// Read the metrics that a TOML file maps to columns
    #[arg(long = "mapping", value_name = "FILE")]
    pub mappings: Vec<PathBuf>,
    /// Only series that also fit these matchers, such as `job="leafs",dc="1"`
    #[arg(long, value_name = "MATCHERS")]
    pub select: Option<String>,
    /// Ask for new samples this often
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "30s")]
    pub interval: Duration,
    /// Ask for samples that are at least this old: longer than a scrape may take, or a part of it is missing
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "15s")]
    pub delay: Duration,
    /// Time for an answer
    #[arg(long, value_name = "DURATION", value_parser = positive_duration, default_value = "10s")]
    pub timeout: Duration,
    /// Stop after DURATION; default: at Ctrl-C
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// With a time, what the server has of it is read, and no more.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Name to log in with
    #[arg(long, value_name = "NAME", requires = "password_file")]
    pub user: Option<String>,
    /// File with the password
    #[arg(long, value_name = "FILE", requires = "user")]
    pub password_file: Option<PathBuf>,
    /// File with a bearer token
    #[arg(long, value_name = "FILE", conflicts_with = "user")]
    pub token_file: Option<PathBuf>,
    /// File with the authorities that sign the certificate of the server; default: those of the system
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Topology: switches that have addresses as names have its names
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// Name of the reader in the rows
    #[arg(long, value_name = "NAME", default_value = "prometheus")]
    pub observer: String,
    /// When segments are sealed and deleted.
    #[command(flatten)]
    pub retention: RetentionArguments,
    /// Format of the summary
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}
