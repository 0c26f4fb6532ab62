//! Kernel, initramfs and disk of the guests, from the Debian that this machine runs.
//!
//! They are built once and kept under the hash of what they are made of.

use super::archive::Archive;
use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::process::{command, run as run_command, show};
use xtask::product::text;

/// Programs of this machine, and their packages.
const TOOLS: [(&str, &str); 8] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("mmdebstrap", "mmdebstrap"),
    ("depmod", "kmod"),
    ("mke2fs", "e2fsprogs"),
    ("cpio", "cpio"),
    ("xz", "xz-utils"),
    ("setpriv", "util-linux"),
    ("tshark", "tshark"),
];
/// Packages of the guests, with those that the package of the product depends on.
const PACKAGES: &str = "rdma-core,ibverbs-utils,ibverbs-providers,librdmacm1,rdmacm-utils,perftest,iproute2,\
                        iputils-ping,kmod,procps,ethtool,busybox-static,util-linux,systemd";
/// Modules of the guests; those that they need come with them.
const MODULES: [&str; 21] = [
    "virtio_console",
    "virtio_pci",
    "virtio_blk",
    "virtio_net",
    "8021q",
    "bonding",
    "ext4",
    "crc32_pclmul",
    "crc32_generic",
    "rdma_rxe",
    "rdma_ucm",
    "ib_umad",
    "ib_uverbs",
    "sch_netem",
    "sch_prio",
    "sch_tbf",
    "sch_ingress",
    "cls_u32",
    "act_mirred",
    "act_skbmod",
    "ifb",
];
/// Modules that find the disk, and let guests change what they see of it.
const FIRST_MODULES: [&str; 4] = ["virtio_pci", "virtio_blk", "ext4", "overlay"];
/// The first process of a guest.
const GUEST_INIT: &str = include_str!("guest_init.sh");
/// The first process of the initramfs.
const FIRST_INIT: &str = include_str!("first_init.sh");

/// What a guest boots.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) kernel: PathBuf,
    pub(super) initramfs: PathBuf,
    pub(super) disk: PathBuf,
}

impl Image {
    fn of(directory: &Path) -> Self {
        Self {
            kernel: directory.join("vmlinuz"),
            initramfs: directory.join("initramfs"),
            disk: directory.join("disk"),
        }
    }
}

/// Returns the image of this kernel package; builds it if that was not done before.
pub(super) fn image(directory: &Path, kernel: Option<&str>) -> Result<Image> {
    let missing = TOOLS.iter().filter(|(program, _)| !exists(program));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    ensure!(missing.is_empty(), "install these packages: {}", missing.join(" "));
    fs::create_dir_all(directory)?;
    let archive = Archive::open(directory, kernel)?;
    let package = archive.package()?;
    let mut recipe = Sha256::new();
    for part in [&package, PACKAGES, &MODULES.join(" "), GUEST_INIT, FIRST_INIT] {
        recipe.update(part);
        recipe.update([0]);
    }
    let hash = recipe.finalize();
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let finished = directory.join(format!("image-{hash}"));
    if !finished.exists() {
        let unfinished = directory.join("image.unfinished");
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        println!("building the image of {package}");
        build(&unfinished, &package, &archive)?;
        fs::rename(&unfinished, &finished)?;
    }
    Ok(Image::of(&finished))
}

fn exists(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    folders.any(|folder| folder.join(program).exists())
}

