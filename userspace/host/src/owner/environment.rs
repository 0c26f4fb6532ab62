//! Job and rank of a process, from its environment. Pure.
//!
//! The environment is what the process began with, and may hold anything: the job of a control group, which
//! only the scheduler can make, comes before it.

/// What the environment names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Its job.
    pub job: Option<String>,
    /// The step of a Slurm job.
    pub step: Option<String>,
    /// Its rank.
    pub rank: Option<u32>,
}

/// The variable by which `rocescope run` names the job.
pub const RUN: &str = "ROCESCOPE_RUN";

/// IDs of jobs: Slurm, LSF, PBS, Flux, Nomad; then the name by `rocescope run`; the ID of torchrun's run at last, which is
/// `none` by default.
const JOBS: [&str; 7] = [
    "SLURM_JOB_ID",
    "LSB_JOBID",
    "PBS_JOBID",
    "FLUX_JOB_ID",
    "NOMAD_ALLOC_ID",
    RUN,
    "TORCHELASTIC_RUN_ID",
];

/// Ranks, the innermost first: torchrun starts several ranks from one task of MPI or Slurm.
const RANKS: [&str; 7] = [
    "RANK",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
];

impl Environment {
    /// Reads `/proc/PID/environ`: `NAME=VALUE`, each ended by a zero byte. Without its end, a last value is not believed.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let whole = bytes.iter().rposition(|byte| *byte == 0).map_or(0, |end| end + 1);
        let value = |name: &str| value(&bytes[..whole], name);
        let job = JOBS.into_iter().find_map(|name| value(name).filter(|id| id != "none"));
        let rank = RANKS.into_iter().find_map(|name| {
            // A name that anything may use: torchrun and its like set both.
            let is_rank = name != "RANK" || value("WORLD_SIZE").is_some();
            value(name).filter(|_| is_rank)?.parse().ok()
        });
        Self {
            step: value("SLURM_STEP_ID")
                .filter(|_| value("SLURM_JOB_ID").is_some())
                .and_then(|number| step(&number)),
            job,
            rank,
        }
    }
}

/// The first value of a variable, if it is text.
fn value(bytes: &[u8], name: &str) -> Option<String> {
    let entries = bytes.split(|byte| *byte == 0);
    let mut values = entries.filter_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    let value = str::from_utf8(values.next()?).ok()?.trim();
    (!value.is_empty()).then(|| value.to_owned())
}

/// A step, by the name that control groups have for it. Source: `SLURM_BATCH_SCRIPT` and the steps after it in
/// `slurm/slurm.h`.
fn step(number: &str) -> Option<String> {
    let name = match number.parse::<u32>().ok()? {
        0xffff_fffb => "batch",
        0xffff_fffc => "extern",
        0xffff_fffa => "interactive",
        _ => number,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[&str]) -> Environment {
        let bytes: Vec<u8> = variables
            .iter()
            .flat_map(|one| [one.as_bytes(), &[0]].concat())
            .collect();
        Environment::parse(&bytes)
    }

    #[test]
    fn a_rank_of_torchrun_is_not_that_of_its_task() {
        let found = of(&[
            "PATH=/bin",
            "SLURM_JOB_ID=4711",
            "SLURM_STEP_ID=0",
            "SLURM_PROCID=1",
            "RANK=11",
            "WORLD_SIZE=16",
            "LOCAL_RANK=3",
            "TORCHELASTIC_RUN_ID=none",
        ]);
        let expected = Environment {
            job: Some("4711".into()),
            step: Some("0".into()),
            rank: Some(11),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn ranks_of_other_launchers() {
        for variables in [
            ["OMPI_COMM_WORLD_RANK=5", "SLURM_PROCID=1"],
            ["PMIX_RANK=5", ""],
            ["PMI_RANK=5", ""],
            ["FLUX_TASK_RANK=5", ""],
            ["SLURM_PROCID=5", "RANK=9"],
        ] {
            assert_eq!(of(&variables).rank, Some(5), "{variables:?}");
        }
        // Of what else is a rank.
        assert_eq!(of(&["RANK=colonel", "WORLD_SIZE=2"]).rank, None);
        assert_eq!(of(&["RANK=3"]).rank, None);
        assert_eq!(of(&["PMIX_RANK=-1"]).rank, None);
    }

    #[test]
    fn jobs_of_other_schedulers() {
        assert_eq!(of(&["PBS_JOBID=123.server"]).job.as_deref(), Some("123.server"));
        assert_eq!(of(&["LSB_JOBID=77"]).job.as_deref(), Some("77"));
        assert_eq!(of(&["TORCHELASTIC_RUN_ID=llama-7b"]).job.as_deref(), Some("llama-7b"));
        assert_eq!(of(&["TORCHELASTIC_RUN_ID=none"]).job, None);
        assert_eq!(
            of(&["TORCHELASTIC_RUN_ID=6a1c", "ROCESCOPE_RUN=llama"]).job.as_deref(),
            Some("llama")
        );
        assert_eq!(of(&["ROCESCOPE_RUN=llama", "SLURM_JOB_ID=1"]).job.as_deref(), Some("1"));
        assert_eq!(of(&["NOTSLURM_JOB_ID=1", "SLURM_JOB_ID_OLD=2"]).job, None);
        let batch = of(&["SLURM_JOB_ID=1", "SLURM_STEP_ID=4294967291"]);
        assert_eq!(batch.step.as_deref(), Some("batch"));
        // The step of no job.
        assert_eq!(of(&["SLURM_STEP_ID=2"]), Environment::default());
    }

    #[test]
    fn an_environment_that_is_cut_or_damaged_tells_only_what_is_whole() {
        assert_eq!(Environment::parse(b"SLURM_JOB_ID=47"), Environment::default());
        let found = Environment::parse(b"SLURM_JOB_ID=4711\0SLURM_PROCID=1");
        assert_eq!((found.job.as_deref(), found.rank), (Some("4711"), None));
        assert_eq!(
            Environment::parse(b"SLURM_JOB_ID=\xff\xfe\0RANK=\0"),
            Environment::default()
        );
        assert_eq!(Environment::parse(&[0; 64]), Environment::default());
        // The first of two is the one that `getenv` returns.
        assert_eq!(of(&["SLURM_JOB_ID=1", "SLURM_JOB_ID=2"]).job.as_deref(), Some("1"));
    }
}
