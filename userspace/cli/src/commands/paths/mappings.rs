//! The mappings that arguments choose, of whatever source.

use anyhow::{Context, Result};
use std::error::Error;
use std::fs;
use std::path::PathBuf;

/// A preset: its name and its text.
type Preset = (&'static str, &'static str);

/// Reads the mappings of files, and then the presets with the chosen names; without either, those of `default`.
pub(super) fn mappings<M, E: Error + Send + Sync + 'static>(
    files: &[PathBuf],
    chosen: &[String],
    (presets, default): (&[Preset], &[Preset]),
    parse: fn(&str) -> Result<M, E>,
) -> Result<Vec<M>> {
    let mut mappings = Vec::new();
    for path in files {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        mappings.push(parse(&text).with_context(|| path.display().to_string())?);
    }
    let is_chosen = |preset: &&Preset| match chosen {
        [] => files.is_empty() && default.contains(preset),
        names => names.iter().any(|name| name == preset.0),
    };
    for (name, text) in presets.iter().filter(is_chosen) {
        mappings.push(parse(text).with_context(|| format!("preset {name}"))?);
    }
    Ok(mappings)
}
