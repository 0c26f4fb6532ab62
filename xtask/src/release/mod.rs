//! `cargo xtask release [--out FOLDER] [--no-build]`: everything that a release has to download, in one folder, the same bytes in every
//! folder and at any time. `docs/release.md` has the steps to publish it.
//!
//! | module | what it does |
//! |---|---|
//! | [`facts`] | version, commit and time |
//! | [`build`] | the programs, without a path of this machine |
//! | [`files`] | the files of the archives and of the image |
//! | [`tree`] | archives |
//! | [`image`] | the container image |
//! | [`rpm`] | the package for Red Hat and its kin |
//! | [`crates`], [`sbom`], [`licences`] | what is linked, as a bill of materials and with licences |
//! | [`notes`] | what is new, from the CHANGELOG |
//! | [`trial`] | unpacks and runs each of them |

mod build;
mod crates;
mod facts;
mod files;
mod image;
mod licences;
mod notes;
mod rpm;
mod sbom;
mod tree;
mod trial;

use crate::package;
use crate::process::{command, root};
use crate::product::text;
use anyhow::{Context, Result, bail, ensure};
use build::{AARCH64, Platform, X86_64};
use facts::{EPOCH, Facts};
use image::{About, sha256};
use std::fs;
use std::path::{Path, PathBuf};

const SUMS: &str = "SHA256SUMS";

pub(crate) fn run(options: &[&str]) -> Result<()> {
    let facts = Facts::read()?;
    // After a trial that failed, nothing compiles again.
    let (options, builds) = match options {
        [rest @ .., "--no-build"] => (rest, false),
        all => (all, true),
    };
    let out = match options {
        [] => build::folder()?.join(format!("rocescope-{}", facts.version)),
        ["--out", folder] => std::env::current_dir()?.join(folder),
        _ => bail!("usage: cargo xtask release [--out FOLDER] [--no-build]"),
    };
    let changelog = fs::read_to_string(root().join("CHANGELOG.md"))?;
    let notes = notes::of(&changelog, &facts.version)?;
    if notes::unreleased(&changelog) {
        println!("note: CHANGELOG.md has entries under [Unreleased], which are not in the notes");
    }
    let changes = Facts::changes()?;
    if !changes.is_empty() {
        println!("note: the tree has changes that its commit has not:\n{changes}");
    }
    let programs = if builds { built()? } else { last_built()? };
    programs.check()?;
    package::generate(&programs.packaged, &X86_64.release()?)?;
    let assembled = assemble(&facts, &notes, &programs, &out)?;
    same_again(&facts, &notes, &programs, &out)?;
    trial::run(&facts, &out, &programs.others)?;
    println!("{} of commit {}:", out.display(), facts.commit);
    for name in assembled.iter().map(String::as_str).chain([SUMS]) {
        let bytes = fs::metadata(out.join(name))?.len();
        println!("{:>10.2} MB  {name}", bytes as f64 / 1e6);
    }
    Ok(())
}

