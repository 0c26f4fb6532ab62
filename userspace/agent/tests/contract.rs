//! Every part keeps the contract of [`Part`]: rows arrive after the start, new settings take effect while it runs, the end
//! joins the thread and reports what was done, and a thread that panicked is an error.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rocescope_agent::collective::Collectives;
use rocescope_agent::collective::follow::Following;
use rocescope_agent::counters::{Counters, Pace};
use rocescope_agent::hostping::settings::TopologySource;
use rocescope_agent::hostping::{Boxed, HostpingSettings, Tester, Testing};
use rocescope_agent::queue_pairs::{QueuePairPace, QueuePairs};
use rocescope_agent::{AgentError, Part, Rows, Settings};
use rocescope_collective::read::follow::Format;
use rocescope_diagnose::hostping::{Rule, Topology};
use rocescope_host::counters::queue_pairs::event::{Event, Events, Identity, Lost, Owner, What};
use rocescope_host::counters::{Moment, Reader, Sources, Wanted};
use rocescope_lab::hostping::host::Host;
use rocescope_lab::hostping::loopback::Simulated;
use rocescope_model::Cells;
use rocescope_probe::Nanos;
use rocescope_probe::loopback::schedule::Timing;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A part, what makes it see something new, and settings that a controller may send.
struct Case {
    name: &'static str,
    part: Box<dyn Part>,
    cause: Box<dyn FnMut()>,
    settings: Settings,
    _directory: TempDir,
}

fn cases() -> [Case; 4] {
    [counters(), queue_pairs(), collectives(), hostping()]
}

/// Counters that are read every hour, until settings say otherwise.
fn counters() -> Case {
    let directory = tempfile::tempdir().unwrap();
    let port = directory.path().join("class/infiniband/mlx5_0/ports/1/counters");
    fs::create_dir_all(&port).unwrap();
    let counter = port.join("port_xmit_data");
    // As the kernel's files are: the same file, and never empty while it changes.
    let write = move |value: u64| {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&counter);
        file.unwrap().write_all(format!("{value}\n").as_bytes()).unwrap();
    };
    write(1);
    let reader = Reader::new(Sources::copy(directory.path().into()), Wanted::default(), "h0");
    let pace = |interval| Pace {
        interval,
        refresh: Duration::from_secs(3_600),
    };
    let mut value = 1;
    Case {
        name: "counters",
        part: Box::new(Counters::open(reader, pace(Duration::from_secs(3_600)), None)),
        cause: Box::new(move || {
            value += 1;
            write(value);
        }),
        settings: Settings {
            counters: Some(pace(Duration::from_millis(10))),
            ..Settings::default()
        },
        _directory: directory,
    }
}

/// Events that wait.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Vec<Event>>>);

impl Events for Script {
    fn wait(&mut self, limit: Duration) {
        std::thread::sleep(limit.min(Duration::from_millis(1)));
    }

    fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn lost(&self) -> Lost {
        Lost::default()
    }

    fn sees_cm(&self) -> bool {
        true
    }
}

/// Queue pairs of a kernel that reports them, on a device that no read lists.
fn queue_pairs() -> Case {
    let directory = tempfile::tempdir().unwrap();
    let script = Script::default();
    let reader = Reader::new(Sources::copy(directory.path().into()), Wanted::default(), "h0");
    let pace = |interval| QueuePairPace {
        interval,
        refresh: Duration::from_secs(3_600),
    };
    let part = QueuePairs::open(reader, Some(Box::new(script.clone())), pace(Duration::from_secs(3_600)));
    let mut number = 0;
    Case {
        name: "queue pairs",
        part: Box::new(part),
        cause: Box::new(move || {
            number += 1;
            let owner = Owner {
                kind: "RC",
                pid: Some(7),
                process: "train".into(),
            };
            script.0.lock().unwrap().push(Event {
                moment: Moment::now(),
                device: "mlx5_0".into(),
                number,
                what: What::Created(Identity(number.into()), owner),
            });
        }),
        settings: Settings {
            queue_pairs: Some(pace(Duration::from_millis(10))),
            ..Settings::default()
        },
        _directory: directory,
    }
}

