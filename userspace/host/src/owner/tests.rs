//! Owners of queue pairs, on made hosts.

use super::*;
use std::fs;
use tempfile::TempDir;

const SECOND_NS: i64 = 1_000_000_000;
const UID: &str = "74c13223-5a00-11e9-b385-42010a80018d";
const ID: &str = "9ec39b91f3d70e1beff50a308f77067065ea6be0d91a3378375056cd4422cf3d";

/// A host that started at second 1,000, and its processes.
struct Host(TempDir);

/// A process: `started` is in seconds since the host started.
struct Made<'a> {
    started: u64,
    cgroup: &'a str,
    command: &'a [u8],
    environment: &'a [u8],
}

impl Default for Made<'_> {
    fn default() -> Self {
        Self {
            started: 5,
            cgroup: "0::/system.slice/train.service\n",
            command: b"python\0train.py\0--lr\0fast\0",
            environment: b"",
        }
    }
}

impl Host {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("etc")).unwrap();
        fs::write(root.path().join("etc/passwd"), "root:x:0:0::/:\nana:x:1000:1000::/:\n").unwrap();
        let pod = format!("var/log/pods/training_llama-0_{UID}");
        fs::create_dir_all(root.path().join(pod)).unwrap();
        Self(root)
    }

    fn run(&self, pid: u32, made: &Made<'_>) {
        let directory = self.0.path().join(format!("proc/{pid}"));
        fs::create_dir_all(&directory).unwrap();
        let ticks = made.started * 100;
        let write = |name: &str, bytes: &[u8]| fs::write(directory.join(name), bytes).unwrap();
        let stat = format!("{pid} (a) b) S 1 1 1 0 -1 4194560 1 0 0 0 1 1 0 0 20 0 1 0 {ticks} 1 1\n");
        write("stat", stat.as_bytes());
        write("status", b"Name:\ta\nUid:\t1000\t1000\t1000\t1000\n");
        write("comm", b"python\n");
        write("cgroup", made.cgroup.as_bytes());
        write("cmdline", made.command);
        write("environ", made.environment);
    }

    fn end(&self, pid: u32) {
        fs::remove_dir_all(self.0.path().join(format!("proc/{pid}"))).unwrap();
    }

    fn owners(&self) -> Owners {
        Owners::new(Places::below(self.0.path()), Privacy::default())
    }
}

/// Seconds since the host started.
fn now(second: u64) -> Now {
    Now {
        time_ns: (1_000 + second as i64) * SECOND_NS,
        since_boot: Duration::from_secs(second),
    }
}

/// A queue pair that was first seen at that second since the host started.
fn row(local_qpn: u32, pid: u32, first: i64) -> QueuePairRow {
    QueuePairRow {
        device: "mlx5_0".into(),
        local_qpn,
        pid: Some(pid),
        first_ns: (1_000 + first) * SECOND_NS,
        ..QueuePairRow::default()
    }
}

fn gone(row: QueuePairRow) -> QueuePairRow {
    QueuePairRow {
        ended_ns: Some(1),
        event: Some("gone".into()),
        ..row
    }
}

fn complete(owners: &mut Owners, row: QueuePairRow, second: u64) -> QueuePairRow {
    let mut rows = [row];
    owners.complete(&mut rows, now(second));
    let [row] = rows;
    row
}

#[test]
fn a_rank_of_a_slurm_job_has_all_its_names() {
    let host = Host::new();
    host.run(
        42,
        &Made {
            cgroup: "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_1\n",
            environment: b"SLURM_JOB_ID=1\0RANK=11\0WORLD_SIZE=16\0",
            ..Made::default()
        },
    );
    let found = complete(&mut host.owners(), row(17, 42, 10), 10);
    let expected = QueuePairRow {
        process: "python".into(),
        command: Some("python train.py --lr fast".into()),
        user: Some("ana".into()),
        unit: Some("slurmstepd.scope".into()),
        // That of the control group, whatever is in the environment.
        job_id: Some("4711".into()),
        job_step: Some("0".into()),
        rank: Some(11),
        ..row(17, 42, 10)
    };
    assert_eq!(found, expected);
}

#[test]
fn a_pod_has_its_name_or_at_least_its_uid() {
    let host = Host::new();
    let cgroup = format!("0::/kubepods/pod{UID}/{ID}\n");
    host.run(
        42,
        &Made {
            cgroup: &cgroup,
            ..Made::default()
        },
    );
    let mut owners = host.owners();
    let found = complete(&mut owners, row(17, 42, 10), 10);
    assert_eq!(found.pod.as_deref(), Some("llama-0"));
    assert_eq!(found.namespace.as_deref(), Some("training"));
    assert_eq!((found.container.as_deref(), found.unit), (Some(ID), None));
    let other = UID.replace('7', "8");
    let cgroup = format!("0::/kubepods/pod{other}/{ID}\n");
    host.run(
        43,
        &Made {
            cgroup: &cgroup,
            ..Made::default()
        },
    );
    let found = complete(&mut owners, row(18, 43, 10), 10);
    assert_eq!((found.pod.as_deref(), found.namespace), (Some(&*other), None));
}

