//! What must be true of the crates and of the table that draws them.

use super::table::Row;
use super::workspace::Crate;

/// Crates that are functions of what is passed in: no clock, file, socket or thread.
pub(super) const SANS_IO: [&str; 7] = [
    "rocescope-wire",
    "rocescope-record",
    "rocescope-sketches",
    "rocescope-model",
    "rocescope-fabric",
    "rocescope-diagnose",
    "rocescope-pipeline",
];

/// Packages, by how their names begin, and the only crates that may import them.
const FENCES: [(&[&str], &[&str]); 7] = [
    // Kernel programs.
    (&["aya"], &["rocescope-capture"]),
    // Raw sockets.
    (
        &["pnet", "socket2", "libc", "nix", "netlink"],
        &["rocescope-host", "rocescope-capture", "rocescope-probe"],
    ),
    (
        &[
            "arrow-array",
            "arrow-buffer",
            "arrow-data",
            "arrow-ipc",
            "arrow-schema",
            "arrow-select",
            "parquet",
        ],
        &["rocescope-store"],
    ),
    // The network of the collector.
    (
        &["arrow-flight", "tonic", "tokio-rustls", "rustls"],
        &["rocescope-collector"],
    ),
    (&["maud"], &["rocescope-report"]),
    (&["ratatui", "crossterm"], &["rocescope-view"]),
    (
        &["tokio"],
        &[
            "rocescope-capture",
            "rocescope-collector",
            "rocescope-engine",
        ],
    ),
];

/// What no sans-io crate may reach, not even through others.
const IO: [&str; 8] = [
    "tokio", "mio", "socket2", "rustix", "libc", "aya", "pnet", "tempfile",
];

/// Every broken rule, as a sentence.
pub(super) fn broken(rows: &[Row], crates: &[Crate]) -> Vec<String> {
    let mut broken = Vec::new();
    for row in rows {
        match crates.iter().find(|found| found.name == row.name) {
            None => broken.push(format!("{} is drawn but not there", row.name)),
            Some(found) if found.path != row.path => broken.push(format!(
                "{} is drawn at {} and lies at {}",
                row.name, row.path, found.path
            )),
            Some(_) => {}
        }
    }
    for found in crates {
        match rows.iter().position(|row| row.name == found.name) {
            None => broken.push(format!("{} is not drawn", found.name)),
            Some(floor) => imports(rows, floor, found, &mut broken),
        }
        fences(found, &mut broken);
    }
    broken
}

/// Imports are those drawn, and run downwards.
fn imports(rows: &[Row], floor: usize, found: &Crate, broken: &mut Vec<String>) {
    let name = &found.name;
    let (below, row) = (&rows[..floor], &rows[floor]);
    let is_below = |import: &String| below.iter().any(|row| row.name == *import);
    for import in found.imports.iter().chain(&found.test_imports) {
        if !is_below(import) {
            broken.push(format!("{name} imports {import}, which is not below it"));
        }
    }
    for import in &found.imports {
        if !row.imports.contains(import) {
            broken.push(format!("{name} may not import {import}"));
        }
    }
    for import in &row.imports {
        if !found.imports.contains(import) {
            broken.push(format!("{name} is drawn to import {import} and does not"));
        }
    }
}

/// Heavy and dangerous packages stay in their rooms.
fn fences(found: &Crate, broken: &mut Vec<String>) {
    let name = &found.name;
    for (packages, allowed) in FENCES {
        let fenced = |package: &&String| packages.iter().any(|begin| is_of(package, begin));
        if !allowed.contains(&name.as_str()) {
            let over = found.packages.iter().filter(fenced);
            broken.extend(over.map(|package| format!("{name} may not import {package}")));
        }
    }
    if SANS_IO.contains(&name.as_str()) {
        let io = |package: &&String| IO.iter().any(|begin| is_of(package, begin));
        let reached = found.reaches.iter().filter(io);
        broken.extend(reached.map(|package| format!("{name} reaches {package}")));
    }
}

/// `aya` and `aya-log`, but not `ayatollah`.
fn is_of(package: &str, family: &str) -> bool {
    let rest = package.strip_prefix(family);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, imports: &[&str]) -> Row {
        Row {
            path: format!("at/{name}"),
            name: name.into(),
            imports: imports.iter().map(|import| (*import).into()).collect(),
        }
    }

    fn a_crate(name: &str, imports: &[&str]) -> Crate {
        Crate {
            name: name.into(),
            path: format!("at/{name}"),
            imports: imports.iter().map(|import| (*import).into()).collect(),
            test_imports: [].into(),
            packages: [].into(),
            reaches: [].into(),
            roots: [].into(),
        }
    }

    fn rows() -> [Row; 2] {
        [row("rocescope-wire", &[]), row("roof", &["rocescope-wire"])]
    }

    fn crates() -> [Crate; 2] {
        [
            a_crate("rocescope-wire", &[]),
            a_crate("roof", &["rocescope-wire"]),
        ]
    }

    #[track_caller]
    fn breaks(rows: &[Row], crates: &[Crate], expected: &str) {
        assert_eq!(broken(rows, crates), [expected]);
    }

    #[test]
    fn a_house_that_is_as_drawn_breaks_nothing() {
        assert_eq!(broken(&rows(), &crates()), Vec::<String>::new());
    }

    #[test]
    fn what_is_drawn_must_be_there_and_the_reverse() {
        breaks(&rows(), &crates()[..1], "roof is drawn but not there");
        breaks(&rows()[..1], &crates(), "roof is not drawn");
        let mut crates = crates();
        crates[0].path = "elsewhere".into();
        let sentence = "rocescope-wire is drawn at at/rocescope-wire and lies at elsewhere";
        breaks(&rows(), &crates, sentence);
    }

    #[test]
    fn imports_are_drawn_and_run_downwards() {
        let [floor, _] = rows();
        let [wire, roof] = crates();
        let undrawn = [floor, row("roof", &[])];
        breaks(&undrawn, &crates(), "roof may not import rocescope-wire");
        let bare = [wire, a_crate("roof", &[])];
        let sentence = "roof is drawn to import rocescope-wire and does not";
        breaks(&rows(), &bare, sentence);
        let mut wire = a_crate("rocescope-wire", &[]);
        wire.test_imports = [String::from("roof")].into();
        let sentence = "rocescope-wire imports roof, which is not below it";
        breaks(&rows(), &[wire, roof], sentence);
    }

    #[test]
    fn fenced_packages_stay_in_their_rooms() {
        for package in ["parquet", "arrow-array", "aya", "ratatui", "tokio", "pnet"] {
            let mut crates = crates();
            crates[1].packages = [String::from(package)].into();
            breaks(&rows(), &crates, &format!("roof may not import {package}"));
        }
        let mut crates = crates();
        crates[1].packages = [String::from("arrows")].into();
        assert_eq!(broken(&rows(), &crates), Vec::<String>::new());
    }

    #[test]
    fn a_sans_io_crate_reaches_no_io_through_others() {
        let mut crates = crates();
        crates[0].reaches = [String::from("tokio-util")].into();
        breaks(&rows(), &crates, "rocescope-wire reaches tokio-util");
    }
}
