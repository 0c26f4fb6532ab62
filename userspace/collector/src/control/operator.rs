//! An operator's end: a connection of its own, so that it never takes the place of an agent's.

use super::message::{Applied, ControllerStatus, Version};
use crate::sender::{Settings, Target};
use crate::tls::Files;
use crate::{Error, MESSAGE_BYTES};
use arrow_flight::Action;
use serde::de::DeserializeOwned;
use std::fmt;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// What the controller knows.
pub(crate) const STATUS: &str = "status";
/// A version of the configuration.
pub(crate) const VERSION: &str = "version";
/// Puts a text in force.
pub(crate) const APPLY: &str = "apply";
/// What putting a text in force would do.
pub(crate) const CHECK: &str = "check";
/// Puts an earlier version in force.
pub(crate) const ROLL_BACK: &str = "rollback";

/// How long the controller may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks a controller.
pub struct Operator {
    url: String,
    target: Target,
    runtime: Runtime,
}

impl fmt::Debug for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operator")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Operator {
    /// Connects with each call.
    ///
    /// # Errors
    /// The URL or the certificates are invalid.
    pub fn new(url: &str, files: Files) -> Result<Self, Error> {
        let settings = Settings::new(url, files, "");
        let failed = |cause| Error::at("connect to", url.to_owned(), cause);
        Ok(Self {
            url: url.to_owned(),
            target: Target::of_operator(&settings)?,
            runtime: Builder::new_current_thread()
                .enable_io()
                .enable_time()
                .build()
                .map_err(failed)?,
        })
    }

    /// What the controller knows.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    pub fn status(&self) -> Result<ControllerStatus, Error> {
        self.ask(STATUS, String::new())
    }

    /// A version; without a number, the one in force.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    pub fn version(&self, number: Option<u64>) -> Result<Version, Error> {
        self.ask(VERSION, number.map_or_else(String::new, |number| number.to_string()))
    }

    /// Puts a text in force.
    ///
    /// # Errors
    /// The controller is not reachable, or refuses.
    pub fn apply(&self, text: String) -> Result<Applied, Error> {
        self.ask(APPLY, text)
    }

    /// What [`apply`](Self::apply) would answer; changes nothing.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply). Those who may not apply may ask, too.
    pub fn check(&self, text: String) -> Result<Applied, Error> {
        self.ask(CHECK, text)
    }

    /// Puts an earlier version in force; without a number, the one before.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply).
    pub fn roll_back(&self, number: Option<u64>) -> Result<Applied, Error> {
        self.ask(ROLL_BACK, number.map_or_else(String::new, |number| number.to_string()))
    }

    fn ask<T: DeserializeOwned>(&self, action: &str, body: String) -> Result<T, Error> {
        let failed = |reason: String| Error::Controller {
            url: self.url.clone(),
            reason,
        };
        if body.len() > MESSAGE_BYTES / 2 {
            return Err(failed(format!("a file of {} bytes is too large", body.len())));
        }
        let action = Action {
            r#type: action.to_owned(),
            body: body.into(),
        };
        let asked = async {
            let mut connection = self.target.connect(PATIENCE).await?;
            connection.act(action).await
        };
        let answer = self.runtime.block_on(async { timeout(PATIENCE, asked).await });
        let answer: Result<Vec<u8>, String> = answer.unwrap_or_else(|_| Err("no answer".into()));
        let answer = answer.map_err(failed)?;
        serde_json::from_slice(&answer).map_err(|error| failed(format!("unreadable answer: {error}")))
    }
}
