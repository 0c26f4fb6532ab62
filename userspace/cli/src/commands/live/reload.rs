//! The configuration, read again while a capture runs.

use super::super::{capture, connections, top};
use crate::arguments::{CaptureArguments, Command, Verdict};
use crate::configuration;
use crate::say;
use anyhow::{Result, bail};
use rocescope_pipeline::Settings;
use rocescope_record::Config;

/// The arguments as they would be now, and what they mean.
///
/// # Errors
/// Something in the configuration is wrong.
pub(super) fn read(running: &CaptureArguments) -> Result<(CaptureArguments, Settings, Config)> {
    let arguments = configuration::arguments(std::env::args_os().collect())?;
    let (mut arguments, settings) = match &arguments.command {
        Command::Capture(arguments) => ((**arguments).clone(), capture::chosen(arguments)),
        Command::Connections(arguments) => connections::wanted(arguments),
        Command::Top(arguments) => top::wanted(arguments)?,
        _ => bail!("the command line is another now"),
    };
    if stays(&arguments) != stays(running) {
        say!("some settings were changed that hold only after a restart");
    }
    // What is asked for next time is compared with what runs.
    arguments.live.command.clone_from(&running.live.command);
    let config = capture::config(&arguments, &settings)?;
    Ok((arguments, settings, config))
}

/// Everything that a running capture does not change.
fn stays(arguments: &CaptureArguments) -> String {
    let mut arguments = arguments.clone();
    arguments.filter = None;
    arguments.udp_ports.clear();
    arguments.live.verdict = Verdict::Auto;
    let measure = &mut arguments.measure;
    (measure.top, measure.flow_rows) = (0, 0);
    (
        measure.elephant,
        measure.jitter_relative,
        measure.jitter_absolute,
    ) = (0.0, 0.0, 0.0);
    format!("{arguments:?}")
}
