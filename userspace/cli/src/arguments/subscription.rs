//! The arguments of a capture that a controller configures.

use crate::units::bytes;
use clap::Args;
use rocescope_agent::subscription::SubscriptionSettings;
use rocescope_collector::Files;
use std::path::{Path, PathBuf};

/// Options that are not set, with their verb.
pub(super) fn not_set(given: &[(&str, bool)]) -> Option<String> {
    let missing = given.iter().filter(|(_, is_given)| !is_given);
    let missing: Vec<&str> = missing.map(|(option, _)| *option).collect();
    match missing.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is")),
        [all @ .., last] => Some(format!("{} and {last} are", all.join(", "))),
    }
}

/// The controller that configures a capture.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Controller")]
pub struct SubscriptionArguments {
    /// Take thresholds from the controller at URL, such as `https://collector.example:4792`
    #[arg(long, value_name = "URL", conflicts_with = "read")]
    pub collector: Option<String>,
    /// The certificate of this capture box (PEM); its first DNS name is its name
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// CA certificate that signed the collector's certificate (PEM)
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Keep the configuration of the controller in FILE
    #[arg(long, value_name = "FILE")]
    pub control_file: Option<PathBuf>,
    /// Send rows for the analysis of hosts: keep those in DIR that the collector has not acknowledged
    #[arg(long, value_name = "DIR", requires = "collector", conflicts_with = "anonymize")]
    pub spool: Option<PathBuf>,
    /// Maximum size of the spool; when it is full, the oldest rows are deleted
    #[arg(long, value_name = "SIZE", default_value = "64Mi", value_parser = bytes)]
    pub spool_bytes: u64,
    /// Rows a window for the analysis of hosts, those with trouble first; the others are counted
    #[arg(long, value_name = "ROWS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub wire_rows: u32,
    /// Number of flows below the elephant threshold, smallest first, along whose paths each window requests probes
    #[arg(long, value_name = "COUNT", default_value_t = 8, value_parser = clap::value_parser!(u8).range(0..=64))]
    pub small_flows: u8,
    /// Number of recordings an hour that agents may request, of flows of slow steps that pass this box; 0: none
    #[arg(long, value_name = "COUNT", default_value_t = 12, value_parser = clap::value_parser!(u16).range(0..=3600))]
    pub recordings: u16,
}

impl SubscriptionArguments {
    /// The settings, and the file that keeps the configuration, if a controller is set.
    pub(crate) fn settings(&self) -> Option<(SubscriptionSettings, &Path)> {
        let files = Files {
            certificate: self.cert.clone()?,
            key: self.key.clone()?,
            authority: self.ca.clone()?,
        };
        let settings = SubscriptionSettings {
            url: self.collector.clone()?,
            files,
            spool: self.spool.clone().map(|spool| (spool, self.spool_bytes)),
            wire_rows: self.wire_rows,
            recordings: self.recordings,
        };
        Some((settings, self.control_file.as_deref()?))
    }

    /// The error if a controller is set, and an option that it requires is not.
    pub(crate) fn missing(&self) -> Option<String> {
        self.collector.as_ref()?;
        let missing = not_set(&[
            ("--cert", self.cert.is_some()),
            ("--key", self.key.is_some()),
            ("--ca", self.ca.is_some()),
            ("--control-file", self.control_file.is_some()),
        ])?;
        Some(format!("--collector is set, and {missing} not"))
    }
}
