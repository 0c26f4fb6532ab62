//! The arguments of `rocescope agent`.

use super::{
    CollectivePartArguments, CountersArguments, HostpingPartArguments, Output, ProbeArguments, QueuePairsPartArguments,
    SendArguments,
};
use crate::units::{HOUR, name, positive_duration, within};
use clap::Args;
use rocescope_agent::Settings;
use rocescope_agent::collective::MonitorSettings;
use rocescope_agent::counters::Pace;
use rocescope_agent::queue_pairs::QueuePairPace;
use rocescope_agent::settings::ProbePace;
use std::path::PathBuf;
use std::time::Duration;

/// `rocescope agent`.
#[derive(Clone, Debug, Args)]
pub struct AgentArguments {
    /// Name of this host in every row; default: its host name
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub observer: Option<String>,
    /// Stop after DURATION
    #[arg(long, value_name = "DURATION", value_parser = positive_duration)]
    pub duration: Option<Duration>,
    /// Format of the summary of probes
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
    /// Print only summaries
    #[arg(short, long)]
    pub quiet: bool,
    /// The collector.
    #[command(flatten)]
    pub send: SendArguments,
    /// Keep the configuration of the controller in FILE; default: `controlled.toml` in the spool
    #[arg(long, value_name = "FILE", help_heading = "Controller")]
    pub control_file: Option<PathBuf>,
    /// Take a configuration of the controller at the end of a window of DURATION
    #[arg(long, value_name = "DURATION", default_value = "20s", value_parser = within::<100, HOUR>, help_heading = "Controller")]
    pub window: Duration,
    /// Maximum number of probes along paths of flows that the controller may request for one window, which other
    /// agents answer; 0: none, and no answers
    #[arg(long, value_name = "COUNT", default_value_t = 160, help_heading = "Controller")]
    pub flow_probes: u32,
    /// What the agent runs: the other tables of the configuration file.
    #[arg(skip)]
    pub parts: Parts,
}

/// What an agent runs.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The table `[probe]`.
    pub probe: Option<Box<ProbeArguments>>,
    /// The table `[counters]`.
    pub counters: Option<Box<CountersArguments>>,
    /// The table `[queue-pairs]`.
    pub queue_pairs: Option<Box<QueuePairsPartArguments>>,
    /// The table `[hostping]`.
    pub hostping: Option<Box<HostpingPartArguments>>,
    /// The table `[collective]`.
    pub collective: Option<Box<CollectivePartArguments>>,
}

impl From<&Parts> for Settings {
    fn from(parts: &Parts) -> Self {
        Self {
            probe: parts.probe.as_deref().map(ProbePace::from),
            counters: parts.counters.as_deref().map(Pace::from),
            queue_pairs: parts.queue_pairs.as_deref().map(QueuePairPace::from),
            monitor: parts.collective.as_deref().map(MonitorSettings::from),
        }
    }
}
