//! A configuration file, with the line of every value.

use super::keys::{FORMER_TABLES, READERS, SHARED, TABLES, is_flag, is_list, is_settable, table};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use rocescope_model::nearest::nearest;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Why a configuration file is invalid.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A line is invalid.
    #[error("{}:{line}: {message}", path.display())]
    At {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// Every error of a file, in the order of its lines.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.iter().map(FileError::to_string).collect::<Vec<_>>().join("\n"))]
pub struct FileErrors(pub Vec<FileError>);

/// A value of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The values of the option; several if the option is repeatable.
    pub values: Vec<String>,
    /// The line, from 1.
    pub line: usize,
}

/// A valid configuration file.
#[derive(Clone, Debug)]
pub struct ConfigurationFile {
    path: PathBuf,
    /// By command and option. Settings above the first table are present for every command.
    settings: BTreeMap<(String, String), Setting>,
    /// The tables, empty ones included.
    tables: BTreeSet<String>,
}

impl ConfigurationFile {
    /// Reads a file; every key must be known and every value valid for its option.
    ///
    /// # Errors
    /// Every invalid key and value.
    pub fn read(path: &Path) -> Result<Self, FileErrors> {
        let text = fs::read_to_string(path).map_err(|error| {
            FileErrors(vec![FileError::Io {
                path: path.into(),
                error,
            }])
        })?;
        Self::parse(path, &text)
    }

    /// Parses `text` as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileErrors> {
        let mut reader = Reader {
            path,
            text,
            settings: BTreeMap::new(),
            tables: BTreeSet::new(),
            errors: Vec::new(),
        };
        reader.read();
        let file = Self {
            path: path.into(),
            settings: reader.settings,
            tables: reader.tables,
        };
        let mut errors = reader.errors;
        errors.extend(file.check_values());
        if errors.is_empty() {
            return Ok(file);
        }
        errors.sort_by_key(FileError::line);
        // A setting above the first table belongs to several commands.
        errors.dedup_by_key(|error| error.to_string());
        Err(FileErrors(errors))
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file has the table of a command, settings in it or not.
    #[must_use]
    pub fn has_table(&self, command: &str) -> bool {
        self.tables.contains(command)
    }

    /// The values of an option.
    #[must_use]
    pub fn values(&self, command: &str, option: &str) -> Option<&[String]> {
        Some(&self.setting(command, option)?.values)
    }

    /// The values of an option, and their line.
    #[must_use]
    pub fn setting(&self, command: &str, option: &str) -> Option<&Setting> {
        self.settings.get(&(command.into(), option.into()))
    }

    /// Every setting: command, option, value.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &Setting)> {
        let settings = self.settings.iter();
        settings.map(|((command, option), setting)| (command.as_str(), option.as_str(), setting))
    }

    /// These settings above those of `below`, whose tables stay.
    pub(super) fn above(mut self, below: Option<Self>) -> Self {
        let Some(mut below) = below else {
            self.tables.clear();
            return self;
        };
        below.settings.append(&mut self.settings);
        below
    }

    /// Parses every value as its option does on the command line; returns the errors.
    fn check_values(&self) -> Vec<FileError> {
        let mut errors = Vec::new();
        for ((name, option), setting) in &self.settings {
            for value in &setting.values {
                let line = if value == "true" && flag(name, option) {
                    continue;
                } else {
                    format!("--{option}={value}")
                };
                let parsed = table(name, None).map(|table| table.try_get_matches_from([name, &line]));
                let Some(Err(error)) = parsed else { continue };
                // Environment variables are parsed too; ignore errors about them.
                if invalid_option(&error).as_ref() == Some(option) {
                    errors.push(FileError::At {
                        path: self.path.clone(),
                        line: setting.line,
                        message: by_key(&message_of(&error), &error, option),
                    });
                }
            }
        }
        errors
    }
}

/// A message of clap about an option, with the key of the file in its place.
fn by_key(message: &str, error: &clap::Error, key: &str) -> String {
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => message.replace(&format!("'{argument}'"), &format!("`{key}`")),
        _ => message.to_owned(),
    }
}

impl FileError {
    /// The line, from 1; 0 if the error is about the file.
    const fn line(&self) -> usize {
        match self {
            Self::Io { .. } => 0,
            Self::At { line, .. } => *line,
        }
    }
}

/// The long name of the option whose value is invalid, if that is the error.
pub(super) fn invalid_option(error: &clap::Error) -> Option<String> {
    if !matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation) {
        return None;
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let long = argument.split(' ').next()?.strip_prefix("--")?;
    Some(long.to_owned())
}

/// The message of clap, without its prefix and its hint on `--help`.
pub(super) fn message_of(error: &clap::Error) -> String {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nFor more information").next().unwrap_or(text);
    text.trim_end().to_owned()
}

fn flag(command: &str, option: &str) -> bool {
    options(command).any(|known| known.get_long() == Some(option) && is_flag(&known))
}

