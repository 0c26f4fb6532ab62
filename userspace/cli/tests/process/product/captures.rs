//! Recorded captures.

use flate2::read::GzDecoder;
use rocescope_capture::file::{Frame, FrameReader};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// One capture of a collection.
pub(crate) struct Capture {
    pub(crate) name: String,
    /// The file on disk.
    pub(crate) path: PathBuf,
    /// Its uncompressed bytes.
    pub(crate) pcap: Vec<u8>,
}

/// The collection that is part of the project.
pub(crate) fn ours() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures")
}

/// The whole collection, if it is next to the project.
pub(crate) fn shared() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    if shared.is_dir() {
        Some(shared)
    } else {
        eprintln!("skipped: the whole collection is not at ../shared/captures");
        None
    }
}

/// All captures of a collection, by name.
pub(crate) fn all(collection: &Path) -> Vec<Capture> {
    let mut captures: Vec<Capture> = fs::read_dir(collection)
        .unwrap()
        .filter_map(|entry| {
            let path = entry.unwrap().path();
            let file = path.file_name()?.to_str()?;
            let (name, suffix) = file.split_once(".pcap")?;
            let (name, gzip) = (name.to_owned(), suffix == ".gz");
            let mut pcap = fs::read(&path).unwrap();
            if gzip {
                let packed = std::mem::take(&mut pcap);
                GzDecoder::new(&*packed).read_to_end(&mut pcap).unwrap();
            }
            Some(Capture { name, path, pcap })
        })
        .collect();
    captures.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!captures.is_empty());
    captures
}

/// The capture of the project with this name.
pub(crate) fn named(name: &str) -> Capture {
    let mut captures = all(&ours());
    captures.retain(|capture| capture.name == name);
    captures.pop().unwrap()
}

impl Capture {
    /// Passes every frame to `take`.
    pub(crate) fn frames(&self, mut take: impl FnMut(&Frame<'_>)) {
        let mut reader = FrameReader::new(self.pcap.as_slice()).unwrap();
        while let Some(frame) = reader.next_frame().unwrap() {
            take(&frame);
        }
    }
}
