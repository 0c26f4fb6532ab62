//! The programs of a release: without symbols, and without a path of the machine that built them.
//!
//! Dependencies compile once for two programs: one for packages, which finds libraries of its machine when it runs, and one
//! that needs nothing. They differ in how they are linked.

use super::facts::EPOCH;
use crate::process::{command, root, run};
use crate::product::{target, text};
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// A processor, as its names are elsewhere.
pub(super) struct Platform {
    /// Of Rust.
    pub(super) triple: &'static str,
    /// Of the kernel, and of packages for Red Hat.
    pub(super) machine: &'static str,
    /// Of images.
    pub(super) oci: &'static str,
    /// Another machine's C compiler and linker.
    compiler: Option<&'static str>,
    /// What runs programs of another machine.
    pub(super) emulator: Option<&'static str>,
}

/// The processor of this machine's build.
pub(super) const X86_64: Platform = Platform {
    triple: crate::static_build::TARGET,
    machine: "x86_64",
    oci: "amd64",
    compiler: None,
    emulator: None,
};

pub(super) const AARCH64: Platform = Platform {
    triple: "aarch64-unknown-linux-gnu",
    machine: "aarch64",
    oci: "arm64",
    compiler: Some("aarch64-linux-gnu-gcc"),
    emulator: Some("qemu-aarch64-static"),
};

/// Where cargo builds for releases: other builds have other flags, and would compile everything again.
pub(super) fn folder() -> Result<PathBuf> {
    Ok(target()?.join("dist"))
}

impl Platform {
    /// What is missing to build for it.
    pub(super) fn missing(&self) -> Result<Option<String>> {
        let Some(compiler) = self.compiler else {
            return Ok(None);
        };
        let installed = installed(&["--print", "target-libdir", "--target", self.triple])?;
        let installed = Path::new(&installed).is_dir();
        Ok(if !installed {
            Some(format!("Rust for it (rustup target add {})", self.triple))
        } else if Command::new(compiler).arg("--version").output().is_err() {
            Some(format!("{compiler} (Debian: gcc-aarch64-linux-gnu)"))
        } else {
            None
        })
    }

    /// Cargo's folder of the finished program, below [`folder`].
    pub(super) fn release(&self) -> Result<PathBuf> {
        Ok(folder()?.join(self.triple).join("release"))
    }

    /// The program for packages, where cargo puts it.
    pub(super) fn program(&self) -> Result<PathBuf> {
        let build = [
            "build",
            "--release",
            "--locked",
            "--package",
            "rocescope",
            "--bin",
            "rocescope",
        ];
        run(self.cargo(&build)?.args(["--target", self.triple]))?;
        Ok(self.release()?.join("rocescope"))
    }

    /// The static program; cargo puts it in the place of the other, so it is moved away.
    pub(super) fn alone(&self) -> Result<PathBuf> {
        let mut arguments = crate::static_build::BUILD.to_vec();
        if let Some(triple) = arguments.iter_mut().find(|argument| **argument == X86_64.triple) {
            *triple = self.triple;
        }
        run(&mut self.cargo(&arguments)?)?;
        let moved = self.moved()?;
        fs::rename(self.release()?.join("rocescope"), &moved)?;
        Ok(moved)
    }

    /// Where the static program of the last build is.
    pub(super) fn moved(&self) -> Result<PathBuf> {
        Ok(folder()?.join(format!("rocescope-{}", self.machine)))
    }

    fn cargo(&self, arguments: &[&str]) -> Result<Command> {
        let mut cargo = command("cargo", arguments);
        cargo.env("CARGO_TARGET_DIR", folder()?);
        cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false");
        cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
        // Fragments of an earlier build would be in it.
        cargo.env("CARGO_INCREMENTAL", "0");
        // No program has the time inside, and C libraries would compile again at each commit.
        cargo.env_remove(EPOCH);
        let renamed = renamed()?;
        let mut flags: Vec<String> = crate::static_build::FLAGS.iter().map(ToString::to_string).collect();
        flags.extend(
            renamed
                .iter()
                .map(|(from, to)| format!("--remap-path-prefix={from}={to}")),
        );
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        let maps: Vec<String> = renamed
            .iter()
            .map(|(from, to)| format!("-ffile-prefix-map={from}={to}"))
            .collect();
        cargo.env("CFLAGS", maps.join(" "));
        if let Some(compiler) = self.compiler {
            let triple = self.triple.replace('-', "_");
            cargo.env(format!("CC_{triple}"), compiler);
            let linker = format!("CARGO_TARGET_{}_LINKER", triple.to_uppercase());
            cargo.env(linker, compiler);
        }
        Ok(cargo)
    }
}

/// Folders of this machine, and what they are called in the program. The last that fits counts.
fn renamed() -> Result<Vec<(String, String)>> {
    let home = env::var("CARGO_HOME").or_else(|_| env::var("HOME").map(|home| format!("{home}/.cargo")));
    let home = home.context("neither CARGO_HOME nor HOME is set")?;
    let mut renamed = vec![
        (text(&root()), "/rocescope".to_owned()),
        (text(&folder()?), "/target".to_owned()),
        (home.clone(), "/cargo".to_owned()),
    ];
    let sources = Path::new(&home).join("registry/src");
    for entry in fs::read_dir(&sources).with_context(|| text(&sources))? {
        // One for each registry: mirrors of it have other names and the same packages.
        renamed.push((text(&entry?.path()), "/crates".to_owned()));
    }
    let version = installed(&["--version", "--verbose"])?;
    let commit = version.lines().find_map(|line| line.strip_prefix("commit-hash: "));
    let library = format!("{}/lib/rustlib/src/rust", installed(&["--print", "sysroot"])?);
    renamed.push((library, format!("/rustc/{}", commit.unwrap_or("unknown"))));
    Ok(renamed)
}

fn installed(arguments: &[&str]) -> Result<String> {
    let output = command("rustc", arguments).output().context("rustc")?;
    ensure!(output.status.success(), "rustc {arguments:?}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Fails if the program has a path of this machine inside.
pub(super) fn has_no_path(program: &Path) -> Result<()> {
    let content = fs::read(program)?;
    for (path, _) in renamed()? {
        let found = content.windows(path.len()).position(|window| window == path.as_bytes());
        if let Some(at) = found {
            let end = content.len().min(at + path.len() + 80);
            let shown = String::from_utf8_lossy(&content[at..end]).into_owned();
            anyhow::bail!("{} has a path of this machine: {shown:?}", program.display());
        }
    }
    Ok(())
}
