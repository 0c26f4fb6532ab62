//! The versions of the controller's configuration: a directory with a file for each, written once and never changed.
//! The one with the highest number is in force.

use super::durable::{self, UNFINISHED};
use super::message::Version;
use super::plan::Plan;
use crate::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Versions that are kept; older ones are removed.
const KEPT: usize = 100;
const END: &str = ".toml";
/// In the first line of a version that an operator rolled back to: before the number of the version that it repeats.
const TEXT_OF: &str = ", the text of ";

/// The versions on disk.
#[derive(Debug)]
pub struct Versions {
    directory: PathBuf,
    latest: Version,
    plan: Plan,
}

impl Versions {
    /// Whether the directory has a version.
    #[must_use]
    pub fn exist(directory: &Path) -> bool {
        numbers(directory).is_ok_and(|numbers| !numbers.is_empty())
    }

    /// Opens the directory. If it has no version, `first` becomes the first one.
    ///
    /// # Errors
    /// It cannot be read or written, or has no version and there is no first one.
    pub fn open(directory: &Path, first: Option<&str>, now_ns: i64) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|cause| Error::io("create", directory, cause))?;
        let invalid = |path: &Path, reason: String| Error::Control {
            path: path.to_owned(),
            reason,
        };
        for path in files(directory)? {
            if path.extension() == Some(UNFINISHED.as_ref()) {
                // Left by a kill in the middle of a write; harmless if it cannot be removed.
                let _ = fs::remove_file(path);
            }
        }
        let Some(number) = numbers(directory)?.pop() else {
            let Some(text) = first else {
                let reason = "it has no version of the configuration: set --control FILE for the first start".into();
                return Err(invalid(directory, reason));
            };
            let plan = Plan::parse(text).map_err(|reason| invalid(directory, reason))?;
            let mut versions = Self {
                directory: directory.to_owned(),
                latest: Version::default(),
                plan: plan.clone(),
            };
            versions.write(plan, text, None, "start", now_ns)?;
            return Ok(versions);
        };
        let latest = read(directory, number)?;
        let plan = Plan::parse(&latest.text).map_err(|reason| invalid(&path(directory, number), reason))?;
        Ok(Self {
            directory: directory.to_owned(),
            latest,
            plan,
        })
    }

    /// The version in force.
    #[must_use]
    pub const fn latest(&self) -> &Version {
        &self.latest
    }

    /// The version in force, parsed.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A version.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn get(&self, number: u64) -> Result<Version, String> {
        let known = numbers(&self.directory).unwrap_or_default();
        if !known.contains(&number) {
            let first = known.first().copied().unwrap_or_default();
            return Err(format!(
                "there is no version {number}: the controller has {first} to {}",
                self.latest.number
            ));
        }
        read(&self.directory, number).map_err(|error| error.to_string())
    }

    /// Puts a text in force as the next version; a text that is in force already stays.
    ///
    /// # Errors
    /// It is invalid or locks out the operator who applies it, or it cannot be written.
    pub fn apply(&mut self, text: &str, by: &str, now_ns: i64) -> Result<bool, String> {
        self.put(text, None, by, now_ns)
    }

    /// Puts the text of an earlier version in force as the next version: without a number, of the one that was in force
    /// before the text that is. So several rollbacks go back step by step.
    ///
    /// # Errors
    /// Those of [`apply`](Self::apply); there is no such version.
    pub fn roll_back(&mut self, number: Option<u64>, by: &str, now_ns: i64) -> Result<bool, String> {
        let number = match number {
            Some(number) => number,
            None => match self.latest.first_with_text() {
                1 => {
                    return Err(
                        "the text of version 1 is in force, and none was before it: name a version, `rocescope collector \
                         rollback VERSION`"
                            .into(),
                    );
                }
                first => first - 1,
            },
        };
        let version = self.get(number)?;
        self.put(&version.text, Some(version.first_with_text()), by, now_ns)
    }

    /// The version that had the text of this version first: itself, unless that was rolled back to.
    #[must_use]
    pub fn first_with_text_of(&self, number: u64) -> u64 {
        if number == self.latest.number {
            return self.latest.first_with_text();
        }
        self.get(number).map_or(number, |version| version.first_with_text())
    }

    /// What [`apply`](Self::apply) would put in force, parsed.
    ///
    /// # Errors
    /// It is invalid, or locks out the operator who would apply it.
    pub fn check(text: &str, by: &str) -> Result<Plan, String> {
        let plan = Plan::parse(text)?;
        match plan.is_operator(by) {
            true => Ok(plan),
            false => Err(format!("it would lock you out: keep {by} among the operators")),
        }
    }

    fn put(&mut self, text: &str, text_of: Option<u64>, by: &str, now_ns: i64) -> Result<bool, String> {
        let plan = Self::check(text, by)?;
        if text == self.latest.text {
            return Ok(false);
        }
        self.write(plan, text, text_of, by, now_ns)
            .map_err(|error| error.to_string())?;
        Ok(true)
    }

    fn write(&mut self, plan: Plan, text: &str, text_of: Option<u64>, by: &str, now_ns: i64) -> Result<(), Error> {
        let next = Version {
            number: self.latest.number + 1,
            text_of,
            applied_ns: now_ns,
            applied_by: by.to_owned(),
            text: text.to_owned(),
        };
        let path = path(&self.directory, next.number);
        let of = text_of.map_or_else(String::new, |number| format!("{TEXT_OF}{number}"));
        let content = format!("# version {}{of} applied {now_ns} by {by}\n{text}", next.number);
        durable::replace(&path, content.as_bytes()).map_err(|cause| Error::io("write", &path, cause))?;
        (self.latest, self.plan) = (next, plan);
        let known = numbers(&self.directory)?;
        for old in known.iter().rev().skip(KEPT) {
            let _ = fs::remove_file(self::path(&self.directory, *old));
        }
        Ok(())
    }
}

