//! `rocescope collective follow`: steps of collectives, while jobs write them. `rocescope agent` follows the same files.
//!
//! | module | what it does |
//! |---|---|
//! | `growing` | what was appended to a file |

mod growing;

use crate::arguments::{CollectiveFollowArguments, FollowFormat};
use anyhow::{Context, Result};
use growing::Growing;
use rocescope_collective::read::Imported;
use rocescope_collective::read::follow::{Appended, Follower, Format};
use rocescope_model::human::plural;
use rocescope_model::{Row, StepRow};
use rocescope_runtime::clock::now;
use rocescope_runtime::host_name::host_name;
use rocescope_runtime::service::Service;
use rocescope_runtime::signals::Signals;
use rocescope_runtime::status;
use rocescope_store::{Options, Writer};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Time between two reads.
pub(in crate::commands) const STEP: Duration = Duration::from_millis(100);

pub(super) fn run(arguments: &CollectiveFollowArguments) -> Result<ExitCode> {
    let signals = Signals::install()?;
    let out = arguments.out.as_ref().context("set --out DATASET")?;
    let observer = match &arguments.observer {
        Some(observer) => observer.clone(),
        None => host_name()?,
    };
    if arguments.ranks.is_some() {
        status!("steps are not watched: that needs the probes of `rocescope agent`");
    }
    let mut following = Following::new(arguments, &observer);
    let options = Options {
        tables: &[StepRow::TABLE],
        ..Options::new(&*observer)
    };
    let mut writer = Writer::create(out, options)?;
    let mut service = Service::default();
    let begun = Instant::now();
    let is_over = || arguments.duration.is_some_and(|duration| begun.elapsed() >= duration);
    let mut steps = 0;
    while !signals.ended() && !is_over() {
        service.alive(Instant::now());
        for appended in following.turn(now().0) {
            steps += appended.ended.steps.len() as u64;
            writer.append_cells(&appended.ended.steps, Instant::now())?;
        }
        signals.wait(STEP);
    }
    Service::stopping();
    let open = following.open();
    steps += open.len() as u64;
    writer.append_cells(&open, Instant::now())?;
    writer.finish()?;
    status!("rocescope: {} in {}", plural(steps, "step"), out.display());
    Ok(ExitCode::SUCCESS)
}

/// The files that jobs write.
pub(in crate::commands) struct Following {
    paths: Vec<PathBuf>,
    format: Format,
    observer: String,
    files: BTreeMap<PathBuf, (Growing, Follower)>,
    /// The steps that go on, by file.
    open: BTreeMap<PathBuf, Vec<StepRow>>,
    /// Files that are there at the first read are not read again.
    is_first: bool,
    /// What was reported.
    reported: HashSet<String>,
}

impl Following {
    /// Follows the files that the arguments name.
    pub(in crate::commands) fn new(arguments: &CollectiveFollowArguments, observer: &str) -> Self {
        Self {
            paths: arguments.steps.clone(),
            format: match arguments.format {
                FollowFormat::Comma => Format::Comma,
                FollowFormat::NcclProfiler => Format::NcclProfiler,
                FollowFormat::NcclInspector => Format::NcclInspector,
                FollowFormat::FlightRecorder => Format::FlightRecorder,
            },
            observer: observer.to_owned(),
            files: BTreeMap::new(),
            open: BTreeMap::new(),
            is_first: true,
            reported: HashSet::new(),
        }
    }

    /// What was appended to each file since the last turn. What is wrong with a file is reported once.
    pub(in crate::commands) fn turn(&mut self, now_ns: i64) -> Vec<Appended> {
        let is_first = std::mem::take(&mut self.is_first);
        let paths = growing::list(&self.paths);
        self.files.retain(|path, _| paths.contains(path));
        self.open.retain(|path, _| paths.contains(path));
        let mut all = Vec::new();
        for path in paths {
            let name = path
                .file_name()
                .unwrap_or(path.as_os_str())
                .to_string_lossy()
                .into_owned();
            let (growing, reader) = self.files.entry(path.clone()).or_insert_with(|| {
                let follower = Follower::new(self.format, &name, &self.observer);
                (Growing::new(&path, is_first), follower)
            });
            let piece = match growing.read() {
                Ok(Some(piece)) => piece,
                Ok(None) => continue,
                Err(error) => {
                    self.report(&format!("cannot read {}: {error}", path.display()));
                    continue;
                }
            };
            if piece.is_another {
                *reader = Follower::new(self.format, &name, &self.observer);
            }
            let mut appended = reader.take(&piece.text, now_ns);
            if piece.is_old {
                // They were sent before, or are of no use any more; from whom ranks receive stays true.
                appended.ended = Imported {
                    receives: appended.ended.receives,
                    ..Imported::default()
                };
            }
            self.open.insert(path.clone(), appended.open.clone());
            all.push(appended);
        }
        for appended in &all {
            for (kind, first) in appended.ended.complaints.kinds() {
                if self.reported.insert(kind.to_owned()) {
                    status!("{first}: {kind}");
                }
            }
        }
        all
    }

    /// The steps that go on.
    pub(in crate::commands) fn open(&self) -> Vec<StepRow> {
        self.open.values().flatten().cloned().collect()
    }

    fn report(&mut self, line: &str) {
        if self.reported.insert(line.to_owned()) {
            status!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};
    use std::io::Write;
    use std::path::Path;

    fn object(number: u64) -> String {
        format!(
            "{{\"name\":\"a\",\"comm_hash\":\"1\",\"rank\":0,\"seq_num\":{number},\"proxyops\":[{{\"is_send\":true,\"peer\":1,\
             \"steps\":[{{\"step\":1,\"start_time\":{number},\"end_time\":{},\"size\":5}}]}}]}}",
            number + 1
        )
    }

    fn append(path: &Path, text: &str) {
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn steps_are_read_once_as_files_grow_appear_and_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        append(&at("old"), &format!("[{}, ", object(1)));
        let arguments = CollectiveFollowArguments {
            format: FollowFormat::Comma,
            steps: vec![directory.path().into()],
            out: None,
            observer: None,
            duration: None,
            ranks: None,
            threshold: 150,
            min_delay: Duration::ZERO,
            detections: 1,
            interval: STEP,
            burst: 1,
            source_port: 1,
            max_paths: 1,
        };
        let mut following = Following::new(&arguments, "h0");
        let mut turn = || {
            let all = following.turn(9);
            let steps = all.into_iter().flat_map(|appended| appended.ended.steps);
            steps.map(|row| row.time_ns / 1_000).collect::<Vec<_>>()
        };
        assert!(turn().is_empty(), "what is there already is not read again");
        let second = object(2);
        let (half, rest) = second.split_at(30);
        append(&at("old"), half);
        assert!(turn().is_empty());
        append(&at("old"), rest);
        append(&at("new"), &object(3));
        assert_eq!(turn(), [3, 2], "in the order of the names");
        assert!(turn().is_empty());
        fs::remove_file(at("old")).unwrap();
        fs::write(at("new"), &object(4)[..40]).unwrap();
        assert!(turn().is_empty());
        fs::write(at("new"), object(4)).unwrap();
        assert_eq!(turn(), [4], "the file was replaced by one of another length");
    }
}
