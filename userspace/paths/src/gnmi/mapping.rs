//! Which path becomes which column of `switch_ports`.

use super::message::Encoding;
use super::pattern::{self, Element};
use super::tree::Tree;
use crate::switch::{COLUMNS, Column};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Mappings of common models, by name.
pub const PRESETS: [(&str, &str); 2] = [
    ("openconfig", include_str!("presets/openconfig.toml")),
    ("sonic", include_str!("presets/sonic.toml")),
];

/// The leaf that the path of a subscription is itself.
const ITSELF: &str = ".";

/// Why a mapping is not usable.
#[derive(Debug, thiserror::Error)]
pub enum BadMapping {
    /// It is no mapping.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// It names a column that no path can fill.
    #[error(
        "`{path}`: there is no column `{column}`; columns: port_index, module, boot_time, {}",
        COLUMNS.map(|(name, _)| name).join(", ")
    )]
    Column {
        /// The path.
        path: String,
        /// The name.
        column: String,
    },
    /// A path is not readable.
    #[error("`{0}` is no path: expected /a/b[key={{port}}]/c with {{port}}, {{module}}, {{queue}}, {{priority}} or *")]
    Path(String),
    /// It has bits that no counter has.
    #[error("`{0}`: a counter has 32 or 64 bits")]
    Bits(String),
    /// Its path does not tell what its value is about.
    #[error("`{0}`: the path has neither {{port}} nor {{module}}")]
    Place(String),
    /// Its path has a queue and a priority.
    #[error("`{0}`: a row is of a queue or of a priority, not of both")]
    Part(String),
    /// Two paths are the same, or one is a part of the other: switches would send the values twice.
    #[error("`{0}` and `{1}` overlap")]
    Overlap(String, String),
    /// It subscribes to nothing.
    #[error("it has no subscriptions")]
    Empty,
}

/// What a value fills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Column(Column),
    /// The index of the port.
    PortIndex,
    /// The name of the component that is the module of the port.
    Module,
    /// When the switch started.
    BootTime,
}

/// A leaf of the model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    /// Its path as the mapping has it.
    pub(super) path: String,
    pub(super) target: Target,
    /// Whether the counter has 32 bits.
    pub(super) is_short: bool,
    /// What values are multiplied by.
    pub(super) scale: f64,
}

/// A mapping of a model.
#[derive(Debug, Clone)]
pub struct Mapping {
    /// The target in the prefix of paths: a database of the switch, for one.
    pub(super) target: String,
    /// The encoding that is asked for if the switch has it.
    pub(super) encoding: Option<Encoding>,
    /// What is subscribed to: as it is written, and read.
    pub(super) subscriptions: Vec<(String, Vec<Element>)>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) tree: Tree,
    lacks: BTreeMap<String, String>,
}

