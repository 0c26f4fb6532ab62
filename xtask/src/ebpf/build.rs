//! The compiler call, and the versions of the tools.

use crate::process::root;
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "bpfel-unknown-none";

/// A package for the kernel: its directory and its binary.
#[derive(Clone, Copy, Debug)]
pub struct Package {
    pub(super) directory: &'static str,
    binary: &'static str,
}

/// The XDP program.
pub const PROGRAM: Package = Package {
    directory: "ebpf/program",
    binary: "rocescope-ebpf",
};
/// The programs that see queue pairs come, change and go.
pub const QUEUE_PAIRS: Package = Package {
    directory: "ebpf/queue_pairs",
    binary: "rocescope-ebpf-queue-pairs",
};
/// The programs that the XDP program is measured against.
pub const BENCH: Package = Package {
    directory: "lab/ebpf",
    binary: "rocescope-ebpf-bench",
};

/// The build flags, without the path remappings.
pub(super) const FLAGS: &str = "-C target-cpu=v3 -C link-arg=--btf \
     -C link-arg=--cpu-features=+allows-misaligned-mem-access \
     -C link-arg=--disable-expand-memcpy-in-order \
     -C link-arg=--llvm-args=-no-stack-slot-sharing";

/// A compiler with the sources of `core`, a linker, and a strip tool.
#[derive(Debug)]
pub struct Toolchain {
    rustc: PathBuf,
    sysroot: PathBuf,
    strip: OsString,
    pub(super) rustc_version: String,
    pub(super) llvm_version: String,
    pub(super) linker_version: String,
}

impl Toolchain {
    /// Finds Debian's compiler or rustup's nightly; `EBPF_RUSTC` names another.
    pub fn find() -> Result<Self> {
        let (rustc, sysroot) = candidates()
            .into_iter()
            .find_map(with_core)
            .context("no compiler with the sources of `core`: apt-get install rustc-web rust-web-src, or rustup toolchain install nightly --component rust-src")?;
        let verbose = output(Command::new(&rustc).arg("-vV"))?;
        let line = |key: &str| {
            let value = verbose.lines().find_map(|line| line.strip_prefix(key));
            value.map(|value| value.trim().to_owned()).unwrap_or_default()
        };
        let linker = output(Command::new("bpf-linker").arg("--version"))
            .context("bpf-linker: cargo install bpf-linker --version 0.13.0 --no-default-features --features llvm-22, with LLVM_PREFIX=/usr/lib/llvm-22")?;
        let llvm_version = line("LLVM version:");
        let major = llvm_version.split('.').next().unwrap_or_default();
        let strip = [
            format!("llvm-strip-{major}"),
            format!("/usr/lib/llvm-{major}/bin/llvm-strip"),
            "llvm-strip".into(),
        ];
        let strip = strip
            .into_iter()
            .find(|strip| output(Command::new(strip).arg("--version")).is_ok())
            .context("llvm-strip is missing: apt-get install llvm-22-dev")?;
        Ok(Self {
            rustc_version: line("release:"),
            llvm_version,
            linker_version: linker.trim().trim_start_matches("bpf-linker ").to_owned(),
            rustc,
            sysroot,
            strip: strip.into(),
        })
    }
}

fn candidates() -> Vec<PathBuf> {
    if let Some(given) = std::env::var_os("EBPF_RUSTC") {
        return vec![given.into()];
    }
    let nightly = output(Command::new("rustup").args(["which", "rustc", "--toolchain", "nightly"]));
    let mut candidates = vec![PathBuf::from("/usr/bin/rustc")];
    candidates.extend(nightly.ok().map(|path| path.trim().into()));
    candidates
}

fn with_core(rustc: PathBuf) -> Option<(PathBuf, PathBuf)> {
    let sysroot = output(Command::new(&rustc).args(["--print", "sysroot"])).ok()?;
    let sysroot = PathBuf::from(sysroot.trim());
    sysroot
        .join("lib/rustlib/src/rust/library/core")
        .is_dir()
        .then_some((rustc, sysroot))
}

/// Links the tree to a path that is the same on every machine: cargo hashes the path of a crate into the names of its
/// symbols, which determine their order.
fn same_path_everywhere(root: &Path) -> Result<PathBuf> {
    let link = std::env::temp_dir().join("rocescope-ebpf-tree");
    match fs::remove_file(&link) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| link.display().to_string());
        }
        _ => {}
    }
    std::os::unix::fs::symlink(root, &link).with_context(|| link.display().to_string())?;
    Ok(link)
}

/// Builds the object, without debug information but with BTF.
pub fn object(toolchain: &Toolchain, package: Package) -> Result<Vec<u8>> {
    let root = root();
    let target = root.join("target/ebpf");
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cargo"),
        PathBuf::from,
    );
    let mut flags = vec![FLAGS.to_owned()];
    // The object contains no path of the build machine.
    let sources = toolchain.sysroot.join("lib/rustlib/src/rust");
    for (from, to) in registries(&home)
        .iter()
        .map(|path| (path.as_path(), "registry"))
        .chain([(sources.as_path(), "rust"), (root.as_path(), ".")])
    {
        flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    }
    let seen = same_path_everywhere(&root)?;
    flags.push(format!("--remap-path-prefix={}=.", seen.display()));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .current_dir("/")
        .args(["build", "--quiet", "--manifest-path"])
        .arg(seen.join(package.directory).join("Cargo.toml"))
        .args(["--release", "--locked", "-Zbuild-std=core"])
        .args(["--target", TARGET, "--target-dir"])
        .arg(&target)
        .env("RUSTC", &toolchain.rustc)
        // A distribution's compiler is stable and rejects `-Zbuild-std`.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", flags.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTUP_TOOLCHAIN")
        .status()
        .context("cargo")?;
    ensure!(status.success(), "{} does not build: {status}", package.directory);
    let built = target.join(TARGET).join("release").join(package.binary);
    let stripped = built.with_extension("o");
    output(
        Command::new(&toolchain.strip)
            .arg("--strip-debug")
            .arg("-o")
            .args([&stripped, &built]),
    )?;
    fs::read(&stripped).with_context(|| stripped.display().to_string())
}

/// The directories into which cargo unpacks packages, one per registry.
fn registries(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.join("registry/src")) else {
        return Vec::new();
    };
    entries.flatten().map(|entry| entry.path()).collect()
}

fn output(command: &mut Command) -> Result<String> {
    let shown = format!("{command:?}");
    let output = command.output().with_context(|| shown.clone())?;
    if !output.status.success() {
        bail!("{shown}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
