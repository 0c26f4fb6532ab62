//! This process as a member of a controller's fleet: what it holds, and how it checks what it gets.

use crate::arguments::Command;
use crate::configuration::{self, controlled};
use crate::requests;
use rocescope_agent::Settings;
use rocescope_agent::probes::ProbeSettings;
use rocescope_collector::control::Member;
use rocescope_collector::control::member::Held;
use rocescope_collector::control::message::Role;
use rocescope_runtime::status;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A version may wait while the next one is checked.
const CHECKED: usize = 2;

/// The versions that were checked last, by text, and what each sets.
type Checked = Arc<Mutex<Vec<(String, Settings)>>>;

/// A member, and the settings that the controller sent to it.
pub(super) struct Membership {
    pub(super) member: Arc<Member>,
    checked: Checked,
}

impl Membership {
    /// A member that keeps what the controller sends in `file`.
    pub(super) fn open(role: Role, file: &Path) -> Self {
        let line: Vec<OsString> = std::env::args_os().collect();
        let held = held(file).unwrap_or_else(|why| {
            status!("{why}: this host runs its own configuration until the controller sends another");
            None
        });
        if let Some(held) = &held {
            status!("running version {} of the controller's configuration", held.version);
        }
        let checked = Checked::default();
        let keep = Arc::clone(&checked);
        let check = move |text: &str| {
            let settings = check(&line, text)?;
            let mut kept = keep.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push((text.to_owned(), settings));
            let excess = kept.len().saturating_sub(CHECKED);
            kept.drain(..excess);
            Ok(())
        };
        let report = Arc::new(|line: &str| status!("{line}"));
        Self {
            member: Arc::new(Member::new(role, file, held, Box::new(check), report)),
            checked,
        }
    }

    /// Takes the version that waits, with its settings as they were checked.
    pub(super) fn take(&self) -> Option<(Held, Settings)> {
        self.member.take_as(|held| {
            let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
            let found = checked.iter().rev().find(|(text, _)| *text == held.text);
            let settings = found.map(|(_, settings)| settings.clone());
            settings.ok_or_else(|| "its settings are not known any more".to_owned())
        })
    }
}

/// What the member ran when it ended.
fn held(file: &Path) -> Result<Option<Held>, String> {
    let held = Held::read(file)?;
    if let Some(held) = &held {
        controlled::parse(&held.text).map_err(|errors| {
            let why = errors.0.first().map(ToString::to_string).unwrap_or_default();
            format!("{}: {why}", file.display())
        })?;
    }
    Ok(held)
}

/// Checks what a controller sent as the configuration of this command line is checked; the settings of an agent.
fn check(line: &[OsString], text: &str) -> Result<Settings, String> {
    match configuration::controlled_arguments(line, text)?.command {
        Command::Agent(agent) => {
            let probes = agent.parts.probe.as_deref().map(ProbeSettings::from);
            probes
                .map_or(Ok(()), |probes| probes.check())
                .map_err(|error| error.to_string())?;
            Ok(Settings::from(&agent.parts))
        }
        Command::Capture(capture) => {
            let request = requests::capture(&capture).map_err(|error| format!("{error:#}"))?;
            request.intake.settings.check().map_err(|error| error.to_string())?;
            Ok(Settings::default())
        }
        _ => Ok(Settings::default()),
    }
}
