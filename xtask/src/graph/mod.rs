//! `cargo xtask graph`: the crates, compared with the table in `ARCHITECTURE.md`, and their files.
//!
//! | module | what it holds |
//! |---|---|
//! | `table` | the table, read from the page |
//! | `workspace` | the crates, read from cargo |
//! | `circles` | which files of a crate import each other |
//! | `rules` | what must be true of both; pure, so that a test can break every rule |
//! | `no_std` | that the sans-io crates cannot name a clock, file, socket or thread |

mod circles;
mod no_std;
mod rules;
mod table;
mod workspace;

use crate::process::root;
use anyhow::{Result, bail};
use std::fs;
use table::Row;
use workspace::Crate;

/// Says what is wrong, or that nothing is.
pub(crate) fn run() -> Result<()> {
    let problems = problems()?;
    if !problems.is_empty() {
        bail!("the house is not as drawn\n  {}", problems.join("\n  "));
    }
    println!("the house stands as drawn");
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
    Ok(problems)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_house_stands_as_drawn() {
        assert_eq!(super::problems().unwrap(), Vec::<String>::new());
    }
}
