//! Examples and exit statuses of every command, in its help and on its man page; and what `-h` leaves to `--help`.

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
    /// The options of the first hour, which `-h` shows; `None`: all.
    first: Option<Vec<&'static str>>,
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
                Some(("-h", options)) => ending.first = Some(options.split(' ').collect()),
                _ => {}
            }
        }
        ending
    }
}

fn heading(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

/// The command line: `-h` has examples and the options of the first hour, `--help` all of them and exit statuses.
#[must_use]
pub fn command() -> Command {
    let command = with_help("rocescope", Arguments::command(), &|command, name| {
        let ending = Ending::of(name);
        let command = command
            .help_template(TEMPLATE)
            .before_help(ending.examples().trim_end().to_owned());
        let command = command.after_help("").after_long_help(ending.statuses());
        match &ending.first {
            Some(first) => command.mut_args(|option| {
                let name = option.get_long().unwrap_or(option.get_id().as_str());
                let is_first = first.contains(&name) || option.is_positional();
                option.hide_short_help(!is_first)
            }),
            None => command,
        }
    });
    let template = ROOT.replace("GROUPS", &groups(&command));
    let ending = Ending::of("rocescope");
    let command = command
        .before_help(None)
        .after_help("`rocescope COMMAND -h` has examples.");
    command
        .after_long_help(ending.examples() + &ending.statuses())
        .help_template(template)
}

/// The command line for manual pages: their sections follow a fixed order, and examples stand at the end.
#[must_use]
pub fn manual() -> Command {
    with_help("rocescope", Arguments::command(), &|command, name| {
        let ending = Ending::of(name);
        command.after_help(ending.examples() + &ending.statuses())
    })
}

const TEMPLATE: &str = "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}";
const ROOT: &str =
    "{about-with-newline}\n{before-help}{usage-heading} {usage}\n\nGROUPS\nOptions:\n{options}{after-help}";

/// The commands by what people do with them.
const BY_USE: &[(&str, &[&str])] = &[
    (
        "Look",
        &[
            "diagnose",
            "top",
            "capture",
            "connections",
            "serve",
            "report",
            "compare",
            "incidents",
            "extract",
            "doctor",
        ],
    ),
    (
        "Hosts and fleet",
        &[
            "agent",
            "probe",
            "counters",
            "run",
            "hostping",
            "collector",
            "paths",
            "topology",
            "collective",
        ],
    ),
    ("Dataset", &["dataset"]),
    ("Setup and test", &["demo", "generate", "config"]),
];

/// A list of commands for each group.
fn groups(command: &Command) -> String {
    let mut text = String::new();
    for (title, names) in BY_USE {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{title}:");
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<12} {about}");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

fn with_help(name: &str, command: Command, help: &impl Fn(Command, &str) -> Command) -> Command {
    let below: Vec<String> = command
        .get_subcommands()
        .map(|below| below.get_name().to_owned())
        .collect();
    let command = help(command, name);
    below.iter().fold(command, |command, below| {
        command.mut_subcommand(below, |command| with_help(&format!("{name} {below}"), command, help))
    })
}

impl Ending {
    fn examples(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        for (number, (what, line)) in self.examples.iter().enumerate() {
            let heading = if number == 0 { "Examples:\n" } else { "" };
            let _ = writeln!(text, "{heading}  # {what}\n  $ {line}");
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn statuses(&self) -> String {
        let mut text = String::from("Exit status:");
        for (status, meaning) in STATUS {
            let special = self.one.filter(|_| *status == "1");
            let _ = write!(text, "\n  {status}  {}", special.unwrap_or(meaning));
        }
        text
    }
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

    #[test]
    fn every_command_is_in_one_group() {
        let mut listed: Vec<&str> = super::BY_USE
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let command = command();
        let visible = command.get_subcommands().filter(|below| !below.is_hide_set());
        let mut visible: Vec<&str> = visible.map(Command::get_name).collect();
        listed.sort_unstable();
        visible.sort_unstable();
        assert_eq!(listed, visible);
    }

    /// Who asks for a short help has one screen.
    #[test]
    fn a_short_help_fits_a_screen_and_the_options_that_it_names() {
        let mut all = Vec::new();
        names("rocescope", &command(), &mut all);
        for name in all {
            let mut command = command();
            command.build();
            let mut below = &mut command;
            for word in name.split(' ').skip(1) {
                below = below.find_subcommand_mut(word).unwrap();
            }
            let help = below.clone().term_width(0).render_help().to_string();
            let lines = help.trim_end().lines().count();
            // The list of commands is one.
            let most = if name == "rocescope" { 48 } else { 45 };
            assert!(lines <= most, "{name} -h has {lines} lines:\n{help}");
            for option in super::Ending::of(&name).first.into_iter().flatten() {
                assert!(help.contains(&format!("--{option}")), "{name} -h has no --{option}");
            }
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
