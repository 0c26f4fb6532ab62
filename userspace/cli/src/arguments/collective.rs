//! `rocescope collective`, and `rocescope diagnose collective`.

use super::SpanArguments;
use crate::units::name;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use rocescope_collective::readings::Readings;
use std::path::PathBuf;

/// The actions of `rocescope collective`.
#[derive(Debug, Subcommand)]
pub enum CollectiveAction {
    /// Write steps of collectives and telemetry of switches to a dataset
    Import(CollectiveImportArguments),
}

/// What an import reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CollectiveFormat {
    /// The folder of a run of Vedrfolnir's simulator: `fct.txt`, `telemetry_SWITCH.txt`, `pfc.txt`, `topology.txt`
    Vedrfolnir,
    /// `CoMMA`'s JSON: a file for each rank
    Comma,
    /// The trace of NCCL's example profiler: a file for each process
    NcclProfiler,
    /// Lines of NCCL Inspector: a file for each process
    NcclInspector,
    /// JSON dumps of `PyTorch`'s flight recorder: a file for each rank, whose name ends in the rank
    FlightRecorder,
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
    /// Name of the collective in the rows, for formats that have none; default: the name of the folder
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub collective: Option<String>,
    /// Name of the import in the rows
    #[arg(long, value_name = "NAME", default_value = "import", value_parser = name)]
    pub observer: String,
}

/// The rules of an analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CollectiveMode {
    /// As the paper of Vedrfolnir has it
    Paper,
    /// As the program of Vedrfolnir's authors computes, to the digit
    Authors,
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
    /// Rules of the analysis
    #[arg(long, value_enum, value_name = "MODE", default_value_t = CollectiveMode::Paper)]
    pub mode: CollectiveMode,
    /// How to read the paper where its text leaves a choice: `shares=printed`, for example; docs/collectives.md has them
    #[arg(long, value_name = "NAME=VALUE", num_args = 1, value_parser = PossibleValuesParser::new(Readings::NAMES))]
    pub reading: Vec<String>,
    /// Name the ranks of captured steps: log of NCCL with `NCCL_DEBUG=INFO` and `NCCL_DEBUG_SUBSYS=INIT,NET`, or a folder of
    /// such logs
    #[arg(long, value_name = "PATH")]
    pub nccl_debug: Option<PathBuf>,
    /// The collective to analyze; default: the one that took longest
    #[arg(long, value_name = "NAME")]
    pub collective: Option<String>,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = CollectiveOutput::Table)]
    pub output: CollectiveOutput,
}
