//! One program that processes the file.

use super::text;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use xtask::process::command;

/// bash measures its child in milliseconds, kernel time included. The program's output is discarded.
const TIMED: &str = "TIMEFORMAT='%R %U %S'; time \"$@\" 2>/dev/null";

/// One run, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) wall_s: f64,
    pub(super) cpu_s: f64,
}

/// The product with connections, as a user starts it; the row before it does as little as its rivals.
pub(super) const CONNECTIONS: &str = "rocescope with connections";

pub(super) struct Contender {
    pub(super) name: String,
    words: Vec<String>,
    /// Removed before every run.
    writes: Option<PathBuf>,
    pub(super) runs: Vec<Run>,
}

impl Contender {
    /// The contenders that are installed.
    pub(super) fn all(rocescope: &str, file: &Path, dataset: &Path) -> Result<Vec<Self>> {
        let file = text(file);
        let ours = format!("{rocescope} capture -r {file} --out {} -o json -q", text(dataset));
        let without = format!("{ours} --no-connections");
        let tcpdump = format!("tcpdump -Z root -r {file} -w /dev/null");
        let tshark = format!(
            "tshark -r {file} -d udp.port==4791,infiniband -T fields -e infiniband.bth.opcode \
             -e infiniband.bth.destqp -e infiniband.bth.psn"
        );
        let mut contenders = Vec::new();
        for (name, line, writes) in [
            ("rocescope", without, Some(dataset.to_owned())),
            (CONNECTIONS, ours, Some(dataset.to_owned())),
            ("tcpdump", tcpdump, None),
            ("tshark", tshark, None),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            if !is_installed(&words[0]) {
                eprintln!("{name} is not installed: skipping it");
                continue;
            }
            contenders.push(Self {
                name: name.into(),
                words,
                writes,
                runs: Vec::new(),
            });
        }
        ensure!(!contenders.is_empty(), "nothing to measure");
        Ok(contenders)
    }

    /// Whether a run takes half a minute.
    pub(super) fn is_slow(&self) -> bool {
        self.name == "tshark"
    }

    /// The command as typed in a shell.
    pub(super) fn line(&self) -> String {
        self.words.join(" ")
    }

    /// Runs it once more, on `cores` if given.
    pub(super) fn run(&mut self, cores: Option<&str>) -> Result<()> {
        if let Some(writes) = self.writes.as_ref().filter(|writes| writes.exists()) {
            fs::remove_dir_all(writes)?;
        }
        let mut timed = command("bash", &["-c", TIMED, "bash"]);
        if let Some(cores) = cores {
            timed.args(["taskset", "-c", cores]);
        }
        let timed = timed.args(&self.words).stdout(Stdio::null());
        let output = timed.stderr(Stdio::piped()).output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {}", self.line(), output.status);
        let seconds: Vec<f64> = stderr
            .split_whitespace()
            .map(str::parse)
            .collect::<Result<_, _>>()
            .with_context(|| format!("{}: {stderr}", self.name))?;
        let [wall_s, user_s, system_s] = seconds[..] else {
            anyhow::bail!("{}: {stderr}", self.name);
        };
        self.runs.push(Run {
            wall_s,
            cpu_s: user_s + system_s,
        });
        Ok(())
    }
}

fn is_installed(program: &str) -> bool {
    let mut probe = command("bash", &["-c", "command -v \"$1\"", "bash", program]);
    let probe = probe.stdout(Stdio::null()).status();
    probe.is_ok_and(|status| status.success())
}
