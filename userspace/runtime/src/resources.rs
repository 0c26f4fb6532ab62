//! The resources of this process: measures and reduces them.

use rustix::mm::{Advice, madvise};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::io;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Processor time of all threads so far, in seconds.
#[must_use]
pub fn processor_seconds() -> f64 {
    let spent = clock_gettime(ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// The memory of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Resident memory, in bytes.
    pub resident_bytes: u64,
    /// Address space, in bytes.
    pub virtual_bytes: u64,
}

/// The memory of this process; `None` if the kernel does not report it.
#[must_use]
pub fn memory() -> Option<Memory> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let bytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib * 1024)
    };
    Some(Memory {
        resident_bytes: bytes("VmRSS:")?,
        virtual_bytes: bytes("VmSize:")?,
    })
}

/// Resident memory, in bytes.
#[must_use]
pub fn resident_bytes() -> Option<u64> {
    memory().map(|memory| memory.resident_bytes)
}

/// Number of open files; `None` if the kernel does not report it.
#[must_use]
pub fn open_files() -> Option<usize> {
    let files = fs::read_dir("/proc/self/fd").ok()?;
    // One of them reads the directory.
    Some(files.count().saturating_sub(1))
}

/// Maximum number of open files; `None` without a limit.
#[must_use]
pub fn max_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// When this process started, in seconds since 1970 UTC; `None` if the kernel does not report it.
#[must_use]
pub fn start_seconds() -> Option<f64> {
    // Source: proc_pid_stat(5). Fields are counted from the end of the name, which may contain anything. The kernel
    // counts in ticks of 1/100 s on every architecture (USER_HZ).
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: u64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let up = clock_gettime(ClockId::Boottime);
    let age = up.tv_sec as f64 + up.tv_nsec as f64 / 1e9 - ticks as f64 / 100.0;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(now.as_secs_f64() - age)
}

/// Measures the share of a core that this process uses between two calls.
#[derive(Debug)]
pub struct Meter {
    measured: Instant,
    /// Processor time until then, in seconds.
    spent: f64,
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            measured: Instant::now(),
            spent: processor_seconds(),
        }
    }
}

impl Meter {
    /// The share since the last result: 1 is one core.
    pub fn share(&mut self) -> f64 {
        let (now, spent) = (Instant::now(), processor_seconds());
        let seconds = now.duration_since(self.measured).as_secs_f64();
        let share = (spent - self.spent) / seconds.max(1e-3);
        (self.measured, self.spent) = (now, spent);
        share
    }

    /// The same if the last result is at least `span` old.
    pub fn share_after(&mut self, span: Duration) -> Option<f64> {
        (self.measured.elapsed() >= span).then(|| self.share())
    }
}

/// Raises the limit of open files to `count`. The soft limit is low only for programs that use `select` with
/// its 1,024 bits.
///
/// # Errors
/// The hard limit is lower.
pub fn allow_files(count: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|limit| limit >= count) {
        return Ok(());
    }
    let current = Some(count);
    let raised = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    raised.map_err(|_| {
        let maximum = limit.maximum.unwrap_or(0);
        io::Error::other(format!("{count} open files are required, the limit is {maximum}"))
    })
}

/// Raises the limit of open files as far as this process may.
pub fn allow_most_files() {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum;
    // Lowering is not intended, and a refusal leaves the limit as it is.
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
}

/// Raises the limit of locked memory as far as this process may: without a limit if it may do that.
pub fn allow_locked_memory() {
    let none = Rlimit {
        current: None,
        maximum: None,
    };
    if setrlimit(Resource::Memlock, none).is_err() {
        let limit = getrlimit(Resource::Memlock);
        let current = limit.maximum;
        let _ = setrlimit(Resource::Memlock, Rlimit { current, ..limit });
    }
}

