//! `rocescope run`: jobs that are scripts of the shell.

use rocescope_model::{RunRow, StepRow};
use rocescope_store::scan;
use rocescope_testkit::{Running, command};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Variables that a scheduler or a user of the tests may have set.
const FOREIGN: [&str; 11] = [
    "SLURM_JOB_ID",
    "SLURM_PROCID",
    "LSB_JOBID",
    "PBS_JOBID",
    "FLUX_JOB_ID",
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "ROCESCOPE_RUN",
    "NCCL_DEBUG",
    "NCCL_PROFILER_PLUGIN",
    "LD_LIBRARY_PATH",
];

/// A dump of the flight recorder: the rank has called all-reduce 7 and waits in it since `$t`, if it is rank 0.
const DUMPS: &str = r#"
t=$(date +%s%N)
dump() {
    printf '{"pg_config":{"0":{"ranks":"[0, 1]"}},"entries":[{"profiling_name":"nccl:all_reduce","process_group":["0",""],' > "$1"
    printf '"collective_seq_id":%s,"time_created_ns":%s,"time_discovered_started_ns":%s,"state":"%s"}]}' "$2" $t $t "$3" >> "$1"
}
dump "${TORCH_NCCL_DEBUG_INFO_TEMP_FILE}0" 7 started
dump "${TORCH_NCCL_DEBUG_INFO_TEMP_FILE}1" 6 completed
"#;

fn job(dataset: &Path, options: &[&str], script: &str) -> Command {
    let mut all = vec!["run", "--out", dataset.to_str().unwrap()];
    all.extend_from_slice(options);
    all.extend_from_slice(&["--", "sh", "-c", script]);
    let mut command = command(all);
    for name in FOREIGN {
        command.env_remove(name);
    }
    command
}

fn messages(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn runs(dataset: &Path) -> Vec<RunRow> {
    let mut rows = scan(dataset).unwrap().rows::<RunRow>().unwrap();
    rows.sort_by_key(|row| row.time_ns);
    rows
}

#[test]
fn a_job_has_its_start_its_end_its_steps_and_its_incidents_in_the_dataset() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let script = format!("{DUMPS}\necho output; echo complaint >&2; echo $ROCESCOPE_RUN $NCCL_DEBUG; exit 3");
    let mut command = job(&dataset, &["--name", "llama"], &script);
    let output = command.env("NCCL_DEBUG", "INFO").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    // Standard output is that of the job.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "output\nllama INFO\n");
    let text = messages(&output);
    for expected in [
        "complaint\n",
        "rocescope: job llama; its files are in ",
        "rocescope: already set: NCCL_DEBUG=INFO\n",
        "rocescope: set: TORCH_NCCL_TRACE_BUFFER_SIZE=2000\n",
        "rocescope: set: ROCESCOPE_RUN=llama\n",
        "rocescope: 2 steps in ",
        "rank_missing",
        "rocescope: with rows that come later: `rocescope diagnose ",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(
        !text.contains("NCCL_PROFILE_DUMP_FILE"),
        "no plug-in is installed: {text}"
    );
    let [started, ended] = runs(&dataset).try_into().unwrap();
    assert_eq!((&*started.event, &*ended.event), ("started", "ended"));
    assert_eq!((&*started.name, &*ended.job_id), ("llama", "llama"));
    assert_eq!((started.exit_status, ended.exit_status), (None, Some(3)));
    assert_eq!((started.pid, started.started_ns), (ended.pid, started.time_ns));
    assert_eq!(ended.started_ns, started.time_ns);
    assert!(started.command.as_deref().unwrap().starts_with("sh -c \nt=$(date"));
    let steps = scan(&dataset).unwrap().rows::<StepRow>().unwrap();
    assert_eq!(steps.len(), 2);
    assert!(steps.iter().all(|row| row.observer == ended.observer));
    assert!(
        steps
            .iter()
            .all(|row| (started.time_ns..=ended.time_ns).contains(&row.time_ns))
    );
}

#[test]
fn a_job_that_a_signal_ends_ends_the_command_by_it() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let options = ["--quiet", "--no-commands"];
    let output = job(&dataset, &options, "kill -KILL $$").output().unwrap();
    assert_eq!((output.status.code(), output.status.signal()), (None, Some(9)));
    assert_eq!(messages(&output), "");
    let ended = runs(&dataset).pop().unwrap();
    assert_eq!((ended.exit_status, ended.signal.as_deref()), (None, Some("SIGKILL")));
    assert_eq!(ended.command, None);
    let output = job(&dataset, &options, "kill -ABRT $$").output().unwrap();
    assert_eq!(output.status.signal(), Some(6));
}

