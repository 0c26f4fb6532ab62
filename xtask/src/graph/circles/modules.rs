//! The modules of a crate, and the file in which a path ends.

use super::source::{Source, Use};
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};

/// Longer chains of re-exports are cycles themselves.
const HOPS: usize = 16;

/// All modules of a library or a binary.
#[derive(Debug, Default)]
pub(super) struct Modules {
    all: Vec<Module>,
}

#[derive(Debug)]
struct Module {
    file: PathBuf,
    /// The crate's root is its own parent.
    parent: usize,
    children: BTreeMap<String, usize>,
    source: Source,
}

/// Where a path ends.
#[derive(Clone, Copy)]
enum End {
    /// At a module itself.
    Module(usize),
    /// At an item in a module.
    Item(usize),
}

impl Modules {
    pub(super) fn read(root: &FilePath) -> Result<Self> {
        let mut modules = Self::default();
        let folder = root.parent().context("a folder")?;
        modules.add_file(root, folder, 0)?;
        Ok(modules)
    }

    /// Every import between two files, except items that a parent defines.
    pub(super) fn imports(&self) -> impl Iterator<Item = (&FilePath, &FilePath)> {
        let modules = (0..).zip(&self.all);
        let imports = modules.flat_map(move |(at, module)| {
            let others = self.imported(at).filter(move |to| !self.is_below(at, *to));
            others.map(move |to| (&*module.file, &*self.all[to].file))
        });
        imports.filter(|(from, to)| from != to)
    }

    /// Whether a module is a descendant of another.
    fn is_below(&self, at: usize, above: usize) -> bool {
        let parents = std::iter::successors(Some(at), |at| (*at != 0).then(|| self.all[*at].parent));
        parents.skip(1).any(|parent| parent == above)
    }

    /// The modules from which a module imports items.
    fn imported(&self, at: usize) -> impl Iterator<Item = usize> {
        let source = &self.all[at].source;
        let counts = |one: &&Use| match (&*one.name, one.is_public) {
            (_, false) => true,
            ("*", true) => false,
            // A re-export alone is not an import; a name that this file also uses is.
            (name, true) => source.words.contains(name),
        };
        let uses = source.uses.iter().filter(counts);
        let used = uses.filter_map(move |one| match self.find(at, &one.path, HOPS)? {
            End::Module(to) => (one.name == "*").then_some(to),
            End::Item(to) => Some(to),
        });
        let paths = source.paths.iter();
        used.chain(paths.filter_map(move |path| match self.find(at, path, HOPS)? {
            End::Module(to) | End::Item(to) => Some(to),
        }))
    }

