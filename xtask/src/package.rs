//! `cargo xtask package [--fleet]`: the Debian package of the release build, with the programs of a fleet if asked for. Building
//! those takes longer than all the rest.

use crate::process::{command, run as run_command};
use crate::product::{build, build_fleet, target, text};
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Builds the package and prints its path.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let package = match options {
        [] => make()?,
        ["--fleet"] => {
            build_fleet()?;
            assemble(&["--variant", "fleet"])?
        }
        _ => bail!("usage: cargo xtask package [--fleet]"),
    };
    println!("{}", package.display());
    Ok(())
}

/// Builds the package; returns its path.
///
/// # Errors
///
/// A command failed; `cargo deb` may be missing.
pub fn make() -> Result<PathBuf> {
    assemble(&[])
}

fn assemble(options: &[&str]) -> Result<PathBuf> {
    generate(&build()?)?;
    let directory = target()?.join("debian");
    let mut deb = command("cargo", &["deb", "--package", "rocescope", "--quiet"]);
    // The line above has built its content. Without symbols, which are larger than the program.
    deb.args(options)
        .args(["--no-build", "--strip", "--output", &text(&directory.join(""))]);
    let output = deb.stderr(Stdio::inherit()).output().context("cargo")?;
    let advice = "cargo deb (cargo install --locked cargo-deb)";
    ensure!(output.status.success(), "{advice}: {}", output.status);
    let printed = String::from_utf8(output.stdout)?;
    let path = printed.lines().last().context(advice)?;
    Ok(path.into())
}

/// Manual pages and completions, printed by the program itself into `release/package` of the target directory, where the
/// package's list of files expects them.
fn generate(program: &Path) -> Result<()> {
    let folder = target()?.join("release/package");
    if folder.exists() {
        // No page of a removed command is left.
        fs::remove_dir_all(&folder)?;
    }
    let program = text(program);
    run_command(&mut command(&program, &["config", "man", &text(&folder.join("man"))]))?;
    for shell in ["bash", "fish", "zsh"] {
        let script = File::create(folder.join(format!("rocescope.{shell}")))?;
        run_command(command(&program, &["config", "completions", shell]).stdout(script))?;
    }
    Ok(())
}
