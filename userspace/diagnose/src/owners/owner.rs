//! What is known of an owner.

use alloc::format;
use alloc::string::{String, ToString};
use rocescope_model::{QueuePairRow, Text};
use serde::Serialize;

/// Whose a queue pair is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Owner {
    /// The host: the name of its agent.
    pub host: String,
    /// The process; `None` for the kernel.
    pub pid: Option<u32>,
    /// Its name, or that of the kernel module; empty if it is unknown.
    pub process: String,
    /// Its user.
    pub user: Option<String>,
    /// Its unit of systemd.
    pub unit: Option<String>,
    /// Its container.
    pub container: Option<String>,
    /// Its pod.
    pub pod: Option<String>,
    /// The namespace of that pod.
    pub namespace: Option<String>,
    /// Its job.
    pub job: Option<String>,
    /// The step of that job.
    pub step: Option<String>,
    /// Its rank.
    pub rank: Option<u32>,
}

impl Owner {
    /// The owner that a row names.
    #[must_use]
    pub fn of(row: &QueuePairRow) -> Self {
        let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
        Self {
            host: row.observer.to_string(),
            pid: row.pid,
            process: row.process.to_string(),
            user: text(&row.user),
            unit: text(&row.unit),
            container: text(&row.container),
            pod: text(&row.pod),
            namespace: text(&row.namespace),
            job: text(&row.job_id),
            step: text(&row.job_step),
            rank: row.rank,
        }
    }

    /// Whether a row names this owner: as [`of`](Self::of), without copies.
    pub(super) fn is_of(&self, row: &QueuePairRow) -> bool {
        let same = |known: &Option<String>, text: &Option<Text>| known.as_deref() == text.as_deref();
        self.host == *row.observer
            && self.pid == row.pid
            && self.process == *row.process
            && same(&self.user, &row.user)
            && same(&self.unit, &row.unit)
            && same(&self.container, &row.container)
            && same(&self.pod, &row.pod)
            && same(&self.namespace, &row.namespace)
            && same(&self.job, &row.job_id)
            && same(&self.step, &row.job_step)
            && self.rank == row.rank
    }

    /// How many of its names are known.
    pub(super) fn names(&self) -> usize {
        let texts = [
            &self.user,
            &self.unit,
            &self.container,
            &self.pod,
            &self.namespace,
            &self.job,
            &self.step,
        ];
        let known = texts.into_iter().filter(|text| text.is_some()).count();
        known + usize::from(!self.process.is_empty()) + usize::from(self.rank.is_some())
    }

    /// Its name for an operator: the job, or else the pod, the container, the unit or the process.
    #[must_use]
    pub fn group(&self) -> String {
        if let Some(job) = &self.job {
            return format!("job {job}");
        }
        if let Some(pod) = &self.pod {
            return match &self.namespace {
                Some(namespace) => format!("pod {namespace}/{pod}"),
                None => format!("pod {pod}"),
            };
        }
        let host = &self.host;
        match (&self.container, &self.unit) {
            (Some(id), _) => format!("container {} on {host}", abbreviated(id)),
            (None, Some(unit)) if !unit.ends_with(".scope") => format!("{unit} on {host}"),
            _ => self.process_on_host(),
        }
    }

    /// Its name where room is short: `4711/3` is rank 3 of job 4711. The host is beside it, by its address.
    #[must_use]
    pub fn short(&self) -> String {
        let group = match (&self.job, &self.pod) {
            (Some(job), _) => job,
            (None, Some(pod)) => pod,
            (None, None) => return self.short_process(),
        };
        match self.rank {
            Some(rank) => format!("{group}/{rank}"),
            None => group.clone(),
        }
    }

    fn short_process(&self) -> String {
        match (&self.container, &self.unit, &*self.process, self.pid) {
            (Some(id), ..) => abbreviated(id),
            (None, Some(unit), ..) if !unit.ends_with(".scope") => unit.clone(),
            (.., name, None) => format!("kernel {name}"),
            (.., "", Some(pid)) => format!("PID {pid}"),
            (.., name, Some(pid)) => format!("{name} {pid}"),
        }
    }

    /// The process, or the module of the kernel.
    #[must_use]
    pub fn process_on_host(&self) -> String {
        let host = &self.host;
        match (&*self.process, self.pid) {
            (name, None) => format!("the kernel ({name}) on {host}"),
            ("", Some(pid)) => format!("PID {pid} on {host}"),
            (name, Some(pid)) => format!("{name} (PID {pid}) on {host}"),
        }
    }
}

/// The ID of a container as runtimes abbreviate it.
fn abbreviated(id: &str) -> String {
    id.chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_called_by_the_most_that_is_known() {
        let mut owner = Owner {
            host: "gpu-1".into(),
            pid: Some(42),
            ..Owner::default()
        };
        assert_eq!((&*owner.group(), &*owner.short()), ("PID 42 on gpu-1", "PID 42"));
        owner.process = "python".into();
        owner.unit = Some("session-3.scope".into());
        assert_eq!(
            (&*owner.group(), &*owner.short()),
            ("python (PID 42) on gpu-1", "python 42")
        );
        owner.unit = Some("train.service".into());
        assert_eq!(
            (&*owner.group(), &*owner.short()),
            ("train.service on gpu-1", "train.service")
        );
        owner.container = Some("9ec39b91f3d70e1beff5".into());
        assert_eq!(
            (&*owner.group(), &*owner.short()),
            ("container 9ec39b91f3d7 on gpu-1", "9ec39b91f3d7")
        );
        owner.pod = Some("llama-0".into());
        assert_eq!((&*owner.group(), &*owner.short()), ("pod llama-0", "llama-0"));
        owner.namespace = Some("training".into());
        owner.rank = Some(3);
        assert_eq!(
            (&*owner.group(), &*owner.short()),
            ("pod training/llama-0", "llama-0/3")
        );
        owner.job = Some("4711".into());
        assert_eq!((&*owner.group(), &*owner.short()), ("job 4711", "4711/3"));
        let kernel = Owner {
            host: "gpu-1".into(),
            process: "nvme_rdma".into(),
            ..Owner::default()
        };
        assert_eq!(
            (&*kernel.group(), &*kernel.short()),
            ("the kernel (nvme_rdma) on gpu-1", "kernel nvme_rdma")
        );
    }
}
