//! The command-line crate composes and prints. A command that starts a thread, or a crate that grows past its budget of
//! lines, is a system that belongs into a crate of its own.

use super::no_std::sources;
use super::workspace::Crate;
use crate::process::root;
use anyhow::Result;

/// The package of the command line.
const NAME: &str = "rocescope";
/// Lines outside of tests.
const MAX_LINES: usize = 15_000;
/// What starts a thread.
const THREADS: [&str; 3] = ["thread::spawn", "thread::Builder", "thread::scope"];

/// Every rule of the command line that is broken.
pub(super) fn problems(crates: &[Crate]) -> Result<Vec<String>> {
    let Some(found) = crates.iter().find(|found| found.name == NAME) else {
        return Ok(vec![format!("{NAME} does not exist")]);
    };
    let directory = root().join(&found.path).join("src");
    Ok(broken(&sources(&directory)?))
}

fn broken(files: &[(String, String)]) -> Vec<String> {
    let product = || files.iter().filter(|(path, _)| !is_test(path));
    let mut broken = Vec::new();
    for (path, text) in product().filter(|(path, _)| path.contains("/commands/")) {
        let found = THREADS
            .iter()
            .find(|thread| before_tests(text).any(|line| line.contains(*thread)));
        broken.extend(found.map(|thread| format!("{NAME}: {path} starts a thread: {thread}")));
    }
    let lines: usize = product().map(|(_, text)| before_tests(text).count()).sum();
    if lines > MAX_LINES {
        broken.push(format!(
            "{NAME} has {lines} lines outside of tests; at most {MAX_LINES}"
        ));
    }
    broken
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// The lines above the tests, which the project keeps at the end of a file.
fn before_tests(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().zip(text.lines().skip(1).chain([""]));
    let is_product = |(line, next): &(&str, &str)| !(*line == "#[cfg(test)]" && next.starts_with("mod "));
    lines.take_while(is_product).map(|(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> (String, String) {
        (path.into(), text.into())
    }

    #[test]
    fn a_command_starts_no_thread() {
        let text = "let thread = std::thread::Builder::new();\n";
        assert_eq!(broken(&[file("cli/src/commands/agent.rs", text)]).len(), 1);
        assert!(broken(&[file("cli/src/progress.rs", text)]).is_empty());
        let test = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert!(broken(&[file("cli/src/commands/agent.rs", &test)]).is_empty());
    }

    #[test]
    fn lines_of_tests_do_not_count() {
        let long = "//\n".repeat(MAX_LINES + 1);
        assert_eq!(broken(&[file("cli/src/a.rs", &long)]).len(), 1);
        assert!(broken(&[file("cli/src/a/tests.rs", &long)]).is_empty());
        assert!(broken(&[file("cli/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{long}}}\n"))]).is_empty());
    }
}