pub(super) fn output(command: &mut Command) -> Result<String> {
    let shown = show(command);
    let output = command.output().with_context(|| shown.clone())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {}: {}", output.status, said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a program in a directory.
pub(super) fn at(directory: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    run_command(command(program, arguments).current_dir(directory))
}

fn build(directory: &Path, package: &str, archive: &Archive) -> Result<()> {
    let id = output(&mut command("id", &["-u"]))?;
    ensure!(
        id.trim() == "0",
        "building the image needs root: mmdebstrap writes files of all owners"
    );
    let version = package.strip_prefix("linux-image-");
    let version = version.with_context(|| format!("{package} is no package of a kernel"))?;
    let mut files = Vec::new();
    for package in archive.parts(package)? {
        files.push(archive.download(directory, &package)?);
    }
    for file in &files {
        at(directory, "dpkg", &["-x", &text(file), "kernel"])?;
    }
    let unpacked = directory.join("kernel");
    if !unpacked.join("lib").exists() {
        symlink("usr/lib", unpacked.join("lib"))?;
    }
    at(directory, "depmod", &["-b", "kernel", version])?;
    let root = directory.join("root");
    debian(directory)?;
    let modules = modules(&unpacked, version, &MODULES)?;
    for needed in ["rdma_rxe", "ib_uverbs"] {
        ensure!(
            modules.iter().any(|file| file.contains(needed)),
            "{package} has no module {needed}"
        );
    }
    for module in &modules {
        let to = root.join(module);
        fs::create_dir_all(to.parent().unwrap_or(&root))?;
        fs::copy(unpacked.join(module), to).with_context(|| module.clone())?;
    }
    let lists = format!("lib/modules/{version}");
    for list in ["modules.order", "modules.builtin", "modules.builtin.modinfo"] {
        fs::copy(unpacked.join(&lists).join(list), root.join(&lists).join(list)).context(list)?;
    }
    at(directory, "depmod", &["-b", "root", version])?;
    executable(&root.join("guest-init"), GUEST_INIT)?;
    initramfs(directory, &unpacked, version)?;
    // Room for nothing: guests mount it read-only.
    let blocks = output(command("du", &["-sk", "root"]).current_dir(directory))?;
    let kib: u64 = blocks.split_whitespace().next().context("du")?.parse()?;
    let size = format!("{}k", kib * 5 / 4 + 50_000);
    let options = ["-q", "-t", "ext4", "-O", "^has_journal", "-d", "root", "disk", &size];
    at(directory, "mke2fs", &options)?;
    let places = [
        format!("boot/vmlinuz-{version}"),
        format!("lib/modules/{version}/vmlinuz"),
    ];
    let kernel = places
        .iter()
        .map(|place| unpacked.join(place))
        .find(|file| file.exists());
    let kernel = kernel.with_context(|| format!("{package} has no kernel"))?;
    fs::copy(kernel, directory.join("vmlinuz"))?;
    for leftover in ["kernel", "root", "first"] {
        fs::remove_dir_all(directory.join(leftover))?;
    }
    for file in files {
        fs::remove_file(file)?;
    }
    Ok(())
}

/// Installs Debian into `root`: the release and the archives of this machine.
fn debian(directory: &Path) -> Result<()> {
    let release = fs::read_to_string("/etc/os-release")?;
    let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let name = name.context("/etc/os-release has no VERSION_CODENAME: a Debian is needed")?;
    let lists = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
    let has_content = |list: &&&str| fs::metadata(list).is_ok_and(|list| list.len() > 0);
    let Some(list) = lists.iter().find(has_content) else {
        bail!("none of {} lists archives of Debian", lists.join(", "));
    };
    let include = format!("--include={PACKAGES}");
    at(
        directory,
        "mmdebstrap",
        &["--quiet", "--variant=minbase", &include, name, "root", list],
    )
}

/// Returns the files of these modules, and of those that they need, in the order in which they load.
fn modules(unpacked: &Path, version: &str, names: &[&str]) -> Result<Vec<String>> {
    let mut files: Vec<String> = Vec::new();
    for name in names {
        let options = ["-d", &text(unpacked), "-S", version, "--show-depends", name];
        // What is not a module is built into this kernel, or only other kernels have it.
        let Ok(printed) = output(&mut command("modprobe", &options)) else {
            continue;
        };
        for line in printed.lines() {
            let Some(file) = line.strip_prefix("insmod ") else {
                continue;
            };
            let file = file.split_whitespace().next().unwrap_or_default();
            let file = Path::new(file)
                .strip_prefix(unpacked)
                .unwrap_or_else(|_| Path::new(file));
            let file = text(file);
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    Ok(files)
}

fn initramfs(directory: &Path, unpacked: &Path, version: &str) -> Result<()> {
    let first = directory.join("first");
    for folder in ["bin", "lib", "dev", "proc", "sys", "disk", "changes", "newroot"] {
        fs::create_dir_all(first.join(folder))?;
    }
    fs::copy(directory.join("root/bin/busybox"), first.join("bin/busybox"))?;
    executable(&first.join("init"), FIRST_INIT)?;
    let mut order = String::new();
    for module in modules(unpacked, version, &FIRST_MODULES)? {
        // Emulated processors lack its instruction.
        if module.contains("crc32c-intel") {
            continue;
        }
        let from = unpacked.join(&module);
        let name = from
            .file_name()
            .context("a module without a name")?
            .to_string_lossy()
            .into_owned();
        fs::copy(&from, first.join("lib").join(&name))?;
        if name.ends_with(".xz") {
            at(&first.join("lib"), "xz", &["-d", &name])?;
        }
        order += &format!("/lib/{}\n", name.trim_end_matches(".xz"));
    }
    fs::write(first.join("modules"), order)?;
    let pack = "cd first && find . | cpio -o -H newc --quiet > ../initramfs";
    at(directory, "sh", &["-ec", pack])
}

fn executable(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
