//! `cargo xtask`: the developer's one entry point, one file a task.

mod bench;
mod captures;
mod certificates;
mod ci;
mod docs;
mod ebpf;
mod fabric;
mod fuzz;
mod graph;
mod package;
mod pcap;
mod picture;
mod process;
mod product;
mod service;

use anyhow::{Result, bail};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask <task>

  ci                            everything a change must pass
  docs [--check]                write the generated pages, or fail when one is stale
  ebpf [--check]                build the XDP program, or hold the committed one to its lock
  graph                         hold the crates against the table in ARCHITECTURE.md
  bench file [FILE] [OPTION...] the whole path beside tcpdump and tshark
  bench capture [OPTION...]     live capture on a veth pair beside others: --part b|c, --soak SECONDS
  bench mesh [OPTION...]        accuracy and speed of the analysis of probes: [accuracy|quiet|speed] [SEEDS]
  bench memory                  the peak of a capture of 100,000 flows
  bench sketches [OPTION...]    the sketches beside their rivals
  bench paper [SECONDS]         the evaluation of the Fudan system's paper, repeated
  bench probe [SECONDS]         what the agent costs a host with eight NICs
  bench view [SECONDS]          what drawing costs with 10,000 flows
  fabric TASK [OPTION...]       a rail fabric of network namespaces, its faults, and whether they are named
  package                       the Debian package
  service [--debian]            install it on a machine of its own, run it, remove it; or on a clean Debian
  picture [--check]             docs/top.svg, from the screen that a test saw
  fuzz --seconds N [TARGET...]  arbitrary bytes against decoder, readers and run cache
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["ci"] => ci::run(),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["ebpf", rest @ ..] => ebpf::run(rest),
        ["graph"] => graph::run(),
        ["bench", rest @ ..] => bench::run(rest),
        ["fabric", rest @ ..] => fabric::run(rest),
        ["package"] => package::run(),
        ["service", rest @ ..] => service::run(rest),
        ["picture", rest @ ..] => picture::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        unknown => bail!("no such task: {}\n\n{USAGE}", unknown.join(" ")),
    }
}
