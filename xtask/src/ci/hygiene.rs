//! Checks beyond the workspace: packages outside it, dependencies, spelling, examples.

use crate::process::{command, root, run};
use crate::product::{FLEET, target, text};
use anyhow::{Result, ensure};
use std::fs;

/// Packages outside the workspace, and the options of their lints. Those of the kernel are linted for this machine:
/// lints do not depend on the target, and need no other compiler.
const OUTSIDE: [(&str, &[&str]); 5] = [
    ("lab/ebpf/Cargo.toml", &["--release"]),
    ("ebpf/program/Cargo.toml", &["--release"]),
    ("ebpf/queue_pairs/Cargo.toml", &["--release"]),
    ("fuzz/Cargo.toml", &["--all-targets"]),
    ("lab/sketches/Cargo.toml", &["--all-targets"]),
];

pub(super) fn format_outside() -> Result<()> {
    for (manifest, _) in OUTSIDE {
        let check = ["fmt", "--manifest-path", manifest, "--check"];
        run(&mut command("cargo", &check))?;
    }
    run(&mut command(
        "cargo",
        &["fmt", "--manifest-path", FLEET, "--all", "--check"],
    ))
}

pub(super) fn lint_outside() -> Result<()> {
    for (manifest, how) in OUTSIDE {
        let mut clippy = command("cargo", &["clippy", "--manifest-path", manifest]);
        run(clippy.args(how).args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Lints and tests the programs of a fleet, and checks their licences. Their dependencies compile for some ten minutes, so
/// this is no check of every change; all in one profile, so that they compile once.
pub(super) fn fleet() -> Result<()> {
    let target = text(&target()?.join("fleet"));
    let of = |task: &str| command("cargo", &[task, "--manifest-path", FLEET, "--target-dir", &target]);
    run(of("test").arg("--release"))?;
    run(of("clippy").args(["--release", "--all-targets", "--", "-D", "warnings"]))?;
    let deny = [
        "deny",
        "--manifest-path",
        FLEET,
        "--config",
        "deny.toml",
        "check",
        "licenses",
        "sources",
    ];
    run(&mut command("cargo", &deny))
}

/// Checks licences, duplicate versions and sources of all dependencies, by the rules of `deny.toml`.
pub(super) fn dependencies() -> Result<()> {
    for manifest in ["Cargo.toml", "ebpf/program/Cargo.toml", "ebpf/queue_pairs/Cargo.toml"] {
        let deny = ["deny", "--manifest-path", manifest, "--config", "deny.toml", "check"];
        run(command("cargo", &deny).args(["bans", "licenses", "sources"]))?;
    }
    Ok(())
}

pub(super) fn spelling() -> Result<()> {
    run(&mut command("codespell", &[]))
}

/// Checks the role of Ansible, and each manifest that the overlay of Kubernetes gives against the schema of its kind.
pub(super) fn deploy() -> Result<()> {
    let ansible = root().join("deploy/ansible");
    run(command("ansible-lint", &["--offline"]).current_dir(&ansible))?;
    run(command(
        "ansible-playbook",
        &["--syntax-check", "--inventory", "localhost,", "agents.yml"],
    )
    .current_dir(&ansible))?;
    let rendered = command("kubectl", &["kustomize", "deploy/kubernetes/example"]).output()?;
    let failed = String::from_utf8_lossy(&rendered.stderr);
    // A warning is about a field that a later version will not have.
    ensure!(
        rendered.status.success() && failed.is_empty(),
        "kubectl kustomize: {failed}"
    );
    let manifests = target()?.join("kubernetes.yaml");
    fs::write(&manifests, &rendered.stdout)?;
    run(&mut command("kubernetes-validate", &["--strict", &text(&manifests)]))
}

/// Runs the examples of the libraries. The dataset is the one that the README's demo writes.
pub(super) fn examples() -> Result<()> {
    const EXAMPLES: [(&str, &[&str]); 3] = [
        ("decode_frame", &[]),
        ("merge_shards", &[]),
        ("read_dataset", &["rocescope-demo"]),
    ];
    // Built with the features of the whole workspace, as the tests are, so that both share one build.
    let mut build = command("cargo", &["build", "--quiet", "--workspace"]);
    for (name, _) in EXAMPLES {
        build.args(["--example", name]);
    }
    run(&mut build)?;
    for (name, arguments) in EXAMPLES {
        let program = target()?.join("debug/examples").join(name);
        run(&mut command(&text(&program), arguments))?;
    }
    Ok(())
}
