//! Unpacks each file of a release as its readers do, into an empty directory, and runs the program there. What it takes:
//! `dpkg-deb`, `rpm`, `skopeo` and `umoci`.

use super::build::{Platform, folder};
use super::facts::Facts;
use crate::process::{command, run as run_command, show};
use crate::product::text;
use crate::static_build::works;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tries all files of the folder.
pub(super) fn run(facts: &Facts, out: &Path, others: &[(&'static Platform, PathBuf)]) -> Result<()> {
    let version = &facts.version;
    let step = |name: &str, tried: Result<()>| tried.with_context(|| format!("{name}: unpacked and run"));
    let file = |name: String| text(&out.join(name));
    run_command(command("sha256sum", &["--check", "--quiet", super::SUMS]).current_dir(out))?;
    step(
        "archive",
        archive(&file(format!("rocescope-{version}-x86_64-linux.tar.gz")), None),
    )?;
    for (platform, _) in others {
        let name = format!("rocescope-{version}-{}-linux.tar.gz", platform.machine);
        step(&name, archive(&file(name.clone()), platform.emulator))?;
    }
    step("image", image(&file(format!("rocescope-{version}-image.tar")), version))?;
    step(
        "Debian package",
        debian(&file(format!("rocescope_{version}-1_amd64.deb"))),
    )?;
    step("rpm", rpm(&file(format!("rocescope-{version}-1.x86_64.rpm"))))
}

/// An empty directory.
fn fresh(name: &str) -> Result<PathBuf> {
    let path = folder()?.join("trial").join(name);
    run_command(command("rm", &["-rf", "--one-file-system"]).arg(&path))?;
    fs::create_dir_all(&path)?;
    Ok(path)
}

/// Runs a command, and returns what it prints.
fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| show(command))?;
    let failed = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "{}: {}: {failed}",
        show(command),
        output.status
    );
    Ok(String::from_utf8(output.stdout)?)
}

fn archive(file: &str, emulator: Option<&str>) -> Result<()> {
    let root = fresh("archive")?;
    // The one folder in it is the root, so that nothing else is there.
    let options = ["--extract", "--strip-components", "1", "--file", file, "--directory"];
    output(command("tar", &options).arg(&root))?;
    for expected in [
        "README.md",
        "LICENSE-MIT",
        "THIRD-PARTY.txt",
        "man/man1/rocescope.1",
        "completions/rocescope.bash",
    ] {
        ensure!(root.join(expected).is_file(), "{expected} is missing");
    }
    match emulator {
        None => works(&root, &["/rocescope"]),
        Some(name) => match output(&mut command("sh", &["-c", "command -v \"$0\"", name])) {
            Ok(path) => {
                fs::copy(path.trim(), root.join("emulator"))?;
                works(&root, &["/emulator", "/rocescope"])
            }
            Err(_) => {
                println!("note: {file} was not run, because this is missing: {name} (Debian: qemu-user-static)");
                Ok(())
            }
        },
    }
}

/// Reads the image as those who copy it to a registry do, and unpacks it as an engine does.
fn image(file: &str, version: &str) -> Result<()> {
    let folder = fresh("image")?;
    let layout = format!("oci:{}:{version}", text(&folder.join("layout")));
    let mut skopeo = command("skopeo", &["copy", "--quiet", "--insecure-policy", "--all"]);
    output(skopeo.args([&format!("oci-archive:{file}:{version}"), &layout])).context("Debian: skopeo")?;
    let inspected = output(command("skopeo", &["inspect", "--config", &layout]).arg("--override-arch=amd64"))?;
    let configuration: Value = serde_json::from_str(&inspected)?;
    ensure!(
        configuration["config"]["Entrypoint"][0] == "/rocescope",
        "{configuration}"
    );
    // The layout of one architecture alone, which every tool can unpack.
    let one = format!("{}:{version}", text(&folder.join("one")));
    let mut skopeo = command(
        "skopeo",
        &["--override-arch=amd64", "copy", "--quiet", "--insecure-policy"],
    );
    output(skopeo.args([&layout, &format!("oci:{one}")]))?;
    let bundle = folder.join("bundle");
    let unpack = ["unpack", "--rootless", "--image", &one];
    output(command("umoci", &unpack).arg(&bundle)).context("Debian: umoci")?;
    works(&bundle.join("rootfs"), &["/rocescope"])
}

/// The files of the package, and of this system what the program names as its libraries.
fn debian(file: &str) -> Result<()> {
    let root = fresh("debian")?;
    output(command("dpkg-deb", &["--extract", file]).arg(&root))?;
    installed(&root)
}

/// Installs the package with a database of its own, and lets `rpm` compare what it installed.
fn rpm(file: &str) -> Result<()> {
    let root = fresh("rpm")?;
    let at = ["--root", &text(&root), "--nodeps"];
    // Scripts need a shell, and dependencies a database of Red Hat.
    output(command("rpm", &at).args(["--install", "--noscripts", file])).context("Debian: rpm")?;
    output(command("rpm", &at).args(["--verify", "rocescope"]))?;
    let needs = output(&mut command("rpm", &["--query", "--requires", "--package", file]))?;
    ensure!(needs.contains("libc.so.6"), "no library is required:\n{needs}");
    installed(&root)
}

/// Tries the program that a package installed, beside the libraries that it names.
fn installed(root: &Path) -> Result<()> {
    for expected in [
        "etc/rocescope/rocescope.toml",
        "usr/lib/systemd/system/rocescope.service",
        "usr/share/man/man1",
        "usr/share/bash-completion/completions/rocescope",
        "usr/share/doc/rocescope/THIRD-PARTY.txt",
    ] {
        ensure!(root.join(expected).exists(), "{expected} is missing");
    }
    // A capture box deletes what is older than a week, as the capture file of the trial is.
    fs::remove_file(root.join("etc/rocescope/rocescope.toml"))?;
    let program = root.join("usr/bin/rocescope");
    let libraries = output(&mut command("ldd", &[&text(&program)]))?;
    for path in libraries.split_whitespace().filter(|word| word.starts_with('/')) {
        let to = root.join(path.trim_start_matches('/'));
        fs::create_dir_all(to.parent().context("a library in a folder")?)?;
        fs::copy(path, to)?;
    }
    works(root, &["/usr/bin/rocescope"])
}
