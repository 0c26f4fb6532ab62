//! What a release is made of: version, commit, and the one time that all its files have.

use crate::process::{command, root};
use anyhow::{Context, Result, ensure};
use std::{env, fs};

/// The time of a build that must be the same everywhere: <https://reproducible-builds.org/docs/source-date-epoch/>.
pub(super) const EPOCH: &str = "SOURCE_DATE_EPOCH";

pub(super) struct Facts {
    pub(super) version: String,
    pub(super) commit: String,
    /// Seconds since 1970: when the commit was made, or what the environment states.
    pub(super) epoch: u64,
}

impl Facts {
    pub(super) fn read() -> Result<Self> {
        let commit = git(&["rev-parse", "HEAD"])?;
        let epoch = match env::var(EPOCH) {
            Ok(given) => given,
            Err(_) => git(&["log", "-1", "--format=%ct"])?,
        };
        Ok(Self {
            version: version()?,
            commit,
            epoch: epoch.parse().with_context(|| format!("{EPOCH}: {epoch:?}"))?,
        })
    }

    /// What the tree has that its commit has not.
    pub(super) fn changes() -> Result<String> {
        git(&["status", "--porcelain", "--untracked-files=no"])
    }
}

/// The version of the workspace.
pub(super) fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(version.context("Cargo.toml has no version")?.trim_matches('"').into())
}

/// What git prints.
pub(super) fn git(arguments: &[&str]) -> Result<String> {
    let output = command("git", arguments).output().context("git")?;
    let failed = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {failed}", arguments.join(" "));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::version;
    use crate::process::root;
    use std::fs;

    /// Files outside the workspace that name the version: `docs/release.md` lists them for who changes it.
    #[test]
    fn every_file_that_names_the_version_has_the_same() {
        let version = version().unwrap();
        let manifest = format!("\nversion = \"{version}\"\n");
        for (path, expected) in [
            ("ebpf/program/Cargo.toml", manifest.clone()),
            ("ebpf/queue_pairs/Cargo.toml", manifest.clone()),
            ("lab/ebpf/Cargo.toml", manifest.clone()),
            ("lab/sketches/Cargo.toml", manifest.clone()),
            ("userspace/fleet/Cargo.toml", manifest.clone()),
            ("fleet/pyproject.toml", manifest),
            (
                "deploy/kubernetes/example/kustomization.yaml",
                format!("newTag: {version}\n"),
            ),
            (
                "deploy/ansible/roles/rocescope_agent/defaults/main.yml",
                format!("rocescope_{version}-1_amd64.deb\n"),
            ),
        ] {
            let text = fs::read_to_string(root().join(path)).unwrap();
            assert!(text.contains(&expected), "{path}: no {expected:?}");
        }
        let changelog = fs::read_to_string(root().join("deploy/debian/changelog")).unwrap();
        assert!(
            changelog.starts_with(&format!("rocescope ({version}-1) ")),
            "deploy/debian/changelog"
        );
    }
}
