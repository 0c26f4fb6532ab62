//! `cargo xtask lab [NAME…] [--full]`: one table of all accuracies, each beside its goal.

use rocescope_lab::EVALUATIONS;
use rocescope_lab::table::{self, Size};
use std::process::ExitCode;
use std::time::Instant;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, names): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|word| word.starts_with('-'));
    let is_known = |name: &&&String| EVALUATIONS.iter().any(|(known, _)| *known == name.as_str());
    let wrong = names.iter().find(|name| !is_known(name));
    if let Some(wrong) = options.iter().find(|option| ***option != "--full").or(wrong) {
        let known: Vec<&str> = EVALUATIONS.iter().map(|(name, _)| *name).collect();
        eprintln!(
            "{wrong}: expected cargo xtask lab [NAME…] [--full]; names are {}",
            known.join(", ")
        );
        return ExitCode::FAILURE;
    }
    let size = Size {
        full: !options.is_empty(),
        details: !names.is_empty(),
    };
    println!("{}", table::header());
    let mut missed = 0;
    for (name, evaluate) in EVALUATIONS {
        if names.is_empty() || names.iter().any(|chosen| chosen.as_str() == name) {
            let begun = Instant::now();
            let lines = evaluate(size);
            print!("{}", table::text(name, &lines, begun.elapsed(), size));
            missed += lines.iter().filter(|line| !line.is_met()).count();
        }
    }
    if missed > 0 {
        println!("\n{missed} goals are missed");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
