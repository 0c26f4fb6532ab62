//! Variables with which a job writes what the readers of this crate read, and where its files are then.
//!
//! None of these variables changes how a job communicates: they name files, and switch on what fills them.

use crate::read::{File, Imported, comma, flight_recorder, nccl_inspector, nccl_profiler};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use rocescope_model::Time;

/// Folder of the logs of NCCL, below that of the job.
pub const LOGS: &str = "nccl";

/// The file with the topology that NCCL found, below the folder of the job.
pub const TOPOLOGY: &str = "topology.xml";

/// Reads the files of a folder.
pub type Reader = fn(&[File], &str) -> Imported;

/// Folders with steps below that of the job, and what reads them.
pub const STEPS: [(&str, Reader); 4] = [
    ("flight-recorder", flight_recorder::read),
    ("nccl-profiler", nccl_profiler::read),
    ("comma", comma::read),
    ("nccl-inspector", nccl_inspector::read),
];

/// Times before this one count from the start of a process: a year.
const FROM_A_START_NS: i64 = 365 * 24 * 3_600_000_000_000;

/// A variable for jobs.
struct Variable {
    name: &'static str,
    /// `{}` is the folder of the job.
    value: &'static str,
    /// Other names of the same setting.
    others: &'static [&'static str],
    /// Whether only plug-ins of NCCL that profile read it.
    of_profiler: bool,
}

impl Variable {
    const fn new(name: &'static str, value: &'static str, others: &'static [&'static str]) -> Self {
        Self {
            name,
            value,
            others,
            of_profiler: false,
        }
    }

    const fn of_profiler(name: &'static str, value: &'static str) -> Self {
        Self {
            name,
            value,
            others: &[],
            of_profiler: true,
        }
    }
}

/// Sources: `src/debug.cc` and `src/graph/topo.cc` of NCCL, `FlightRecorder.hpp` of `PyTorch`, the pages of the plug-ins.
const VARIABLES: [Variable; 13] = [
    // Without a level NCCL writes no file; warnings are what a job that fails leaves.
    Variable::new("NCCL_DEBUG", "WARN", &[]),
    Variable::new("NCCL_DEBUG_FILE", "{}/nccl/%h.%p.log", &[]),
    Variable::new("NCCL_TOPO_DUMP_FILE", "{}/topology.xml", &[]),
    Variable::new("TORCH_NCCL_TRACE_BUFFER_SIZE", "2000", &["TORCH_FR_BUFFER_SIZE"]),
    Variable::new("TORCH_NCCL_DUMP_ON_TIMEOUT", "1", &["TORCH_FR_DUMP_ON_TIMEOUT"]),
    Variable::new(
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
        "{}/flight-recorder/rank_",
        &["TORCH_FR_DUMP_TEMP_FILE"],
    ),
    Variable::of_profiler("NCCL_PROFILE_EVENT_MASK", "4095"),
    Variable::of_profiler("NCCL_PROFILE_DUMP_FILE", "{}/nccl-profiler/trace"),
    Variable::of_profiler("NCCL_PROFILER_USE_GPUVIZ", "false"),
    Variable::of_profiler("NCCL_PROFILER_LATENCY_FILE", "{}/comma/%p.json"),
    Variable::of_profiler("NCCL_INSPECTOR_ENABLE", "1"),
    Variable::of_profiler("NCCL_INSPECTOR_DUMP_VERBOSE", "1"),
    Variable::of_profiler("NCCL_INSPECTOR_DUMP_DIR", "{}/nccl-inspector"),
];

/// A variable of the environment of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the user has set it, under this or another name of the setting.
    pub is_kept: bool,
}

/// The variables for a job whose files go to this folder. What the user has set, as `set` reports, stays.
pub fn settings(folder: &str, has_profiler: bool, set: impl Fn(&str) -> Option<String>) -> Vec<Setting> {
    let wanted = VARIABLES.iter().filter(|one| has_profiler || !one.of_profiler);
    let setting = |one: &Variable| {
        let mut names = core::iter::once(&one.name).chain(one.others);
        let kept = names.find_map(|name| Some((name.to_string(), set(name)?)));
        let is_kept = kept.is_some();
        let (name, value) = kept.unwrap_or_else(|| (one.name.to_string(), one.value.replace("{}", folder)));
        Setting { name, value, is_kept }
    };
    wanted.map(setting).collect()
}

/// Gives steps whose times count from the start of a process the time of day, as if it had started with its job.
pub fn since(imported: &mut Imported, started_ns: i64) {
    for row in &mut imported.steps {
        if (0..FROM_A_START_NS).contains(&row.time_ns) {
            row.time_ns = row.time_ns.saturating_add(started_ns);
            row.time = Time(row.time_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rocescope_model::StepRow;

    fn names(has_profiler: bool, set: &[(&str, &str)]) -> Vec<(String, String, bool)> {
        let value = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_string())
        };
        let all = settings("/d/run", has_profiler, value).into_iter();
        all.map(|one| (one.name, one.value, one.is_kept)).collect()
    }

    fn row(name: &str, value: &str, is_kept: bool) -> (String, String, bool) {
        (name.to_string(), value.to_string(), is_kept)
    }

    #[test]
    fn what_the_user_has_set_stays_under_any_of_its_names() {
        let set = [("NCCL_DEBUG", "INFO"), ("TORCH_FR_DUMP_TEMP_FILE", "/tmp/fr_")];
        let all = names(false, &set);
        assert_eq!(all[0], row("NCCL_DEBUG", "INFO", true));
        assert_eq!(all[1], row("NCCL_DEBUG_FILE", "/d/run/nccl/%h.%p.log", false));
        assert_eq!(all[5], row("TORCH_FR_DUMP_TEMP_FILE", "/tmp/fr_", true));
        assert_eq!(all.len(), 6);
    }

    #[test]
    fn a_profiler_gets_its_file_only_if_there_is_one() {
        let all = names(true, &[]);
        assert_eq!(all.len(), VARIABLES.len());
        assert!(all.contains(&row("NCCL_PROFILE_DUMP_FILE", "/d/run/nccl-profiler/trace", false)));
        // Each folder that is read is one that a variable names.
        for folder in STEPS.map(|(folder, _)| folder).into_iter().chain([LOGS, TOPOLOGY]) {
            let path = alloc::format!("/d/run/{folder}");
            assert!(all.iter().any(|(_, value, _)| value.starts_with(&path)), "{folder}");
        }
    }

    #[test]
    fn times_since_a_start_become_times_of_day() {
        const DAY: i64 = 1_795_000_000_000_000_000;
        let step = |time_ns| StepRow {
            time_ns,
            ..StepRow::default()
        };
        let mut imported = Imported {
            steps: alloc::vec![step(5), step(DAY + 7), step(-1)],
            ..Imported::default()
        };
        since(&mut imported, DAY);
        let times: Vec<i64> = imported.steps.iter().map(|row| row.time_ns).collect();
        assert_eq!(times, [DAY + 5, DAY + 7, -1]);
        assert_eq!(imported.steps[0].time, Time(DAY + 5));
    }
}
