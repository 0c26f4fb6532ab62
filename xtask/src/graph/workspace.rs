//! The crates of the workspace, as cargo knows them.

use crate::process::root;
use anyhow::{Context, Result};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A crate as it is.
#[derive(Clone, Debug)]
pub(super) struct Crate {
    pub(super) name: String,
    /// Below the root of the workspace.
    pub(super) path: String,
    /// Crates of the workspace that it imports.
    pub(super) imports: BTreeSet<String>,
    /// Crates of the workspace that only its tests import.
    pub(super) test_imports: BTreeSet<String>,
    /// Other packages that it or its tests import.
    pub(super) packages: BTreeSet<String>,
    /// All packages that it reaches through what it imports.
    pub(super) reaches: BTreeSet<String>,
    /// Its first source file.
    pub(super) source: PathBuf,
}

/// Reads the workspace.
pub(super) fn read() -> Result<Vec<Crate>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .exec()?;
    let members: BTreeSet<String> = metadata
        .workspace_packages()
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    let mut crates = Vec::new();
    for package in metadata.workspace_packages() {
        let directory = package.manifest_path.parent().context("a directory")?;
        let below = directory.strip_prefix(&metadata.workspace_root)?;
        let target = package
            .targets
            .iter()
            .find(|target| target.is_lib())
            .or(package.targets.iter().find(|target| target.is_bin()))
            .context("a library or a binary")?;
        let (mut imports, mut test_imports) = (BTreeSet::new(), BTreeSet::new());
        let mut packages = BTreeSet::new();
        for dependency in &package.dependencies {
            let name = dependency.name.clone();
            match (members.contains(&name), dependency.kind) {
                (true, DependencyKind::Development) => test_imports.insert(name),
                (true, _) => imports.insert(name),
                (false, _) => packages.insert(name),
            };
        }
        crates.push(Crate {
            name: package.name.to_string(),
            path: below.to_string(),
            imports,
            test_imports,
            packages,
            reaches: reaches(&metadata, &package.id)?,
            source: target.src_path.clone().into(),
        });
    }
    Ok(crates)
}

/// Names of all packages that one reaches without its tests.
fn reaches(metadata: &Metadata, from: &PackageId) -> Result<BTreeSet<String>> {
    let resolve = metadata.resolve.as_ref().context("no resolved graph")?;
    let nodes: BTreeMap<&PackageId, _> =
        resolve.nodes.iter().map(|node| (&node.id, node)).collect();
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        let node = nodes.get(id).context("a package without a node")?;
        for dependency in &node.deps {
            let kinds = &dependency.dep_kinds;
            let normal = kinds.iter().any(|kind| kind.kind == DependencyKind::Normal);
            if normal && reached.insert(&dependency.pkg) {
                open.push(&dependency.pkg);
            }
        }
    }
    Ok(reached
        .into_iter()
        .map(|id| metadata[id].name.to_string())
        .collect())
}
