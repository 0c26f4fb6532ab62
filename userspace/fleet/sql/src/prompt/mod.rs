//! The prompt: a statement ends with `;`, and may take several lines.

mod helper;

use crate::output::Output;
use crate::questions;
use crate::statements::run;
use anyhow::{Context, Result};
use datafusion::prelude::SessionContext;
use helper::{Editing, Words};
use rocescope_model::TABLES;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::env;
use std::path::PathBuf;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;

const HELP: &str = "\
SQL, ended by ;      run it; the tab key completes, Ctrl-C ends a query
\\d                   the tables
\\d TABLE             the columns of a table
\\questions           the saved questions
\\ask NAME            run one
\\q                   leave, as Ctrl-D does
";

/// Reads and runs statements until the end of the input.
///
/// # Errors
/// The terminal or the output fails.
pub(crate) fn start(runtime: &Runtime, context: &SessionContext, output: &mut Output) -> Result<()> {
    let config = Config::builder().completion_type(CompletionType::List).build();
    let mut editor: Editor<Editing, FileHistory> = Editor::with_config(config)?;
    editor.set_helper(Some(Editing::new(Words::of(context))));
    let history = history_file();
    if let Some(history) = &history {
        // There is none at first.
        let _ = editor.load_history(history);
    }
    eprintln!("\\? lists the commands; \\q leaves");
    loop {
        let line = match editor.readline("sql> ") {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        let text = line.trim();
        if text.is_empty() {
            continue;
        }
        editor.add_history_entry(text)?;
        if text == "\\q" {
            break;
        }
        if let Err(error) = answer(runtime, context, output, text) {
            eprintln!("error: {error:#}");
        }
    }
    if let Some(history) = history {
        editor
            .save_history(&history)
            .with_context(|| history.display().to_string())?;
    }
    Ok(())
}

fn answer(runtime: &Runtime, context: &SessionContext, output: &mut Output, text: &str) -> Result<()> {
    let (command, argument) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let question;
    let sql = match (command, argument.trim()) {
        ("\\?" | "\\h", _) => {
            print!("{HELP}");
            return Ok(());
        }
        ("\\d", "") => {
            let width = TABLES.iter().map(|table| table.name.len()).max().unwrap_or(0);
            for table in TABLES {
                let first = table.help.split_inclusive(". ").next().unwrap_or_default();
                println!("{:width$}  {}", table.name, first.trim_end());
            }
            return Ok(());
        }
        ("\\d", name) => {
            let table = TABLES.iter().find(|table| table.name == name.trim_end_matches(';'));
            let table = table.with_context(|| format!("no table is named {name:?}; \\d lists them"))?;
            print!("{}", rocescope_model::schema::table_text(table));
            return Ok(());
        }
        ("\\questions", _) => {
            print!("{}", questions::list());
            return Ok(());
        }
        ("\\ask", name) => {
            question = questions::find(name)?;
            question.sql
        }
        (command, _) if command.starts_with('\\') => {
            anyhow::bail!("no command {command}; \\? lists them");
        }
        _ => text,
    };
    let begun = Instant::now();
    let rows = runtime.block_on(async {
        tokio::select! {
            rows = run(context, sql, output) => rows,
            _ = ctrl_c() => Err(anyhow::anyhow!("ended by Ctrl-C")),
        }
    })?;
    let noun = if rows == 1 { "row" } else { "rows" };
    eprintln!("{rows} {noun} in {:.3} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// `$XDG_STATE_HOME/rocescope/sql_history`; its folder is made.
fn history_file() -> Option<PathBuf> {
    let state = match env::var_os("XDG_STATE_HOME") {
        Some(state) if !state.is_empty() => PathBuf::from(state),
        _ => PathBuf::from(env::var_os("HOME")?).join(".local/state"),
    };
    let folder = state.join("rocescope");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("sql_history"))
}
