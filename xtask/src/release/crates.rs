//! The packages whose code is in the program, from what cargo resolved for it.

use crate::process::{command, root, show};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

/// Name and version.
pub(super) type Id = (String, String);

pub(super) struct Crate {
    /// An SPDX expression.
    pub(super) licence: String,
    pub(super) repository: Option<String>,
    /// The SHA-256 of what the registry serves; none of a package of this repository.
    pub(super) checksum: Option<String>,
    pub(super) folder: PathBuf,
    pub(super) depends_on: BTreeSet<Id>,
}

/// What is linked: the program, and the programs for the kernel that it has inside.
const PROGRAMS: [(&str, &str, &str); 3] = [
    ("Cargo.toml", "rocescope", "x86_64-unknown-linux-gnu"),
    ("ebpf/program/Cargo.toml", "", "bpfel-unknown-none"),
    ("ebpf/queue_pairs/Cargo.toml", "", "bpfel-unknown-none"),
];

/// Every package that is linked, without those that only run while others compile.
pub(super) fn linked() -> Result<BTreeMap<Id, Crate>> {
    let mut all = BTreeMap::new();
    for (manifest, package, target) in PROGRAMS {
        let ids = tree(manifest, package, target)?;
        let lock = fs::read_to_string(root().join(manifest.replace(".toml", ".lock")))?;
        let checksums = checksums(&lock);
        let metadata = metadata(manifest, target)?;
        for (id, found) in packages(&metadata, &ids, &checksums)? {
            all.entry(id).or_insert(found);
        }
    }
    Ok(all)
}

/// Names and versions, with the features of this one package: those of a whole workspace would be more.
fn tree(manifest: &str, package: &str, target: &str) -> Result<BTreeSet<Id>> {
    let mut cargo = command("cargo", &["tree", "--quiet", "--locked", "--manifest-path", manifest]);
    cargo.args(["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}"]);
    cargo.args(["--target", target]);
    if !package.is_empty() {
        cargo.args(["--package", package]);
    }
    let output = cargo.stderr(Stdio::inherit()).output().context("cargo")?;
    ensure!(output.status.success(), "{}: {}", show(&cargo), output.status);
    Ok(String::from_utf8(output.stdout)?.lines().filter_map(id).collect())
}

/// Of a line such as `name v1.2.3 (/path) (*)`.
fn id(line: &str) -> Option<Id> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_owned();
    Some((name, words.next()?.strip_prefix('v')?.to_owned()))
}

/// The lock file's checksums.
fn checksums(lock: &str) -> BTreeMap<Id, String> {
    let mut checksums = BTreeMap::new();
    for block in lock.split("[[package]]") {
        let value = |key: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(key));
            line.map(|value| value.trim_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(sum)) = (value("name = "), value("version = "), value("checksum = ")) {
            checksums.insert((name, version), sum);
        }
    }
    checksums
}

fn metadata(manifest: &str, target: &str) -> Result<Value> {
    let mut cargo = command("cargo", &["metadata", "--quiet", "--format-version", "1", "--locked"]);
    cargo.args(["--manifest-path", manifest]);
    if target.starts_with("x86_64") {
        cargo.args(["--filter-platform", target]);
    }
    let output = cargo.stderr(Stdio::inherit()).output().context("cargo")?;
    ensure!(output.status.success(), "{}: {}", show(&cargo), output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn packages(metadata: &Value, ids: &BTreeSet<Id>, checksums: &BTreeMap<Id, String>) -> Result<BTreeMap<Id, Crate>> {
    let mut names = BTreeMap::new();
    let mut found = BTreeMap::new();
    for package in array(&metadata["packages"]) {
        let id = (text(&package["name"])?, text(&package["version"])?);
        names.insert(text(&package["id"])?, id.clone());
        if !ids.contains(&id) {
            continue;
        }
        let manifest = PathBuf::from(text(&package["manifest_path"])?);
        let licence = package["license"].as_str();
        let licence = licence.with_context(|| format!("{} {} states no licence", id.0, id.1))?;
        let one = Crate {
            // Older packages write `MIT/Apache-2.0`.
            licence: licence.split('/').map(str::trim).collect::<Vec<_>>().join(" OR "),
            repository: package["repository"].as_str().map(str::to_owned),
            checksum: checksums.get(&id).cloned(),
            folder: manifest.parent().context("a manifest in a folder")?.to_owned(),
            depends_on: BTreeSet::new(),
        };
        found.insert(id, one);
    }
    for node in array(&metadata["resolve"]["nodes"]) {
        let Some(one) = names.get(&text(&node["id"])?).and_then(|id| found.get_mut(id)) else {
            continue;
        };
        let normal = array(&node["deps"]).filter(|dep| array(&dep["dep_kinds"]).any(|kind| kind["kind"].is_null()));
        for dep in normal {
            let id = names.get(&text(&dep["pkg"])?).filter(|id| ids.contains(*id));
            one.depends_on.extend(id.cloned());
        }
    }
    let missing: Vec<_> = ids.iter().filter(|id| !found.contains_key(*id)).collect();
    ensure!(missing.is_empty(), "cargo metadata does not know {missing:?}");
    Ok(found)
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Result<String> {
    Ok(value.as_str().context("cargo metadata: no text")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{checksums, id, packages};
    use serde_json::json;
    use std::collections::BTreeSet;

    fn named(name: &str) -> super::Id {
        (name.to_owned(), "1.0.0".to_owned())
    }

    #[test]
    fn a_line_of_the_tree_names_a_package() {
        assert_eq!(id("a v1.0.0 (/src/a) (*)"), Some(named("a")));
        assert_eq!(id(""), None);
    }

    #[test]
    fn a_package_has_its_checksum_its_licence_and_only_what_is_linked() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\
                    checksum = \"12ab\"\n";
        let package = |name: &str| {
            let manifest = format!("/{name}/Cargo.toml");
            json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0", "manifest_path": manifest})
        };
        let dep = |name: &str, kind: Option<&str>| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [package("a"), package("b"), package("builds"), package("tests")],
            "resolve": {"nodes": [
                {"id": "a", "deps": [dep("b", None), dep("builds", Some("build")), dep("tests", Some("dev"))]},
                {"id": "b", "deps": []},
            ]},
        });
        let ids = BTreeSet::from([named("a"), named("b")]);
        let found = packages(&metadata, &ids, &checksums(lock)).unwrap();
        assert_eq!(found.keys().cloned().collect::<BTreeSet<_>>(), ids);
        assert_eq!(found[&named("a")].depends_on, BTreeSet::from([named("b")]));
        assert_eq!(found[&named("a")].checksum, None);
        assert_eq!(found[&named("b")].checksum.as_deref(), Some("12ab"));
        assert_eq!(found[&named("b")].licence, "MIT OR Apache-2.0");
        assert!(packages(&metadata, &BTreeSet::from([named("c")]), &checksums(lock)).is_err());
    }
}
