//! The configuration, read again while a capture runs.

use crate::arguments::{CaptureArguments, Command};
use crate::configuration;
use crate::say;
use anyhow::{Result, bail};

/// The arguments as they would be now.
///
/// # Errors
/// Something in the configuration is wrong.
pub(super) fn read(running: &CaptureArguments) -> Result<CaptureArguments> {
    let arguments = configuration::arguments(std::env::args_os().collect())?;
    let Command::Capture(mut arguments) = arguments.command else {
        bail!("the command line is another now");
    };
    if stays(&arguments) != stays(running) {
        say!("some settings were changed that hold only after a restart");
    }
    // What is asked for next time is compared with what runs.
    arguments.live.command.clone_from(&running.live.command);
    Ok(*arguments)
}

/// Everything that a running capture does not change.
fn stays(arguments: &CaptureArguments) -> String {
    let mut arguments = arguments.clone();
    arguments.filter = None;
    let measure = &mut arguments.measure;
    (measure.top, measure.flow_rows) = (0, 0);
    (
        measure.elephant,
        measure.jitter_relative,
        measure.jitter_absolute,
    ) = (0.0, 0.0, 0.0);
    format!("{arguments:?}")
}
