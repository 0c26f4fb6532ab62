//! `cargo xtask words`: refuses the words that `docs/style.md` replaces, anywhere in the project.
//!
//! `.ci/words.txt` lists the words. Code counts as text: an identifier that is such a word needs a better name.

use crate::process::{command, root};
use anyhow::{Context, Result, bail, ensure};
use std::fs;

/// The list, and the page that explains it.
const EXEMPT: [&str; 2] = [".ci/words.txt", "docs/style.md"];
const EXTENSIONS: [&str; 7] = ["rs", "md", "toml", "service", "sh", "py", "run"];

/// A word and what to write instead.
struct Rule<'a> {
    word: &'a str,
    instead: &'a str,
}

/// Prints every place of every listed word, and fails if there is any.
pub(crate) fn run() -> Result<()> {
    let list = fs::read_to_string(root().join(EXEMPT[0])).context(EXEMPT[0])?;
    let rules = rules(&list)?;
    let mut places = 0;
    for file in files()? {
        let Ok(text) = fs::read_to_string(root().join(&file)) else {
            continue;
        };
        for (number, line) in text.lines().enumerate() {
            for rule in found(line, &rules) {
                places += 1;
                println!("{file}:{}: `{}`: write {}", number + 1, rule.word, rule.instead);
            }
        }
    }
    ensure!(places == 0, "{places} places to reword (docs/style.md)");
    Ok(())
}

/// The text files that git tracks.
fn files() -> Result<Vec<String>> {
    let output = command("git", &["ls-files"]).output().context("git ls-files")?;
    ensure!(output.status.success(), "git ls-files failed");
    let names = String::from_utf8(output.stdout).context("git ls-files")?;
    let is_text = |name: &&str| {
        let extension = name.rsplit(['.', '/']).next().unwrap_or_default();
        EXTENSIONS.contains(&extension) && !EXEMPT.contains(name)
    };
    Ok(names.lines().filter(is_text).map(Into::into).collect())
}

fn rules(list: &str) -> Result<Vec<Rule<'_>>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(" = ") {
            Some((word, instead)) => Ok(Rule { word, instead }),
            None => bail!("{}: `{line}` is not `word = use`", EXEMPT[0]),
        })
        .collect()
}

/// The rules whose word is in the line.
fn found<'a>(line: &str, rules: &'a [Rule<'a>]) -> impl Iterator<Item = &'a Rule<'a>> {
    let line = line.to_lowercase();
    rules.iter().filter(move |rule| has_word(&line, rule.word))
}

/// Whether `word` is in `line` as a whole word. `_` and `-` belong to a word: `so_many` is another.
fn has_word(line: &str, word: &str) -> bool {
    let within = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(within) && !line[at + word.len()..].starts_with(within))
}

#[cfg(test)]
mod tests {
    use super::{found, has_word, rules};

    #[test]
    fn a_word_is_found_whole_and_in_any_case() {
        let rules = rules("# comment\n\nfoo = bar\nthe foo = N\n").expect("rules");
        let words = |line| found(line, &rules).map(|rule| rule.word).collect::<Vec<_>>();
        assert_eq!(words("See The Foo."), ["foo", "the foo"]);
        assert!(words("food, the_foo, a-foo").is_empty());
    }

    #[test]
    fn a_line_without_an_alternative_is_refused() {
        assert!(rules("foo\n").is_err());
        assert!(!has_word("stand-alone", "stand"));
    }
}
