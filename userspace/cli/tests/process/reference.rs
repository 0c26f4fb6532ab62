//! Every `--help`, manual page, completion and the template in the tree matches the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn generated_files_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = rocescope::reference::files().unwrap();
    for (path, text) in &files {
        let written = fs::read_to_string(root.join(path)).unwrap_or_default();
        assert!(
            written == *text,
            "{path} is stale: run `cargo xtask docs` and commit what it writes"
        );
    }
    // No page of a removed command is left.
    let known: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    for folder in ["deploy/man", "deploy/completions"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            let name = entry.unwrap().file_name();
            let path = format!("{folder}/{}", name.to_str().unwrap());
            assert!(known.contains(path.as_str()), "{path} belongs to no command");
        }
    }
}
