//! A program that captures: starting it, reading its counts, ending it.

use super::bed::{Bed, RECEIVER};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use xtask::process::{command, run};
use xtask::product::{directory, text};

/// The traffic: data packets of 32 queue pairs, all of one length.
pub(super) const SCENARIO: &str = "lab/testbed/src/bench/capture/writes.toml";
/// How long a program without a first line takes to start, and frames in flight take to arrive.
const SETTLE: Duration = Duration::from_millis(1_500);
const SOFTFLOWD: &str = "softflowd.ctl";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContenderKind {
    /// Without connections, as the rivals.
    Rocescope {
        drop: bool,
    },
    /// With connections, as a user starts it.
    RocescopeConnections,
    Tcpdump,
    Softflowd,
    Pmacctd,
}

impl Drop for Built {
    fn drop(&mut self) {
        // No later step uses the output of a benchmark.
        let _ = fs::remove_dir_all(self.dataset());
    }
}

impl ContenderKind {
    pub(super) const ALL: [Self; 6] = [
        Self::Rocescope { drop: true },
        Self::Rocescope { drop: false },
        Self::RocescopeConnections,
        Self::Tcpdump,
        Self::Softflowd,
        Self::Pmacctd,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rocescope { drop: true } => "rocescope, drop",
            Self::Rocescope { drop: false } => "rocescope, pass",
            Self::RocescopeConnections => "rocescope with connections",
            Self::Tcpdump => "tcpdump -w /dev/null",
            Self::Softflowd => "softflowd",
            Self::Pmacctd => "pmacctd",
        }
    }
}

/// The programs after their build.
pub(super) struct Built {
    pub(super) rocescope: String,
    folder: PathBuf,
}

impl Built {
    pub(super) fn new() -> Result<Self> {
        let rocescope = xtask::product::build()?;
        Ok(Self {
            rocescope: text(&rocescope),
            folder: directory()?,
        })
    }

    fn dataset(&self) -> PathBuf {
        // Several may run at once.
        self.folder.join(format!("capture-dataset-{}", std::process::id()))
    }

    fn control(&self) -> String {
        text(&self.folder.join(SOFTFLOWD))
    }

    fn command(&self, kind: ContenderKind, bed: &Bed) -> Command {
        let out = text(&self.dataset());
        let mut words: Vec<&str> = Vec::new();
        let control = self.control();
        let pid_file = format!("{control}.pid");
        match kind {
            ContenderKind::Rocescope { .. } | ContenderKind::RocescopeConnections => {
                let has_connections = kind == ContenderKind::RocescopeConnections;
                let is_passed = kind == ContenderKind::Rocescope { drop: false };
                words.extend([
                    &self.rocescope,
                    "capture",
                    "-i",
                    RECEIVER,
                    "--mode",
                    "native",
                    "-o",
                    "json",
                ]);
                words.extend(["--verdict", if is_passed { "pass" } else { "drop" }, "--out", &out]);
                words.extend((!has_connections).then_some("--no-connections"));
            }
            // As root it would give /dev/null, its output file, to its own user.
            ContenderKind::Tcpdump => words.extend(["tcpdump", "-Z", "root", "-i", RECEIVER, "-n", "-w", "/dev/null"]),
            ContenderKind::Softflowd => words.extend([
                "softflowd",
                "-d",
                "-i",
                RECEIVER,
                "-n",
                "127.0.0.1:9995",
                "-c",
                &control,
                "-p",
                &pid_file,
            ]),
            ContenderKind::Pmacctd => words.extend([
                "pmacctd",
                "-i",
                RECEIVER,
                "-P",
                "print",
                "-r",
                "3600",
                "-c",
                "src_host,dst_host,src_port,dst_port,proto",
            ]),
        }
        let mut pinned = bed.pinned(1, words[0]);
        pinned.args(&words[1..]);
        pinned
    }

    /// Starts the program; returns when it captures.
    pub(super) fn start(&self, kind: ContenderKind, bed: &Bed) -> Result<Running> {
        if self.dataset().exists() {
            fs::remove_dir_all(self.dataset())?;
        }
        let mut command = self.command(kind, bed);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // pmacctd logs to the configured output.
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().context("its errors")?);
        let mut line = String::new();
        if let ContenderKind::Rocescope { .. } | ContenderKind::RocescopeConnections = kind {
            stderr.read_line(&mut line)?;
            ensure!(line.starts_with("capturing on "), "{}: {line}", kind.name());
        } else {
            sleep(SETTLE);
        }
        let errors = std::thread::spawn(move || {
            let mut rest = String::new();
            // Use what was readable.
            let _ = stderr.read_to_string(&mut rest);
            rest
        });
        Ok(Running {
            kind,
            child,
            errors: Some(errors),
            control: self.control(),
        })
    }
}

