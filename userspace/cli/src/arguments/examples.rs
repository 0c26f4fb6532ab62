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

/// What the help texts end with: a section for each command.
const ENDINGS: &str = include_str!("examples.txt");

/// The end of one help text.
#[derive(Default)]
struct Ending {
    /// What an example does, and its command line.
    examples: Vec<(&'static str, &'static str)>,
    /// What status 1 means here, if it is not only an error.
    one: Option<&'static str>,
}

impl Ending {
    /// The ending of a command, by its full name.
    fn of(command: &str) -> Self {
        let mut ending = Self::default();
        let lines = ENDINGS
            .lines()
            .skip_while(|line| heading(line) != Some(command))
            .skip(1);
        let mut what = "";
        for line in lines.take_while(|line| heading(line).is_none()) {
            match line.split_once(' ') {
                Some(("#", text)) => what = text,
                Some(("$", text)) => ending.examples.push((what, text)),
                Some(("1", text)) => ending.one = Some(text),
                _ => {}
            }
        }
        ending
    }
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

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
    let ending = Ending::of(name);
    let mut text = String::new();
    // Writing to a string cannot fail.
    for (number, (what, line)) in ending.examples.iter().enumerate() {
        let heading = if number == 0 { "Examples:\n" } else { "" };
        let _ = writeln!(text, "{heading}  # {what}\n  $ {line}");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    let _ = write!(text, "Exit status:");
    for (status, meaning) in STATUS {
        let special = ending.one.filter(|_| *status == "1");
        let _ = write!(text, "\n  {status}  {}", special.unwrap_or(meaning));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ENDINGS, command, heading};
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
        let with: Vec<&str> = ENDINGS.lines().filter_map(heading).collect();
        for name in &all {
            assert!(
                with.contains(&name.as_str()),
                "arguments/examples.txt has no example of `{name}`"
            );
        }
        for name in with {
            assert!(all.iter().any(|one| one == name), "no command `{name}`");
        }
    }

    /// An example that the parser refuses teaches what does not work.
    #[test]
    fn every_example_is_a_valid_command_line() {
        for line in ENDINGS.lines().filter_map(|line| line.strip_prefix("$ ")) {
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
