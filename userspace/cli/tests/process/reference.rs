//! The generated files in the tree match the program, and it has a manual page for each command.

use clap_complete::Shell;
use rocescope::reference;
use std::fs;
use std::path::Path;

#[test]
fn generated_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (path, text) in reference::files() {
        let written = fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            written == text,
            "{path} is stale: run `cargo xtask docs` and commit what it writes"
        );
    }
}

/// `cargo xtask package` asks the program for both.
#[test]
fn every_command_has_a_manual_page_and_completions() {
    let pages = reference::manual().unwrap();
    let completions = [Shell::Bash, Shell::Fish, Shell::Zsh].map(reference::completions);
    assert!(pages.len() > 20, "{}", pages.len());
    for (name, page) in pages {
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
        let command = name.trim_end_matches(".1").rsplit('-').next().unwrap();
        for script in &completions {
            assert!(script.contains(command), "{name}");
        }
    }
}
