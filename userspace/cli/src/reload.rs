//! The configuration, read again while a capture runs.

use super::super::{capture, connections, top};
use crate::arguments::{CaptureArguments, Command};
use crate::configuration;
use crate::say;
use anyhow::{Result, bail};
use rocescope_pipeline::Settings;
use rocescope_record::Config;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Options that a running capture takes over; all others hold from its beginning to its end.
const TAKEN_OVER: [&str; 8] = [
    "filter",
    "udp-port",
    "verdict",
    "top",
    "flow-rows",
    "elephant",
    "jitter-relative",
    "jitter-absolute",
];

/// What every option had when the capture began.
#[derive(Debug)]
pub(super) struct Standing(BTreeMap<String, Vec<OsString>>);

impl Standing {
    pub(super) fn now() -> Result<Self> {
        let standing = configuration::standing(std::env::args_os().collect())?;
        Ok(Self(standing))
    }

    /// Options that have changed since, and wait for a restart.
    fn waiting(&self) -> Result<Vec<String>> {
        let now = Self::now()?.0.into_iter();
        let waiting = now.filter(|(name, values)| {
            !TAKEN_OVER.contains(&name.as_str()) && self.0.get(name) != Some(values)
        });
        Ok(waiting.map(|(name, _)| name).collect())
    }

    /// The arguments as they would be now, and what they mean.
    ///
    /// # Errors
    /// Something in the configuration is wrong.
    pub(super) fn read_again(
        &self,
        running: &CaptureArguments,
    ) -> Result<(CaptureArguments, Settings, Config)> {
        let arguments = configuration::arguments(std::env::args_os().collect())?;
        let (mut arguments, settings) = match &arguments.command {
            Command::Capture(arguments) => ((**arguments).clone(), capture::chosen(arguments)),
            Command::Connections(arguments) => connections::wanted(arguments),
            Command::Top(arguments) => top::wanted(arguments)?,
            _ => bail!("the command line is another now"),
        };
        let waiting = self.waiting()?;
        if !waiting.is_empty() {
            say!(
                "changed, and held back until a restart: {}",
                waiting.join(", ")
            );
        }
        arguments.live.command.clone_from(&running.live.command);
        let config = capture::config(&arguments, &settings)?;
        Ok((arguments, settings, config))
    }
}
