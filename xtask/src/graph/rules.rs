//! Rules for the crates and for their table.

use super::table::Row;
use super::workspace::Crate;

/// Crates that are functions of their arguments: no clock, file, socket or thread.
pub(super) const SANS_IO: [&str; 7] = [
    "rocescope-wire",
    "rocescope-record",
    "rocescope-sketches",
    "rocescope-model",
    "rocescope-fabric",
    "rocescope-diagnose",
    "rocescope-pipeline",
];

/// Packages by prefix of their names, and the only crates that may import them.
const FENCES: [(&[&str], &[&str]); 13] = [
    // Settings are structs of their crate: only the command line parses arguments.
    (&["clap"], &["rocescope"]),
    // Kernel programs.
    (&["aya"], &["rocescope-capture"]),
    // Raw sockets, and what they are called by.
    (
        &["pnet", "socket2", "libc", "nix", "netlink"],
        &[
            "rocescope-host",
            "rocescope-ibverbs",
            "rocescope-testkit",
            "rocescope-capture",
            "rocescope-probe",
        ],
    ),
    // Libraries of the host.
    (&["libloading"], &["rocescope-ibverbs"]),
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
    (&["arrow-flight"], &["rocescope-collector"]),
    // The network of the collector, and the switches of tests.
    (&["tonic", "rustls"], &["rocescope-collector", "rocescope-testkit"]),
    // Connections that they and the page encrypt.
    (
        &["tokio-rustls"],
        &["rocescope-collector", "rocescope-page", "rocescope-testkit"],
    ),
    // The metrics endpoint, Flight, the page, and the switches of tests.
    (
        &["hyper"],
        &[
            "rocescope-collector",
            "rocescope-runtime",
            "rocescope-page",
            "rocescope-testkit",
        ],
    ),
    (&["axum"], &["rocescope-page"]),
    (&["maud"], &["rocescope-report"]),
    (&["ratatui", "crossterm"], &["rocescope-view"]),
    (
        &["tokio"],
        &[
            "rocescope-capture",
            "rocescope-collector",
            "rocescope-runtime",
            "rocescope-page",
            "rocescope-testkit",
        ],
    ),
];

/// What measures the product and is never shipped.
const LAB: &str = "lab/";

/// Packages that no sans-io crate may reach, not even indirectly.
const IO: [&str; 8] = ["tokio", "mio", "socket2", "rustix", "libc", "aya", "pnet", "tempfile"];

/// Describes every broken rule.
pub(super) fn broken(rows: &[Row], crates: &[Crate]) -> Vec<String> {
    let mut broken = Vec::new();
    for row in rows {
        match crates.iter().find(|found| found.name == row.name) {
            None => broken.push(format!("{} is in the table but does not exist", row.name)),
            Some(found) if found.path != row.path => broken.push(format!(
                "{} is at {} in the table, but the crate is at {}",
                row.name, row.path, found.path
            )),
            Some(_) => {}
        }
    }
    for found in crates {
        match rows.iter().position(|row| row.name == found.name) {
            None => broken.push(format!("{} is not in the table", found.name)),
            Some(floor) => imports(rows, floor, found, &mut broken),
        }
        fences(found, &mut broken);
    }
    broken
}

/// Imports must be in the table, and lead downwards.
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
        let is_lab = |row: &Row| row.path.starts_with(LAB);
        if !is_lab(row) && below.iter().any(|row| row.name == *import && is_lab(row)) {
            broken.push(format!("{name} is shipped, and {import} is of the lab"));
        }
    }
    for import in &row.imports {
        if !found.imports.contains(import) {
            broken.push(format!("{name} does not import {import}, although the table states it"));
        }
    }
}

/// Only certain crates may import heavy and dangerous packages.
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

/// `aya` includes `aya-log`, but not `ayatollah`.
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
        [a_crate("rocescope-wire", &[]), a_crate("roof", &["rocescope-wire"])]
    }

    #[track_caller]
    fn breaks(rows: &[Row], crates: &[Crate], expected: &str) {
        assert_eq!(broken(rows, crates), [expected]);
    }

    #[test]
    fn crates_as_in_the_table_break_no_rule() {
        assert_eq!(broken(&rows(), &crates()), Vec::<String>::new());
    }

    #[test]
    fn table_and_crates_must_be_complete() {
        breaks(&rows(), &crates()[..1], "roof is in the table but does not exist");
        breaks(&rows()[..1], &crates(), "roof is not in the table");
        let mut crates = crates();
        crates[0].path = "elsewhere".into();
        let sentence = "rocescope-wire is at at/rocescope-wire in the table, but the crate is at elsewhere";
        breaks(&rows(), &crates, sentence);
    }

    #[test]
    fn imports_are_in_the_table_and_lead_downwards() {
        let [floor, _] = rows();
        let [wire, roof] = crates();
        let unlisted = [floor, row("roof", &[])];
        breaks(&unlisted, &crates(), "roof may not import rocescope-wire");
        let bare = [wire, a_crate("roof", &[])];
        let sentence = "roof does not import rocescope-wire, although the table states it";
        breaks(&rows(), &bare, sentence);
        let mut wire = a_crate("rocescope-wire", &[]);
        wire.test_imports = [String::from("roof")].into();
        let sentence = "rocescope-wire imports roof, which is not below it";
        breaks(&rows(), &[wire, roof], sentence);
    }

    #[test]
    fn the_product_imports_nothing_of_the_lab() {
        let (mut rows, mut crates) = (rows(), crates());
        rows[0].path = "lab/wire".into();
        crates[0].path = "lab/wire".into();
        breaks(&rows, &crates, "roof is shipped, and rocescope-wire is of the lab");
        rows[1].path = "lab/roof".into();
        crates[1].path = "lab/roof".into();
        assert_eq!(broken(&rows, &crates), Vec::<String>::new());
    }

    #[test]
    fn fenced_packages_have_a_fixed_set_of_importers() {
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
    fn a_sans_io_crate_reaches_no_io_indirectly() {
        let mut crates = crates();
        crates[0].reaches = [String::from("tokio-util")].into();
        breaks(&rows(), &crates, "rocescope-wire reaches tokio-util");
    }
}
