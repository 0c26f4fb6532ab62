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
            // As runtimes abbreviate it.
            (Some(id), _) => format!("container {} on {host}", id.chars().take(12).collect::<String>()),
            (None, Some(unit)) if !unit.ends_with(".scope") => format!("{unit} on {host}"),
            _ => self.process_on_host(),
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
        assert_eq!(owner.group(), "PID 42 on gpu-1");
        owner.process = "python".into();
        owner.unit = Some("session-3.scope".into());
        assert_eq!(owner.group(), "python (PID 42) on gpu-1");
        owner.unit = Some("train.service".into());
        assert_eq!(owner.group(), "train.service on gpu-1");
        owner.container = Some("9ec39b91f3d70e1beff5".into());
        assert_eq!(owner.group(), "container 9ec39b91f3d7 on gpu-1");
        owner.pod = Some("llama-0".into());
        assert_eq!(owner.group(), "pod llama-0");
        owner.namespace = Some("training".into());
        assert_eq!(owner.group(), "pod training/llama-0");
        owner.job = Some("4711".into());
        assert_eq!(owner.group(), "job 4711");
        let kernel = Owner {
            host: "gpu-1".into(),
            process: "nvme_rdma".into(),
            ..Owner::default()
        };
        assert_eq!(kernel.group(), "the kernel (nvme_rdma) on gpu-1");
    }
}