/// The counts that a contender prints at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) frames: u64,
    /// Frames that it reports as lost.
    pub(super) lost: u64,
    /// Packets of which connections saw nothing, because the capture fell behind.
    pub(super) yielded: u64,
}

pub(super) struct Running {
    kind: ContenderKind,
    child: Child,
    errors: Option<std::thread::JoinHandle<String>>,
    control: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has already ended, unless an error came first.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Processor seconds of the program and its children so far.
    pub(super) fn cpu_s(&self) -> f64 {
        let mut ticks = 0;
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let Ok(stat) = fs::read_to_string(process.path().join("stat")) else {
                continue;
            };
            // The name in parentheses may contain any character.
            let Some((head, rest)) = stat.rsplit_once(") ") else {
                continue;
            };
            let pid = head.split(' ').next().and_then(|pid| pid.parse().ok());
            let fields: Vec<u64> = rest
                .split(' ')
                .skip(1)
                .map(|field| field.parse().unwrap_or(0))
                .collect();
            let own = u64::from(self.pid());
            if pid == Some(own) || fields.first() == Some(&own) {
                // utime and stime, fields 14 and 15 of proc(5).
                ticks += fields.get(10).unwrap_or(&0) + fields.get(11).unwrap_or(&0);
            }
        }
        // USER_HZ is 100 on every supported architecture.
        ticks as f64 / 100.0
    }

    fn signal(&self, name: &str) -> Result<()> {
        run(&mut command("kill", &[name, &self.pid().to_string()]))
    }

    /// Ends the program; returns its counts.
    pub(super) fn end(mut self) -> Result<Counts> {
        let mut printed = String::new();
        match self.kind {
            ContenderKind::Softflowd => {
                let output = command("softflowctl", &["-c", &self.control, "statistics"]).output()?;
                printed = String::from_utf8_lossy(&output.stdout).into_owned();
            }
            ContenderKind::Pmacctd => {
                self.signal("-USR1")?;
                sleep(SETTLE / 3);
            }
            _ => {}
        }
        self.signal("-INT")?;
        let mut stdout = String::new();
        let pipe = self.child.stdout.take().context("its output")?;
        BufReader::new(pipe).read_to_string(&mut stdout)?;
        let status = self.child.wait()?;
        let errors = self.errors.take().and_then(|errors| errors.join().ok());
        let stderr = errors.unwrap_or_default();
        let name = self.kind.name();
        let seen = match self.kind {
            ContenderKind::Rocescope { .. } | ContenderKind::RocescopeConnections => {
                ensure!(status.success(), "{name}: {status}: {stderr}");
                let summary: Value = serde_json::from_str(&stdout).context(stdout)?;
                Counts {
                    frames: summary["frames"].as_u64().context("frames")?,
                    lost: summary["capture_lost_frames"].as_u64().context("capture_lost_frames")?,
                    yielded: summary["yielded_packets"].as_u64().unwrap_or(0),
                }
            }
            ContenderKind::Tcpdump => Counts {
                frames: before(&stderr, " packets captured")?,
                lost: before(&stderr, " packets dropped by kernel")?,
                yielded: 0,
            },
            ContenderKind::Softflowd => Counts {
                frames: after(&printed, "Packets processed: ")?,
                lost: after(&printed, "Packets dropped by libpcap: ")?,
                yielded: 0,
            },
            ContenderKind::Pmacctd => {
                let all = format!("{stdout}{stderr}");
                let lost = after(&all, "dropped_packets=")?;
                Counts {
                    frames: after(&all, "received_packets=")?.saturating_sub(lost),
                    lost,
                    yielded: 0,
                }
            }
        };
        Ok(seen)
    }
}

/// The number after these words.
fn after(text: &str, words: &str) -> Result<u64> {
    let at = text.find(words).with_context(|| text.to_owned())? + words.len();
    let digits = text[at..].chars().take_while(char::is_ascii_digit);
    Ok(digits.collect::<String>().parse()?)
}

/// The number before these words, on their line.
fn before(text: &str, words: &str) -> Result<u64> {
    let at = text.find(words).with_context(|| text.to_owned())?;
    let number = text[..at].rsplit(['\n', ' ']).next().unwrap_or_default();
    Ok(number.parse()?)
}
