//! A command of the shell that reads a message from its standard input.

use std::io::Write;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time between two looks at a command that runs.
const LOOK: Duration = Duration::from_millis(20);

/// Runs it once.
///
/// # Errors
/// Why it failed, in words: it cannot be started, takes longer than `longest`, or ends with another status than 0.
pub fn run(command: &str, message: &str, longest: Duration) -> Result<(), String> {
    let mut child = Command::new("/bin/sh");
    let child = child.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = child.spawn().map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A command that reads nothing closes it early.
        let _ = input.write_all(message.as_bytes());
    }
    let begun = Instant::now();
    let ended: ExitStatus = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < longest => std::thread::sleep(LOOK),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("stopped after {} s", longest.as_secs()));
            }
            Err(error) => return Err(error.to_string()),
        }
    };
    match ended.success() {
        true => Ok(()),
        false => Err(format!("`{command}`: {ended}")),
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::time::Duration;

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn it_reads_the_message_and_its_failure_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        run(&format!("cat > {}", log.display()), "a message", LONG).unwrap();
        assert_eq!(std::fs::read_to_string(log).unwrap(), "a message");
        assert!(run("false", "", LONG).unwrap_err().starts_with("`false`: "));
    }

    #[test]
    fn a_command_that_hangs_is_stopped() {
        let ended = run("sleep 600", "", Duration::from_millis(50));
        assert!(ended.unwrap_err().starts_with("stopped after"));
    }
}
