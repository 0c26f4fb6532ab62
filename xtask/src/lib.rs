//! The developer's tasks, one file a task.
//!
//! This crate compiles in seconds, because it imports no crate of the product. A task that needs one is in
//! `testbed`, and [`testbed`] forwards to it; `testbed` in turn uses the public modules here.
//!
//! | module | what it does |
//! |---|---|
//! | `ci` | the steps that a change must pass |
//! | `docs` | the generated pages |
//! | [`ebpf`] | builds the XDP program, and compares the committed object with its lock |
//! | `fuzz` | seeds and runs the fuzzer |
//! | `graph` | checks the crates against `ARCHITECTURE.md`, and their files for circles |
//! | [`package`] | the Debian package |
//! | [`testbed`] | forwards a task to `rocescope-testbed` |
//! | [`captures`], [`pcap`] | the real captures, frame by frame |
//! | `words` | no text has a word that `docs/style.md` replaces |
//! | [`process`], [`product`] | other programs; the release build of `rocescope` |

pub mod captures;
mod ci;
mod docs;
pub mod ebpf;
mod fuzz;
mod graph;
pub mod package;
pub mod pcap;
pub mod process;
pub mod product;
pub mod testbed;
mod words;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask <task>

  ci [--full]                   every check of a change; --full adds the slow ones
  docs [--check]                write the generated pages, or fail when one is stale
  ebpf [--check]                build the XDP program, or check the committed one against its lock
  graph                         check crates against the table in ARCHITECTURE.md, and files for circles
  fuzz --seconds N [TARGET...]  arbitrary bytes against decoder, readers and run cache
  package                       the Debian package
  words                         refuse the words that docs/style.md replaces

These need the product's crates; they run in rocescope-testbed:

  bench file [FILE] [OPTION...] the whole path beside tcpdump and tshark
  bench capture [OPTION...]     live capture on a veth pair beside others: --part b|c, --soak SECONDS
  bench mesh [OPTION...]        accuracy and speed of the analysis of probes: [accuracy|quiet|speed] [SEEDS]
  bench memory                  the peak of a capture of 100,000 flows
  bench sketches [OPTION...]    the sketches beside their rivals
  bench paper [SECONDS]         the evaluation of the Fudan system's paper, repeated
  bench probe [SECONDS]         what the agent costs a host with eight NICs
  bench view [SECONDS]          what drawing costs with 10,000 flows
  fabric TASK [OPTION...]       a rail fabric of network namespaces, its faults, and whether they are named
  object FILE [--records]       what the verifier does with an XDP object; compare its records too
  picture [--check]             docs/top.svg, from the screen that a test saw
  service [--debian]            install it on a machine of its own, run it, remove it; or on a clean Debian
";

/// Runs a task, given as on the command line.
///
/// # Errors
///
/// The task failed, or does not exist.
pub fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        ["ci"] => ci::run(false),
        ["ci", "--full"] => ci::run(true),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["ebpf", rest @ ..] => ebpf::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["graph"] => graph::run(),
        ["package"] => package::run(),
        ["words"] => words::run(),
        ["bench" | "fabric" | "object" | "picture" | "service", ..] => testbed::run(arguments),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        unknown => bail!("no such task: {}\n\n{USAGE}", unknown.join(" ")),
    }
}
