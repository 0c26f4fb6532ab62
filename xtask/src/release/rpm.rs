//! The package for Red Hat and its kin, by `rpmbuild`, from the files of the Debian package: one list of files for both.

use super::build::{X86_64, folder};
use super::facts::{EPOCH, Facts};
use crate::process::{command, run};
use crate::product::text;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

const SPEC: &str = "deploy/rpm/rocescope.spec";

/// Builds it; returns its path.
pub(super) fn make(facts: &Facts, debian: &Path) -> Result<PathBuf> {
    let work = folder()?.join("rpm");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    let tree = work.join("tree");
    fs::create_dir_all(&tree)?;
    run(&mut command("dpkg-deb", &["--extract", &text(debian), &text(&tree)]))?;
    let mut rpmbuild = command("rpmbuild", &["-bb", "--quiet", "--target", X86_64.machine]);
    for (name, value) in [
        ("_topdir", text(&work.join("top"))),
        ("_rpmdir", text(&work)),
        ("rocescope_version", facts.version.clone()),
        ("rocescope_files", text(&tree)),
    ] {
        rpmbuild.args(["--define", &format!("{name} {value}")]);
    }
    rpmbuild.arg(SPEC).env(EPOCH, facts.epoch.to_string());
    run(&mut rpmbuild).context("rpmbuild (Debian: rpm)")?;
    let name = format!("rocescope-{}-1.{}.rpm", facts.version, X86_64.machine);
    Ok(work.join(X86_64.machine).join(name))
}
