//! `cargo xtask softroce [OPTION…] [CHECK…]`: the product on real verbs, without an RDMA NIC.
//!
//! Two or three Debian guests under qemu's software emulation have the kernel's soft-RoCE driver (`rdma_rxe`) and the product's
//! own binary. A mirror on the host copies every frame between them into a capture file. `docs/softroce.md` describes
//! it.
//!
//! | module | what it does |
//! |---|---|
//! | `archive` | the packages of kernels |
//! | `image` | kernel, initramfs and disk of the guests, built once and kept |
//! | `guest` | one guest: runs scripts in it, and mirrors its frames |
//! | `taps` | the mirror ports of the host |
//! | `live` | captures that run while a check does something |
//! | `rxe` | what the driver counts |
//! | `shape` | how many guests there are, and what their NICs are |
//! | `fabric` | the guests, and what the checks do with them |
//! | `checks` | one file each: run, collect, compare |

mod archive;
mod checks;
mod fabric;
mod guest;
mod image;
mod live;
mod rxe;
mod shape;
mod taps;

use anyhow::{Context, Result, bail, ensure};
use checks::{CHECKS, Guests};
use fabric::Fabric;
use shape::Shape;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use xtask::process::{command, run as run_command};
use xtask::product::{target, text};

/// The options of the task.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options<'a> {
    /// The program to run, instead of a release build.
    binary: Option<&'a str>,
    /// The Debian package to install in the guests, instead of the program alone.
    package: Option<&'a str>,
    /// Guests and NICs.
    shape: Shape,
    /// The packages of the kernels, one after the other, instead of the newest one of the distribution.
    kernels: Vec<&'a str>,
    /// Seconds for which the agents of both guests run.
    mesh: Option<u64>,
    /// Names of the checks; all if empty.
    checks: Vec<&'a str>,
}

/// Boots the guests and runs the checks, with each kernel.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let options = parse(arguments)?;
    let product = Product::of(&options)?;
    let kernels: Vec<Option<&str>> = match &options.kernels[..] {
        [] => vec![None],
        kernels => kernels.iter().copied().map(Some).collect(),
    };
    let mut failed = Vec::new();
    for kernel in kernels {
        failed.extend(with_kernel(&options, kernel, &product)?);
    }
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// Returns the checks that failed.
fn with_kernel(options: &Options<'_>, kernel: Option<&str>, product: &Product) -> Result<Vec<String>> {
    let begun = Instant::now();
    let directory = target()?.join("softroce");
    let image = image::image(&directory, kernel)?;
    let payload = product.pack(&directory)?;
    println!("image: {:.0} s", begun.elapsed().as_secs_f64());
    let mut fabric = Fabric::boot(options.shape, &image, &directory, &payload, &product.binary)?;
    fabric.mesh = options.mesh.map_or(fabric.mesh, Duration::from_secs);
    let results = match kernel {
        Some(_) => directory.join("results").join(&fabric.kernel),
        None => directory.join("results"),
    };
    println!(
        "Linux {}, up after {:.0} s",
        fabric.kernel,
        begun.elapsed().as_secs_f64()
    );
    let mut failed = Vec::new();
    for (name, what, guests, check) in CHECKS {
        if !options.runs(name, *guests) {
            continue;
        }
        println!("\n== {name}: {what}");
        let begun = Instant::now();
        fabric.results = results.join(name);
        if fabric.results.exists() {
            fs::remove_dir_all(&fabric.results)?;
        }
        fs::create_dir_all(&fabric.results)?;
        if let Err(error) = check(&mut fabric) {
            println!("FAILED {error:#}");
            failed.push(format!("{name} on Linux {}", fabric.kernel));
        }
        println!("{:.1} s", begun.elapsed().as_secs_f64());
    }
    println!(
        "\nLinux {}: {:.0} s, load {}; captures and outputs are in {}",
        fabric.kernel,
        begun.elapsed().as_secs_f64(),
        load(),
        results.display()
    );
    Ok(failed)
}

impl Options<'_> {
    /// Whether a check runs.
    fn runs(&self, name: &str, guests: Guests) -> bool {
        let is_named = self.checks.is_empty() || self.checks.contains(&name);
        is_named && (guests == Guests::TwoOrThree || self.shape == Shape::Two)
    }
}

/// How busy this machine is: the mean number of tasks in the last minute, five and fifteen minutes.
fn load() -> String {
    let loads = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    loads.split_whitespace().take(3).collect::<Vec<_>>().join(", ")
}

