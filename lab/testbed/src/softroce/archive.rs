//! Packages of kernels: from the archives of this machine, or from another suite of Debian.

use super::image::{at, output};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use xtask::process::{command, run as run_command};
use xtask::product::text;

/// Depends on the newest kernel of a suite.
const NEWEST: &str = "linux-image-amd64";
const DEBIAN: &str = "http://deb.debian.org/debian";

/// Where a kernel comes from.
#[derive(Debug)]
pub(super) struct Archive {
    name: String,
    /// Options of apt that replace the lists of this machine.
    options: Vec<String>,
}

impl Archive {
    /// Opens that of a kernel: `PACKAGE`, or `PACKAGE/SUITE` as apt writes it.
    pub(super) fn open(directory: &Path, kernel: Option<&str>) -> Result<Self> {
        let kernel = kernel.unwrap_or(NEWEST);
        let Some((name, suite)) = kernel.split_once('/') else {
            let (name, options) = (kernel.to_owned(), Vec::new());
            return Ok(Self { name, options });
        };
        let own = directory.join("apt").join(suite);
        for folder in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(own.join(folder))?;
        }
        let sources = own.join("sources.list");
        fs::write(&sources, format!("deb {DEBIAN} {suite} main\n"))?;
        let settings = [
            ("Dir::Etc::SourceList", text(&sources)),
            ("Dir::Etc::SourceParts", "-".to_owned()),
            ("Dir::State::Lists", text(&own.join("lists"))),
            ("Dir::Cache", text(&own.join("cache"))),
        ];
        let options = settings
            .iter()
            .flat_map(|(name, value)| ["-o".to_owned(), format!("{name}={value}")]);
        let archive = Self {
            name: name.to_owned(),
            options: options.collect(),
        };
        run_command(command("apt-get", &["update", "-qq"]).args(&archive.options))?;
        Ok(archive)
    }

    /// The package of the kernel; for the name of the newest one, that which it depends on.
    pub(super) fn package(&self) -> Result<String> {
        if self.name != NEWEST {
            return Ok(self.name.clone());
        }
        let needed = self.needed(NEWEST)?;
        let package = needed.into_iter().find(|package| package.starts_with("linux-image-"));
        package.context("apt knows no kernel: run `apt-get update` on a Debian, or name one with --kernel")
    }

    /// The packages with the files of a kernel: newer ones have the kernel and its modules in packages of their own.
    pub(super) fn parts(&self, package: &str) -> Result<Vec<String>> {
        let needed = self.needed(package)?;
        let is_part = |name: &String| {
            ["base", "binary", "modules"]
                .iter()
                .any(|part| name.starts_with(&format!("linux-{part}-")))
        };
        let parts = needed.into_iter().filter(is_part);
        Ok([package.to_owned()].into_iter().chain(parts).collect())
    }

    fn needed(&self, package: &str) -> Result<Vec<String>> {
        let printed = output(command("apt-cache", &["depends", package]).args(&self.options))?;
        let names = printed.lines().filter_map(|line| line.trim().strip_prefix("Depends: "));
        Ok(names.map(str::to_owned).collect())
    }

    /// Downloads a package; returns its file.
    pub(super) fn download(&self, directory: &Path, package: &str) -> Result<PathBuf> {
        let mut arguments: Vec<&str> = self.options.iter().map(String::as_str).collect();
        arguments.extend(["download", "--quiet", package]);
        at(directory, "apt-get", &arguments)?;
        let start = format!("{package}_");
        let mut files = fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path()));
        let file = files.find(|file| {
            let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
            name.is_some_and(|name| name.starts_with(&start))
        });
        file.with_context(|| format!("apt-get downloaded no {package}"))
    }
}
