//! `rocescope collective`, and `rocescope diagnose collective`.

use super::SpanArguments;
use crate::units::{HOUR, name, positive_duration, within};
use clap::{Args, Subcommand, ValueEnum};
use rocescope_agent::collective::MonitorSettings;
use rocescope_collective::read::follow::Format;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The actions of `rocescope collective`.
#[derive(Debug, Subcommand)]
pub enum CollectiveAction {
    /// Write steps of collectives and telemetry of switches to a dataset
    Import(CollectiveImportArguments),
}

/// What an import reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CollectiveFormat {
    /// `CoMMA`'s JSON: a file for each rank
    Comma,
    /// The trace of NCCL's example profiler: a file for each process
    NcclProfiler,
    /// Lines of NCCL Inspector: a file for each process
    NcclInspector,
    /// Dumps of `PyTorch`'s flight recorder, pickles or JSON: a file for each rank, whose name ends in the rank
    FlightRecorder,
    /// Reports of NCCL's RAS: the output of `ncclras -f json`
    NcclRas,
    /// Captures of ports of switches, on both sides of a queue: `taps.toml` names them
    Taps,
}

/// `rocescope collective import`.
#[derive(Clone, Debug, Args)]
pub struct CollectiveImportArguments {
    /// Format of the input
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: CollectiveFormat,
    /// The folder to read, or a single file
    #[arg(value_name = "PATH")]
    pub input: PathBuf,
    /// Dataset to write the tables `steps` and `telemetry` to
    #[arg(long, value_name = "DATASET")]
    pub out: PathBuf,
    /// Name of the import in the rows
    #[arg(long, value_name = "NAME", default_value = "import", value_parser = name)]
    pub observer: String,
}

/// The formats of files that grow while a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FollowFormat {
    /// `CoMMA`'s JSON
    Comma,
    /// The trace of NCCL's example profiler
    NcclProfiler,
    /// Lines of NCCL Inspector
    NcclInspector,
    /// JSON dumps of `PyTorch`'s flight recorder
    FlightRecorder,
}

impl From<FollowFormat> for Format {
    fn from(format: FollowFormat) -> Self {
        match format {
            FollowFormat::Comma => Self::Comma,
            FollowFormat::NcclProfiler => Self::NcclProfiler,
            FollowFormat::NcclInspector => Self::NcclInspector,
            FollowFormat::FlightRecorder => Self::FlightRecorder,
        }
    }
}

/// The table `[collective]` of an agent.
#[derive(Clone, Debug, Args)]
pub struct CollectivePartArguments {
    /// Format of the files
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: FollowFormat,
    /// Files that jobs write, or folders of them; what they have at the start is not read again
    #[arg(long, value_name = "PATH", num_args = 1.., required = true)]
    pub steps: Vec<PathBuf>,
    /// Watch the steps: FILE has a line `RANK AGENT ADDRESS` for each rank. Without it the agent only sends steps
    #[arg(long, value_name = "FILE")]
    pub ranks: Option<PathBuf>,
    /// Ask when a round trip along the path of a step takes more than PERCENT of the shortest in the last minutes
    #[arg(long, value_name = "PERCENT", default_value_t = 150, value_parser = clap::value_parser!(u32).range(101..=10_000))]
    pub threshold: u32,
    /// A round trip is slow only if it takes longer than the shortest by DURATION: timestamps of hosts vary
    #[arg(long, value_name = "DURATION", default_value = "20us", value_parser = positive_duration)]
    pub min_delay: Duration,
    /// Maximum number of detections in each step, without those that agents of other hosts pass on
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub detections: u32,
    /// Time between two probes along the path of a step
    #[arg(long, value_name = "DURATION", default_value = "100ms", value_parser = within::<1, HOUR>)]
    pub interval: Duration,
    /// Number of probes in the burst along the path of a slow step; the budget is that of `flow-probes`
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub burst: u16,
    /// UDP source port of probes for steps whose port is unknown: switches may route them by another path
    #[arg(long, value_name = "PORT", default_value_t = 49_152, value_parser = clap::value_parser!(u16).range(1..))]
    pub source_port: u16,
    /// Maximum number of paths that are probed at a time
    #[arg(long, value_name = "COUNT", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub max_paths: u16,
}

impl From<&CollectivePartArguments> for MonitorSettings {
    fn from(arguments: &CollectivePartArguments) -> Self {
        Self {
            threshold_percent: arguments.threshold,
            min_delay: arguments.min_delay.into(),
            detections: arguments.detections,
            interval: arguments.interval.into(),
            burst: arguments.burst,
            source_port: arguments.source_port,
            max_paths: arguments.max_paths.into(),
        }
    }
}

/// What a local time is ahead of UTC, in minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcOffset(pub i64);

impl FromStr for UtcOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let minutes = || {
            let (sign, clock) = match text.split_at_checked(1)? {
                ("+", clock) => (1, clock),
                ("-", clock) => (-1, clock),
                _ => return None,
            };
            let (hours, minutes) = clock.split_once(':')?;
            let (hours, minutes): (u8, u8) = (hours.parse().ok()?, minutes.parse().ok()?);
            (hours < 24 && minutes < 60).then(|| sign * (i64::from(hours) * 60 + i64::from(minutes)))
        };
        minutes()
            .map(Self)
            .ok_or_else(|| "expected an offset such as +02:00 or -05:30".to_owned())
    }
}

/// The format of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CollectiveOutput {
    /// Text
    #[value(alias = "text")]
    Table,
    /// One JSON object
    Json,
    /// The critical path and the provenance graphs for Graphviz
    Dot,
}

/// `rocescope diagnose collective`.
#[derive(Clone, Debug, Args)]
pub struct DiagnoseCollectiveArguments {
    /// Dataset with the tables `steps` and `telemetry`, as `rocescope collective import` writes them
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Log of NCCL, or a folder of logs: name the ranks of captured steps (`NCCL_DEBUG=INFO`, `NCCL_DEBUG_SUBSYS=INIT,NET`), and
    /// show what captures saw of each transfer that failed, such as error 12 (`NCCL_DEBUG=WARN`)
    #[arg(long, value_name = "PATH")]
    pub nccl_debug: Option<PathBuf>,
    /// What the times of that log are ahead of UTC: NCCL writes local times
    #[arg(
        long,
        value_name = "[+-]HH:MM",
        default_value = "+00:00",
        allow_hyphen_values = true,
        requires = "nccl_debug"
    )]
    pub nccl_utc_offset: UtcOffset,
    /// The collective to analyze; default: the one that took longest
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// Write the steps, their waits and what was measured meanwhile to FILE, as a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = CollectiveOutput::Table)]
    pub output: CollectiveOutput,
}
