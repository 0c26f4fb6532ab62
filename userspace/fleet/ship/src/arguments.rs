//! The command line.

use clap::Parser;
use rocescope_model::units;
use std::path::PathBuf;
use std::time::Duration;

/// Copy the sealed segments of a dataset to an object store, or to a directory.
///
/// Each segment is created there once, under its own name, and read back before it counts as shipped. A run that is killed
/// goes on where it was. Once a dataset is shipped, captures delete no segment that the store does not have.
#[derive(Parser, Debug)]
#[command(
    name = "rocescope dataset ship",
    bin_name = "rocescope dataset ship",
    version,
    max_term_width = 120
)]
pub(crate) struct Arguments {
    /// The dataset
    #[arg(value_name = "DATASET")]
    pub dataset: PathBuf,
    /// Where to: a directory, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX; credentials are those of the
    /// environment, such as AWS_ACCESS_KEY_ID
    #[arg(value_name = "PLACE")]
    pub place: String,
    /// Ship what is sealed now, then exit; by default it goes on until a signal
    #[arg(long)]
    pub once: bool,
    /// How often to look for new segments
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = positive)]
    pub interval: Duration,
    /// Ship only hours that ended this long ago, such as 30m, so that `rocescope dataset compact` joins their segments before; by
    /// default all
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub settle: Option<Duration>,
    /// Delete segments from the dataset once they are shipped and this old, such as 2d; by default none
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub keep: Option<Duration>,
    /// Send at most this many bits per second in the mean, such as 100M or 1G
    #[arg(long, value_name = "RATE", value_parser = bits)]
    pub max_rate: Option<u64>,
    /// With --once: give a segment up after this many tries
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub tries: u32,
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = units::nanoseconds(text).map(Duration::from_nanos);
    duration.ok_or_else(|| "a duration is written as 10s, 30m or 2d".to_owned())
}

fn positive(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be longer than 0".to_owned()),
        duration => Ok(duration),
    }
}

fn bits(text: &str) -> Result<u64, String> {
    let rate = units::bits_per_second(text).filter(|rate| *rate > 0);
    rate.ok_or_else(|| "a rate is written as 500k, 100M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Arguments, bits, positive};
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn rates_and_durations_have_units() {
        assert_eq!((bits("100M"), bits("1.5G")), (Ok(100_000_000), Ok(1_500_000_000)));
        for wrong in ["", "M", "0M", "99999999999999G"] {
            assert!(bits(wrong).is_err(), "{wrong}");
        }
        assert!(positive("0s").is_err() && positive("10").is_err() && positive("10s").is_ok());
    }
}
