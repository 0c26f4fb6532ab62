//! All paths of a mapping as a tree: finds the leaf of a value, element by element.

use super::pattern::{Element, Kind, Name};
use std::collections::HashMap;

/// What placeholders stand for, from the root on.
pub(super) type Found = Vec<(Kind, String)>;

/// The paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    /// The first is the root.
    nodes: Vec<Node>,
}

#[derive(Debug, Clone, Default)]
struct Node {
    /// Children whose name has no placeholder.
    named: HashMap<String, Vec<Child>>,
    others: Vec<(Name, Child)>,
    leaf: Option<usize>,
}

#[derive(Debug, Clone)]
struct Child {
    keys: Vec<(String, Name)>,
    node: usize,
}

impl Tree {
    /// The root.
    pub(super) const ROOT: usize = 0;

    /// Adds the path of a leaf.
    ///
    /// # Errors
    /// The leaf that has it already.
    pub(super) fn insert(&mut self, path: &[Element], leaf: usize) -> Result<(), usize> {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let end = path.iter().fold(Self::ROOT, |at, element| self.child(at, element));
        match self.nodes[end].leaf.replace(leaf) {
            Some(other) => Err(other),
            None => Ok(()),
        }
    }

    /// The child for an element, which is made if there is none.
    fn child(&mut self, at: usize, element: &Element) -> usize {
        let next = self.nodes.len();
        let node = &mut self.nodes[at];
        let new = Child {
            keys: element.keys.clone(),
            node: next,
        };
        match element.name.literal() {
            Some(name) => {
                let children = node.named.entry(name.to_owned()).or_default();
                if let Some(known) = children.iter().find(|child| child.keys == element.keys) {
                    return known.node;
                }
                children.push(new);
            }
            None => {
                let mut known = node.others.iter();
                if let Some((_, known)) =
                    known.find(|(name, child)| *name == element.name && child.keys == element.keys)
                {
                    return known.node;
                }
                node.others.push((element.name.clone(), new));
            }
        }
        self.nodes.push(Node::default());
        next
    }

    /// The leaf at a node.
    pub(super) fn leaf(&self, at: usize) -> Option<usize> {
        self.nodes.get(at)?.leaf
    }

    /// The node below `at` for an element with this name and these keys. A name may have the name of its module in front
    /// of it (RFC 7951).
    pub(super) fn step(
        &self,
        at: usize,
        name: &str,
        key: &dyn Fn(&str) -> Option<String>,
        found: &mut Found,
    ) -> Option<usize> {
        let node = self.nodes.get(at)?;
        let before = found.len();
        let without_module = name.split_once(':').map(|(_, name)| name);
        for name in [Some(name), without_module].into_iter().flatten() {
            for child in node.named.get(name).into_iter().flatten() {
                if child.has_keys(key, found) {
                    return Some(child.node);
                }
                found.truncate(before);
            }
        }
        for (pattern, child) in &node.others {
            if pattern.matches(name, found) && child.has_keys(key, found) {
                return Some(child.node);
            }
            found.truncate(before);
        }
        None
    }
}

impl Child {
    fn has_keys(&self, key: &dyn Fn(&str) -> Option<String>, found: &mut Found) -> bool {
        let mut keys = self.keys.iter();
        keys.all(|(name, pattern)| key(name).is_some_and(|value| pattern.matches(&value, found)))
    }
}
