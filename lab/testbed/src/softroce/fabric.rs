//! The guests, and what the checks do with them.

use super::guest::Guest;
use super::image::Image;
use super::live::OnHost;
use super::shape::Shape;
use super::taps::Taps;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;
use xtask::process::{command, show};
use xtask::product::text;

/// The longest that a script of a check may take.
pub(super) const LIMIT: Duration = Duration::from_secs(120);
/// How long frames may wait between the guests before the mirror ends.
const SETTLE: Duration = Duration::from_millis(300);

/// How long the agents of both guests run, if the options do not say.
const MESH: Duration = Duration::from_secs(20);

/// Guests with two rails each.
#[derive(Debug)]
pub(super) struct Fabric {
    pub(super) first: Guest,
    pub(super) second: Guest,
    pub(super) third: Option<Guest>,
    pub(super) shape: Shape,
    /// The version of the guests' kernel.
    pub(super) kernel: String,
    /// Where a check puts its files.
    pub(super) results: PathBuf,
    /// How long the agents run.
    pub(super) mesh: Duration,
    binary: PathBuf,
    taps: Taps,
}

impl Fabric {
    /// Boots all guests at once.
    pub(super) fn boot(shape: Shape, image: &Image, directory: &Path, payload: &Path, binary: &Path) -> Result<Self> {
        let taps = Taps::make()?;
        let start = |number, taps| Guest::start(number, shape, image, directory, payload, taps);
        let mut first = start(1, Some(&taps))?;
        let mut second = start(2, None)?;
        let mut third = (shape == Shape::Three).then(|| start(3, None)).transpose()?;
        let kernel = first.wait()?;
        for other in [Some(&mut second), third.as_mut()].into_iter().flatten() {
            other.wait()?;
            for (rail, nic) in shape.nics().iter().enumerate() {
                other
                    .run(&format!("ping -c 1 -W 5 -I {nic} 10.77.{rail}.1"), LIMIT)
                    .with_context(|| format!("the guests do not reach each other through {nic}"))?;
            }
        }
        Ok(Self {
            first,
            second,
            third,
            shape,
            kernel,
            results: directory.to_owned(),
            mesh: MESH,
            binary: binary.to_owned(),
            taps,
        })
    }

    /// All guests, by their numbers.
    pub(super) fn guests(&mut self) -> impl Iterator<Item = &mut Guest> {
        [Some(&mut self.first), Some(&mut self.second), self.third.as_mut()]
            .into_iter()
            .flatten()
    }

    /// Runs the first script in the background of the second guest, waits until it listens on a TCP port, and runs the
    /// other one in the first guest; returns what they print: the server's, then the client's. Both must succeed.
    pub(super) fn pair(&mut self, server: &str, port: u16, client: &str) -> Result<(String, String)> {
        let listens = format!(
            "rm -f server.out server.status; (timeout 100 {server} > server.out 2>&1; echo $? > server.status) &\n\
             for try in $(seq 300); do grep -q ':{port:04X} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6 && exit 0; \
             [ -e server.status ] && break; sleep 0.1; done; cat server.out; exit 1"
        );
        self.second.run(&listens, LIMIT)?;
        let client = self.first.run(&format!("timeout 100 {client}"), LIMIT)?;
        let ended = "for try in $(seq 300); do [ -e server.status ] && break; sleep 0.1; done; \
                     cat server.out; exit $(cat server.status)";
        Ok((self.second.run(ended, LIMIT)?, client))
    }

    /// Does something while the mirror copies the wire; returns the file, and what it returned.
    pub(super) fn mirrored<T>(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(PathBuf, T)> {
        let file = self.results.join(name);
        self.first.mirror(&file)?;
        let done = work(self);
        sleep(SETTLE);
        self.first.end_mirror()?;
        Ok((file, done?))
    }

    /// Starts a live capture on a mirror port of the host; its files are in the results.
    pub(super) fn capture_on_host(&self, name: &str, options: &str) -> Result<OnHost> {
        OnHost::begin(&self.taps, &self.binary, &self.results.join(name), options)
    }

    /// Runs the product on this machine; returns what it prints.
    pub(super) fn product(&self, arguments: &[&str]) -> Result<String> {
        let mut product = command(&text(&self.binary), arguments);
        let output = product.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {}: {said}", show(&product), output.status);
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Keeps an output as a file of the results.
    pub(super) fn keep(&self, name: &str, content: &str) -> Result<()> {
        Ok(fs::write(self.results.join(name), content)?)
    }
}

/// Reads the JSON document that a program printed after other lines.
pub(super) fn json(printed: &str) -> Result<Value> {
    let lines = printed.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    });
    let start = lines.filter(|(_, line)| line.starts_with(['{', '[']));
    let start = start.map(|(start, _)| start).next().context("no JSON was printed")?;
    serde_json::from_str(&printed[start..]).context("unreadable JSON")
}

/// A number of a document; an absent one is an error.
pub(super) fn number(value: &Value, key: &str) -> Result<u64> {
    value[key]
        .as_u64()
        .with_context(|| format!("no number {key:?} in {value}"))
}
