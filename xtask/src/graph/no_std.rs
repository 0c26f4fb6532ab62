//! A crate that declares `no_std`, never links `std`, and imports nothing built with it cannot name a clock, a file, a
//! socket or a thread: the compiler refuses them.

use super::workspace::Crate;
use crate::process::{command, show};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;

/// The reasons why the crate `name` could do I/O.
pub(super) fn problems(name: &str, crates: &[Crate]) -> Result<Vec<String>> {
    let Some(found) = crates.iter().find(|found| found.name == name) else {
        return Ok(vec![format!("{name} does not exist")]);
    };
    let mut problems = Vec::new();
    let source = found.roots.first().context("no source")?;
    if !declares_no_std(&fs::read_to_string(source)?) {
        problems.push(format!("{name} does not declare #![no_std]"));
    }
    let directory = source.parent().context("a directory")?;
    for (path, text) in sources(directory)? {
        if links_std(&text) {
            problems.push(format!("{name} links std in {path}"));
        }
    }
    for (package, features) in packages(name)? {
        if features.split(',').any(|feature| feature == "std") {
            problems.push(format!("{name} imports {package} with std"));
        }
    }
    Ok(problems)
}

/// Without a condition: `cfg_attr` would apply to a part of the builds only.
fn declares_no_std(source: &str) -> bool {
    source.lines().any(|line| line == "#![no_std]")
}

/// Whether std is linked outside tests.
fn links_std(source: &str) -> bool {
    let mut in_tests = false;
    let mut before = "";
    for line in source.lines() {
        // The project keeps tests at the end of a file.
        in_tests |= before == "#[cfg(test)]" && line.starts_with("mod ");
        if line.trim_start().starts_with("extern crate std") && !in_tests {
            return before != "#[cfg(test)]";
        }
        before = line;
    }
    false
}

/// All Rust files of a directory and its subdirectories, with their text.
pub(super) fn sources(directory: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((path.display().to_string(), fs::read_to_string(&path)?));
        }
    }
    Ok(found)
}

/// The packages in a build of this crate alone, with their features: other crates of the workspace may enable more.
fn packages(name: &str) -> Result<Vec<(String, String)>> {
    let edges = ["-e", "normal,no-proc-macro"];
    let format = ["--prefix", "none", "-f", "{p}|{f}"];
    let mut tree = command("cargo", &["tree", "--quiet", "-p", name]);
    tree.args(edges).args(format);
    let output = tree.output()?;
    ensure!(
        output.status.success(),
        "{}: {}",
        show(&tree),
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout)?;
    Ok(text
        .lines()
        .filter_map(|line| line.split_once('|'))
        .map(|(package, features)| (package.to_owned(), features.replace(" (*)", "")))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_does_not_count() {
        assert!(declares_no_std("//! Pure.\n#![no_std]\n"));
        assert!(!declares_no_std("#![cfg_attr(not(test), no_std)]\n"));
    }

    #[test]
    fn std_may_be_linked_in_tests_only() {
        assert!(links_std("extern crate std;\n"));
        assert!(links_std("mod a {\n    extern crate std;\n}\n"));
        assert!(!links_std("#[cfg(test)]\nextern crate std;\n"));
        assert!(!links_std("#[cfg(test)]\nmod tests {\n    extern crate std;\n}\n"));
    }

    /// Sources of a `no_std` crate cannot name these.
    #[test]
    fn the_compiler_refuses_a_clock_a_file_a_socket_and_a_thread() {
        let folder = tempfile::tempdir().unwrap();
        let probe = |name: &str, body: &str| {
            let file = folder.path().join(format!("{name}.rs"));
            let source = format!("#![no_std]\n#![crate_type = \"lib\"]\npub fn probe() {{ {body} }}\n");
            fs::write(&file, source).unwrap();
            let mut rustc = command("rustc", &["--edition", "2024", "--emit", "metadata"]);
            let output = rustc.arg("--out-dir").arg(folder.path()).arg(file).output();
            output.unwrap().status.success()
        };
        assert!(probe("nothing", "let _ = core::time::Duration::ZERO;"));
        assert!(!probe("clock", "let _ = std::time::Instant::now();"));
        assert!(!probe("file", "let _ = std::fs::read(\"a\");"));
        assert!(!probe("socket", "let _ = std::net::UdpSocket::bind(\"[::]:0\");"));
        assert!(!probe("thread", "std::thread::yield_now();"));
    }
}
