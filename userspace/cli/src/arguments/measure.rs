//! The arguments of what is measured.

use crate::units::{bits_per_second, duration, name, positive_duration, share};
use clap::Args;
use std::time::Duration;

/// What is measured, and how finely.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct MeasureArguments {
    /// Name of this capture point, in every row and file name
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = name)]
    pub observer: String,
    /// Length of a window of event time
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive_duration)]
    pub window: Duration,
    /// How long a window waits for frames that come out of order
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = duration)]
    pub lateness: Duration,
    /// Top flows in the summary; connections and events printed at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// Top flows of each window in the dataset
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub flow_rows: usize,
    /// Flows counted exactly, a window and in all; sketches take over beyond it
    #[arg(long, value_name = "N", default_value_t = 131_072)]
    pub exact_flows: usize,
    /// Rate from which a flow is an elephant, in bits a second
    #[arg(long, value_name = "RATE", default_value = "1G", value_parser = bits_per_second)]
    pub elephant: f64,
    /// Change between windows that is jitter, as a share of the rate before
    #[arg(long, value_name = "SHARE", default_value = "0.5", value_parser = share)]
    pub jitter_relative: f64,
    /// Change between windows that is jitter, in bits a second
    #[arg(long, value_name = "RATE", default_value = "500M", value_parser = bits_per_second)]
    pub jitter_absolute: f64,
}
