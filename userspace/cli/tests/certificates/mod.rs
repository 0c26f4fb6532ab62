//! Makes certificates with the commands of `docs/hostmesh.md`, as an operator types them.

use std::path::Path;
use std::process::Command;

const DOCUMENT: &str = include_str!("../../../../docs/hostmesh.md");

/// Runs the commands in a directory and signs one certificate for each owner: file name, names in the certificate.
pub(crate) fn make(directory: &Path, owners: &[(&str, &str)]) {
    let (_, rest) = DOCUMENT.split_once("```sh\n").unwrap();
    let (commands, _) = rest.split_once("```").unwrap();
    let sign = |(file, names): &(&str, &str)| format!("sign {file} {names}\n");
    let script = commands.to_owned() + &owners.iter().map(sign).collect::<String>();
    let mut shell = Command::new("sh");
    let made = shell.args(["-euc", &script]).current_dir(directory).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{made:?}");
}