fn collectives() -> Case {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rank0");
    let following = Following::new(&[directory.path().into()], Format::Comma, "h0");
    let (part, _) = Collectives::open(following);
    let mut number = 0;
    Case {
        name: "collective",
        part: Box::new(part),
        cause: Box::new(move || {
            number += 1;
            append_step(&file, number);
        }),
        settings: Settings::default(),
        _directory: directory,
    }
}

/// Tests of a simulated host, which are due all the time.
fn hostping() -> Case {
    let directory = tempfile::tempdir().unwrap();
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/hostping/trees");
    let settings = HostpingSettings {
        source: TopologySource {
            topology: Some(trees.join("dgx-a100-8.nccl.xml")),
            sysfs_root: None,
        },
        nics: Vec::new(),
        endpoints: Vec::new(),
        max_time: Duration::from_secs(10),
        max_bytes: u64::MAX,
        force: false,
        baseline: None,
        rule: Rule::of_name("seed").unwrap(),
    };
    for nic in 0..8 {
        let port = format!("class/infiniband/mlx5_{nic}/ports/1/counters");
        let port = directory.path().join(port);
        fs::create_dir_all(&port).unwrap();
        for name in ["port_xmit_data", "port_rcv_data"] {
            fs::write(port.join(name), "0\n").unwrap();
        }
    }
    let open = |topology: &Topology, _: &_| -> Result<Boxed, AgentError> {
        Ok(Box::new(Simulated::new(Host::healthy(topology.clone()))))
    };
    let tester = Tester::over(&settings, "h0", Some(directory.path()), open).unwrap();
    let timing = Timing {
        every: Nanos(100_000_000),
        idle_for: Nanos(100_000_000),
        alarms: None,
    };
    Case {
        name: "hostping",
        part: Box::new(Testing::new(tester, false, timing)),
        cause: Box::new(|| {}),
        settings: Settings::default(),
        _directory: directory,
    }
}

fn append_step(file: &Path, number: u64) {
    let begin = if number == 1 { "[" } else { ", " };
    let step = format!(
        "{begin}{{\"name\":\"a\",\"comm_hash\":\"1\",\"rank\":0,\"seq_num\":{number},\"proxyops\":[{{\"is_send\":true,\
         \"peer\":1,\"steps\":[{{\"step\":1,\"start_time\":{number},\"end_time\":{},\"size\":5}}]}}]}}",
        number + 1
    );
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    file.write_all(step.as_bytes()).unwrap();
}

/// Causes something new until there are more rows than `before`, which the caller read before anything could add to it.
fn more(count: &AtomicUsize, before: usize, cause: &mut dyn FnMut(), what: &str) {
    let begun = Instant::now();
    while count.load(Ordering::SeqCst) == before {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        cause();
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn rows_arrive_settings_take_effect_and_the_end_is_the_last_of_it() {
    for mut case in cases() {
        let name = case.name;
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let rows = Rows::to(move |cells: &dyn Cells| {
            counted.fetch_add(cells.rows(), Ordering::SeqCst);
        });
        case.part.start(rows).unwrap();
        more(&count, 0, &mut case.cause, name);
        let before = count.load(Ordering::SeqCst);
        case.part.reconfigure(&case.settings);
        // Between two runs of loopback tests is a minute, and nothing of them is reconfigured.
        if name != "hostping" {
            more(&count, before, &mut case.cause, &format!("{name}, reconfigured"));
        }
        let summary = case.part.end().unwrap();
        assert!(summary.starts_with(name), "{summary}");
        // No one is left who could append a row.
        assert_eq!(Arc::strong_count(&count), 1, "{name}");
    }
}

#[test]
fn a_part_that_never_started_ends() {
    for mut case in cases() {
        let summary = case.part.end().unwrap();
        assert!(summary.starts_with(case.name), "{summary}");
    }
}

#[test]
fn a_thread_that_panicked_is_a_defect() {
    for mut case in cases() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let rows = Rows::to(move |_: &dyn Cells| {
            counted.fetch_add(1, Ordering::SeqCst);
            panic!("the sink of a test");
        });
        case.part.start(rows).unwrap();
        more(&count, 0, &mut case.cause, case.name);
        let error = case.part.end().unwrap_err();
        assert!(
            matches!(error, AgentError::Defect(name) if name == case.name),
            "{error}"
        );
    }
}