fn parse<'a>(arguments: &[&'a str]) -> Result<Options<'a>> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match *argument {
            "--binary" => options.binary = Some(rest.next().context("--binary needs a file")?),
            "--package" => options.package = Some(rest.next().context("--package needs a file")?),
            "--three-guests" => options.shape = Shape::Three,
            "--kernel" => options
                .kernels
                .push(rest.next().context("--kernel needs the name of a package")?),
            "--mesh" => options.mesh = Some(rest.next().context("--mesh needs a number of seconds")?.parse()?),
            name if CHECKS.iter().any(|(known, ..)| *known == name) => options.checks.push(name),
            unknown => {
                let names: Vec<&str> = CHECKS.iter().map(|(name, ..)| *name).collect();
                bail!("no check is named {unknown:?}; the checks are: {}", names.join(", "));
            }
        }
    }
    let mut named = CHECKS.iter().filter(|(name, ..)| options.checks.contains(name));
    if let Some((name, ..)) = named.find(|(name, _, guests, _)| !options.runs(name, *guests)) {
        bail!("the check {name} needs two guests");
    }
    ensure!(
        options.binary.is_none() || options.package.is_none(),
        "--binary and --package exclude each other"
    );
    Ok(options)
}

/// The product that is tried.
#[derive(Debug)]
struct Product {
    /// The program, for captures on this machine.
    binary: PathBuf,
    /// What the guests install, instead of the program.
    package: Option<PathBuf>,
}

impl Product {
    fn of(options: &Options<'_>) -> Result<Self> {
        let existing = |file: &str| fs::canonicalize(file).with_context(|| file.to_owned());
        let package = options.package.map(existing).transpose()?;
        let binary = match (options.binary, &package) {
            (Some(binary), _) => existing(binary)?,
            (None, Some(package)) => unpack(package)?,
            (None, None) => build()?,
        };
        Ok(Self { binary, package })
    }

    /// Packs the package, or the program without its symbols, for the second disk of the guests: a tar archive that is no
    /// file system.
    fn pack(&self, directory: &Path) -> Result<PathBuf> {
        let folder = directory.join("payload");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        match &self.package {
            Some(package) => {
                fs::copy(package, folder.join("rocescope.deb"))?;
            }
            None => {
                let stripped = text(&folder.join("rocescope"));
                run_command(&mut command("strip", &["-o", &stripped, &text(&self.binary)]))?;
            }
        }
        let archive = directory.join("payload.tar");
        // A disk has whole sectors; tar pads to 10 KiB.
        let tar = ["-cf", &text(&archive), "-C", &text(&folder), "."];
        run_command(&mut command("tar", &tar))?;
        Ok(archive)
    }
}

/// Unpacks a package; returns its program.
fn unpack(package: &Path) -> Result<PathBuf> {
    let folder = target()?.join("softroce/package");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    run_command(&mut command("dpkg", &["-x", &text(package), &text(&folder)]))?;
    Ok(folder.join("usr/bin/rocescope"))
}

/// Builds the product, which is linked dynamically: its verbs backend loads libibverbs, which a static program cannot.
fn build() -> Result<PathBuf> {
    run_command(&mut command(
        "cargo",
        &["build", "--quiet", "--release", "--bin", "rocescope"],
    ))?;
    Ok(target()?.join("release/rocescope"))
}

#[cfg(test)]
mod tests {
    use super::shape::Shape;
    use super::{Options, parse};

    #[test]
    fn options_and_names_of_checks_are_told_apart() {
        let options = parse(&[
            "--binary",
            "x",
            "probe",
            "--kernel",
            "linux-image-y",
            "--kernel",
            "linux-image-amd64/trixie",
            "--mesh",
            "600",
        ])
        .unwrap();
        let expected = Options {
            binary: Some("x"),
            package: None,
            shape: Shape::Two,
            kernels: vec!["linux-image-y", "linux-image-amd64/trixie"],
            mesh: Some(600),
            checks: vec!["probe"],
        };
        assert_eq!(options, expected);
        assert!(parse(&["--binary"]).is_err());
        let three = parse(&["--package", "x.deb", "--three-guests", "verdicts"]).unwrap();
        assert_eq!((three.package, three.shape), (Some("x.deb"), Shape::Three));
        let refused = parse(&["--three-guests", "hostping"]).unwrap_err().to_string();
        assert_eq!(refused, "the check hostping needs two guests");
        let refused = parse(&["prob"]).unwrap_err().to_string();
        assert!(refused.contains("the checks are: "), "{refused}");
    }
}
