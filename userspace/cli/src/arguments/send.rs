//! Where an agent sends its rows.

use crate::units::bytes;
use clap::Args;
use rocescope_agent::relay::RelaySettings;
use rocescope_collector::Files;
use std::path::PathBuf;

/// Where an agent sends its rows.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Collector")]
pub struct SendArguments {
    /// Send rows to the `rocescope collector run` at URL, such as `https://collector.example:4792`
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
