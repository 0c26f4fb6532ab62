//! `rocescope collector certificates`: the certificates of a fleet.

use crate::arguments::CertificatesArguments;
use anyhow::{Context, Result, anyhow};
use rocescope_collector::certificates::{self, Settings};
use rocescope_model::human::plural;
use rocescope_runtime::clock::now;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(arguments: &CertificatesArguments) -> Result<ExitCode> {
    let place = arguments.hosts.display().to_string();
    let text = read(&arguments.hosts).with_context(|| place.clone())?;
    let hosts = certificates::hosts(&text).map_err(|fault| anyhow!("{place}: {fault}"))?;
    let settings = Settings {
        directory: arguments.out.clone(),
        valid: arguments.valid,
        renew: arguments.renew,
        now_s: now().0.div_euclid(1_000_000_000),
    };
    let issued = certificates::issue(&settings, &hosts)?;
    let directory = arguments.out.display();
    let authority = match issued.authority_is_new {
        true => {
            "a new authority: keep `ca.key` where only you can read it; hosts need `ca.pem`, their own `.pem` and `.key`"
        }
        false => "signed by the authority there",
    };
    crate::print(&format!(
        "{directory}: {} made, {} kept; {authority}\n",
        plural(issued.made as u64, "certificate"),
        issued.kept
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> std::io::Result<String> {
    match path == Path::new("-") {
        true => std::io::read_to_string(std::io::stdin()),
        false => std::fs::read_to_string(path),
    }
}
