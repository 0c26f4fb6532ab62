//! What a controller may set, and what it has set: a layer between the environment and the host's own file.
//!
//! The text is a configuration file and is checked as one. Settings that belong to the host alone, such as interfaces,
//! directories and certificates, are refused.

use super::file::{ConfigurationFile, FileError, FileErrors};
use super::keys;
use rocescope_collector::control::member::Held;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The settings that a controller may set, by command.
const SETTINGS: [(&str, &[&str]); 5] = [
    (
        "probe",
        &[
            "interval",
            "timeout",
            "peer-interval",
            "paths-rate",
            "icmp-rate",
            "max-hops",
            "refresh",
            "max-cpu",
            "dscp",
        ],
    ),
    ("counters", &["interval", "refresh"]),
    ("queue-pairs", &["interval", "refresh"]),
    (
        "collective",
        &["threshold", "min-delay", "detections", "interval", "burst"],
    ),
    (
        "capture",
        &[
            "window",
            "lateness",
            "filter",
            "top",
            "flow-rows",
            "spread-rows",
            "elephant",
            "small-flows",
            "jitter-relative",
            "jitter-absolute",
        ],
    ),
];

/// Whether a controller may set an option of a command.
#[must_use]
pub fn is_controlled(command: &str, option: &str) -> bool {
    let settings = SETTINGS.iter().find(|(name, _)| *name == command);
    settings.is_some_and(|(_, options)| options.contains(&option))
}

/// Parses what a controller sent.
///
/// # Errors
/// Every invalid setting, and every setting that is the host's own.
pub fn parse(text: &str) -> Result<ConfigurationFile, FileErrors> {
    let path = Path::new("line");
    let file = ConfigurationFile::parse(path, text)?;
    let foreign = file
        .all()
        .filter(|(command, option, _)| !is_controlled(command, option));
    let errors: Vec<FileError> = foreign
        .map(|(command, option, setting)| FileError::At {
            path: path.into(),
            line: setting.line,
            message: format!("`{option}` of [{command}] is set on the host only"),
        })
        .collect();
    match errors.is_empty() {
        true => Ok(file),
        false => Err(FileErrors(errors)),
    }
}

/// An error without the place of a file that no one has.
#[must_use]
pub fn reason(error: &FileError) -> String {
    match error {
        FileError::At { message, .. } => message.clone(),
        error => error.to_string(),
    }
}

/// The file in which a member keeps what the controller sent, if this command line is a member's.
pub(super) fn place(line: &[OsString], own: Option<&ConfigurationFile>) -> Option<PathBuf> {
    let matches = keys::command(own).ignore_errors(true).try_get_matches_from(line).ok()?;
    let (name, matches) = matches.subcommand()?;
    if !MEMBERS.contains(&name) {
        return None;
    }
    let path = |id: &str| matches.try_get_one::<PathBuf>(id).ok().flatten().cloned();
    path("control_file").or_else(|| Some(path("spool")?.join(HELD)))
}

/// The file in the spool of an agent, where no other is set.
pub(crate) const HELD: &str = "controlled.toml";

/// The commands that take a configuration from a controller.
pub(super) const MEMBERS: [&str; 2] = ["agent", "capture"];

/// What a member keeps. A file that this version cannot use counts as none: the member reports that.
pub(super) fn stored(place: &Path) -> Option<ConfigurationFile> {
    let held = Held::read(place).ok().flatten()?;
    parse(&held.text).ok()
}
