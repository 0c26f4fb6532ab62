//! `runs`: jobs that `rocescope run` started.

use crate::row::table;
use crate::{Text, Time};

table! {
    /// One row when `rocescope run` has started a job, and one when the job has ended. Its queue pairs are the rows of
    /// `queue_pairs` with its `job_id`.
    RunRow = "runs" [kept] {
        /// Name of the writer: the host, `run`, and the rank if there is one, separated by dots.
        observer: Text, None, [same], hide "Observer";
        /// When it started or ended.
        time: Time, None, [last], show "Time";
        /// `time` in full precision.
        time_ns: i64, UnixNanoseconds, [last], hide "Exact time";
        /// Name of the host.
        host: Text, None, [same], show "Host";
        /// Name of the job: that of `--name`, otherwise the program and the time of the start.
        name: Text, None, [same], show "Name";
        /// The job as its processes have it in `queue_pairs`: the ID of a scheduler, otherwise the name.
        job_id: Text, None, [same], show "Job";
        /// Step of a Slurm job.
        job_step: Option<Text>, None, [same], hide "Step";
        /// Rank, if each rank has a `rocescope run` of its own; null if it started all of the host or of the job.
        rank: Option<u32>, None, [same], show "Rank";
        /// Number of the process that was started.
        pid: u32, None, [same], show "PID";
        /// Its command line: at most 1,024 bytes. Null if it is not wanted (`--no-commands`).
        command: Option<Text>, None, [same], hide "Command";
        /// Folder of the files that the job wrote.
        files: Text, None, [same], hide "Files";
        /// `started` or `ended`.
        event: Text, None, [last], show "Event";
        /// When it started.
        started_ns: i64, UnixNanoseconds, [min], hide "Started";
        /// Exit status of the process; null while it runs, and if a signal ended it.
        exit_status: Option<u8>, None, [last], show "Status";
        /// Signal that ended the process, such as `SIGKILL`; null if none did.
        signal: Option<Text>, None, [last], show "Signal";
    }
}

impl RunRow {
    /// Event of the first row.
    pub const STARTED: &'static str = "started";
    /// Event of the last row.
    pub const ENDED: &'static str = "ended";
}
