//! Finds out the format of a file, and reads it.

use super::line::LineError;
use super::{Topology, containerlab, dot, file, lldp};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A format of topologies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// rocescope's own.
    Toml,
    /// containerlab's YAML.
    Containerlab,
    /// Graphviz DOT, as PTM uses it.
    Dot,
    /// Neighbors as `lldpcli -f json` prints them: a file for each node.
    Lldp,
}

impl Format {
    /// The format of a text: by the ending of its file, otherwise by its first characters.
    fn of(path: &Path, text: &str) -> Self {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "toml" => return Self::Toml,
            "yml" | "yaml" => return Self::Containerlab,
            "dot" | "gv" => return Self::Dot,
            "json" => return Self::Lldp,
            _ => {}
        }
        let mut lines = text.lines().map(str::trim_start);
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"));
        let first = first.unwrap_or_default();
        let begins = |words: &[&str]| words.iter().any(|word| first.starts_with(word));
        if begins(&["graph", "digraph", "strict"]) {
            Self::Dot
        } else if begins(&["{"]) {
            Self::Lldp
        } else if begins(&["name:", "topology:", "---", "prefix:", "mgmt:"]) {
            Self::Containerlab
        } else {
            Self::Toml
        }
    }
}

/// Why a topology cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system refuses.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: std::io::Error,
    },
    /// The text does not have the format.
    #[error("{}{}: {message}", path.display(), line.map_or(String::new(), |line| format!(":{line}")))]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, where the format has lines.
        line: Option<usize>,
        /// What was expected.
        message: String,
    },
}

/// Reads a file, or a directory of neighbors that `lldpcli -f json` printed, one file for each node, named after it.
///
/// # Errors
/// A file cannot be read or does not have its format.
pub fn read(path: &Path) -> Result<(Topology, Format), ReadError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |reason| ReadError::File { path, reason }
    };
    if path.is_dir() {
        let mut files: Vec<PathBuf> = fs::read_dir(path)
            .map_err(unreadable(path))?
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        files.sort();
        if files.is_empty() {
            return Err(ReadError::Text {
                path: path.to_owned(),
                line: None,
                message: "no files of `lldpcli -f json show neighbors details`, named NODE.json, are in this directory"
                    .into(),
            });
        }
        let mut reports = Vec::new();
        for file in &files {
            let text = text(file).map_err(unreadable(file))?;
            reports.push(lldp::Report::parse(&stem(file), &text).map_err(at(file))?);
        }
        return Ok((lldp::topology(&reports), Format::Lldp));
    }
    let text = text(path).map_err(unreadable(path))?;
    let format = Format::of(path, &text);
    let topology = parse(&text, format, &stem(path));
    Ok((topology.map_err(at(path))?, format))
}

/// No topology is longer: a hundred thousand links take some 6 MB.
const MAX_BYTES: u64 = 1 << 26;

/// The text of a file.
fn text(path: &Path) -> io::Result<String> {
    rocescope_input::text_of_at_most(path, MAX_BYTES)
}

/// Parses a text; `name` is that of the node that reports its LLDP neighbors.
///
/// # Errors
/// What is wrong, and in which line.
pub fn parse(text: &str, format: Format, name: &str) -> Result<Topology, LineError> {
    let mut topology = match format {
        Format::Toml => file::parse(text),
        Format::Containerlab => containerlab::parse(text),
        Format::Dot => dot::parse(text),
        Format::Lldp => lldp::Report::parse(name, text).map(|report| lldp::topology(&[report])),
    }?;
    topology.settle();
    Ok(topology)
}

fn at(path: &Path) -> impl FnOnce(LineError) -> ReadError + use<> {
    let path = path.to_owned();
    |(line, message)| ReadError::Text { path, line, message }
}

/// The name of a node: that of its file.
fn stem(path: &Path) -> String {
    path.file_stem()
        .map_or(String::new(), |stem| stem.to_string_lossy().into_owned())
}
