//! `cargo xtask picture [--check]`: `docs/top.svg`, the screen of a test of `rocescope top`.
//!
//! The test drives the real program in tmux; the captured screen, escape codes included, becomes the picture.
//! Everything is deterministic except the program's own processor time and memory, so `--check` compares the texts with
//! all digits equal.

mod screen;
mod svg;

use anyhow::{Context, Result, bail, ensure};
use screen::Screen;
use std::fs;
use xtask::process::{command, root, run as run_command};

const PAGE: &str = "docs/top.svg";
const TEST: [&str; 6] = [
    "test",
    "--quiet",
    "--workspace",
    "--test",
    "terminal",
    "a_session_at_120_by_40",
];

pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let path = root().join(PAGE);
    let drawn = svg::draw(&capture()?);
    match arguments {
        [] => {
            fs::write(&path, drawn).context(PAGE)?;
            println!("wrote {PAGE}");
        }
        ["--check"] => {
            let written = fs::read_to_string(&path).context(PAGE)?;
            ensure!(
                shape(&written) == shape(&drawn),
                "{PAGE} is stale: run `cargo xtask picture` and commit what it writes"
            );
            println!("the picture is up to date");
        }
        _ => bail!("usage: cargo xtask picture [--check]"),
    }
    Ok(())
}

/// Runs the test that saves its screen.
fn capture() -> Result<Screen> {
    let folder = root().join("target");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("picture-{}.ansi", std::process::id()));
    run_command(command("cargo", &TEST).env("ROCESCOPE_PICTURE", &path))?;
    let painted = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    fs::remove_file(&path)?;
    Ok(Screen::read(&painted))
}

/// The words of a picture, without the numbers of the line about the program itself.
fn shape(svg: &str) -> Vec<String> {
    let texts = svg.split("<text ").skip(1);
    let texts = texts.filter_map(|text| Some(text.split_once('>')?.1.split_once("</text>")?.0));
    texts
        .map(|text| match text.split_once("CPU ") {
            Some((before, _)) => before.trim_end().to_owned(),
            None => text.to_owned(),
        })
        .filter(|text| !text.trim_start().starts_with("RSS "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_ignores_the_program_s_own_cost() {
        let picture = |cost: &str| {
            let painted = format!("a \u{1b}[1mb\u{1b}[0m\n\u{1b}[38;5;245mCPU {cost}\u{1b}[39m\n");
            shape(&svg::draw(&Screen::read(&painted)))
        };
        assert_eq!(picture("1.0 %  RSS 30 MiB"), picture("12.0 %  RSS 3.0 MiB"));
        assert!(picture("1")[0].starts_with('a'));
    }
}
