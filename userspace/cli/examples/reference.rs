//! Writes the files generated from the command line into a directory: `cargo xtask docs` names the root of the project.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: reference DIR")?);
    for (path, text) in rocescope::reference::files() {
        let path = root.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
