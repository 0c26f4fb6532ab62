//! The developer's tasks, one file per task.
//!
//! This crate compiles in seconds, because it imports no crate of the product. Tasks that need one are in `testbed`;
//! [`testbed`] forwards to them, and they use the public modules here.
//!
//! | module | what it does |
//! |---|---|
//! | `ci` | the checks of a change |
//! | `docs` | the generated pages |
//! | [`ebpf`] | builds the kernel programs, and compares the committed objects with their locks |
//! | `fuzz` | seeds and runs the fuzzer |
//! | `graph` | checks the crates against `ARCHITECTURE.md`, and their files for cycles |
//! | [`package`] | the Debian package |
//! | `release` | everything that a release has to download, in one folder |
//! | `static_build` | one static file, as in `deploy/Containerfile` |
//! | [`testbed`] | forwards a task to `rocescope-testbed` or `rocescope-lab` |
//! | [`captures`], [`pcap`] | the recorded captures, frame by frame |
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
mod release;
mod static_build;
pub mod testbed;
mod words;

use anyhow::{Result, bail};

/// The tasks and their options.
pub const USAGE: &str = "\
cargo xtask <task>

  ci [--full | STEP…]           run every check of a change; --full adds the slow ones; names run these steps alone
  docs [--check]                write the generated pages, or fail if one is stale
  ebpf [--check]                build the kernel programs, or check the committed ones against their locks
  graph                         check crates against the table in ARCHITECTURE.md, and files for cycles
  fuzz --seconds N [TARGET...]  feed arbitrary bytes to decoder, readers and run cache
  fuzz --mutated COUNT [FIRST]  feed COUNT damaged files of every input format to their readers
  package [--fleet]             build the Debian package, with rocescope-sql and rocescope-ship if asked for
  release [--out FOLDER]        build everything that a release has to download, and try each file of it; --no-build
                                takes the programs of the last time
  static                        build one static file, and start it in an empty directory
  words                         refuse the words that docs/style.md replaces

These need the product's crates; they run in rocescope-testbed and rocescope-lab:

  bench all [--quick | --only NAME]
                                one table of all costs, each beside its goal; --quick counts instructions
  bench day [OPTION...]         a day at 4 frames a second: what nearly empty windows cost
  bench file [FILE] [OPTION...] the whole path, compared with tcpdump and tshark
  bench capture [OPTION...]     kernel cost, and live capture on a veth pair: --part a|b|c, --soak SECONDS
  bench instructions [--save]   instructions of the hot paths, against docs/bench/instructions.md
  bench memory                  peak memory of a capture of 100,000 flows
  bench sketches [OPTION...]    the sketches, compared with other implementations
  bench probe [SECONDS]         the agent's cost on a host with eight NICs
  bench view [SECONDS]          the cost of drawing 10,000 flows
  fabric TASK [OPTION...]       a rail fabric of network namespaces, its faults, and the verdicts about them
  lab [NAME...] [--full]        one table of all accuracies, each beside its goal; --full has the sizes of docs/bench
  object FILE [--records]       verify an XDP object; compare its records too
  picture [--check]             docs/top.svg, from the screen of a test
  service [--debian]            install, run and remove the package on a machine of its own, or on a clean Debian
  softroce [OPTION...] [CHECK...]
                                the product on real verbs: two guests with soft-RoCE; --binary FILE, --kernel PACKAGE
";

/// Runs a task with its arguments, as on the command line.
///
/// # Errors
///
/// The task failed, or does not exist.
pub fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        // Its usage has more lines than there are here.
        ["fabric", ..] => testbed::run(arguments),
        [] | ["help"] => help(),
        _ if asks_for_help(arguments) => help(),
        ["ci"] => ci::run(ci::Choice::Gate),
        ["ci", "--full"] => ci::run(ci::Choice::Full),
        ["ci", names @ ..] => ci::run(ci::Choice::Named(names)),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["ebpf", rest @ ..] => ebpf::run(rest),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["graph"] => graph::run(),
        ["package", options @ ..] => package::run(options),
        ["lab", options @ ..] => testbed::lab(options),
        ["release", options @ ..] => release::run(options),
        ["static"] => static_build::run(),
        ["words"] => words::run(),
        ["bench" | "object" | "picture" | "service" | "softroce", ..] => testbed::run(arguments),
        unknown => bail!("unknown task: {}\n\n{USAGE}", unknown.join(" ")),
    }
}

/// Whether an argument asks for help: then a task prints its usage and does nothing.
#[must_use]
pub fn asks_for_help(arguments: &[&str]) -> bool {
    arguments.iter().any(|argument| matches!(*argument, "--help" | "-h"))
}

fn help() -> Result<()> {
    print!("{USAGE}");
    Ok(())
}

#[cfg(test)]
mod tests {
    /// `cargo xtask fabric record --help` made a directory of that name.
    #[test]
    fn help_is_never_a_value() {
        assert!(super::asks_for_help(&["record", "--help"]));
        assert!(super::asks_for_help(&["up", "-h", "--ipv6"]));
        assert!(!super::asks_for_help(&["record", "help"]));
        assert!(super::run(&["words", "--help"]).is_ok());
    }
}