/// The pages of the program and its libraries, which can be released when unused.
///
/// The kernel reads a program's pages sixteen at a time and keeps them while there is memory; a process
/// that runs for months and does little would keep all pages of its start. Pages that are still needed
/// return from the page cache.
#[derive(Debug)]
struct ProgramPages(Vec<(usize, usize)>);

/// Releases the pages of the program and its libraries that are unchanged.
///
/// # Errors
/// The kernel does not report the mappings, or refuses.
pub fn release_program_pages() -> io::Result<()> {
    // The mappings of a program do not change while it runs.
    static PAGES: OnceLock<ProgramPages> = OnceLock::new();
    if let Some(pages) = PAGES.get() {
        return pages.release();
    }
    let found = ProgramPages::find()?;
    PAGES.get_or_init(|| found).release()
}

impl ProgramPages {
    /// Finds the pages.
    ///
    /// # Errors
    /// The kernel does not report the mappings.
    fn find() -> io::Result<Self> {
        let maps = fs::read_to_string("/proc/self/smaps")?;
        let (mut found, mut current) = (Vec::new(), None);
        for line in maps.lines() {
            if let Some(mapping) = file_mapping(line) {
                current = mapping;
            } else if let (Some(range), Some(changed)) = (current, line.strip_prefix("Anonymous:"))
                && changed.trim() == "0 kB"
            {
                found.push(range);
            }
        }
        Ok(Self(found))
    }

    /// Releases them.
    ///
    /// # Errors
    /// The kernel refuses.
    fn release(&self) -> io::Result<()> {
        for (start, end) in &self.0 {
            // SAFETY: the pages belong to a file that is mapped for reading, and none of them was
            // changed: an access reads them from the file again.
            unsafe {
                madvise(
                    std::ptr::with_exposed_provenance_mut(*start),
                    end - start,
                    Advice::LinuxDontNeed,
                )?;
            }
        }
        Ok(())
    }
}

/// The range of a read-only mapping of a file; `Some(None)` for another mapping, `None` for a line that
/// does not start a mapping.
fn file_mapping(line: &str) -> Option<Option<(usize, usize)>> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let (access, inode) = (words.next()?, words.nth(2)?);
    let is_ours = access.starts_with("r-") && access.ends_with('p') && inode != "0";
    Some(is_ours.then_some((start, end)))
}

#[cfg(test)]
mod tests {
    #[test]
    fn released_pages_return_when_they_are_needed() {
        let before = super::resident_bytes().unwrap();
        super::release_program_pages().unwrap();
        let after = super::resident_bytes().unwrap();
        assert!(after < before, "{after} of {before}");
        // This runs code that was just released.
        assert_eq!(format!("{:.3}", 2f64.sqrt()), "1.414");
    }

    #[test]
    fn only_read_only_files_are_released() {
        let line = |access, inode| format!("7f00-7f10 {access} 00000000 fe:00 {inode}    /usr/bin/x");
        let found = |access, inode| super::file_mapping(&line(access, inode));
        assert_eq!(found("r-xp", 5), Some(Some((0x7f00, 0x7f10))));
        assert_eq!(found("rw-p", 5), Some(None));
        assert_eq!(found("r--s", 5), Some(None));
        assert_eq!(found("r--p", 0), Some(None));
        assert_eq!(super::file_mapping("Anonymous:             0 kB"), None);
    }

    #[test]
    fn files_and_start_are_those_of_this_process() {
        let before = super::open_files().unwrap();
        let file = std::fs::File::open("/proc/self/stat").unwrap();
        assert_eq!(super::open_files(), Some(before + 1));
        drop(file);
        assert!(super::max_files().is_none_or(|max| max >= before as u64));
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let age = now.unwrap().as_secs_f64() - super::start_seconds().unwrap();
        assert!((-0.1..600.0).contains(&age), "{age}");
    }

    #[test]
    fn a_process_uses_memory_and_time() {
        assert!(super::resident_bytes().unwrap() > 100_000);
        let before = super::processor_seconds();
        while super::processor_seconds() <= before {}
    }
}
