//! What `/proc` has of a process: when it started, its user, its command line.

use super::files;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `/proc/PID/stat` has a line; the name in it has at most 64 bytes.
const MAX_STAT: usize = 4096;
/// `/proc/PID/status` has some sixty lines; the groups of a user may be many and come after its number.
const MAX_STATUS: usize = 4096;
const MAX_CGROUP: usize = 64 << 10;
/// The kernel gives one argument up to 128 KiB; an environment rarely has more than a few.
const MAX_ENVIRONMENT: usize = 256 << 10;
/// More of a command line is not stored.
pub(super) const MAX_COMMAND: usize = 1024;

/// The directory of a process.
#[derive(Clone, Debug)]
pub(super) struct Process(PathBuf);

impl Process {
    pub(super) fn new(proc: &Path, pid: u32) -> Self {
        Self(proc.join(pid.to_string()))
    }

    /// When it started, since the host did; `None` if it ended. With its number, this names a process: numbers are used
    /// again.
    pub(super) fn started(&self) -> Option<Duration> {
        started(&files::text(&self.0.join("stat"), MAX_STAT).ok()?)
    }

    /// The number of its user.
    pub(super) fn user(&self) -> Option<u32> {
        user(&files::text(&self.0.join("status"), MAX_STATUS).ok()?)
    }

    /// Its control groups.
    pub(super) fn cgroup(&self) -> Option<String> {
        files::text(&self.0.join("cgroup"), MAX_CGROUP).ok()
    }

    /// The environment that it began with.
    ///
    /// # Errors
    /// Permission is denied without the right to trace it.
    pub(super) fn environment(&self) -> io::Result<Vec<u8>> {
        files::read(&self.0.join("environ"), MAX_ENVIRONMENT)
    }

    /// Its name.
    pub(super) fn name(&self) -> Option<String> {
        files::text(&self.0.join("comm"), 64).ok()
    }

    /// Its arguments, separated by spaces; `None` if it has none.
    pub(super) fn command(&self) -> Option<String> {
        // One more, as a character may be cut.
        let bytes = files::read(&self.0.join("cmdline"), MAX_COMMAND + 4).ok()?;
        let text = String::from_utf8_lossy(&bytes).replace('\0', " ");
        (!text.trim().is_empty()).then_some(text)
    }
}

/// The 22nd field, in hundredths of a second on every architecture (`USER_HZ`). The name in parentheses may have spaces and
/// parentheses itself.
fn started(stat: &str) -> Option<Duration> {
    let after_name = stat.rsplit_once(')')?.1;
    let ticks: u64 = after_name.split_ascii_whitespace().nth(19)?.parse().ok()?;
    Some(Duration::from_millis(ticks.checked_mul(10)?))
}

/// The first number of `Uid:` is the real one.
fn user(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_is_found_behind_any_name() {
        let stat = |name: &str| {
            format!(
                "42 ({name}) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 200 18446744073709551615\n"
            )
        };
        for name in ["train", "a) S 1 (b", "", "x y", ") ) )"] {
            assert_eq!(started(&stat(name)), Some(Duration::from_millis(1_234_560)), "{name}");
        }
        assert_eq!(started("42 (train) S 1 42"), None);
        assert_eq!(started(""), None);
        assert_eq!(started(&stat("x").replace("123456", "18446744073709551615")), None);
    }

    #[test]
    fn the_user_is_the_real_one() {
        assert_eq!(user("Name:\ttrain\nUid:\t1000\t0\t0\t0\nGid:\t5\n"), Some(1000));
        // A name cannot have an end of a line: the kernel writes `\n`.
        assert_eq!(user("Name:\tx\\nUid: 0\nUid:\t7\t7\t7\t7\n"), Some(7));
        assert_eq!(user("Name:\ttrain\n"), None);
    }

    #[test]
    fn this_process_is_read() {
        let own = Process::new(Path::new("/proc"), std::process::id());
        assert!(own.started().is_some());
        assert_eq!(own.user(), Some(rustix::process::getuid().as_raw()));
        assert!(own.command().unwrap().contains("rocescope"), "{:?}", own.command());
        assert!(own.environment().is_ok());
        assert!(own.cgroup().is_some());
        assert_eq!(Process::new(Path::new("/proc"), u32::MAX).started(), None);
    }
}
