//! The arguments of `rocescope dataset`.

use super::{CompactArguments, Output, RollupArguments, SpanArguments};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// `rocescope dataset`.
#[derive(Debug, Subcommand)]
pub enum DatasetAction {
    /// Print the tables of the dataset and their columns
    Schema(SchemaArguments),
    /// Query datasets with SQL, on disk or in an object store
    #[command(disable_help_flag = true)]
    Sql(ProgramArguments),
    /// Merge the datasets of several capture boxes, hosts and agents
    Merge(MergeArguments),
    /// Check every file of a dataset against its checksums, and its tables against each other
    Verify(VerifyArguments),
    /// Seal the journals that a killed capture left in a dataset, convert earlier formats, and list unreadable files
    Repair(RepairArguments),
    /// Join the small segments of a dataset into larger ones, once their hour is over
    Compact(CompactArguments),
    /// Make the rows of a minute, an hour and a day from those that were captured, once their hour is over
    Rollup(RollupArguments),
    /// Copy the sealed segments of a dataset to an object store
    #[command(disable_help_flag = true)]
    Ship(ProgramArguments),
}

/// `rocescope dataset schema`.
#[derive(Debug, Args)]
pub struct SchemaArguments {
    /// Only these tables
    #[arg(value_name = "TABLE")]
    pub tables: Vec<String>,
    /// Format of the schema
    #[arg(short, long, value_enum, default_value_t = SchemaOutput::Table)]
    pub output: SchemaOutput,
}

/// The format of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaOutput {
    /// Text tables
    Table,
    /// One JSON object
    Json,
    /// The page `docs/formats.md`
    Markdown,
}

/// `rocescope dataset merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Datasets of captures, counters and probes; captures need the same windows, thresholds and sketches, and a
    /// packet that passed two boxes counts in both
    #[arg(value_name = "DATASET", required = true)]
    pub datasets: Vec<PathBuf>,
    /// The time.
    #[command(flatten)]
    pub span: SpanArguments,
    /// Directory of the merged dataset
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name of the observer in the merged rows and file names
    #[arg(long, value_name = "NAME", default_value = "merged")]
    pub observer: String,
}

/// `rocescope dataset verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Dataset to check
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Format of the result
    #[arg(short, long, value_enum, default_value_t = Output::Table)]
    pub output: Output,
}

/// `rocescope dataset repair`.
#[derive(Debug, Args)]
pub struct RepairArguments {
    /// Dataset to repair
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
}

/// `rocescope dataset ship` and `rocescope dataset sql`.
#[derive(Debug, Args)]
pub struct ProgramArguments {
    /// Options and arguments of a program of its own, which this command starts; `--help` prints them
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
