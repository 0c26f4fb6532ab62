//! The crates of the workspace, as cargo reports them.

use crate::process::metadata;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub(super) struct Crate {
    pub(super) name: String,
    /// Relative to the root of the workspace.
    pub(super) path: String,
    /// Crates of the workspace that it imports.
    pub(super) imports: BTreeSet<String>,
    /// Crates of the workspace that only its tests import.
    pub(super) test_imports: BTreeSet<String>,
    /// Other packages that it or its tests import.
    pub(super) packages: BTreeSet<String>,
    /// All packages that it reaches directly or indirectly.
    pub(super) reaches: BTreeSet<String>,
    /// The root files of its library and its binaries.
    pub(super) roots: Vec<PathBuf>,
}

/// Reads the workspace.
pub(super) fn read() -> Result<Vec<Crate>> {
    let metadata = metadata(&[])?;
    let members: BTreeSet<&str> = strings(&metadata["workspace_members"]).collect();
    let packages = array(&metadata["packages"]);
    let ours = packages.filter(|package| package["id"].as_str().is_some_and(|id| members.contains(id)));
    let ours: Vec<&Value> = ours.collect();
    let names: BTreeSet<&str> = ours.iter().filter_map(|package| package["name"].as_str()).collect();
    let read = ours.iter().map(|package| member(&metadata, package, &names));
    read.collect()
}

fn member(metadata: &Value, package: &Value, members: &BTreeSet<&str>) -> Result<Crate> {
    let text = |key: &str| package[key].as_str().context("not text");
    let top = metadata["workspace_root"].as_str().context("a root")?;
    let manifest = Path::new(text("manifest_path")?);
    let directory = manifest.parent().context("a directory")?.strip_prefix(top)?;
    let targets = array(&package["targets"])
        .filter(|target| strings(&target["kind"]).any(|kind| ["lib", "bin", "proc-macro"].contains(&kind)));
    let (mut imports, mut test_imports) = (BTreeSet::new(), BTreeSet::new());
    let mut packages = BTreeSet::new();
    for dependency in array(&package["dependencies"]) {
        let name = dependency["name"].as_str().context("a name")?.to_owned();
        match (members.contains(&*name), &dependency["kind"]) {
            (true, kind) if kind == "dev" => test_imports.insert(name),
            (true, _) => imports.insert(name),
            (false, _) => packages.insert(name),
        };
    }
    Ok(Crate {
        name: text("name")?.to_owned(),
        path: directory.display().to_string(),
        imports,
        test_imports,
        packages,
        reaches: reaches(metadata, text("id")?),
        roots: targets
            .filter_map(|target| Some(target["src_path"].as_str()?.into()))
            .collect(),
    })
}

/// Names of all packages that a package reaches without its tests.
fn reaches(metadata: &Value, from: &str) -> BTreeSet<String> {
    let nodes = by_id(&metadata["resolve"]["nodes"]);
    let packages = by_id(&metadata["packages"]);
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(id) = open.pop() {
        for dependency in nodes.get(id).into_iter().flat_map(|node| array(&node["deps"])) {
            let normal = array(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
            let id = dependency["pkg"].as_str().filter(|_| normal);
            open.extend(id.filter(|id| reached.insert(*id)));
        }
    }
    let names = reached.into_iter().filter_map(|id| packages.get(id)?["name"].as_str());
    names.map(str::to_owned).collect()
}

fn by_id(values: &Value) -> BTreeMap<&str, &Value> {
    array(values)
        .filter_map(|value| Some((value["id"].as_str()?, value)))
        .collect()
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    array(value).filter_map(Value::as_str)
}
