//! A dataset: a directory with tables, or a prefix in an object store.

use anyhow::{Result, ensure};
use rocescope_model::TABLES;
use rocescope_place::Place;

/// Opens a dataset.
///
/// # Errors
/// It cannot be opened, or the directory has no table.
pub(crate) fn open(text: &str) -> Result<Place> {
    let place = Place::open(text)?;
    if let Some(root) = &place.directory {
        ensure!(
            TABLES.iter().any(|table| root.join(table.name).is_dir()),
            "{text} is no dataset: it has no directory windows, probes, counters or another table of `rocescope dataset schema`"
        );
    }
    Ok(place)
}
