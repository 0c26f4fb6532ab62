//! The arguments of the measurement.

use crate::units::{YEAR, bits_per_second, bytes, count, name, share, within};
use clap::{Args, ValueEnum};
use std::time::Duration;

/// What is measured, and in which detail.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measurement")]
pub struct MeasureArguments {
    /// Name of this capture box in every row and file name
    #[arg(long, value_name = "NAME", default_value = "local", value_parser = name)]
    pub observer: String,
    /// Length of a window, in event time
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = within::<1, YEAR>)]
    pub window: Duration,
    /// Wait DURATION for frames that arrive out of order before a window closes
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = within::<0, YEAR>)]
    pub lateness: Duration,
    /// Maximum number of flows, connections and events in the summary
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = count)]
    pub top: usize,
    /// Number of top flows of each window in the dataset
    #[arg(long, value_name = "COUNT", default_value_t = 1_000, value_parser = count)]
    pub flow_rows: usize,
    /// Number of UDP source ports of sprayed directions of each window in the dataset, the largest directions first
    #[arg(long, value_name = "COUNT", default_value_t = 4_096, value_parser = count)]
    pub spread_rows: usize,
    /// Maximum number of flows counted exactly, in a window and in total; sketches estimate the rest
    #[arg(long, value_name = "COUNT", default_value_t = 131_072, value_parser = count)]
    pub exact_flows: usize,
    /// Whether the UDP source port separates flows
    #[arg(long, value_name = "KEY", value_enum, default_value_t = FlowKey::Auto)]
    pub flow_key: FlowKey,
    /// The mirror samples one packet of COUNT: losses are unknown, and packets and bytes that passed it are estimated. Without it, a
    /// mirror that samples is recognized by the gaps of its connections
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(2..=1_000_000_000))]
    pub mirror_sampling: Option<u64>,
    /// Memory for the state of connections; at the limit, the packets of further ones are only counted
    #[arg(long, value_name = "SIZE", default_value = "512Mi", value_parser = bytes)]
    pub connection_memory: u64,
    /// Minimum rate of an elephant flow, in bits per second
    #[arg(long, value_name = "RATE", default_value = "1G", value_parser = bits_per_second)]
    pub elephant: f64,
    /// Minimum change between windows that counts as jitter, relative to the previous rate
    #[arg(long, value_name = "RATIO", default_value = "0.5", value_parser = share)]
    pub jitter_relative: f64,
    /// Minimum change between windows that counts as jitter, in bits per second
    #[arg(long, value_name = "RATE", default_value = "500M", value_parser = bits_per_second)]
    pub jitter_absolute: f64,
}

/// What separates flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FlowKey {
    /// The port, except in directions whose sender sprays packets over many ports
    Auto,
    /// The port, always
    Port,
    /// Addresses and destination QP alone
    Direction,
}
