//! `cargo xtask package [--fleet]`: the Debian package of the release build, with the programs of a fleet if asked for. Building
//! those takes longer than all the rest.

use crate::process::{command, run as run_command};
use crate::product::{build, build_fleet, target, text};
use crate::release;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
    let program = build()?;
    let release = program.parent().context("a program in a folder")?;
    generate(&program, release)?;
    let mut deb = command("cargo", &DEB);
    // Without symbols, which are larger than the program.
    packed(deb.args(options).arg("--strip"), &target()?.join("debian"))
}

/// The lines before it have built its content.
pub(crate) const DEB: [&str; 5] = ["deb", "--package", "rocescope", "--quiet", "--no-build"];

/// Runs `cargo deb`; returns the path of the package.
pub(crate) fn packed(deb: &mut Command, into: &Path) -> Result<PathBuf> {
    deb.args(["--output", &text(&into.join(""))]);
    let output = deb.stderr(Stdio::inherit()).output().context("cargo")?;
    let advice = "cargo deb (cargo install --locked cargo-deb)";
    ensure!(output.status.success(), "{advice}: {}", output.status);
    let printed = String::from_utf8(output.stdout)?;
    let path = printed.lines().last().context(advice)?;
    Ok(path.into())
}

/// What belongs to a program besides it, into `package` of the folder of cargo's release build, where the package's list of
/// files expects it: manual pages and completions, which the program prints, and the licences of what is linked.
pub(crate) fn generate(program: &Path, release: &Path) -> Result<()> {
    let folder = release.join("package");
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
    fs::write(folder.join(LICENCES), release::licences()?)?;
    Ok(())
}

/// The licences of what is linked.
pub(crate) const LICENCES: &str = "THIRD-PARTY.txt";
