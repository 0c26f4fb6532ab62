//! `cargo xtask bench view [SECONDS]`: the cost of drawing `rocescope top` with 10,000 flows.
//!
//! The real program plays a file at recorded speed in a tmux terminal, at four frames per second. The kernel reports
//! the CPU time of its drawing thread, and of the threads that read and analyse.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use xtask::process::{command, run as run_command};
use xtask::product::{build, directory, text};

const SCENARIO: &str = include_str!("view.toml");
/// The project's limit: a share of one core.
const MAX: f64 = 0.05;
/// Sizes of the terminal.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (240, 67)];
/// Names of the cases, and the keys pressed before the measurement.
const CASES: [(&str, &[&str]); 4] = [
    ("sorted by rate", &[]),
    ("sorted by source", &["<", "<", "<", "<", "<", "<"]),
    ("ten windows as one", &["+", "+", "+"]),
    ("detail page", &["Down", "Enter"]),
];

pub(super) fn run(options: &[&str]) -> Result<()> {
    let seconds = match options {
        [] => 15,
        [seconds] => seconds.parse().context("seconds")?,
        _ => bail!("cargo xtask bench view [SECONDS]"),
    };
    let (rocescope, directory) = (text(&build()?), directory()?);
    let file = directory.join("view.pcap");
    if !file.exists() {
        let scenario = directory.join("view.toml");
        fs::write(&scenario, SCENARIO)?;
        let write = [
            "generate",
            &text(&scenario),
            "--write",
            &text(&file),
            "--snaplen",
            "128",
        ];
        run_command(&mut command(&rocescope, &write))?;
    }
    let max = measure_all(&rocescope, &file, seconds)?;
    println!("\nmaximum: {:.2} % of a core; limit {:.0} %", max * 100.0, MAX * 100.0);
    ensure!(max < MAX, "above the limit");
    Ok(())
}

fn measure_all(rocescope: &str, file: &Path, seconds: u64) -> Result<f64> {
    println!("10,000 flows, windows of 1 s, 4 frames per second, {seconds} s each; share of one core\n");
    println!("| terminal | view | drawing thread | reading keys | reading and analysing |");
    println!("|---|---|---|---|---|");
    let mut max: f64 = 0.0;
    for (size, (case, keys)) in SIZES
        .iter()
        .map(|size| (*size, CASES[0]))
        .chain(CASES[1..].iter().map(|case| (SIZES[1], *case)))
    {
        let shares = measure(rocescope, file, size, keys, seconds)?;
        let share = |name: &str| shares.get(name).copied().unwrap_or(0.0);
        println!(
            "| {} x {} | {case} | {:.2} % | {:.2} % | {:.1} % |",
            size.0,
            size.1,
            share("view") * 100.0,
            share("keys") * 100.0,
            share("rocescope") * 100.0,
        );
        max = max.max(share("view"));
    }
    Ok(max)
}

/// Shares of a core by thread name.
fn measure(
    rocescope: &str,
    file: &Path,
    (width, height): (u16, u16),
    keys: &[&str],
    seconds: u64,
) -> Result<BTreeMap<String, f64>> {
    // A tmux server removes its socket a little after its end.
    let case = keys.concat();
    let tmux = Tmux(format!("rocescope-bench-{}-{width}-{case}", std::process::id()));
    let (width, height) = (width.to_string(), height.to_string());
    let file = text(file);
    let program = [rocescope, "top", "-r", &file, "--flow-rows", "10000"];
    let mut start = vec!["new-session", "-d", "-x", &width, "-y", &height];
    start.extend(["-e", "LC_ALL=C.UTF-8"]);
    start.extend(program);
    tmux.ask(&start)?;
    let pid: u32 = tmux.ask(&["display-message", "-p", "#{pane_pid}"])?.trim().parse()?;
    let begun = Instant::now();
    loop {
        let screen = tmux.ask(&["capture-pane", "-p"])?;
        if screen.contains("flows 10,0") {
            break;
        }
        ensure!(begun.elapsed() < Duration::from_secs(60), "no flows:\n{screen}");
        sleep(Duration::from_millis(100));
    }
    for key in keys {
        tmux.ask(&["send-keys", key])?;
    }
    sleep(Duration::from_secs(1));
    let (before, then) = (threads(pid)?, Instant::now());
    sleep(Duration::from_secs(seconds));
    let (after, passed) = (threads(pid)?, then.elapsed().as_nanos() as f64);
    let screen = tmux.ask(&["capture-pane", "-p"])?;
    ensure!(!screen.contains("ended"), "the file is too short for {seconds} s");
    let spent = after.into_iter().map(|(name, spent)| {
        let before = before.get(&name).copied().unwrap_or(0);
        (name, (spent - before) as f64 / passed)
    });
    Ok(spent.collect())
}

/// CPU nanoseconds of the threads of a process, by name.
fn threads(pid: u32) -> Result<BTreeMap<String, u64>> {
    let mut threads = BTreeMap::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.path();
        let name = fs::read_to_string(task.join("comm"))?.trim().to_owned();
        let ran = fs::read_to_string(task.join("schedstat"))?;
        let ran: u64 = ran.split(' ').next().unwrap_or_default().parse()?;
        *threads.entry(name).or_default() += ran;
    }
    Ok(threads)
}

/// A tmux server of its own, ended on drop.
struct Tmux(String);

impl Tmux {
    fn ask(&self, arguments: &[&str]) -> Result<String> {
        let mut tmux = command("tmux", &["-L", &self.0, "-f", "/dev/null", "-u"]);
        let output = tmux.args(arguments).env_remove("TMUX").output();
        let output = output.context("tmux (a Debian package)")?;
        ensure!(output.status.success(), "tmux {arguments:?}: {output:?}");
        Ok(String::from_utf8(output.stdout)?)
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.ask(&["kill-server"]);
    }
}