/// What was compiled.
struct Programs {
    /// For packages; its folder has what belongs to it.
    packaged: PathBuf,
    /// Static.
    alone: PathBuf,
    /// Static, of other processors.
    others: Vec<(&'static Platform, PathBuf)>,
}

impl Programs {
    /// Fails if one has a path of this machine inside.
    fn check(&self) -> Result<()> {
        let others = self.others.iter().map(|(_, program)| program);
        let mut all = [&self.packaged, &self.alone].into_iter().chain(others);
        all.try_for_each(|program| build::has_no_path(program))
    }
}

fn built() -> Result<Programs> {
    let alone = X86_64.alone()?;
    let packaged = X86_64.program()?;
    let mut others = Vec::new();
    match AARCH64.missing()? {
        None => others.push((&AARCH64, AARCH64.alone()?)),
        Some(missing) => println!("note: nothing for aarch64, because this is missing: {missing}"),
    }
    Ok(Programs {
        packaged,
        alone,
        others,
    })
}

fn last_built() -> Result<Programs> {
    let other = AARCH64.moved()?;
    Ok(Programs {
        packaged: X86_64.release()?.join("rocescope"),
        alone: X86_64.moved()?,
        others: if other.is_file() {
            vec![(&AARCH64, other)]
        } else {
            Vec::new()
        },
    })
}

/// Writes all files into a folder, which has nothing else then; returns their names.
fn assemble(facts: &Facts, notes: &str, programs: &Programs, out: &Path) -> Result<Vec<String>> {
    if out.exists() {
        empty(out)?;
    }
    fs::create_dir_all(out)?;
    let crates = crates::linked()?;
    let name = |end: &str| out.join(format!("rocescope-{}{end}", facts.version));
    fs::write(out.join("RELEASE-NOTES.md"), notes)?;
    fs::write(name(".cdx.json"), sbom::document(facts, &crates))?;
    fs::write(out.join(package::LICENCES), licences::text(&facts.version, &crates)?)?;
    let alone = std::iter::once((&X86_64, &programs.alone)).chain(programs.others.iter().map(|(one, at)| (*one, at)));
    let mut images = Vec::new();
    for (platform, program) in alone {
        let folder = format!("rocescope-{}-{}-linux", facts.version, platform.machine);
        let archive = files::archive(&folder, program)?;
        fs::write(
            out.join(format!("{folder}.tar.gz")),
            tree::gzip(&archive.tar(facts.epoch)?)?,
        )?;
        images.push((platform.oci, files::image(program)?));
    }
    let about = About {
        version: &facts.version,
        commit: &facts.commit,
        epoch: facts.epoch,
    };
    fs::write(name("-image.tar"), image::archive(&about, &images)?)?;
    let debian = debian(facts, out)?;
    let rpm = rpm::make(facts, &debian)?;
    let file = rpm.file_name().context("the name of the package")?;
    fs::copy(&rpm, out.join(file)).with_context(|| rpm.display().to_string())?;
    let names = names(out)?;
    fs::write(out.join(SUMS), sums(out, &names)?)?;
    Ok(names)
}

/// The Debian package of the program for packages.
fn debian(facts: &Facts, out: &Path) -> Result<PathBuf> {
    let mut deb = command("cargo", &package::DEB);
    deb.args(["--no-strip", "--target", X86_64.triple]);
    deb.env("CARGO_TARGET_DIR", build::folder()?);
    deb.env(EPOCH, facts.epoch.to_string());
    package::packed(&mut deb, out)
}

/// Removes what an earlier run left, and refuses a folder of something else.
fn empty(out: &Path) -> Result<()> {
    let names = names(out)?;
    // A line is a sum, two spaces and a name.
    let sums = fs::read_to_string(out.join(SUMS)).unwrap_or_default();
    let is_ours = |name: &&String| {
        sums.lines()
            .any(|line| line.split_once("  ").is_some_and(|(_, of)| of == *name))
    };
    let other = names.iter().find(|name| !is_ours(name));
    ensure!(other.is_none(), "{} has other files: name a new folder", out.display());
    for name in names.iter().map(String::as_str).chain([SUMS]) {
        fs::remove_file(out.join(name)).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    Ok(())
}

/// The files of a folder, sorted, without the sums.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| text(folder))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name != SUMS);
    names.sort();
    Ok(names)
}

/// As `sha256sum --check` reads it.
fn sums(folder: &Path, names: &[String]) -> Result<String> {
    let lines = names.iter().map(|name| {
        let content = fs::read(folder.join(name))?;
        Ok(format!("{}  {name}\n", sha256(&content)))
    });
    lines.collect()
}

/// Assembles it a second time, from the same programs, and compares all bytes.
fn same_again(facts: &Facts, notes: &str, programs: &Programs, out: &Path) -> Result<()> {
    let again = build::folder()?.join("again");
    assemble(facts, notes, programs, &again)?;
    let [one, other] = [out, &again].map(|folder| fs::read_to_string(folder.join(SUMS)));
    let (one, other) = (one?, other?);
    let differing: Vec<&str> = one.lines().filter(|line| !other.contains(line)).collect();
    ensure!(one == other, "assembled twice, other bytes: {}", differing.join(", "));
    fs::remove_dir_all(again)?;
    Ok(())
}

/// The licences of what is linked, as one text.
pub(crate) fn licences() -> Result<String> {
    licences::text(&facts::version()?, &crates::linked()?)
}

#[cfg(test)]
mod tests {
    use super::{SUMS, empty, names, sums};
    use std::fs;

    #[test]
    fn sums_are_those_of_sha256sum() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b"), "").unwrap();
        fs::write(folder.path().join("a"), "abc").unwrap();
        fs::write(folder.path().join(SUMS), "old").unwrap();
        let names = names(folder.path()).unwrap();
        assert_eq!(
            sums(folder.path(), &names).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  a\n\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  b\n"
        );
    }

    #[test]
    fn only_a_folder_of_an_earlier_release_is_emptied() {
        let folder = tempfile::tempdir().unwrap();
        empty(folder.path()).unwrap();
        fs::write(folder.path().join("thesis"), "").unwrap();
        let refused = empty(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("has other files"), "{refused}");
        assert!(folder.path().join("thesis").exists());
        fs::write(folder.path().join(SUMS), "0  image.tar\n").unwrap();
        assert!(empty(folder.path()).is_err() && folder.path().join("thesis").exists());
        fs::write(folder.path().join(SUMS), "0  image.tar\n0  thesis\n").unwrap();
        empty(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
