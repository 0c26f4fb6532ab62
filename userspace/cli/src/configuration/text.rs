//! Settings as TOML: the template, and the settings in effect.

use super::file::{ConfigurationFile, options};
use super::keys::{TABLES, is_flag, is_list, variable};
use clap::Arg;
use clap::builder::PossibleValue;
use std::fmt::Write;

/// A file with every setting, its meaning and its default, all commented out.
#[must_use]
pub fn template() -> String {
    let mut out = String::from(
        "# Configuration of rocescope. A setting has the name of the long option. A setting above the
# first table applies to every command that has the option. The command line overrides environment
# variables (ROCESCOPE_ and the name: ROCESCOPE_WINDOW), and these override this file.
",
    );
    for command in TABLES {
        let _ = writeln!(out, "\n[{command}]");
        for option in options(command).filter(|option| !option.is_hide_set()) {
            let help = option.get_help().map(ToString::to_string);
            let _ = writeln!(out, "\n# {}", help.unwrap_or_default());
            let possible = option.get_possible_values();
            if !possible.is_empty() && !is_flag(&option) {
                let names: Vec<&str> = possible.iter().map(PossibleValue::get_name).collect();
                let _ = writeln!(out, "# One of: {}", names.join(", "));
            }
            let _ = writeln!(out, "#{} = {}", name(&option), example(&option));
        }
    }
    out
}

/// Every setting in effect, and its source.
#[must_use]
pub fn effective(file: Option<&ConfigurationFile>) -> String {
    let mut out = String::new();
    for command in TABLES {
        let _ = writeln!(out, "{}[{command}]", if out.is_empty() { "" } else { "\n" });
        for option in options(command) {
            let (values, source) = in_effect(command, &option, file);
            // Hide the key; the path of a file with the key may be shown.
            let values = values.map(|values| {
                if name(&option) == "anonymize" && !values.starts_with("\"@") {
                    "\"…\"".into()
                } else {
                    values
                }
            });
            let line = match values {
                Some(values) => format!("{} = {}", name(&option), values),
                None => format!("#{} =", name(&option)),
            };
            let _ = writeln!(out, "{line:<40} # {source}");
        }
    }
    out
}

/// The value of an option without a command line, as TOML, and its source.
fn in_effect(command: &str, option: &Arg, file: Option<&ConfigurationFile>) -> (Option<String>, String) {
    let variable = variable(option);
    if let Some(value) = std::env::var_os(&variable) {
        let value = value.to_string_lossy().into_owned();
        let values: Vec<String> = if is_list(option) {
            value.split(',').map(str::to_owned).collect()
        } else {
            vec![value]
        };
        return (Some(toml(option, &values)), format!("environment, {variable}"));
    }
    let setting = file.and_then(|file| Some((file, file.setting(command, name(option))?)));
    if let Some((file, setting)) = setting {
        let source = format!("{}:{}", file.path().display(), setting.line);
        return (Some(toml(option, &setting.values)), source);
    }
    let values = defaults(option);
    let values = (is_flag(option) || !values.is_empty()).then(|| toml(option, &values));
    (values, "default".into())
}

fn name(option: &Arg) -> &str {
    option.get_long().unwrap_or_default()
}

fn defaults(option: &Arg) -> Vec<String> {
    let values = option.get_default_values().iter();
    values.map(|value| value.to_string_lossy().into_owned()).collect()
}

/// The default, or a placeholder if there is none.
fn example(option: &Arg) -> String {
    let values = defaults(option);
    if is_flag(option) || !values.is_empty() {
        return toml(option, &values);
    }
    let names = option.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    toml(option, &names)
}

fn toml(option: &Arg, values: &[String]) -> String {
    if is_flag(option) {
        return values.iter().any(|value| value == "true").to_string();
    }
    let scalars: Vec<String> = values.iter().map(|value| scalar(value)).collect();
    match (is_list(option), scalars.as_slice()) {
        (false, [only]) => only.clone(),
        (_, all) => format!("[{}]", all.join(", ")),
    }
}

/// A number unchanged, anything else as a TOML string.
fn scalar(value: &str) -> String {
    let is_number =
        value.parse::<i64>().is_ok() || (value.contains('.') && value.parse::<f64>().is_ok_and(f64::is_finite));
    if is_number {
        return value.to_owned();
    }
    // TOML accepts all escapes of JSON.
    serde_json::to_string(value).unwrap_or_default()
}