/// The last row of a queue pair comes when its process has ended, and perhaps when another one has its number.
#[test]
fn a_process_that_ended_is_known_to_its_queue_pairs() {
    let host = Host::new();
    host.run(42, &Made::default());
    let mut owners = host.owners();
    assert_eq!(
        complete(&mut owners, row(17, 42, 10), 10).unit.as_deref(),
        Some("train.service")
    );
    host.end(42);
    let later = complete(&mut owners, row(17, 42, 10), 20);
    assert_eq!(later.unit.as_deref(), Some("train.service"));
    let other = "0::/system.slice/other.service\n";
    host.run(
        42,
        &Made {
            started: 25,
            cgroup: other,
            ..Made::default()
        },
    );
    let last = complete(&mut owners, gone(row(17, 42, 10)), 30);
    assert_eq!(last.unit.as_deref(), Some("train.service"));
    // The number of the queue pair is used again, by the other process.
    let next = complete(&mut owners, row(17, 42, 30), 30);
    assert_eq!(next.unit.as_deref(), Some("other.service"));
}

#[test]
fn a_process_that_started_after_its_queue_pair_is_another() {
    let host = Host::new();
    host.run(
        42,
        &Made {
            started: 25,
            ..Made::default()
        },
    );
    let mut owners = host.owners();
    assert_eq!(complete(&mut owners, row(17, 42, 10), 30).unit, None);
    assert_eq!(complete(&mut owners, gone(row(18, 42, 10)), 30).unit, None);
    // What the kernel reported counts more than when it was first seen.
    let created = QueuePairRow {
        created_ns: Some(1_010 * SECOND_NS),
        ..row(19, 42, 30)
    };
    assert_eq!(complete(&mut owners, created, 30).unit, None);
    // A start is known to a hundredth of a second, and clocks are set.
    assert!(complete(&mut owners, row(20, 42, 24), 30).unit.is_some());
}

#[test]
fn a_process_is_read_once_as_long_as_it_has_queue_pairs() {
    let host = Host::new();
    host.run(42, &Made::default());
    let mut owners = host.owners();
    complete(&mut owners, row(17, 42, 10), 10);
    host.run(
        42,
        &Made {
            cgroup: "0::/system.slice/moved.service\n",
            ..Made::default()
        },
    );
    assert_eq!(
        complete(&mut owners, row(18, 42, 11), 11).unit.as_deref(),
        Some("train.service")
    );
    for qpn in [17, 18] {
        complete(&mut owners, gone(row(qpn, 42, 10)), 12);
    }
    complete(&mut owners, gone(row(18, 42, 11)), 12);
    assert_eq!((owners.processes.len(), owners.pairs.len()), (0, 0));
    assert_eq!(
        complete(&mut owners, row(17, 42, 13), 13).unit.as_deref(),
        Some("moved.service")
    );
}

#[test]
fn hostile_processes_cannot_write_to_a_terminal_or_fill_the_dataset() {
    let host = Host::new();
    let environment = [b"A=", &[b'x'; 1 << 20][..], b"\0RANK=1\0WORLD_SIZE=2\0"].concat();
    let command = [b"\x1b]0;pwned\x07\xff\n", &[b'y'; 1 << 20][..]].concat();
    let unit = "z".repeat(100_000);
    host.run(
        42,
        &Made {
            cgroup: &format!("0::/system.slice/\u{1b}[2J{unit}.service\n"),
            command: &command,
            environment: &environment,
            ..Made::default()
        },
    );
    let found = complete(&mut host.owners(), row(17, 42, 10), 10);
    let command = found.command.unwrap();
    assert!(
        command.len() <= MAX_COMMAND && command.starts_with("\u{fffd}]0;pwned\u{fffd}\u{fffd}\u{fffd}yyy"),
        "{command}"
    );
    // Cut: not known what it is.
    assert_eq!((found.unit, found.rank), (None, None));
}

#[test]
fn commands_and_users_are_private_if_asked() {
    let host = Host::new();
    host.run(
        42,
        &Made {
            cgroup: "0::/user.slice/user-1000.slice/user@1000.service\n",
            ..Made::default()
        },
    );
    let key: UserKey = "01".repeat(32).parse().unwrap();
    let privacy = Privacy {
        no_commands: true,
        user_key: Some(key.clone()),
    };
    let mut owners = Owners::new(Places::below(host.0.path()), privacy);
    let found = complete(&mut owners, row(17, 42, 10), 10);
    assert_eq!((found.command, found.unit), (None, None));
    assert_eq!(found.user.as_deref(), Some(&*key.hash("ana")));
}

#[test]
fn a_process_that_cannot_be_seen_is_reported_once() {
    let host = Host::new();
    host.run(1, &Made::default());
    let mut owners = host.owners();
    assert_eq!(complete(&mut owners, row(17, 42, 10), 10).user, None);
    // It has ended.
    assert_eq!(owners.notice(), None);
    host.end(1);
    assert_eq!(complete(&mut owners, row(17, 42, 10), 10).user, None);
    assert!(owners.notice().unwrap().contains("hidden"));
    complete(&mut owners, row(18, 42, 10), 10);
    assert_eq!(owners.notice(), None);
    // The kernel's own.
    let of_kernel = QueuePairRow {
        pid: None,
        process: "ib_core".into(),
        ..row(1, 0, 10)
    };
    assert_eq!(complete(&mut owners, of_kernel.clone(), 10), of_kernel);
}

/// This process, as it is.
#[test]
fn this_process_is_named() {
    let mut owners = Owners::new(Places::below(Path::new("/")), Privacy::default());
    let time_ns = rocescope_model::Time::default().0;
    let mut rows = [QueuePairRow {
        first_ns: i64::MAX,
        ..row(17, std::process::id(), 0)
    }];
    owners.complete(&mut rows, Now::at(time_ns));
    assert!(rows[0].command.is_some() && rows[0].user.is_some());
}
