//! `rocescope control`: which member of the fleet runs which version, and changes of the configuration.
//!
//! | module | what it does |
//! |---|---|
//! | `status` | the status as text |
//! | `lines` | the lines that differ between two texts |

mod lines;
mod status;

use crate::arguments::{ControlAction, ControlArguments, Output};
use crate::configuration::controlled;
use anyhow::{Context, Result, bail, ensure};
use rocescope_collector::Files;
use rocescope_collector::control::message::Applied;
use rocescope_collector::control::{Operator, Plan};
use rocescope_model::human::plural;
use rocescope_model::json;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &ControlArguments) -> Result<ExitCode> {
    let ControlArguments {
        collector: Some(url),
        cert: Some(certificate),
        key: Some(key),
        ca: Some(authority),
        action,
    } = arguments.clone()
    else {
        bail!("--collector, --cert, --key and --ca are required");
    };
    let files = Files {
        certificate,
        key,
        authority,
    };
    let operator = Operator::new(&url, files)?;
    let text = match action {
        ControlAction::Status { output } => {
            let status = operator.status()?;
            match output {
                Output::Table => status::text(&status),
                Output::Json => json::pretty(&status) + "\n",
            }
        }
        ControlAction::Apply { file, unchecked } => {
            let text = read(&file)?;
            let plan = plan(&file, &text)?;
            if !unchecked {
                check(&file, &plan)?;
            }
            applied(&operator.apply(text)?)
        }
        ControlAction::Diff { file } => {
            let text = read(&file)?;
            plan(&file, &text)?;
            let version = operator.version(None)?;
            match lines::diff(&version.text, &text) {
                differing if differing.is_empty() => format!("version {} is the same\n", version.number),
                differing => format!("--- version {}\n+++ {}\n{differing}", version.number, file.display()),
            }
        }
        ControlAction::Rollback { number } => applied(&operator.roll_back(number)?),
    };
    crate::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| file.display().to_string())
}

fn plan(file: &Path, text: &str) -> Result<Plan> {
    Plan::parse(text).map_err(|reason| anyhow::anyhow!("{}: {reason}", file.display()))
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
            "{}: group {}: {} (--unchecked applies it all the same)",
            file.display(),
            group.name,
            reasons.join("; ")
        );
    }
    Ok(())
}

fn applied(applied: &Applied) -> String {
    match applied.is_new {
        true => format!(
            "version {} is in force; {} will take it: `rocescope control status` shows who runs it\n",
            applied.version,
            plural(applied.members as u64, "member")
        ),
        false => format!("version {} is in force, and is the same\n", applied.version),
    }
}
