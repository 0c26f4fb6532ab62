//! The table of crates in `ARCHITECTURE.md`.

use anyhow::{Result, ensure};

/// A row of the table: lower floors first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) path: String,
    pub(super) name: String,
    /// Crates of the workspace that it may import.
    pub(super) imports: Vec<String>,
}

/// The first words of the table's header; the last column holds the imports.
const HEADER: &str = "| path | crate |";

/// Reads the rows of the table whose header begins with [`HEADER`].
pub(super) fn read(page: &str) -> Result<Vec<Row>> {
    let lines = page.lines().skip_while(|line| !line.starts_with(HEADER));
    let rows: Vec<Row> = lines
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .filter_map(row)
        .collect();
    ensure!(!rows.is_empty(), "no table begins with {HEADER}");
    Ok(rows)
}

fn row(line: &str) -> Option<Row> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
    let (path, name, imports) = (cells.first()?, cells.get(1)?, cells.last()?);
    Some(Row {
        path: quoted(path).next()?,
        name: quoted(name).next()?,
        imports: quoted(imports).collect(),
    })
}

/// The texts between backticks.
fn quoted(cell: &str) -> impl Iterator<Item = String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_the_right_table() {
        let page = "\
| path | what |
|---|---|
| `x` | not this one |

| path | crate | what it is | may import |
|---|---|---|---|
| `a` | `floor` | the floor, `no_std` | – |
| `b` | `roof` | the roof | `floor`, `wall` |

| path | crate | another |
";
        let row = |path: &str, name: &str, imports: &[&str]| Row {
            path: path.into(),
            name: name.into(),
            imports: imports.iter().map(|name| (*name).into()).collect(),
        };
        let expected = [row("a", "floor", &[]), row("b", "roof", &["floor", "wall"])];
        assert_eq!(read(page).unwrap(), expected);
        assert!(read("no table").is_err());
    }
}
