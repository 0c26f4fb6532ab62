//! Live captures that run while a check does something: in a guest, and on a mirror port of the host.

use super::fabric::{LIMIT, json};
use super::guest::Guest;
use super::taps::Taps;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::product::text;

/// What the first line of a capture states.
const BEGUN: &str = "capturing on";
/// How long a capture may take to begin and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a capture in a guest, and waits until it captures. What it prints is in `NAME.out` and `NAME.err`.
pub(super) fn capture(guest: &mut Guest, name: &str, options: &str) -> Result<()> {
    let script = format!(
        "rm -f {name}.out {name}.err {name}.status {name}.pid\n\
         ( rocescope capture {options} -o json > {name}.out 2> {name}.err & echo $! > {name}.pid; wait $!; \
         echo $? > {name}.status ) &\n\
         for try in $(seq 300); do grep -qs '{BEGUN}' {name}.err && exit 0; [ -e {name}.status ] && break; \
         sleep 0.1; done; cat {name}.err; exit 1"
    );
    guest
        .run(&script, LIMIT)
        .with_context(|| format!("capture {options}"))?;
    Ok(())
}

/// Ends a capture in a guest; returns its summary.
pub(super) fn end_capture(guest: &mut Guest, name: &str) -> Result<Value> {
    let script = format!(
        "kill -INT $(cat {name}.pid); for try in $(seq 600); do [ -e {name}.status ] && break; sleep 0.1; done; \
         cat {name}.out; [ \"$(cat {name}.status)\" = 0 ] && exit 0; cat {name}.err; exit 1"
    );
    json(&guest.run(&script, LIMIT)?)
}

/// A capture on a mirror port.
#[derive(Debug)]
pub(super) struct OnHost {
    capture: Child,
    summary: PathBuf,
    errors: PathBuf,
}

impl OnHost {
    /// Starts it, and waits until it captures. `name` is that of its files.
    pub(super) fn begin(taps: &Taps, binary: &Path, name: &Path, options: &str) -> Result<Self> {
        let (summary, errors) = (name.with_extension("json"), name.with_extension("err"));
        let capture = taps
            .enter(&text(binary))
            .arg("capture")
            .args(options.split_whitespace())
            .args(["-o", "json"])
            .stdin(Stdio::null())
            .stdout(File::create(&summary)?)
            .stderr(File::create(&errors)?)
            .spawn()
            .context("nsenter")?;
        let mut started = Self {
            capture,
            summary,
            errors,
        };
        let begun = Instant::now();
        while !fs::read_to_string(&started.errors)?.contains(BEGUN) {
            let is_over = started.capture.try_wait()?.is_some() || begun.elapsed() > PATIENCE;
            ensure!(!is_over, "capture {options}: {}", fs::read_to_string(&started.errors)?);
            sleep(Duration::from_millis(50));
        }
        Ok(started)
    }

    /// Ends it; returns its summary.
    pub(super) fn end(mut self) -> Result<Value> {
        let id = self.capture.id().to_string();
        ensure!(Command::new("kill").args(["-INT", &id]).status()?.success(), "kill");
        let begun = Instant::now();
        loop {
            match self.capture.try_wait()? {
                Some(status) if status.success() => return json(&fs::read_to_string(&self.summary)?),
                Some(status) => bail!("the capture ended with {status}: {}", fs::read_to_string(&self.errors)?),
                None => ensure!(begun.elapsed() < PATIENCE, "the capture does not end"),
            }
            sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for OnHost {
    fn drop(&mut self) {
        let _ = self.capture.kill();
        let _ = self.capture.wait();
    }
}
