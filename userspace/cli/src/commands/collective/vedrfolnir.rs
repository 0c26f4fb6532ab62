//! The files of a run of Vedrfolnir's simulator: in the folder itself, or in `out` and `data` below it.

use anyhow::{Context, Result, ensure};
use rocescope_collective::natural;
use rocescope_collective::read::Imported;
use rocescope_collective::read::vedrfolnir::{self, Files};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

pub(super) fn read(folder: &Path, collective: &str, observer: &str) -> Result<Imported> {
    ensure!(
        folder.is_dir(),
        "{} is not a folder: this format is a folder with `fct.txt` and `telemetry_SWITCH.txt`",
        folder.display()
    );
    let files = Files {
        fct: file(folder, "fct.txt")?,
        pfc: file(folder, "pfc.txt")?,
        topology: file(folder, "topology.txt")?,
        telemetry: telemetry(folder)?,
    };
    Ok(vedrfolnir::read(&files, collective, observer))
}

/// The text of a file, wherever it is; bytes that are not UTF-8 become unreadable lines.
fn text(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn file(folder: &Path, name: &str) -> Result<Option<String>> {
    for place in [
        folder.join(name),
        folder.join("out").join(name),
        folder.join("data").join(name),
    ] {
        if let Some(text) = text(&place)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

fn telemetry(folder: &Path) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for place in [folder.to_path_buf(), folder.join("data"), folder.join("out")] {
        let Ok(entries) = fs::read_dir(&place) else { continue };
        for entry in entries {
            let path = entry
                .with_context(|| format!("cannot list {}", place.display()))?
                .path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let switch = name
                .strip_prefix("telemetry_")
                .and_then(|name| name.strip_suffix(".txt"));
            if let Some(switch) = switch
                && let Some(text) = text(&path)?
            {
                found.push((switch.to_owned(), text));
            }
        }
    }
    found.sort_by(|a, b| natural::compare(&a.0, &b.0));
    Ok(found)
}
