//! Text generated from the command line: the page of every `--help` and the template of the configuration file, which the
//! tree has copies of; manual pages and completions, which `cargo xtask package` asks the program for.

use crate::arguments;
use crate::configuration::text;
use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::Value;
use std::io;

/// Every generated file of the tree: its path below the root of the project, and its content.
#[must_use]
pub fn files() -> [(&'static str, String); 4] {
    [
        ("docs/formats.md", rocescope_model::markdown::page()),
        ("docs/reference.md", page()),
        ("deploy/template.toml", text::template()),
        ("fleet/rocescope_fleet/tables.json", fleet_tables()),
    ]
}

/// The columns of all tables, for the Python package of `fleet/`: name and type of each.
fn fleet_tables() -> String {
    let schema: Value = serde_json::from_str(&rocescope_model::schema::json()).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let column = |column: &Value| format!("[{}, {}]", column["name"], column["type"]);
    let tables = list(&schema["tables"]).into_iter().map(|table| {
        let columns: Vec<String> = list(&table["columns"]).iter().map(column).collect();
        format!("    {}: [{}]", table["name"], columns.join(", "))
    });
    let tables: Vec<String> = tables.collect();
    format!(
        "{{\n  \"format_version\": {},\n  \"tables\": {{\n{}\n  }}\n}}\n",
        schema["format_version"],
        tables.join(",\n")
    )
}

/// The completion script for `shell`.
#[must_use]
pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "rocescope", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The manual pages, one for each command, by file name.
///
/// # Errors
/// A page cannot be rendered.
pub fn manual() -> io::Result<Vec<(String, String)>> {
    let mut pages = Vec::new();
    for (name, command) in commands(arguments::manual()) {
        // Pages show the version of the program, without the details of the build.
        let command = command.version(env!("CARGO_PKG_VERSION"));
        let name = name.replace(' ', "-");
        let mut page = Vec::new();
        Man::new(command.name(name.clone())).render(&mut page)?;
        let page = String::from_utf8_lossy(&page).into_owned();
        pages.push((format!("{name}.1"), page));
    }
    Ok(pages)
}

/// The output of every `--help`, as one page.
fn page() -> String {
    let mut page = String::from(
        "# Command line

Generated from the program: the output of `--help` for every command. A configuration file or an environment
variable can also set most options: [configuration.md](configuration.md).
",
    );
    for (name, mut command) in commands(arguments::command()) {
        let help = command.render_long_help().to_string();
        page += &format!("\n## {name}\n\n```text\n");
        for line in help.trim_end().lines() {
            page += line.trim_end();
            page.push('\n');
        }
        page += "```\n";
    }
    page
}

/// Every command by its full name: `rocescope`, `rocescope capture`, …
fn commands(mut program: Command) -> Vec<(String, Command)> {
    program.build();
    let mut commands = Vec::new();
    collect("rocescope", &program, &mut commands);
    commands
}

fn collect(name: &str, command: &Command, commands: &mut Vec<(String, Command)>) {
    // A fixed width, independent of this terminal.
    let command = command.clone().term_width(100);
    commands.push((name.to_owned(), command.clone()));
    for below in command.get_subcommands() {
        if below.get_name() != "help" {
            collect(&format!("{name} {}", below.get_name()), below, commands);
        }
    }
}
