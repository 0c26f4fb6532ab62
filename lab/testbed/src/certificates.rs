//! Makes certificates with the commands of `docs/hostmesh.md`, as an operator types them.

use anyhow::{Context, Result};
use std::fs;
use xtask::process::root;

/// A shell script that makes them in its working directory and signs one certificate for each owner: file name, names
/// in the certificate.
pub(crate) fn script(owners: &[(&str, &str)]) -> Result<String> {
    let document = fs::read_to_string(root().join("docs/hostmesh.md"))?;
    let (_, rest) = document.split_once("```sh\n").context("no commands")?;
    let (commands, _) = rest.split_once("```").context("no end of commands")?;
    let sign = |(file, names): &(&str, &str)| format!("sign {file} {names}\n");
    Ok(commands.to_owned() + &owners.iter().map(sign).collect::<String>())
}
