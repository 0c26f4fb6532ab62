//! Whose a queue pair is: the process that created it, with its user, unit, container, pod, job and rank.
//!
//! Only this host is asked: `/proc`, `/etc/passwd` and the kubelet's directory of logs. What it does not tell stays
//! unknown.
//!
//! | module | what it does |
//! |---|---|
//! | `process` | when a process started, its user, its command line |
//! | [`placement`] | unit, container, pod and job from the paths of control groups; pure |
//! | [`environment`] | job and rank from the environment; pure |
//! | `environments` | who may read environments of other users |
//! | `pods` | names of pods from the directories of their logs |
//! | [`users`] | names of users, and hashes in their place |
//! | `files` | bounded reads |

pub mod environment;
mod environments;
mod files;
pub mod placement;
mod pods;
mod process;
#[cfg(test)]
mod tests;
pub mod users;

pub use users::UserKey;

use environment::Environment;
use environments::Environments;
use placement::Placement;
use pods::Pods;
use process::{MAX_COMMAND, Process};
use rocescope_model::{QueuePairRow, Text};
use rustix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use users::Users;

/// Names of units, pods and jobs are shorter.
const MAX_NAME: usize = 256;
/// How much later than its queue pair a process may seem to have started: the clock may have been set between, and a start
/// is known to a hundredth of a second. A number is used again within that time only if thousands of processes start in it.
const TOLERANCE_NS: i64 = 1_000_000_000;

/// Where names are read.
#[derive(Clone, Debug)]
pub struct Places {
    /// Processes.
    pub proc: PathBuf,
    /// Users.
    pub passwd: PathBuf,
    /// Directories `NAMESPACE_NAME_UID` of pods.
    pub pods: PathBuf,
}

impl Places {
    /// Below a root: `/`, or a copy of it.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        Self {
            proc: root.join("proc"),
            passwd: root.join("etc/passwd"),
            pods: root.join("var/log/pods"),
        }
    }
}

/// What is not stored as it is.
#[derive(Clone, Debug, Default)]
pub struct Privacy {
    /// No command lines.
    pub no_commands: bool,
    /// Hashes in the place of users, and no units of users.
    pub user_key: Option<UserKey>,
}

/// When rows are completed.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Nanoseconds since 1970.
    pub time_ns: i64,
    /// Time since the host started.
    pub since_boot: Duration,
}

impl Now {
    /// A time, now.
    #[must_use]
    pub fn at(time_ns: i64) -> Self {
        let since_boot = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(since_boot.tv_sec).unwrap_or(0);
        let nanos = u32::try_from(since_boot.tv_nsec).unwrap_or(0);
        Self {
            time_ns,
            since_boot: Duration::new(seconds, nanos),
        }
    }

    /// When a process started that did so at this time since the host started.
    fn started_ns(&self, started: Duration) -> i64 {
        let nanos = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        self.time_ns
            .saturating_sub(nanos(self.since_boot))
            .saturating_add(nanos(started))
    }
}

/// Names of a process, as rows have them.
#[derive(Debug, Default)]
struct Owner {
    process: Option<Text>,
    command: Option<Text>,
    user: Option<Text>,
    unit: Option<Text>,
    container: Option<Text>,
    pod: Option<Text>,
    namespace: Option<Text>,
    job: Option<Text>,
    step: Option<Text>,
    rank: Option<u32>,
}

/// A queue pair on this host, and whose it is: it may outlive the process.
#[derive(Debug)]
struct Owned {
    pid: u32,
    first_ns: i64,
    owner: Arc<Owner>,
}

/// Names the owners of queue pairs.
#[derive(Debug)]
pub struct Owners {
    places: Places,
    privacy: Privacy,
    users: Users,
    pods: Pods,
    environments: Environments,
    /// By number, with the start of the process.
    processes: HashMap<u32, (Duration, Arc<Owner>)>,
    /// By device and number.
    pairs: HashMap<(Text, u32), Owned>,
    /// Reported once each.
    is_denied: Option<bool>,
    is_hidden: Option<bool>,
}

impl Owners {
    /// Nothing is read yet. What is read later is what the rights of this thread allow now.
    #[must_use]
    pub fn new(places: Places, privacy: Privacy) -> Self {
        Self {
            environments: Environments::open(),
            users: Users::new(places.passwd.clone()),
            pods: Pods::new(places.pods.clone()),
            places,
            privacy,
            processes: HashMap::new(),
            pairs: HashMap::new(),
            is_denied: None,
            is_hidden: None,
        }
    }

