//! The Python package of `fleet/`: lints, types, and its tests with two masters of Spark.

use crate::process::{command, root, run as run_command};
use crate::product;
use anyhow::Result;

/// Spark in one process, and with two workers that are processes of their own: one core and 1,024 MiB each.
const MASTERS: [&str; 2] = ["local[2]", "local-cluster[2,1,1024]"];

/// Installs the package from the tree, as users do, and tests it against the release build of the product.
pub(super) fn run() -> Result<()> {
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "./fleet",
    ];
    run_command(&mut command("python3", &install))?;
    for check in [
        &["-m", "ruff", "format", "--check"][..],
        &["-m", "ruff", "check"],
        &["-m", "mypy"],
    ] {
        in_fleet(check, &[])?;
    }
    let binary = product::text(&product::build()?);
    for master in MASTERS {
        println!("{master}");
        in_fleet(
            &["-m", "pytest", "-q"],
            &[("FLEET_MASTER", master), ("ROCESCOPE_BINARY", &binary)],
        )?;
    }
    Ok(())
}

fn in_fleet(arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let mut python = command("python3", arguments);
    python
        .current_dir(root().join("fleet"))
        .envs(environment.iter().copied());
    run_command(&mut python)
}
