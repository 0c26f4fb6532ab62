//! A configuration file, with the line of every value.

use super::keys::{COMMANDS, command, is_flag, is_list, is_settable};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use rocescope_model::nearest::nearest;
use std::collections::BTreeMap;
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
}

impl ConfigurationFile {
    /// Reads a file; every key must be known and every value valid for its option.
    ///
    /// # Errors
    /// The first invalid key or value.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let text = fs::read_to_string(path).map_err(|error| FileError::Io {
            path: path.into(),
            error,
        })?;
        Self::parse(path, &text)
    }

    /// Parses `text` as [`read`](Self::read) does.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn parse(path: &Path, text: &str) -> Result<Self, FileError> {
        let mut reader = Reader {
            path,
            text,
            settings: BTreeMap::new(),
        };
        reader.read()?;
        let file = Self {
            path: path.into(),
            settings: reader.settings,
        };
        file.check_values()?;
        Ok(file)
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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

    /// Parses every value as its option does on the command line.
    fn check_values(&self) -> Result<(), FileError> {
        for ((name, option), setting) in &self.settings {
            for value in &setting.values {
                let line = if value == "true" && flag(name, option) {
                    continue;
                } else {
                    format!("--{option}={value}")
                };
                let parsed = command(None).try_get_matches_from(["rocescope", name, &line]);
                let Err(error) = parsed else { continue };
                let wrong = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation);
                // Environment variables are parsed too; ignore errors about them.
                if wrong && is_about(&error, option) {
                    return Err(FileError::At {
                        path: self.path.clone(),
                        line: setting.line,
                        message: message_of(&error),
                    });
                }
            }
        }
        Ok(())
    }
}

fn is_about(error: &clap::Error, option: &str) -> bool {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.split(' ').next(),
        _ => None,
    };
    argument.and_then(|long| long.strip_prefix("--")) == Some(option)
}

/// The message of clap, without its prefix and its hint on `--help`.
fn message_of(error: &clap::Error) -> String {
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
    let command = command(None);
    let command = command.find_subcommand(name).cloned();
    let arguments: Vec<Arg> = command
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

    fn read(&mut self) -> Result<(), FileError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            self.error(span, error.message().to_owned())
        })?;
        // Common settings first, so that a command's own table overrides them.
        let (tables, common): (Vec<_>, Vec<_>) = table
            .get_ref()
            .iter()
            .partition(|(_, value)| value.get_ref().is_table());
        for (key, value) in common {
            self.common(key, value)?;
        }
        for (key, value) in tables {
            let name: &str = key.get_ref();
            if !COMMANDS.contains(&name) {
                let near = nearest(name, COMMANDS);
                return Err(self.unknown(key.span(), name, "table", near));
            }
            let options: Vec<Arg> = options(name).collect();
            let entries = value.get_ref().as_table().into_iter().flatten();
            for (key, value) in entries {
                let option = self.find(key, &options)?;
                self.set(name, option, value)?;
            }
        }
        Ok(())
    }

    /// Sets a value above the first table for every command that has the option.
    fn common(
        &mut self,
        key: &Spanned<std::borrow::Cow<'_, str>>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), FileError> {
        let all: Vec<Arg> = COMMANDS.into_iter().flat_map(options).collect();
        self.find(key, &all)?;
        for name in COMMANDS {
            for option in options(name) {
                if option.get_long() == Some(key.get_ref()) {
                    self.set(name, &option, value)?;
                }
            }
        }
        Ok(())
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

    fn set(&mut self, command: &str, option: &Arg, value: &Spanned<DeValue<'_>>) -> Result<(), FileError> {
        let name = option.get_long().unwrap_or_default();
        let wrong = |message: &str| Err(self.error(value.span(), format!("`{name}` must be {message}")));
        let values = match value.get_ref() {
            DeValue::Boolean(true) if is_flag(option) => vec!["true".into()],
            DeValue::Boolean(false) if is_flag(option) => vec![],
            _ if is_flag(option) => return wrong("`true` or `false`"),
            DeValue::Array(values) if is_list(option) => {
                let values: Option<Vec<String>> = values.iter().map(|value| scalar(value.get_ref())).collect();
                match values {
                    Some(values) => values,
                    None => return wrong("a list of strings or numbers"),
                }
            }
            value => match scalar(value) {
                Some(value) => vec![value],
                None if is_list(option) => return wrong("a string, a number, or a list of them"),
                None => return wrong("a string or a number"),
            },
        };
        let line = self.line(value.span());
        if values.is_empty() {
            return Ok(());
        }
        self.settings
            .insert((command.into(), name.into()), Setting { values, line });
        Ok(())
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
