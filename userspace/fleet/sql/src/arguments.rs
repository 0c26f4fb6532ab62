//! The command line.

use anyhow::{Result, bail};
use clap::{Args, Parser, ValueEnum};
use datafusion::arrow::compute::kernels::cast_utils::string_to_datetime;
use rocescope_model::{Time, units};
use std::path::PathBuf;

/// SQL over datasets of rocescope, on disk or in an object store.
///
/// Every table of `rocescope dataset schema` is there by its name. `date` and `hour` are those of a segment's directory; conditions
/// on the time of a row select directories too. Without -c, -f or --question there is a prompt, or statements are read from
/// the standard input.
#[derive(Parser, Debug)]
#[command(
    name = "rocescope dataset sql",
    bin_name = "rocescope dataset sql",
    version,
    max_term_width = 120
)]
pub(crate) struct Arguments {
    /// Datasets, read as one: directories, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX; credentials
    /// are those of the environment, such as AWS_ACCESS_KEY_ID
    #[arg(value_name = "DATASET", required_unless_present = "list")]
    pub datasets: Vec<String>,
    /// Run these statements; may be given several times
    #[arg(short, long, value_name = "SQL")]
    pub command: Vec<String>,
    /// Run the statements in this file
    #[arg(short, long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Run a saved question
    #[arg(long, value_name = "NAME")]
    pub question: Option<String>,
    /// List the saved questions; with --question, print its SQL
    #[arg(long)]
    pub list: bool,
    /// Format of the rows
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Table)]
    pub output: Format,
    /// Write the rows to this file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
}

/// Which rows are read, and how much memory that may take.
#[derive(Args, Debug)]
pub(crate) struct Limits {
    /// Read only rows from this time on, such as 2026-11-21T02:30:00Z; in UTC unless it states another zone
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub from: Option<Time>,
    /// Read only rows before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub to: Option<Time>,
    /// Memory of a query, such as 512Mi or 4G: sorts, joins and groups that need more are spilled to disk
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub memory: String,
    /// Folder for what is spilled; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub spill: Option<PathBuf>,
}

impl Limits {
    /// The memory of a query in bytes.
    ///
    /// # Errors
    /// It is no size, or below a megabyte.
    pub(crate) fn memory_bytes(&self) -> Result<usize> {
        match units::bytes(&self.memory).map(usize::try_from) {
            Some(Ok(bytes)) if bytes >= 1_000_000 => Ok(bytes),
            _ => bail!("--memory {}: state at least 1M, such as 512Mi or 4G", self.memory),
        }
    }
}

/// A format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns side by side
    #[value(alias = "text")]
    Table,
    /// One array of objects
    Json,
    /// A line of JSON for each row
    Jsonl,
    /// A line of names, and one for each row (RFC 4180)
    Csv,
    /// Markdown for issues and wikis
    #[value(alias = "md")]
    Markdown,
    /// A Parquet file
    Parquet,
}

fn time(text: &str) -> Result<Time, String> {
    let wrong = |_| "a time is written as 2026-11-21T02:30:00Z or 2026-11-21".to_owned();
    let time = string_to_datetime(&chrono::Utc, text).map_err(wrong)?;
    Ok(Time::from_micros(time.timestamp_micros()))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, time};
    use clap::{CommandFactory, Parser};
    use rocescope_model::Time;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_are_in_utc_unless_they_state_a_zone() {
        let half_past = Time(1_795_228_200_000_000_000);
        for text in [
            "2026-11-21T02:30:00Z",
            "2026-11-21 02:30:00",
            "2026-11-21T03:30:00+01:00",
        ] {
            assert_eq!(time(text), Ok(half_past), "{text}");
        }
        assert!(time("yesterday").is_err());
    }

    #[test]
    fn memory_has_a_unit() {
        let bytes = |size: &str| {
            let arguments = Arguments::parse_from(["rocescope dataset sql", "dataset", "--memory", size]);
            arguments.limits.memory_bytes()
        };
        assert_eq!(bytes("4G").unwrap(), 4_000_000_000);
        assert_eq!(bytes("512Mi").unwrap(), 512 << 20);
        assert_eq!(bytes("2GiB").unwrap(), 2 << 30);
        for wrong in ["512", "", "M", "1K", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
