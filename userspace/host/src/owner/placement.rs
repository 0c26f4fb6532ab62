//! Where a process runs, from the paths of its control groups: unit, container, pod, job of Slurm. Pure.
//!
//! Only the names of directories count, so that both versions of control groups, both drivers of the kubelet and every
//! place at which they are mounted are read alike. A user may name directories below `user.slice` at will: there, no job
//! and no pod is believed.

/// Where a process runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The innermost unit of systemd that is no container.
    pub unit: Option<String>,
    /// ID of the innermost container.
    pub container: Option<String>,
    /// UID of the Kubernetes pod.
    pub pod: Option<String>,
    /// Number of the Slurm job.
    pub job: Option<String>,
    /// Step of that job.
    pub step: Option<String>,
}

impl Placement {
    /// Reads `/proc/PID/cgroup`: a line for each hierarchy, `number:controllers:path`. What several of them name is taken
    /// from the first.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let paths = text.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        paths.map(Self::of).fold(Self::default(), |known, other| {
            let (job, step) = match known.job {
                Some(job) => (Some(job), known.step),
                None => (other.job, other.step),
            };
            Self {
                unit: known.unit.or(other.unit),
                container: known.container.or(other.container),
                pod: known.pod.or(other.pod),
                job,
                step,
            }
        })
    }

    fn of(path: &str) -> Self {
        let mut found = Self::default();
        let mut is_slurm = false;
        let mut is_user = false;
        let mut before = "";
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        // Some versions of containerd name a directory `SLICE:cri-containerd:ID`.
        for part in path.split(['/', ':']) {
            is_user |= part == "user.slice";
            if let Some(id) = container(part, before) {
                found.container = Some(id.to_owned());
            } else if is_unit(part, found.unit.as_deref()) {
                found.unit = Some(part.to_owned());
            }
            if !is_user {
                found.pod = pod(part).or(found.pod);
                is_slurm |= is_of_slurm(part);
                if is_slurm {
                    found.slurm(part);
                }
            }
            before = part;
        }
        found
    }

    /// Takes a directory below that of Slurm: `job_4711`, `step_0`.
    fn slurm(&mut self, part: &str) {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        if let Some(job) = part.strip_prefix("job_").filter(|job| number(job)) {
            self.job = Some(job.to_owned());
            self.step = None;
        } else if let Some(step) = part.strip_prefix("step_")
            && (number(step) || matches!(step, "batch" | "extern" | "interactive"))
            && self.job.is_some()
        {
            self.step = Some(step.to_owned());
        }
    }
}

/// The directory of Slurm: `slurmstepd.scope`, with the name of the node before it where a host has several; `slurm` or
/// `slurm_NODE` in control groups of version 1.
fn is_of_slurm(part: &str) -> bool {
    part == "slurm" || part.starts_with("slurm_") || part == "slurmstepd.scope" || part.ends_with("_slurmstepd.scope")
}

/// Whether a directory is a unit that means more than the one before: a service, or the first scope.
fn is_unit(part: &str, known: Option<&str>) -> bool {
    let has_name = |end: &str| part.strip_suffix(end).is_some_and(|name| !name.is_empty());
    has_name(".service") || has_name(".scope") && known.is_none()
}

/// The container that a directory is: `cri-containerd-ID.scope`, `crio-ID.scope`, `docker-ID.scope`, `libpod-ID.scope`, or an
/// ID below a pod, `docker` or another name of a runtime.
fn container<'a>(part: &'a str, before: &str) -> Option<&'a str> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    if let Some(name) = part.strip_prefix("lxc.payload.") {
        return Some(name).filter(|name| !name.is_empty());
    }
    let id = name.rsplit_once('-').map_or(name, |(_, id)| id);
    // The monitor of a container is not in it.
    (is_id(id) && !name.contains("conmon") && !before.contains("conmon")).then_some(id)
}

/// Runtimes name containers by 256 random bits.
fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
}

