//! Finds files that import each other, directly or indirectly: a cycle may have at most four.
//!
//! A file imports another if a path in it ends there: in a `use` or in code, relative or from `crate`. Tests do not
//! count.
//!
//! - A path ends in the file that defines its last item. Re-exports (`use` and `pub use` in a `mod.rs`) are followed to
//!   that file. If a macro makes the item, or the name is a re-export from another crate, the path ends in the module's
//!   own file.
//! - `mod child;` is not an import, and neither is `pub use child::Name`: an index does not depend on its entries. If
//!   the same file also uses the name, it is an import.
//! - Children may use what a parent module defines: a parent is composed of its children, and defines the types that
//!   they share. Only a path to a sibling or to another part of the crate can close a cycle.
//!
//! | module | what it does |
//! |---|---|
//! | `source` | names and paths of a module, from its tokens |
//! | `modules` | the modules of a crate, and the file in which a path ends |

mod modules;
mod source;

use super::workspace::Crate;
use crate::process::root;
use anyhow::Result;
use modules::Modules;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The maximum number of files that may import each other.
const MAX: usize = 4;

/// The files that a file imports.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Every cycle of a crate that has too many files.
pub(super) fn problems(found: &Crate) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for first in &found.roots {
        let mut imports = Imports::new();
        let top = root().join(&found.path);
        let short = |file: &Path| file.strip_prefix(&top).unwrap_or(file).to_owned();
        for (from, to) in Modules::read(first)?.imports() {
            imports.entry(short(from)).or_default().insert(short(to));
        }
        let large = circles(&imports).into_iter().filter(|circle| circle.len() > MAX);
        problems.extend(large.map(|circle| sentence(&found.name, &circle, &imports)));
    }
    Ok(problems)
}

/// The cycles of files; no file is in two of them.
fn circles(imports: &Imports) -> Vec<BTreeSet<&Path>> {
    let reached: BTreeMap<&Path, BTreeSet<&Path>> =
        imports.keys().map(|file| (&**file, reached(imports, file))).collect();
    let mut circles = Vec::new();
    let mut known = BTreeSet::new();
    for (file, from_here) in &reached {
        let returns = |other: &&&Path| reached.get(**other).is_some_and(|back| back.contains(file));
        let circle: BTreeSet<&Path> = from_here.iter().filter(returns).copied().collect();
        if circle.contains(file) && known.insert(circle.clone()) {
            circles.push(circle);
        }
    }
    circles
}

/// The files that a file imports, directly or indirectly.
fn reached<'a>(imports: &'a Imports, file: &'a Path) -> BTreeSet<&'a Path> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        let next = imports.get(file).into_iter().flatten().map(PathBuf::as_path);
        open.extend(next.filter(|file| reached.insert(*file)));
    }
    reached
}

/// Describes a cycle with the imports that close it.
fn sentence(name: &str, circle: &BTreeSet<&Path>, imports: &Imports) -> String {
    let mut sentence = format!("{name}: {} files import each other", circle.len());
    for file in circle {
        let inside = imports[*file].iter().filter(|to| circle.contains(to.as_path()));
        let inside: Vec<String> = inside.map(|to| to.display().to_string()).collect();
        sentence += &format!("\n    {} imports {}", file.display(), inside.join(", "));
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(pairs: &[(&str, &str)]) -> Imports {
        let mut imports = Imports::new();
        for (from, to) in pairs {
            imports.entry(from.into()).or_default().insert(to.into());
        }
        imports
    }

    #[test]
    fn a_circle_is_every_file_that_comes_back_to_itself() {
        let imports = imports(&[("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("f", "a")]);
        let expected: BTreeSet<&Path> = ["a", "b", "c"].map(Path::new).into();
        assert_eq!(circles(&imports), [expected]);
    }

    #[test]
    fn the_sentence_names_the_imports_that_close_the_circle() {
        let imports = imports(&[("a", "b"), ("b", "a"), ("b", "c")]);
        let circle = circles(&imports).remove(0);
        let expected = "x: 2 files import each other\n    a imports b\n    b imports a";
        assert_eq!(sentence("x", &circle, &imports), expected);
    }
}
