//! `cargo xtask graph`: compares the crates and their files with the table in `ARCHITECTURE.md`.
//!
//! | module | what it holds |
//! |---|---|
//! | `table` | the table, read from the page |
//! | `workspace` | the crates, read from cargo |
//! | `circles` | which files of a crate import each other |
//! | `rules` | what must be true of both; pure, so that a test can break every rule |
//! | `cli` | the command line starts no threads, and stays small |
//! | `no_std` | the sans-io crates cannot name a clock, file, socket or thread |

mod circles;
mod cli;
mod no_std;
mod rules;
mod table;
mod workspace;

use crate::process::root;
use anyhow::{Result, bail};
use std::fs;
use table::Row;
use workspace::Crate;

/// Prints what is wrong, or that the crates match.
pub(crate) fn run() -> Result<()> {
    let problems = problems()?;
    if !problems.is_empty() {
        bail!("the crates do not match ARCHITECTURE.md\n  {}", problems.join("\n  "));
    }
    println!("the crates match ARCHITECTURE.md");
    Ok(())
}

fn problems() -> Result<Vec<String>> {
    let rows: Vec<Row> = table::read(&fs::read_to_string(root().join("ARCHITECTURE.md"))?)?;
    let crates: Vec<Crate> = workspace::read()?;
    let mut problems = rules::broken(&rows, &crates);
    for found in &crates {
        problems.extend(circles::problems(found)?);
    }
    for name in rules::SANS_IO {
        problems.extend(no_std::problems(name, &crates)?);
    }
    problems.extend(cli::problems(&crates)?);
    Ok(problems)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_crates_match_the_table() {
        assert_eq!(super::problems().unwrap(), Vec::<String>::new());
    }
}