/// The UID in `podUID`, or in `kubepods-burstable-podUID.slice`, where underscores replace hyphens.
fn pod(part: &str) -> Option<String> {
    let uid = match part.strip_suffix(".slice") {
        Some(slice) => slice.rsplit_once("-pod")?.1.replace('_', "-"),
        None => part.strip_prefix("pod")?.to_owned(),
    };
    // A UUID, or for static pods the hash of their file.
    let is_uid = uid.len() >= 32 && uid.len() <= 36 && uid.bytes().all(|c| c.is_ascii_hexdigit() || c == b'-');
    is_uid.then_some(uid)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "9ec39b91f3d70e1beff50a308f77067065ea6be0d91a3378375056cd4422cf3d";
    const OTHER: &str = "34dc0b5e626f2c5c4c5170e34b10e7654ce36f0fcd532739f4445baabea03376";
    const UID: &str = "74c13223-5a00-11e9-b385-42010a80018d";

    fn of(path: &str) -> Placement {
        Placement::parse(&format!("0::{path}\n"))
    }

    fn pod(container: &str, uid: &str) -> Placement {
        Placement {
            container: Some(container.into()),
            pod: Some(uid.into()),
            ..Placement::default()
        }
    }

    #[test]
    fn pods_of_every_runtime_and_driver() {
        let slice = "kubepods-burstable-pod74c13223_5a00_11e9_b385_42010a80018d.slice";
        for path in [
            format!("/kubepods.slice/kubepods-burstable.slice/{slice}/cri-containerd-{ID}.scope"),
            format!("/kubepods.slice/kubepods-burstable.slice/{slice}/crio-{ID}.scope"),
            format!("/kubepods.slice/kubepods-burstable.slice/{slice}/docker-{ID}.scope"),
            // CRI-O with a directory inside of the container.
            format!("/kubepods.slice/{slice}/crio-{ID}.scope/container"),
            // The kubelet without systemd.
            format!("/kubepods/besteffort/pod{UID}/{ID}"),
            format!("/kubepods/pod{UID}/{ID}"),
            // As a container sees it that has its own namespace of control groups.
            format!("/../../{slice}/cri-containerd-{ID}.scope"),
            // A node that is a container itself.
            format!("/docker/{OTHER}/kubelet.slice/kubelet-kubepods.slice/kubelet-{slice}/cri-containerd-{ID}.scope"),
        ] {
            assert_eq!(of(&path), pod(ID, UID), "{path}");
        }
        // A kubelet with systemd and a containerd without.
        let found = of(&format!("/system.slice/containerd.service/{slice}:cri-containerd:{ID}"));
        assert_eq!(
            (found.container.as_deref(), found.pod.as_deref()),
            (Some(ID), Some(UID))
        );
        // A static pod has the hash of its file.
        let hash = "0123456789abcdef0123456789abcdef";
        let slice = format!("kubepods-pod{hash}.slice");
        let path = format!("/kubepods.slice/{slice}/cri-containerd-{ID}.scope");
        assert_eq!(of(&path), pod(ID, hash));
    }

    #[test]
    fn a_monitor_of_a_container_is_not_in_it() {
        let slice = "kubepods-pod74c13223_5a00_11e9_b385_42010a80018d.slice";
        let found = of(&format!("/kubepods.slice/{slice}/crio-conmon-{ID}.scope"));
        assert_eq!((found.container, found.pod.as_deref()), (None, Some(UID)));
    }

    #[test]
    fn containers_without_a_pod() {
        for path in [
            format!("/docker/{ID}"),
            format!("/system.slice/docker-{ID}.scope"),
            format!("/machine.slice/libpod-{ID}.scope/container"),
            format!("/{ID}"),
        ] {
            let expected = Placement {
                container: Some(ID.into()),
                ..Placement::default()
            };
            assert_eq!(of(&path), expected, "{path}");
        }
        assert_eq!(of("/lxc.payload.trainer/x").container.as_deref(), Some("trainer"));
        // Shorter: no ID.
        assert_eq!(of("/docker/9ec39b91f3d7").container, None);
    }

    #[test]
    fn jobs_of_slurm_in_both_versions() {
        let job = |unit: Option<&str>, job: &str, step: Option<&str>| Placement {
            unit: unit.map(Into::into),
            job: Some(job.into()),
            step: step.map(Into::into),
            ..Placement::default()
        };
        let scope = "slurmstepd.scope";
        assert_eq!(
            of("/system.slice/slurmstepd.scope/job_4711/step_0/user/task_3"),
            job(Some(scope), "4711", Some("0"))
        );
        assert_eq!(
            of("/system.slice/gpu1_slurmstepd.scope/job_4711/step_batch/user/task_0"),
            job(Some("gpu1_slurmstepd.scope"), "4711", Some("batch"))
        );
        assert_eq!(
            of("/system.slice/slurmstepd.scope/job_4711/step_extern/slurm"),
            job(Some(scope), "4711", Some("extern"))
        );
        // Version 1: a line for each hierarchy, and not all of them have the job.
        let text = "\
12:pids:/system.slice/slurmd.service
11:memory:/slurm/uid_1000/job_4711/step_2/task_1
4:cpuset:/slurm_gpu1/uid_1000/job_4711/step_2
1:name=systemd:/system.slice/slurmd.service
0::/
";
        assert_eq!(Placement::parse(text), job(Some("slurmd.service"), "4711", Some("2")));
    }

    /// Directories below `user.slice` are the user's: no one may claim the job of another.
    #[test]
    fn a_user_cannot_claim_a_job_or_a_pod() {
        let own = "/user.slice/user-1000.slice/user@1000.service";
        let found = of(&format!("{own}/slurmstepd.scope/job_1/step_0"));
        assert_eq!((found.job, found.step), (None, None));
        assert_eq!(of(&format!("{own}/pod{UID}/{ID}")).pod, None);
        assert_eq!(of("/system.slice/job_1/step_0").job, None);
        assert_eq!(of("/system.slice/slurmstepd.scope/job_1x/step_0").job, None);
    }

    #[test]
    fn units_are_the_innermost_services() {
        let unit = |path: &str| of(path).unit;
        assert_eq!(
            unit("/system.slice/train@7.service").as_deref(),
            Some("train@7.service")
        );
        assert_eq!(
            unit("/user.slice/user-1000.slice/user@1000.service/app.slice/train.service").as_deref(),
            Some("train.service")
        );
        assert_eq!(
            unit("/user.slice/user-1000.slice/session-3.scope").as_deref(),
            Some("session-3.scope")
        );
        assert_eq!(
            unit("/system.slice/gone.service (deleted)").as_deref(),
            Some("gone.service")
        );
        assert_eq!(unit("/init.scope").as_deref(), Some("init.scope"));
        assert_eq!(unit("/"), None);
    }

    #[test]
    fn texts_that_are_no_list_of_groups_tell_nothing() {
        for text in [
            "",
            "\n\n",
            "0:",
            "::",
            "0::",
            "\u{fffd}\u{0}x",
            "0::////pod/.service/-.scope",
        ] {
            let found = Placement::parse(text);
            assert!(
                found.pod.is_none() && found.container.is_none() && found.job.is_none(),
                "{text:?}"
            );
        }
    }
}