fn path(directory: &Path, number: u64) -> PathBuf {
    directory.join(format!("{number:010}{END}"))
}

fn files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |cause| Error::io("read", directory, cause);
    let entries = fs::read_dir(directory).map_err(failed)?;
    entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect()
}

/// The numbers of all versions, ascending.
fn numbers(directory: &Path) -> Result<Vec<u64>, Error> {
    let files = files(directory)?;
    let number = |path: &PathBuf| path.file_name()?.to_str()?.strip_suffix(END)?.parse().ok();
    let mut numbers: Vec<u64> = files.iter().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read(directory: &Path, number: u64) -> Result<Version, Error> {
    let path = path(directory, number);
    let content = fs::read_to_string(&path).map_err(|cause| Error::io("read", &path, cause))?;
    let header = |content: &str| {
        let (header, text) = content.split_once('\n')?;
        let (of, rest) = header.strip_prefix("# version ")?.split_once(" applied ")?;
        let (at, by) = rest.split_once(" by ")?;
        let text_of = of.split_once(TEXT_OF).map(|(_, number)| number.parse());
        Some(Version {
            number,
            text_of: text_of.transpose().ok()?,
            applied_ns: at.parse().ok()?,
            applied_by: by.to_owned(),
            text: text.to_owned(),
        })
    };
    header(&content).ok_or_else(|| Error::Control {
        path: path.clone(),
        reason: "its first line is not that of a version: remove the file to fall back to the one before".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::Versions;

    const ONE: &str = "operators = [\"ops\"]\n";
    const TWO: &str = "operators = [\"ops\", \"b\"]\n";

    #[test]
    fn versions_are_numbered_and_survive() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Versions::open(directory.path(), None, 0).is_err());
        let mut versions = Versions::open(directory.path(), Some(ONE), 5).unwrap();
        assert!(versions.apply(TWO, "ops", 6).unwrap());
        assert!(!versions.apply(TWO, "ops", 7).unwrap(), "it is in force");
        assert!(
            versions
                .apply("operators = [\"b\"]\n", "ops", 8)
                .unwrap_err()
                .contains("lock you out")
        );
        drop(versions);
        // A kill in the middle of a write.
        std::fs::write(directory.path().join("0000000003.toml.tmp"), "oper").unwrap();
        let versions = Versions::open(directory.path(), Some(ONE), 9).unwrap();
        let latest = versions.latest();
        assert_eq!((latest.number, latest.applied_ns, &*latest.applied_by), (2, 6, "ops"));
        assert_eq!(latest.text, TWO);
        assert_eq!(versions.get(1).unwrap().text, ONE);
        assert!(versions.get(3).unwrap_err().contains("has 1 to 2"));
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
    }

    #[test]
    fn rollbacks_go_back_step_by_step_and_never_to_what_was_rolled_back() {
        let directory = tempfile::tempdir().unwrap();
        let text = |name: &str| format!("{ONE}# {name}\n");
        let mut versions = Versions::open(directory.path(), Some(&text("first")), 0).unwrap();
        for name in ["good", "bad"] {
            versions.apply(&text(name), "ops", 0).unwrap();
        }
        let back = |versions: &mut Versions, number| {
            versions.roll_back(number, "ops", 0)?;
            let latest = versions.latest();
            Ok::<_, String>((latest.number, latest.text_of, latest.text.clone()))
        };
        assert_eq!(back(&mut versions, None), Ok((4, Some(2), text("good"))));
        // Across a restart.
        drop(versions);
        let mut versions = Versions::open(directory.path(), None, 0).unwrap();
        assert_eq!(back(&mut versions, None), Ok((5, Some(1), text("first"))));
        let error = back(&mut versions, None).unwrap_err();
        assert!(error.contains("none was before it"), "{error}");
        // A number that repeats another one names the one that it repeats.
        assert_eq!(back(&mut versions, Some(4)), Ok((6, Some(2), text("good"))));
        versions.apply(&text("new"), "ops", 0).unwrap();
        assert_eq!(versions.latest().text_of, None);
        assert_eq!(back(&mut versions, None), Ok((8, Some(2), text("good"))));
        assert_eq!(back(&mut versions, None), Ok((9, Some(1), text("first"))));
    }

    #[test]
    fn old_versions_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let mut versions = Versions::open(directory.path(), Some(ONE), 0).unwrap();
        for n in 0..super::KEPT {
            let text = format!("{ONE}# {n}\n");
            assert!(versions.apply(&text, "ops", 0).unwrap());
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), super::KEPT);
        assert!(versions.get(1).is_err() && versions.get(2).is_ok());
    }
}
