//! The licences of others: each package that is linked with its expression, and the texts that it brings, each text once.

use super::crates::{Crate, Id};
use crate::process::command;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// How names of files with a licence begin, in capital letters.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// What no package of the registry brings.
const RUNTIME: &str = "\
The static program also has the GNU C Library inside, version of the machine that built it, under the GNU Lesser General
Public License 2.1 or later. Its source is that of the distribution's package. To link the program with another version,
build it from this repository: `cargo xtask static`.
";

pub(super) fn text(version: &str, crates: &BTreeMap<Id, Crate>) -> Result<String> {
    let mut texts = Texts::default();
    let mut list = String::new();
    for ((name, version), one) in crates.iter().filter(|(_, one)| one.checksum.is_some()) {
        let found = files(&one.folder)?;
        let repository = one.repository.as_deref().unwrap_or("");
        let numbers = match found.is_empty() {
            true => "no text in the package".to_owned(),
            false => texts.numbers(&found),
        };
        writeln!(
            list,
            "{name} {version}\n    {}; {numbers}\n    {repository}\n",
            one.licence
        )?;
    }
    let (rust, found) = standard_library()?;
    let numbers = texts.numbers(&found);
    writeln!(
        list,
        "Rust standard library, {rust}\n    MIT OR Apache-2.0; {numbers}\n"
    )?;
    let mut text = format!(
        "Licences of others in rocescope {version}\n\nEach package with its licence and the numbers of the texts below that it \
         brings.\n\n{list}\n{RUNTIME}"
    );
    for (number, content) in texts.by_number() {
        write!(text, "\n{}\n[{number}]\n\n{}\n", "-".repeat(80), content.trim_end())?;
    }
    Ok(text)
}

/// Each text once, with a number.
#[derive(Default)]
struct Texts(BTreeMap<String, usize>);

impl Texts {
    fn numbers(&mut self, found: &[String]) -> String {
        let numbers = found.iter().map(|content| {
            let next = self.0.len() + 1;
            format!("[{}]", self.0.entry(content.clone()).or_insert(next))
        });
        numbers.collect::<Vec<_>>().join(" ")
    }

    fn by_number(&self) -> BTreeMap<usize, &str> {
        self.0
            .iter()
            .map(|(content, number)| (*number, content.as_str()))
            .collect()
    }
}

/// The texts of a package: in its folder, and in those below it, where sources of C libraries are.
fn files(folder: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    find(folder, 2, &mut paths)?;
    paths.sort();
    let mut texts = Vec::new();
    for path in paths {
        let content = fs::read(&path)?;
        let content = String::from_utf8_lossy(&content).replace("\r\n", "\n");
        // A link of git that became a file has the name of another.
        if content.lines().count() > 1 && !texts.contains(&content) {
            texts.push(content);
        }
    }
    Ok(texts)
}

fn find(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_uppercase();
        if entry.file_type()?.is_dir() {
            if depth > 1 {
                find(&entry.path(), depth - 1, paths)?;
            }
        } else if NAMES.iter().any(|start| name.starts_with(start)) && !name.ends_with(".RS") {
            paths.push(entry.path());
        }
    }
    Ok(())
}

/// The version of the compiler, and the licences that its folder has.
fn standard_library() -> Result<(String, Vec<String>)> {
    let ask = |option: &str| -> Result<String> {
        let output = command("rustc", &option.split(' ').collect::<Vec<_>>()).output()?;
        ensure!(output.status.success(), "rustc {option}: {}", output.status);
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    };
    let version = ask("--version")?;
    let folder = PathBuf::from(ask("--print sysroot")?).join("share/doc/cargo");
    let mut texts = Vec::new();
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let path = folder.join(name);
        texts.push(fs::read_to_string(&path).with_context(|| path.display().to_string())?);
    }
    Ok((version, texts))
}

#[cfg(test)]
mod tests {
    use super::{Texts, files};
    use std::fs;

    #[test]
    fn a_package_brings_the_texts_in_its_folder_and_of_its_c_library() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        };
        file("LICENSE-MIT", "the\nMIT\n");
        file("license.md", "the\r\nMIT\r\n");
        file("clib/COPYING", "the\nBSD\n");
        file("clib/src/LICENSE", "too\ndeep\n");
        file("license.rs", "code\ncode\n");
        file("LICENSE", "LICENSE-MIT");
        assert_eq!(files(folder.path()).unwrap(), ["the\nMIT\n", "the\nBSD\n"]);
    }

    #[test]
    fn a_text_that_many_bring_has_one_number() {
        let mut texts = Texts::default();
        assert_eq!(texts.numbers(&["b".into(), "a".into()]), "[1] [2]");
        assert_eq!(texts.numbers(&["a".into()]), "[2]");
        assert_eq!(texts.by_number().into_iter().collect::<Vec<_>>(), [(1, "b"), (2, "a")]);
    }
}
