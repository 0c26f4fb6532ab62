//! `rocescope dataset sql`: SQL over datasets. `rocescope` starts this program, `rocescope-sql`.

mod arguments;
mod dataset;
mod functions;
mod output;
mod prompt;
mod pruning;
mod questions;
mod schema;
mod session;
mod statements;
mod table;

use anyhow::{Context, Result};
use arguments::Arguments;
use clap::Parser;
use output::Output;
use std::io::{self, IsTerminal, Read, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<()> {
    if arguments.list {
        let text = match &arguments.question {
            Some(name) => questions::find(name)?.sql.to_owned(),
            None => questions::list(),
        };
        return Ok(io::stdout().write_all(text.as_bytes())?);
    }
    let mut texts = arguments.command.clone();
    if let Some(file) = &arguments.file {
        texts.push(std::fs::read_to_string(file).with_context(|| file.display().to_string())?);
    }
    if let Some(name) = &arguments.question {
        texts.push(questions::find(name)?.sql.to_owned());
    }
    let is_prompt = texts.is_empty() && io::stdin().is_terminal();
    if texts.is_empty() && !is_prompt {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("standard input")?;
        texts.push(text);
    }
    let datasets = arguments.datasets.iter().map(|place| dataset::open(place));
    let datasets = datasets.collect::<Result<Vec<_>>>()?;
    let mut output = Output::open(arguments.output, arguments.out.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let context = runtime.block_on(session::open(&datasets, &arguments.limits))?;
    if is_prompt {
        return prompt::start(&runtime, &context, &mut output);
    }
    for text in &texts {
        runtime.block_on(statements::run(&context, text, &mut output))?;
    }
    Ok(())
}

/// Whether the reader of the output left, as `head` does.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