#[test]
fn signals_reach_the_job_which_decides_when_it_ends() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    for (name, signal) in [("TERM", "-TERM"), ("INT", "-INT"), ("USR1", "-USR1"), ("HUP", "-HUP")] {
        let script = format!("trap 'echo got {name}; exit 7' {name}; echo ready >&2; while :; do sleep 0.01; done");
        let running = Running::begin(&mut job(&dataset, &["-q"], &script), "ready");
        let ended = running.stop(signal);
        assert_eq!(ended.status.code(), Some(7), "{}", ended.stderr);
        assert_eq!(ended.stdout, format!("got {name}\n"));
    }
    let statuses: Vec<_> = runs(&dataset).iter().filter_map(|row| row.exit_status).collect();
    assert_eq!(statuses, [7; 4]);
}

#[test]
fn a_signal_that_is_ignored_stays_ignored_for_the_job() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let inner = job(&dataset, &["-q"], "kill -HUP $$; echo alive");
    let mut outer = Command::new("sh");
    outer
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(inner.get_program())
        .args(inner.get_args());
    let output = outer.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "alive\n");
    assert!(output.status.success());
}

#[test]
fn what_cannot_be_read_of_its_files_is_a_line_each_and_loses_nothing_else() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let script = format!(
        "{DUMPS}\ncd \"${{TORCH_NCCL_DEBUG_INFO_TEMP_FILE%/*}}\"\n\
         truncate -s 2G huge_2; printf '\\200\\002}}q' > pickle_3; printf '{{\"entries\":[{{\"profil' > cut_4\n\
         printf '\\377\\376\\n' > bytes_5; : > empty_6; mkdir folder_7; mkfifo pipe_8; printf '{{}}' > \"$(printf 'a\\033[31mred\\nline_9')\"\n\
         printf '{{}}' > none"
    );
    let output = job(&dataset, &[], &script).output().unwrap();
    let text = messages(&output);
    assert!(output.status.success(), "{text}");
    let warnings: Vec<&str> = text.lines().filter(|line| line.contains("warning")).collect();
    for expected in [
        "huge_2: longer than 1024 MiB",
        "pickle_3: damaged pickle, byte 4: it ends too early",
        "red\u{fffd}line_9: 1: entries",
        "bytes_5:1: no whole JSON object; skipped (and 1 more)",
        "none: no rank at the end of its name; skipped",
    ] {
        let lines = warnings.iter().filter(|line| line.contains(expected)).count();
        assert_eq!(lines, 1, "{expected}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
    assert_eq!(scan(&dataset).unwrap().rows::<StepRow>().unwrap().len(), 2);
}

#[test]
fn a_program_that_cannot_be_started_is_one_line_and_no_row() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let run = |program: &str| {
        let mut command = command(["run", "-q", "--out", dataset.to_str().unwrap(), "--", program]);
        command.output().unwrap()
    };
    let output = run("no-such-program");
    assert_eq!(output.status.code(), Some(127));
    assert!(messages(&output).starts_with("rocescope: cannot start no-such-program: "));
    assert_eq!(run("/").status.code(), Some(126));
    assert_eq!(runs(&dataset), []);
    // A dataset that cannot be written is an error before anything starts.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = job(
        &file,
        &["-q", "--files", folder.path().join("f").to_str().unwrap()],
        "echo started",
    )
    .output()
    .unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(1), &b""[..]));
    let output = job(&dataset, &["--files", "/tmp/%h"], "echo started").output().unwrap();
    assert!(
        messages(&output).contains("which NCCL replaces"),
        "{}",
        messages(&output)
    );
}

#[test]
fn ranks_with_a_command_each_write_beside_each_other_and_the_first_one_prints() {
    let folder = TempDir::new().unwrap();
    let dataset = folder.path().join("d");
    let begin = |rank: &str| {
        let mut command = job(&dataset, &[], "exit $OMPI_COMM_WORLD_RANK");
        Running::spawn(command.env("OMPI_COMM_WORLD_RANK", rank).env("SLURM_JOB_ID", "4711"))
    };
    let running = ["0", "1", "2"].map(begin);
    let [first, others @ ..] = running.map(Running::end);
    assert!(
        first.status.success() && first.stderr.contains("rocescope: job 4711"),
        "{}",
        first.stderr
    );
    for (ended, rank) in others.iter().zip(1..) {
        assert_eq!((ended.status.code(), &*ended.stderr), (Some(rank), ""));
    }
    let mut rows = runs(&dataset);
    rows.retain(|row| &*row.event == "ended");
    rows.sort_by_key(|row| row.rank);
    let ranks: Vec<_> = rows.iter().map(|row| (row.rank, row.exit_status)).collect();
    assert_eq!(ranks, [(Some(0), Some(0)), (Some(1), Some(1)), (Some(2), Some(2))]);
    assert!(
        rows.iter()
            .all(|row| &*row.job_id == "4711" && row.name.starts_with("sh-"))
    );
    // Without ranks, two jobs of a host at once wait for each other.
    let running = [(); 2].map(|()| Running::spawn(&mut job(&dataset, &["-q"], "true")));
    for ended in running.map(Running::end) {
        assert!(ended.status.success() && ended.stderr.is_empty(), "{}", ended.stderr);
    }
    assert_eq!(runs(&dataset).iter().filter(|row| row.rank.is_none()).count(), 4);
}