/// A mapping as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    #[serde(default)]
    target: String,
    encoding: Option<WrittenEncoding>,
    #[serde(default)]
    lacks: BTreeMap<String, String>,
    #[serde(default)]
    subscriptions: Vec<WrittenSubscription>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenEncoding {
    Json,
    JsonIetf,
    Proto,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSubscription {
    path: String,
    leaves: BTreeMap<String, WrittenLeaf>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a column, or { column = …, bits = 32, scale = … }")]
enum WrittenLeaf {
    Column(String),
    Detailed {
        column: String,
        bits: Option<u32>,
        scale: Option<f64>,
    },
}

impl Mapping {
    /// Reads a mapping.
    ///
    /// # Errors
    /// It is no TOML, has an unknown key, a path that is none, or a column that does not exist.
    pub fn parse(text: &str) -> Result<Self, BadMapping> {
        let written: Written = toml::from_str(text)?;
        if written.subscriptions.is_empty() {
            return Err(BadMapping::Empty);
        }
        let mut mapping = Self {
            target: written.target,
            encoding: written.encoding.map(|encoding| match encoding {
                WrittenEncoding::Json => Encoding::Json,
                WrittenEncoding::JsonIetf => Encoding::JsonIetf,
                WrittenEncoding::Proto => Encoding::Proto,
            }),
            subscriptions: Vec::new(),
            leaves: Vec::new(),
            tree: Tree::default(),
            lacks: written.lacks,
        };
        for subscription in written.subscriptions {
            mapping.add(subscription)?;
        }
        Ok(mapping)
    }

    /// Columns that it does not fill, and why.
    pub fn lacks(&self) -> impl Iterator<Item = (&str, &str)> {
        self.lacks.iter().map(|(column, why)| (&**column, &**why))
    }

    fn add(&mut self, written: WrittenSubscription) -> Result<(), BadMapping> {
        let path = pattern::parse(&written.path).ok_or_else(|| BadMapping::Path(written.path.clone()))?;
        let overlaps = |other: &&(String, Vec<Element>)| other.1.starts_with(&path) || path.starts_with(&other.1);
        // What a path of a database has below it is another part of the database.
        if let Some((other, _)) = self
            .subscriptions
            .iter()
            .find(overlaps)
            .filter(|_| self.target.is_empty())
        {
            return Err(BadMapping::Overlap(other.clone(), written.path));
        }
        for (below, leaf) in written.leaves {
            let (whole, elements) = match &*below {
                ITSELF => (written.path.clone(), path.clone()),
                below => {
                    let whole = format!("{}/{below}", written.path);
                    let below = pattern::parse(below).ok_or_else(|| BadMapping::Path(whole.clone()))?;
                    (whole, [&path[..], &below].concat())
                }
            };
            let leaf = Leaf::of(whole, &elements, leaf)?;
            if let Err(other) = self.tree.insert(&elements, self.leaves.len()) {
                let other = self
                    .leaves
                    .get(other)
                    .map_or_else(String::new, |leaf| leaf.path.clone());
                return Err(BadMapping::Overlap(other, leaf.path));
            }
            self.leaves.push(leaf);
        }
        self.subscriptions.push((written.path, path));
        Ok(())
    }
}

impl Leaf {
    pub(super) const fn is_counter(&self) -> bool {
        matches!(self.target, Target::Column(Column::Counter(_)))
    }

    fn of(path: String, elements: &[Element], written: WrittenLeaf) -> Result<Self, BadMapping> {
        let (column, bits, scale) = match written {
            WrittenLeaf::Column(column) => (column, None, None),
            WrittenLeaf::Detailed { column, bits, scale } => (column, bits, scale),
        };
        let target = match &*column {
            "port_index" => Target::PortIndex,
            "module" => Target::Module,
            "boot_time" => Target::BootTime,
            name => match Column::named(name) {
                Some(column) => Target::Column(column),
                None => return Err(BadMapping::Column { path, column }),
            },
        };
        let is_short = match bits {
            None | Some(64) => false,
            Some(32) => true,
            Some(_) => return Err(BadMapping::Bits(path)),
        };
        let has = |kind| elements.iter().any(|element| element.has(kind));
        let has_place = match target {
            Target::BootTime => true,
            Target::PortIndex | Target::Module => has(pattern::Kind::Port),
            Target::Column(_) => has(pattern::Kind::Port) || has(pattern::Kind::Module),
        };
        if !has_place {
            return Err(BadMapping::Place(path));
        }
        if has(pattern::Kind::Queue) && has(pattern::Kind::Priority) {
            return Err(BadMapping::Part(path));
        }
        Ok(Self {
            path,
            target,
            is_short,
            scale: scale.unwrap_or(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Mapping, PRESETS, Target};
    use crate::switch::COLUMNS;

    #[test]
    fn presets_fill_a_column_or_state_why_not() {
        for (name, text) in PRESETS {
            let mapping = Mapping::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            let lacks: Vec<&str> = mapping.lacks().map(|(column, _)| column).collect();
            for (column, target) in COLUMNS {
                let is_filled = mapping.leaves.iter().any(|leaf| leaf.target == Target::Column(target));
                assert!(is_filled != lacks.contains(&column), "{name}: {column}");
            }
            assert!(
                lacks
                    .iter()
                    .all(|lack| COLUMNS.iter().any(|(column, _)| column == lack)),
                "{name}"
            );
        }
    }

    #[test]
    fn bad_mappings_name_what_is_wrong() {
        let one = |path: &str, leaf: &str| format!("[[subscriptions]]\npath = \"{path}\"\nleaves = {{ {leaf} }}\n");
        let port = "/a[name={port}]";
        for (text, expected) in [
            ("colour = 1".into(), "unknown field `colour`"),
            (String::new(), "it has no subscriptions"),
            (one("/a//b", "c = \"up\""), "`/a//b` is no path"),
            (one(port, "\"{hue}\" = \"up\""), "{hue}` is no path"),
            (one(port, "c = \"in_octets\""), "there is no column `in_octets`"),
            (
                one(port, "c = { column = \"in_bytes\", bits = 16 }"),
                "has 32 or 64 bits",
            ),
            (one(port, "c = 7"), "expected a column"),
            (one("/a", "c = \"in_bytes\""), "neither {port} nor {module}"),
            (
                one(port, "\"{queue}/{priority}\" = \"in_bytes\""),
                "of a queue or of a priority",
            ),
            (
                one(port, "c = \"up\"") + &one("/a[name={port}]/b", "d = \"up\""),
                "overlap",
            ),
        ] {
            let error = Mapping::parse(&text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
