//! Runs the commands of the README and of the examples.

use crate::process::{command, root, run as run_command};
use crate::product::{target, text};
use anyhow::{Result, ensure};
use std::fs;

/// What runs the commands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Profile {
    /// The debug build of the tests, in place of a release build that takes minutes.
    Debug,
    /// As they are written.
    Release,
}

/// The pages whose commands run, in this order.
const PAGES: [&str; 2] = ["README.md", "examples/README.md"];

/// The product, as the pages start it.
const PRODUCT: &str = "cargo run --release --";

/// Runs every line of every `sh` block, except the tests, which are a separate step.
pub(super) fn run(profile: Profile) -> Result<()> {
    let debug = text(&target()?.join("debug/rocescope"));
    for page in PAGES {
        run_page(page, &debug, profile)?;
    }
    Ok(())
}

fn run_page(page: &str, debug: &str, profile: Profile) -> Result<()> {
    let text = fs::read_to_string(root().join(page))?;
    let lines = commands(&text);
    ensure!(!lines.is_empty(), "{page} has no commands");
    // A capture file is stored once: the datasets of an earlier run would refuse it.
    for dataset in lines.iter().filter_map(|line| dataset(line)) {
        let folder = root().join(dataset);
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    for line in lines {
        println!("$ {line}");
        let line = match profile {
            Profile::Debug => line.replace(PRODUCT, debug),
            Profile::Release => line.to_owned(),
        };
        run_command(&mut command("bash", &["-euo", "pipefail", "-c", &line]))?;
    }
    Ok(())
}

/// The directory that a command writes.
fn dataset(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| *word != "--out");
    words.nth(1).filter(|name| name.starts_with("rocescope-"))
}

fn commands(page: &str) -> Vec<&str> {
    let mut in_block = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        match line.trim() {
            "```sh" => in_block = true,
            "```" => in_block = false,
            "" | "cargo test" => {}
            line if in_block => lines.push(line),
            _ => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_of_shell_blocks_are_commands() {
        let readme = "a\n```sh\none\n\ncargo test\n```\nb\n```sql\nSELECT\n```\n```sh\ntwo\n```\n";
        assert_eq!(super::commands(readme), ["one", "two"]);
    }
}