/// The options of a command that can be set.
pub(super) fn options(name: &str) -> impl Iterator<Item = Arg> {
    let arguments: Vec<Arg> = table(name, None)
        .iter()
        .flat_map(Command::get_arguments)
        .filter(|argument| is_settable(argument))
        .cloned()
        .collect();
    arguments.into_iter()
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    settings: BTreeMap<(String, String), Setting>,
    tables: BTreeSet<String>,
    errors: Vec<FileError>,
}

impl Reader<'_> {
    fn error(&self, span: Range<usize>, message: String) -> FileError {
        FileError::At {
            path: self.path.into(),
            line: self.line(span),
            message,
        }
    }

    fn line(&self, span: Range<usize>) -> usize {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        before.bytes().filter(|byte| *byte == b'\n').count() + 1
    }

    /// Reads every setting; collects the errors.
    fn read(&mut self) {
        let parsed = match DeTable::parse(self.text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                self.errors.push(self.error(span, error.message().to_owned()));
                return;
            }
        };
        // Common settings first, so that a command's own table overrides them.
        let (tables, common): (Vec<_>, Vec<_>) = parsed
            .get_ref()
            .iter()
            .partition(|(_, value)| value.get_ref().is_table());
        for (key, value) in common {
            self.common(key, value);
        }
        for (key, value) in tables {
            let name: &str = key.get_ref();
            if !TABLES.contains(&name) {
                let former = FORMER_TABLES.iter().find(|(former, _)| *former == name);
                let near = former.map_or_else(|| nearest(name, TABLES), |(_, now)| Some(*now));
                self.errors.push(self.unknown(key.span(), name, "table", near));
                continue;
            }
            self.tables.insert(name.to_owned());
            let options: Vec<Arg> = options(name).collect();
            let entries = value.get_ref().as_table().into_iter().flatten();
            for (key, value) in entries {
                match self.find(key, &options) {
                    Ok(option) => self.set(name, option, value),
                    Err(error) => self.errors.push(error),
                }
            }
        }
    }

    /// Sets a value above the first table for every command that has the option.
    fn common(&mut self, key: &Spanned<std::borrow::Cow<'_, str>>, value: &Spanned<DeValue<'_>>) {
        let all: Vec<Arg> = TABLES.into_iter().flat_map(options).collect();
        match self.find(key, &all) {
            Ok(option) if SHARED.contains(&&**key.get_ref()) => {
                READERS.into_iter().for_each(|name| self.set(name, option, value));
            }
            Ok(_) => {}
            Err(error) => self.errors.push(error),
        }
        for name in TABLES {
            for option in options(name) {
                if option.get_long() == Some(key.get_ref()) {
                    self.set(name, &option, value);
                }
            }
        }
    }

    fn find<'o>(&self, key: &Spanned<std::borrow::Cow<'_, str>>, options: &'o [Arg]) -> Result<&'o Arg, FileError> {
        let name: &str = key.get_ref();
        let known = options.iter().filter_map(Arg::get_long);
        options
            .iter()
            .find(|option| option.get_long() == Some(name))
            .ok_or_else(|| self.unknown(key.span(), name, "setting", nearest(name, known)))
    }

    fn unknown(&self, span: Range<usize>, name: &str, what: &str, near: Option<&str>) -> FileError {
        let hint = match near {
            Some(near) => format!("; did you mean `{near}`?"),
            None => "; `rocescope config template` lists all settings".into(),
        };
        self.error(span, format!("unknown {what} `{name}`{hint}"))
    }

    fn set(&mut self, command: &str, option: &Arg, value: &Spanned<DeValue<'_>>) {
        let name = option.get_long().unwrap_or_default();
        match values_of(option, value.get_ref()) {
            Ok(values) if values.is_empty() => {}
            Ok(values) => {
                let line = self.line(value.span());
                self.settings
                    .insert((command.into(), name.into()), Setting { values, line });
            }
            Err(expected) => {
                let error = self.error(value.span(), format!("`{name}` must be {expected}"));
                self.errors.push(error);
            }
        }
    }
}

/// The values that an option takes, or what they must be.
fn values_of(option: &Arg, value: &DeValue<'_>) -> Result<Vec<String>, &'static str> {
    match value {
        DeValue::Boolean(true) if is_flag(option) => Ok(vec!["true".into()]),
        DeValue::Boolean(false) if is_flag(option) => Ok(Vec::new()),
        _ if is_flag(option) => Err("`true` or `false`"),
        DeValue::Array(values) if is_list(option) => {
            let values = values.iter().map(|value| scalar(value.get_ref()));
            values.collect::<Option<_>>().ok_or("a list of strings or numbers")
        }
        value => match scalar(value) {
            Some(value) => Ok(vec![value]),
            None if is_list(option) => Err("a string, a number, or a list of them"),
            None => Err("a string or a number"),
        },
    }
}

/// A string or a number, as written on the command line.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().into()),
        DeValue::Float(number) => Some(number.as_str().into()),
        _ => None,
    }
}
