//! `cargo xtask static`: one file that needs no library of the machine, for containers and rescue systems.
//!
//! The C library is glibc, linked statically: the toolchain of every Linux distribution can do that. Such a program
//! resolves host names by `/etc/hosts` and DNS, which glibc has inside since 2.34, and by no other source of `nsswitch.conf`.

use crate::process::{command, run as run_command};
use crate::product::{target, text};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `deploy/Containerfile` runs too. Only the program itself is compiled and linked for this: its dependencies are
/// those of every other build with the same flags.
pub(crate) const BUILD: [&str; 11] = [
    "rustc",
    "--release",
    "--locked",
    "--package",
    "rocescope",
    "--bin",
    "rocescope",
    "--target",
    TARGET,
    "--",
    "-Ctarget-feature=+crt-static",
];
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
/// `getrandom` looks its system call up with `dlsym`, which a static program does not have, and falls back to
/// `/dev/random`, which an empty directory does not have: this makes it call the kernel.
pub(crate) const FLAGS: [&str; 2] = ["--cfg", "getrandom_backend=\"linux_getrandom\""];

/// Builds the program, starts it in an empty directory, and prints its path.
pub(crate) fn run() -> Result<()> {
    run_command(command("cargo", &BUILD).env("RUSTFLAGS", FLAGS.join(" ")))?;
    let program = target()?.join(TARGET).join("release/rocescope");
    let root = target()?.join("static-root");
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    fs::create_dir_all(&root)?;
    fs::copy(&program, root.join("rocescope")).with_context(|| program.display().to_string())?;
    works(&root, &["/rocescope"])?;
    println!("{}", program.display());
    Ok(())
}

/// A capture file for the program to read.
const CAPTURE: &str = "userspace/cli/assets/rnr_nak.pcap";

/// Starts a program in a directory that has nothing else that it needs, as root or in a namespace where this user is root:
/// its version, the demo, and a capture file that it stores and reports. `program` is its path in the directory, after that of
/// an emulator if it takes one.
pub(crate) fn works(root: &Path, program: &[&str]) -> Result<()> {
    fs::copy(crate::process::root().join(CAPTURE), root.join("trace.pcap")).context(CAPTURE)?;
    for (arguments, expected) in [
        (&["--version"][..], "rocescope "),
        (&["demo", "--out", "/demo"], "Into /demo go:"),
        (&["capture", "-r", "/trace.pcap", "--out", "/data"], "Dataset   /data"),
        (&["report", "/data"], "Complete: all 341 frames are accounted for"),
    ] {
        let printed = alone(root, program, arguments)?;
        ensure!(
            printed.contains(expected),
            "{arguments:?} printed no `{expected}`: {printed}"
        );
    }
    for table in ["windows", "flows", "connections"] {
        let folder = root.join("data").join(table);
        ensure!(folder.is_dir(), "{} is missing", folder.display());
    }
    Ok(())
}

/// Runs the program in its directory; returns what it prints.
fn alone(root: &Path, program: &[&str], arguments: &[&str]) -> Result<String> {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "chroot", &text(root)]);
    let output = unshare.args(program).args(arguments).output().context("unshare")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "in an empty directory, {arguments:?}: {}: {said}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{BUILD, FLAGS, TARGET};
    use crate::process::root;
    use std::fs;

    /// There is no container engine in every checkout, so the file may only contain steps that are checked otherwise.
    #[test]
    fn the_container_file_has_the_steps_of_this_task() {
        let file = fs::read_to_string(root().join("deploy/Containerfile")).unwrap();
        let lines: Vec<&str> = file
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .collect();
        let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
        let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
        let version = version.unwrap().trim_matches('"');
        assert_eq!(
            lines,
            [
                &format!("FROM docker.io/library/rust:{version}-bookworm AS build"),
                "WORKDIR /src",
                "COPY . .",
                &format!("ENV RUSTFLAGS='{}'", FLAGS.join(" ")),
                &format!("RUN cargo {}", BUILD.join(" ")),
                "FROM scratch",
                &format!("COPY --from=build /src/target/{TARGET}/release/rocescope /rocescope"),
                "WORKDIR /tmp",
                "ENTRYPOINT [\"/rocescope\"]",
            ]
        );
        // The build needs what is in the tree, and nothing of what other builds left.
        let ignored = fs::read_to_string(root().join(".containerignore")).unwrap();
        assert!(ignored.lines().any(|line| line == "target"));
    }
}
