//! Examples and exit statuses of every command: the end of its `--help` and of its man page.

use super::Arguments;
use clap::{Command, CommandFactory};
use std::fmt::Write;

/// The exit statuses of commands without others.
const STATUS: &[(&str, &str)] = &[
    ("0", "success"),
    ("1", "an error, which one line names"),
    (
        "2",
        "a usage error, in the command line, the environment or the configuration file",
    ),
];

/// The end of one help text.
struct Ending {
    /// The full name of the command.
    command: &'static str,
    /// What an example does, and its command line.
    examples: &'static [(&'static str, &'static str)],
    /// What status 1 means here, if it is not only an error.
    one: Option<&'static str>,
}

const ENDINGS: &[Ending] = &[
    Ending {
        command: "rocescope",
        examples: &[
            ("See it work, without privileges or input", "rocescope demo"),
            (
                "Check whether this machine can capture",
                "rocescope doctor --try -i eth2",
            ),
            ("Watch a mirror port", "rocescope top -i eth2"),
            ("Record it", "rocescope capture -i eth2 --out DATASET"),
            ("Read what was recorded", "rocescope report DATASET --html report.html"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope agent",
        examples: &[(
            "Run what the file asks for on this host",
            "rocescope agent --config agent.toml",
        )],
        one: None,
    },
    Ending {
        command: "rocescope capture",
        examples: &[
            (
                "Record a mirror port until Ctrl-C",
                "rocescope capture -i eth2 --out DATASET",
            ),
            (
                "Read a capture file into a dataset",
                "rocescope capture -r trace.pcap.zst --out DATASET",
            ),
            (
                "Read from a pipe, print JSON",
                "tcpdump -i eth2 -w - | rocescope capture -r - -o json -q",
            ),
            (
                "Only the traffic of one host",
                "rocescope capture -i eth2 --filter 'host 10.0.0.1'",
            ),
            (
                "Is this the right port? Look for 10 s",
                "rocescope capture -i eth2 --check 10",
            ),
            (
                "Capture while a program runs",
                "rocescope capture -i eth2 -- ib_write_bw 10.0.0.2",
            ),
        ],
        one: Some("an error, or `--check` found what prevents a capture"),
    },
    Ending {
        command: "rocescope collect",
        examples: &[(
            "Collect and diagnose the rows of agents",
            "rocescope collect --out DATASET --cert c.pem --key c.key --client-ca ca.pem --diagnose",
        )],
        one: None,
    },
    Ending {
        command: "rocescope compact",
        examples: &[
            (
                "Every hour, from a timer",
                "rocescope compact /var/lib/rocescope/dataset",
            ),
            (
                "Hours that ended two hours ago, files up to 1 GiB",
                "rocescope compact DATASET --settle 2h --segment-bytes 1Gi",
            ),
        ],
        one: Some("an error, or a damaged segment, which remains as it is"),
    },
    Ending {
        command: "rocescope compare",
        examples: &[
            ("What changed since the last job?", "rocescope compare before after"),
            (
                "One hour with the one before",
                "rocescope compare DATASET --from -2h --to -1h --with-from -1h",
            ),
            ("As JSON", "rocescope compare before after -o json"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope completions",
        examples: &[(
            "Complete commands in bash",
            "rocescope completions bash > /etc/bash_completion.d/rocescope",
        )],
        one: None,
    },
    Ending {
        command: "rocescope config",
        examples: &[("Which settings are in effect, and why?", "rocescope config print")],
        one: None,
    },
    Ending {
        command: "rocescope config check",
        examples: &[(
            "Check a file before a restart",
            "rocescope config check --config rocescope.toml",
        )],
        one: Some("the file has errors; a line for each"),
    },
    Ending {
        command: "rocescope config print",
        examples: &[(
            "What would this file set?",
            "rocescope config print --config rocescope.toml",
        )],
        one: None,
    },
    Ending {
        command: "rocescope config template",
        examples: &[(
            "Start a configuration file",
            "rocescope config template > rocescope.toml",
        )],
        one: None,
    },
    Ending {
        command: "rocescope connections",
        examples: &[
            (
                "Every queue pair of a capture file",
                "rocescope connections -r trace.pcap",
            ),
            (
                "Those of a dataset that retransmitted",
                "rocescope connections DATASET --filter 'retransmitted_packets > 0'",
            ),
            (
                "Those on a port in the next minute",
                "rocescope connections -i eth2 --duration 60s",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope control",
        examples: &[(
            "Which member runs which version?",
            "rocescope control status --collector https://collector.example:4792 --cert ops.pem --key ops.key --ca ca.pem",
        )],
        one: None,
    },
    Ending {
        command: "rocescope control apply",
        examples: &[("Change the configuration", "rocescope control apply fleet.toml")],
        one: None,
    },
    Ending {
        command: "rocescope control diff",
        examples: &[("What would change?", "rocescope control diff fleet.toml")],
        one: None,
    },
    Ending {
        command: "rocescope control rollback",
        examples: &[("Undo the last change", "rocescope control rollback")],
        one: None,
    },
    Ending {
        command: "rocescope control status",
        examples: &[("Who runs which version, as JSON", "rocescope control status -o json")],
        one: None,
    },
    Ending {
        command: "rocescope counters",
        examples: &[
            ("What every port does, each second", "rocescope counters"),
            ("All values, as JSON", "rocescope counters --once -o json"),
            (
                "Congestion of one device",
                "rocescope counters --once --device mlx5_0 --metric '*cnp*'",
            ),
            ("Record them", "rocescope counters --interval 10s --out DATASET"),
            (
                "From a copy of /sys",
                "rocescope counters --once --sysfs-root bundle/sys",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope demo",
        examples: &[("Write the dataset elsewhere", "rocescope demo --out /tmp/demo")],
        one: None,
    },
    Ending {
        command: "rocescope diagnose",
        examples: &[
            (
                "Which NIC, link or switch fails?",
                "rocescope diagnose hostmesh DATASET",
            ),
            ("Whose fault is it?", "rocescope diagnose hosts DATASET"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope diagnose hosts",
        examples: &[
            ("The last hour", "rocescope diagnose hosts DATASET --last 1h"),
            ("As JSON", "rocescope diagnose hosts DATASET -o json"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope diagnose hostmesh",
        examples: &[
            (
                "With the names of switches",
                "rocescope diagnose hostmesh DATASET --topology fabric.toml",
            ),
            ("As JSON", "rocescope diagnose hostmesh DATASET -o json"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope diagnose hostping",
        examples: &[(
            "Which link inside a host is slow?",
            "rocescope diagnose hostping DATASET",
        )],
        one: None,
    },
    Ending {
        command: "rocescope diagnose collective",
        examples: &[
            (
                "Which flow and port slowed the all-reduce?",
                "rocescope diagnose collective DATASET",
            ),
            (
                "The graphs as a picture",
                "rocescope diagnose collective DATASET -o dot > graphs.dot",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope collective",
        examples: &[(
            "A run of Vedrfolnir's simulator",
            "rocescope collective import --format vedrfolnir DIR --out DATASET",
        )],
        one: None,
    },
    Ending {
        command: "rocescope collective import",
        examples: &[(
            "A run of Vedrfolnir's simulator",
            "rocescope collective import --format vedrfolnir DIR --out DATASET",
        )],
        one: None,
    },
    Ending {
        command: "rocescope collective follow",
        examples: &[(
            "The steps of jobs while they run",
            "rocescope collective follow --format nccl-profiler --steps DIR --out DATASET",
        )],
        one: None,
    },
    Ending {
        command: "rocescope hostping",
        examples: &[(
            "Which link inside this host is slow?",
            "rocescope hostping diagnose --topology topo.xml --matrix loopback.txt",
        )],
        one: None,
    },
    Ending {
        command: "rocescope hostping topology",
        examples: &[
            ("The links of this host", "rocescope hostping topology"),
            (
                "Those of a dump of NCCL",
                "rocescope hostping topology --topology topo.xml",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope hostping run",
        examples: &[
            ("What would be tested, and how long?", "rocescope hostping run --plan"),
            (
                "Test an idle host, and keep the tests",
                "rocescope hostping run --baseline a100.txt --out DATASET",
            ),
            (
                "Every hour, and when a NIC of a busy host pauses the switch",
                "rocescope hostping run --every 1h --on-alarm 10m --out DATASET",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope hostping diagnose",
        examples: &[
            (
                "Compare with healthy hosts of the model",
                "rocescope hostping diagnose --topology topo.xml --matrix loopback.txt --baseline a100.txt",
            ),
            (
                "The outputs of perftest",
                "rocescope hostping diagnose --topology topo.xml --matrix mlx5_0:mem0=a.txt mlx5_0:GPU0=b.txt",
            ),
            (
                "The results of SuperBench for one host",
                "rocescope hostping diagnose --topology topo.xml --matrix results-summary.jsonl --node host-2",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope hostping baseline",
        examples: &[(
            "The medians of healthy hosts",
            "rocescope hostping baseline --topology topo.xml --matrix run*.txt > a100.txt",
        )],
        one: None,
    },
    Ending {
        command: "rocescope paths",
        examples: &[(
            "How unevenly do flows lie on the links?",
            "rocescope paths fim --topology fabric.toml --paths paths.json",
        )],
        one: None,
    },
    Ending {
        command: "rocescope paths flows",
        examples: &[(
            "The RoCEv2 flows of a capture",
            "rocescope paths flows -r trace.pcap --filter 'net 10.1.0.0/16' -o json > flows.json",
        )],
        one: None,
    },
    Ending {
        command: "rocescope paths sflow",
        examples: &[(
            "Flows in the samples of a minute",
            "rocescope paths sflow -l 0.0.0.0:6343 --duration 60s",
        )],
        one: None,
    },
    Ending {
        command: "rocescope paths discover",
        examples: &[
            (
                "Ask the switches of the topology",
                "rocescope paths discover --topology fabric.toml --dataset DATASET --out DATASET",
            ),
            (
                "Arista switches, the flows of a list, with the FIM afterwards",
                "rocescope paths discover --topology lab.clab.yml --driver eos --flows flows.json -o json > paths.json",
            ),
        ],
        one: Some("an error, or no path is complete"),
    },
    Ending {
        command: "rocescope paths fim",
        examples: &[
            (
                "As JSON",
                "rocescope paths fim --topology lab.clab.yml --paths paths.json -o json",
            ),
            (
                "For each window of a dataset",
                "rocescope paths fim --topology fabric.toml --paths DATASET --windows",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope paths advise",
        examples: &[(
            "Which source ports would be even?",
            "rocescope paths advise --topology fabric.toml --flows flows.json",
        )],
        one: Some("an error, or no path is complete"),
    },
    Ending {
        command: "rocescope paths compare",
        examples: &[(
            "What did the new routing change?",
            "rocescope paths compare before.json after.json --topology fabric.toml",
        )],
        one: None,
    },
    Ending {
        command: "rocescope topology",
        examples: &[("Check a file", "rocescope topology check topology.dot")],
        one: None,
    },
    Ending {
        command: "rocescope topology check",
        examples: &[("Check what LLDP sees", "rocescope topology check lldp/")],
        one: Some("an error, or the topology contradicts itself"),
    },
    Ending {
        command: "rocescope topology show",
        examples: &[
            ("Nodes, tiers and links", "rocescope topology show lab.clab.yml"),
            ("What probes have learnt", "rocescope topology show DATASET"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope topology convert",
        examples: &[(
            "To rocescope's own format",
            "rocescope topology convert topology.dot > fabric.toml",
        )],
        one: None,
    },
    Ending {
        command: "rocescope doctor",
        examples: &[
            ("Check the machine", "rocescope doctor"),
            (
                "Check a port, and try a capture on it",
                "rocescope doctor --try -i eth2",
            ),
        ],
        one: Some("an error, or a check failed"),
    },
    Ending {
        command: "rocescope extract",
        examples: &[(
            "The frames of one queue pair",
            "rocescope extract -r trace.pcap --filter 'qp 217' --write qp217.pcapng",
        )],
        one: None,
    },
    Ending {
        command: "rocescope generate",
        examples: &[
            (
                "A capture file with known truth",
                "rocescope generate loss.toml --write loss.pcap",
            ),
            (
                "Ten million frames to an interface",
                "rocescope generate many-flows.toml --iface eth3 --full-speed --count 10000000",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope man",
        examples: &[("Install the manual pages", "rocescope man /usr/local/share/man/man1")],
        one: None,
    },
    Ending {
        command: "rocescope merge",
        examples: &[
            (
                "Join the datasets of two boxes",
                "rocescope merge box-1 box-2 --out fleet",
            ),
            (
                "Join a capture with the counters of both hosts, and find whose fault it is",
                "rocescope merge box host-1 host-2 --out all && rocescope diagnose hosts all",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope probe",
        examples: &[
            (
                "Probe between all NICs of this host",
                "rocescope probe --all --out DATASET",
            ),
            (
                "Between three of them, for an hour",
                "rocescope probe -i rail0 rail1 rail2 --duration 1h --out DATASET",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope repair",
        examples: &[("After a crash", "rocescope repair DATASET")],
        one: Some("an error, or a damaged journal, which was set aside"),
    },
    Ending {
        command: "rocescope report",
        examples: &[
            (
                "One HTML file that opens without a network",
                "rocescope report DATASET --html report.html",
            ),
            (
                "One hour, as Markdown",
                "rocescope report DATASET --from 2026-11-22T10:00:00Z --to 2026-11-22T11:00:00Z -o markdown",
            ),
            ("The flows as CSV", "rocescope report DATASET -o csv --table flows"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope restore-vlan-offload",
        examples: &[("What a killed capture left", "rocescope restore-vlan-offload 3")],
        one: None,
    },
    Ending {
        command: "rocescope schema",
        examples: &[("Every table and column as JSON", "rocescope schema -o json")],
        one: None,
    },
    Ending {
        command: "rocescope ship",
        examples: &[
            (
                "To an object store, until a signal",
                "rocescope ship DATASET s3://fabric/rail3 --keep 2d",
            ),
            ("What is sealed now", "rocescope ship DATASET /mnt/fleet/rail3 --once"),
        ],
        one: Some("an error, or a segment that is not shipped"),
    },
    Ending {
        command: "rocescope sql",
        examples: &[
            ("A prompt", "rocescope sql DATASET"),
            (
                "A saved question",
                "rocescope sql DATASET --question retransmitting_hosts",
            ),
            (
                "Datasets in an object store, as CSV",
                "rocescope sql s3://fabric/rail3 s3://fabric/rail4 -o csv -f question.sql",
            ),
        ],
        one: None,
    },
    Ending {
        command: "rocescope top",
        examples: &[
            ("Watch a mirror port", "rocescope top -i eth2 --connections"),
            (
                "A capture file, ten times as fast",
                "rocescope top -r trace.pcap --speed 10",
            ),
            ("A dataset at a time", "rocescope top DATASET --at 2026-11-22T10:30:00Z"),
            ("One window, without a terminal", "rocescope top -i eth2 --once -o json"),
        ],
        one: None,
    },
    Ending {
        command: "rocescope verify",
        examples: &[
            ("After a disk error", "rocescope verify DATASET"),
            ("For a script", "rocescope verify DATASET -o json"),
        ],
        one: Some("an error, a damaged file, or tables that contradict each other"),
    },
];

/// The command line, with examples and exit statuses at the end of every help text.
#[must_use]
pub fn command() -> Command {
    with_ending("rocescope", Arguments::command())
}

fn with_ending(name: &str, command: Command) -> Command {
    let below: Vec<String> = command
        .get_subcommands()
        .map(|below| below.get_name().to_owned())
        .collect();
    let command = command.after_help(ending(name));
    below.iter().fold(command, |command, below| {
        command.mut_subcommand(below, |command| with_ending(&format!("{name} {below}"), command))
    })
}

fn ending(name: &str) -> String {
    let ending = ENDINGS.iter().find(|ending| ending.command == name);
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (number, (what, line)) in ending.into_iter().flat_map(|ending| ending.examples).enumerate() {
        let heading = if number == 0 { "Examples:\n" } else { "" };
        let _ = writeln!(text, "{heading}  # {what}\n  $ {line}");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = write!(text, "Exit status:");
    for (status, meaning) in STATUS {
        let special = ending.and_then(|ending| ending.one).filter(|_| *status == "1");
        let _ = write!(text, "\n  {status}  {}", special.unwrap_or(meaning));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ENDINGS, command};
    use clap::Command;

    fn names(name: &str, command: &Command, all: &mut Vec<String>) {
        all.push(name.to_owned());
        for below in command.get_subcommands() {
            names(&format!("{name} {}", below.get_name()), below, all);
        }
    }

    #[test]
    fn every_command_has_an_example_and_every_example_is_of_a_command() {
        let mut all = Vec::new();
        names("rocescope", &command(), &mut all);
        let with: Vec<&str> = ENDINGS.iter().map(|ending| ending.command).collect();
        for name in &all {
            assert!(
                with.contains(&name.as_str()),
                "arguments/examples.rs has no example of `{name}`"
            );
        }
        for name in with {
            assert!(all.iter().any(|one| one == name), "no command `{name}`");
        }
    }

    /// An example that the parser refuses teaches what does not work.
    #[test]
    fn every_example_is_a_valid_command_line() {
        for (_, line) in ENDINGS.iter().flat_map(|ending| ending.examples) {
            let (mut words, mut quoted) = (Vec::new(), false);
            for part in line.split('\'') {
                match quoted {
                    true => words.push(part),
                    false => words.extend(part.split(' ').filter(|word| !word.is_empty())),
                }
                quoted = !quoted;
            }
            // What the shell does with the line.
            if let Some(pipe) = words.iter().rposition(|word| *word == "|") {
                words.drain(..=pipe);
            }
            if let Some(redirection) = words.iter().position(|word| *word == ">") {
                words.truncate(redirection);
            }
            let parsed = command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
