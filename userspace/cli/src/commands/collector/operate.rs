//! What operators ask a controller: which member of the fleet runs which version, and changes of the configuration.

use super::{lines, status};
use crate::arguments::{CandidateArguments, OperatorArguments, Output, RollbackArguments, StatusArguments};
use crate::configuration::controlled;
use anyhow::{Context, Result, bail, ensure};
use rocescope_collector::Files;
use rocescope_collector::control::message::{Applied, Version};
use rocescope_collector::control::{Operator, Plan};
use rocescope_model::human::plural;
use rocescope_model::json;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn status(arguments: &StatusArguments) -> Result<ExitCode> {
    let status = operator(&arguments.operator)?.status()?;
    print(&match arguments.output {
        Output::Table => status::text(&status),
        Output::Json => json::pretty(&status) + "\n",
    })
}

pub(super) fn apply(arguments: &CandidateArguments) -> Result<ExitCode> {
    let operator = operator(&arguments.operator)?;
    print(&applied(&operator.apply(candidate(arguments)?)?))
}

pub(super) fn diff(arguments: &CandidateArguments) -> Result<ExitCode> {
    let operator = operator(&arguments.operator)?;
    let text = candidate(arguments)?;
    let checked = operator.check(text.clone())?;
    let differing = difference(&operator.version(None)?, &arguments.file, &text);
    warn(&checked);
    print(&differing)
}

pub(super) fn roll_back(arguments: &RollbackArguments) -> Result<ExitCode> {
    print(&applied(&operator(&arguments.operator)?.roll_back(arguments.number)?))
}

fn print(text: &str) -> Result<ExitCode> {
    crate::print(text)?;
    Ok(ExitCode::SUCCESS)
}

/// The controller, as the operator reaches it.
fn operator(arguments: &OperatorArguments) -> Result<Operator> {
    let OperatorArguments {
        collector: Some(url),
        cert: Some(certificate),
        key: Some(key),
        ca: Some(authority),
    } = arguments.clone()
    else {
        bail!("--collector, --cert, --key and --ca are required");
    };
    let files = Files {
        certificate,
        key,
        authority,
    };
    Ok(Operator::new(&url, files)?)
}

/// The text to apply or to compare: both refuse the same files.
fn candidate(arguments: &CandidateArguments) -> Result<String> {
    let file = &arguments.file;
    let text = read(file)?;
    let plan = plan(file, &text)?;
    if !arguments.unchecked {
        check(file, &plan).map_err(|reason| anyhow::anyhow!("{reason} (--unchecked applies it all the same)"))?;
    }
    Ok(text)
}

/// What applying a text would change.
fn difference(version: &Version, file: &Path, text: &str) -> String {
    let number = version.number;
    if version.text == text {
        return format!("version {number} is the same\n");
    }
    match lines::diff(&version.text, text) {
        differing if differing.is_empty() => {
            format!("version {number} differs in white space at the ends of lines only\n")
        }
        differing => format!("--- version {number}\n+++ {}\n{differing}", file.display()),
    }
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| file.display().to_string())
}

fn plan(file: &Path, text: &str) -> Result<Plan> {
    Plan::parse(text).map_err(|reason| anyhow::anyhow!("{}: {reason}", file.display()))
}

/// The text of a controller's configuration, which is valid for members of this version.
///
/// # Errors
/// The file cannot be read, or what is invalid in it.
pub(super) fn checked(file: &Path) -> Result<String> {
    let text = read(file)?;
    check(file, &plan(file, &text)?)?;
    Ok(text)
}

/// Checks the settings of every group as members do, so that a typing error stays here.
fn check(file: &Path, plan: &Plan) -> Result<()> {
    for group in &plan.groups {
        let Err(errors) = controlled::parse(&group.text()) else {
            continue;
        };
        let reasons: Vec<String> = errors.0.iter().map(controlled::reason).collect();
        ensure!(
            reasons.is_empty(),
            "{}: group {}: {}",
            file.display(),
            group.name,
            reasons.join("; ")
        );
    }
    Ok(())
}

fn warn(applied: &Applied) {
    for warning in &applied.warnings {
        rocescope_runtime::status!("warning: {warning}");
    }
}

fn applied(applied: &Applied) -> String {
    warn(applied);
    let version = match applied.text_of {
        Some(number) => format!("version {}: the text of version {number}", applied.version),
        None => format!("version {}", applied.version),
    };
    match applied.is_new {
        true => format!(
            "{version} is in force; {} will take it{}{}: `rocescope collector status` shows who runs it\n",
            plural(applied.members as u64, "member"),
            match applied.away {
                0 => String::new(),
                away => format!(", {away} of them, now away, when they are back"),
            },
            match (applied.without_group, applied.members) {
                (0, _) => String::new(),
                (some, all) if some == all => ", with their own settings, because no group has them".to_owned(),
                (some, _) => format!(", {some} of them with their own settings, because no group has them"),
            }
        ),
        false => format!("{version} is in force, and is the same\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::applied;
    use rocescope_collector::control::message::Applied;

    #[test]
    fn members_that_are_away_are_not_said_to_take_it_at_once() {
        let all = Applied {
            version: 3,
            text_of: None,
            is_new: true,
            members: 5,
            away: 0,
            without_group: 0,
            warnings: Vec::new(),
        };
        assert!(applied(&all).starts_with("version 3 is in force; 5 members will take it: "));
        let some = Applied { away: 2, ..all };
        let text = applied(&some);
        assert!(
            text.starts_with(
                "version 3 is in force; 5 members will take it, 2 of them, now away, when they are back: "
            ),
            "{text}"
        );
    }
}