    /// Names the owner in each row of a queue pair that a process has. A process that ended is known as long as a queue
    /// pair of it was seen before.
    pub fn complete(&mut self, rows: &mut [QueuePairRow], now: Now) {
        self.pods.refresh();
        for row in rows {
            let place = (row.device.clone(), row.local_qpn);
            let is_gone = row.ended_ns.is_some();
            if let Some(pid) = row.pid
                && let Some(owner) = self.of_pair(&place, pid, row, now)
            {
                fill(row, &owner);
            }
            if is_gone {
                self.pairs.remove(&place);
            }
        }
        self.processes.retain(|_, (_, owner)| Arc::strong_count(owner) > 1);
    }

    /// A line on what may not be read here, once for each reason.
    pub fn notice(&mut self) -> Option<&'static str> {
        if self.is_hidden == Some(true) {
            self.is_hidden = Some(false);
            return Some(
                "processes of other users are hidden from this one: their names, jobs and pods are unknown; ProtectProc=default in the unit shows them",
            );
        }
        if self.is_denied == Some(true) {
            self.is_denied = Some(false);
            return Some(
                "environments of other users are not readable: ranks, and jobs without a control group, are unknown; that requires cap_sys_ptrace",
            );
        }
        None
    }

    fn of_pair(&mut self, place: &(Text, u32), pid: u32, row: &QueuePairRow, now: Now) -> Option<Arc<Owner>> {
        if let Some(known) = self.pairs.get(place)
            && (known.pid, known.first_ns) == (pid, row.first_ns)
        {
            return Some(Arc::clone(&known.owner));
        }
        let seen_ns = row.created_ns.unwrap_or(row.first_ns);
        let owner = self.of_process(pid, seen_ns, row.ended_ns.is_some(), now)?;
        let owned = Owned {
            pid,
            first_ns: row.first_ns,
            owner: Arc::clone(&owner),
        };
        self.pairs.insert(place.clone(), owned);
        Some(owner)
    }

    /// The names of a process that existed at `seen_ns`; `None` if it ended, even if another one has its number.
    fn of_process(&mut self, pid: u32, seen_ns: i64, has_ended: bool, now: Now) -> Option<Arc<Owner>> {
        let process = Process::new(&self.places.proc, pid);
        let Some(started) = process.started() else {
            // It may just have ended; the first process never does.
            if !has_ended && Process::new(&self.places.proc, 1).started().is_none() {
                self.is_hidden.get_or_insert(true);
            }
            return None;
        };
        if now.started_ns(started) > seen_ns.saturating_add(TOLERANCE_NS) {
            return None;
        }
        if let Some((known, owner)) = self.processes.get(&pid)
            && *known == started
        {
            return Some(Arc::clone(owner));
        }
        let owner = Arc::new(self.read(&process));
        // Whether all files were those of one process.
        if process.started() != Some(started) {
            return None;
        }
        self.processes.insert(pid, (started, Arc::clone(&owner)));
        Some(owner)
    }

    fn read(&mut self, process: &Process) -> Owner {
        let placement = Placement::parse(&process.cgroup().unwrap_or_default());
        let environment = match self.environments.read(process) {
            Ok(bytes) => Environment::parse(&bytes),
            Err(error) => {
                if error.kind() == io::ErrorKind::PermissionDenied {
                    self.is_denied.get_or_insert(true);
                }
                Environment::default()
            }
        };
        let name = |text: Option<String>| text.and_then(|text| files::name(&text, MAX_NAME));
        let (job, step) = match placement.job {
            Some(job) => (Some(job), placement.step),
            None => (environment.job, environment.step),
        };
        let (pod, namespace) = match placement.pod {
            Some(uid) => match self.pods.find(&uid) {
                Some(pod) => (Some(pod.name.clone()), Some(pod.namespace.clone())),
                None => (Some(uid), None),
            },
            None => (None, None),
        };
        let user = process.user().map(|id| self.users.name(id));
        let key = self.privacy.user_key.as_ref();
        let command = process.command().filter(|_| !self.privacy.no_commands);
        Owner {
            process: name(process.name()),
            command: command.and_then(|command| files::name(&command, MAX_COMMAND)),
            user: name(user.map(|user| key.map_or_else(|| user.clone(), |key| key.hash(&user)))),
            // `user@1000.service` has the number of the user.
            unit: name(
                placement
                    .unit
                    .filter(|unit| key.is_none() || !unit.starts_with("user@")),
            ),
            container: name(placement.container),
            pod: name(pod),
            namespace: name(namespace),
            job: name(job),
            step: name(step),
            rank: environment.rank,
        }
    }
}

fn fill(row: &mut QueuePairRow, owner: &Owner) {
    if row.process.is_empty() {
        row.process = owner.process.clone().unwrap_or_default();
    }
    row.command.clone_from(&owner.command);
    row.user.clone_from(&owner.user);
    row.unit.clone_from(&owner.unit);
    row.container.clone_from(&owner.container);
    row.pod.clone_from(&owner.pod);
    row.namespace.clone_from(&owner.namespace);
    row.job_id.clone_from(&owner.job);
    row.job_step.clone_from(&owner.step);
    row.rank = owner.rank;
}
