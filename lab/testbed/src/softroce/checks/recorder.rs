//! The flight recorder on a mirror port of the host: every NAK of the wire is in a recording, with the packet that it asks
//! for again, as it was first sent.

use crate::softroce::fabric::Fabric;
use crate::softroce::live::OnHost;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::product::text;

/// A capture with recorder.
pub(super) struct Recorder {
    capture: OnHost,
    directory: PathBuf,
}

impl Recorder {
    pub(super) fn begin(fabric: &Fabric) -> Result<Self> {
        let directory = fabric.results.join("frames");
        let options = format!("-i mirror1 --keep-frames 2 --keep-frames-dir {}", text(&directory));
        Ok(Self {
            capture: fabric.capture_on_host("recorder", &options)?,
            directory,
        })
    }

    /// Ends it, and compares its files with the mirror.
    pub(super) fn end(self, mirror: &Path) -> Result<()> {
        self.capture.end()?;
        let expected = Seen::of(mirror)?;
        let mut recorded = Seen::default();
        let mut files = 0;
        for entry in fs::read_dir(&self.directory).context("nothing was recorded")? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "pcapng") {
                let seen = Seen::of(&path).with_context(|| text(&path))?;
                recorded.naks.extend(seen.naks);
                recorded.requests.extend(seen.requests);
                files += 1;
            }
        }
        ensure!(
            recorded.naks == expected.naks && !expected.naks.is_empty(),
            "recorded NAKs: {:?}, on the wire: {:?}",
            recorded.naks,
            expected.naks
        );
        ensure!(
            recorded.requests.is_superset(&recorded.naks),
            "a packet that was asked for again is in no recording"
        );
        println!(
            "flight recorder: {} NAKs in {files} recordings, all with the packet that they ask for; {} PSNs of {} were kept",
            recorded.naks.len(),
            recorded.requests.len(),
            expected.requests.len()
        );
        Ok(())
    }
}

/// PSNs of a capture file.
#[derive(Debug, Default)]
struct Seen {
    /// That NAKs ask for.
    naks: BTreeSet<u32>,
    /// Of requests of the first guest.
    requests: BTreeSet<u32>,
}

impl Seen {
    fn of(file: &Path) -> Result<Self> {
        let mut tshark = Command::new("tshark");
        tshark.args(["-r", &text(file), "-Y", "infiniband.bth.psn", "-T", "fields"]);
        for field in ["ip.src", "infiniband.bth.psn", "infiniband.aeth.syndrome.opcode"] {
            tshark.args(["-e", field]);
        }
        let output = tshark.output().context("tshark")?;
        let mut seen = Self::default();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [src, psn, syndrome] = fields[..] else {
                continue;
            };
            let psn = psn.parse()?;
            match (src, syndrome) {
                // A NAK, not an RNR NAK.
                ("10.77.0.2", "3") => drop(seen.naks.insert(psn)),
                ("10.77.0.1", "") => drop(seen.requests.insert(psn)),
                _ => {}
            }
        }
        Ok(seen)
    }
}