    fn add_file(&mut self, file: &FilePath, folder: &FilePath, parent: usize) -> Result<usize> {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).with_context(|| name.clone())?;
        let tokens = text.parse().map_err(|error| anyhow!("{name}: {error}"))?;
        self.add(file, Source::read(tokens), folder, parent)
    }

    /// Adds a module and all its descendants, whose files are in `folder`.
    fn add(&mut self, file: &FilePath, mut source: Source, folder: &FilePath, parent: usize) -> Result<usize> {
        let at = self.all.len();
        let children = std::mem::take(&mut source.children);
        self.all.push(Module {
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            source,
        });
        for (name, body) in children {
            let below = folder.join(&name);
            let child = match body {
                Some(body) => self.add(file, body, &below, at)?,
                None => {
                    let flat = below.with_extension("rs");
                    let file = if flat.exists() { flat } else { below.join("mod.rs") };
                    self.add_file(&file, &below, at)?
                }
            };
            self.all[at].children.insert(name, child);
        }
        Ok(at)
    }

    /// Where a path ends, as seen from a module; `None` in another crate.
    fn find(&self, from: usize, path: &[String], hops: usize) -> Option<End> {
        let (mut here, mut rest) = (from, path);
        let mut is_relative = true;
        while let Some((first, more)) = rest.split_first() {
            here = match &**first {
                "crate" => 0,
                "self" => here,
                "super" => self.all[here].parent,
                _ => break,
            };
            (rest, is_relative) = (more, false);
        }
        while let Some((name, more)) = rest.split_first() {
            match self.name(here, name, hops) {
                Some(End::Module(module)) => (here, rest) = (module, more),
                Some(item) => return Some(item),
                None if is_relative => return None,
                // Made by a macro.
                None => return Some(End::Item(here)),
            }
            is_relative = false;
        }
        Some(End::Module(here))
    }

    /// What a name refers to in a module.
    fn name(&self, here: usize, name: &str, hops: usize) -> Option<End> {
        let module = &self.all[here];
        if let Some(child) = module.children.get(name) {
            return Some(End::Module(*child));
        }
        if module.source.items.contains(name) {
            return Some(End::Item(here));
        }
        let hops = hops.checked_sub(1)?;
        let uses = module.source.uses.iter();
        if let Some(one) = uses.clone().find(|one| one.name == name) {
            // A re-export of another crate's item: its users import this file.
            return Some(self.find(here, &one.path, hops).unwrap_or(End::Item(here)));
        }
        let all = uses.filter(|one| one.name == "*");
        let mut found = all.filter_map(|one| match self.find(here, &one.path, hops)? {
            End::Module(module) if module != here => self.name(module, name, hops),
            _ => None,
        });
        found.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Imports of a crate whose files are given as name and text.
    fn imports(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let modules = Modules::read(&folder.path().join("lib.rs")).unwrap();
        let short = |file: &FilePath| file.strip_prefix(folder.path()).unwrap().display().to_string();
        let imports = modules
            .imports()
            .map(|(from, to)| format!("{} > {}", short(from), short(to)));
        imports.collect()
    }

    #[test]
    fn a_declared_child_is_no_import_and_a_path_is() {
        assert!(imports(&[("lib.rs", "mod a; pub use a::A;"), ("a.rs", "pub struct A;")]).is_empty());
        let text = "mod a; fn f() { a::f() }";
        assert_eq!(
            imports(&[("lib.rs", text), ("a.rs", "pub fn f() {}")]),
            ["lib.rs > a.rs"]
        );
        let text = "mod a; pub use a::A; fn f(a: A) {}";
        assert_eq!(
            imports(&[("lib.rs", text), ("a.rs", "pub struct A;")]),
            ["lib.rs > a.rs"]
        );
    }

    #[test]
    fn what_a_parent_defines_is_no_import() {
        let root = "mod a; mod b; pub struct A;";
        let a = ("a.rs", "mod c;");
        let c = ("a/c.rs", "use crate::A; use crate::b::B;");
        let files = [("lib.rs", root), a, c, ("b.rs", "pub struct B;")];
        assert_eq!(imports(&files), ["a/c.rs > b.rs"]);
    }

    #[test]
    fn a_name_is_followed_to_the_file_that_defines_it() {
        let root = ("lib.rs", "mod a; mod b; use b::B; mod c { pub use crate::b::*; }");
        let b = ("b/mod.rs", "mod d; pub use d::B; pub use std::fmt::Debug;");
        let d = ("b/d.rs", "pub struct B;");
        let with = |a| imports(&[root, ("a.rs", a), b, d]);
        let root = "lib.rs > b/d.rs";
        assert_eq!(with("use super::B;"), [root, "a.rs > b/d.rs"]);
        assert_eq!(with("fn f() { crate::c::B::new() }"), [root, "a.rs > b/d.rs"]);
        assert_eq!(with("use crate::b; fn f() { b::B::new() }"), [root, "a.rs > b/d.rs"]);
        assert_eq!(with("use crate::b::Debug;"), [root, "a.rs > b/mod.rs"]);
        assert_eq!(with("use super::b::made_by_a_macro;"), [root, "a.rs > b/mod.rs"]);
        assert_eq!(with("use serde::B; fn f() { std::fs::read() }"), [root]);
    }
}
