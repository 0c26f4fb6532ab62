//! Settings as TOML: the template, and what stands.

use super::file::{ConfigurationFile, options};
use super::keys::{COMMANDS, is_flag, is_list, variable};
use clap::Arg;
use clap::builder::PossibleValue;
use std::fmt::Write;

/// A file with every setting, its meaning and its default, all commented out.
#[must_use]
pub fn template() -> String {
    let mut out = String::from(
        "# Configuration of rocescope. A setting is the long option of the same name; one that stands
# above the first table is for every command that has it. The command line wins over variables
# of the environment (ROCESCOPE_ and the name: ROCESCOPE_WINDOW), and these over this file.
",
    );
    for command in COMMANDS {
        let _ = writeln!(out, "\n[{command}]");
        for option in options(command) {
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

/// Every setting as it stands, and where it comes from.
#[must_use]
pub fn effective(file: Option<&ConfigurationFile>) -> String {
    let mut out = String::new();
    for command in COMMANDS {
        let _ = writeln!(out, "{}[{command}]", if out.is_empty() { "" } else { "\n" });
        for option in options(command) {
            let (values, source) = standing(command, &option, file);
            // A key is not for whoever looks over a shoulder; the file that holds it may be named.
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

/// What an option has without a command line, as TOML, and where it comes from.
fn standing(
    command: &str,
    option: &Arg,
    file: Option<&ConfigurationFile>,
) -> (Option<String>, String) {
    let variable = variable(option);
    if let Some(value) = std::env::var_os(&variable) {
        let value = value.to_string_lossy().into_owned();
        let values: Vec<String> = if is_list(option) {
            value.split(',').map(str::to_owned).collect()
        } else {
            vec![value]
        };
        return (
            Some(toml(option, &values)),
            format!("environment, {variable}"),
        );
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
    values
        .map(|value| value.to_string_lossy().into_owned())
        .collect()
}

/// The default, or a placeholder where there is none.
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

/// A number as it is, anything else as a TOML string.
fn scalar(value: &str) -> String {
    let is_number = value.parse::<i64>().is_ok()
        || (value.contains('.') && value.parse::<f64>().is_ok_and(f64::is_finite));
    if is_number {
        return value.to_owned();
    }
    // JSON's escapes are among TOML's.
    serde_json::to_string(value).unwrap_or_default()
}
