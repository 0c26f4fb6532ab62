//! What archives and the image have besides the program.

use super::build::X86_64;
use super::facts::git;
use super::tree::Tree;
use crate::package::LICENCES;
use crate::process::root;
use anyhow::Result;
use std::path::Path;

/// The folder of an archive: the program, its manual pages and completions, the documentation of users, and what deploys
/// it. Links between these files work in it.
pub(super) fn archive(folder: &str, program: &Path) -> Result<Tree> {
    let mut tree = Tree::default();
    let at = |path: &str| format!("{folder}/{path}");
    tree.copy(program, &at("rocescope"), 0o755)?;
    for name in git(&[
        "ls-files",
        "--",
        "README.md",
        "CHANGELOG.md",
        "LICENSE-*",
        ":(glob)docs/*.md",
        "deploy",
    ])?
    .lines()
    {
        tree.copy(&root().join(name), &at(name), 0o644)?;
    }
    // The program for packages printed them: whatever the processor, they are the same.
    let made = X86_64.release()?.join("package");
    tree.copy(&made.join(LICENCES), &at(LICENCES), 0o644)?;
    tree.copy_all(&made.join("man"), ".1", &at("man/man1"))?;
    for shell in ["bash", "fish", "zsh"] {
        let name = format!("rocescope.{shell}");
        tree.copy(&made.join(&name), &at(&format!("completions/{name}")), 0o644)?;
    }
    Ok(tree)
}

/// The files of the image: the program, its licences, and a place for work files.
pub(super) fn image(program: &Path) -> Result<Tree> {
    let mut tree = Tree::default();
    tree.copy(program, "rocescope", 0o755)?;
    let made = X86_64.release()?.join("package");
    tree.copy(&made.join(LICENCES), &format!("licenses/{LICENCES}"), 0o644)?;
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        tree.copy(&root().join(name), &format!("licenses/{name}"), 0o644)?;
    }
    tree.folder("tmp", 0o1777);
    Ok(tree)
}
