//! Loopback tests of a simulated host: diagnosis and rows, and the traffic of others in the counters of a made `/sys`.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rocescope_agent::AgentError;
use rocescope_agent::hostping::settings::TopologySource;
use rocescope_agent::hostping::{Boxed, HostpingSettings, Tester};
use rocescope_diagnose::hostping::{Rule, Topology};
use rocescope_lab::hostping::host::Host;
use rocescope_lab::hostping::loopback::Simulated;
use rocescope_probe::loopback::{End, Plan};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

fn settings(nics: &[&str], endpoints: &[&str]) -> HostpingSettings {
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diagnose/tests/hostping/trees");
    HostpingSettings {
        source: TopologySource {
            topology: Some(trees.join("dgx-a100-4.nccl.xml")),
            sysfs_root: None,
        },
        nics: nics.iter().map(ToString::to_string).collect(),
        endpoints: endpoints.iter().map(ToString::to_string).collect(),
        max_time: Duration::from_secs(10),
        max_bytes: u64::MAX,
        force: false,
        baseline: None,
        rule: Rule::SEED,
    }
}

/// In simulated time; the link between two nodes carries this share of the NICs' rate.
fn simulated(slow: Option<([&str; 2], f64)>) -> impl Fn(&Topology, &Plan) -> Result<Boxed, AgentError> {
    move |topology, _| {
        let mut host = Host::healthy(topology.clone());
        if let Some((ends, share)) = slow {
            let is = |link: &usize| [topology.ends(*link).0, topology.ends(*link).1] == ends;
            host = host.with((0..topology.links.len()).find(is).unwrap(), share);
        }
        Ok(Box::new(Simulated::new(host)))
    }
}

fn paced(topology: &Topology, _: &Plan) -> Result<Boxed, AgentError> {
    Ok(Box::new(Simulated::paced(Host::healthy(topology.clone()))))
}

/// Ports of four NICs in a made tree of `/sys`.
#[derive(Clone)]
struct Ports(PathBuf);

impl Ports {
    fn new(folder: &Path) -> Self {
        let ports = Self(folder.to_owned());
        for nic in 0..4 {
            for name in ["port_xmit_data", "port_rcv_data"] {
                ports.set(nic, name, 1_000_000_000);
            }
        }
        ports
    }

    fn set(&self, nic: u32, name: &str, value: u64) {
        let folder = self.0.join(format!("class/infiniband/mlx5_{nic}/ports/1/counters"));
        fs::create_dir_all(&folder).unwrap();
        // As the kernel's files are: the same file, and never empty while it changes.
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(name));
        file.unwrap().write_all(format!("{value}\n").as_bytes()).unwrap();
    }

    /// Traffic of a NIC at a rate, until the sender is dropped.
    fn grow(&self, nic: u32, gbps: f64) -> (Sender<()>, JoinHandle<()>) {
        let (end, ended) = channel::<()>();
        let ports = self.clone();
        let thread = spawn(move || {
            let begun = Instant::now();
            while ended.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
                // The unit of the counter is four bytes.
                let words = begun.elapsed().as_secs_f64() * gbps * 1e9 / 32.0;
                ports.set(nic, "port_xmit_data", 1_000_000_000 + words as u64);
                sleep(Duration::from_millis(3));
            }
        });
        (end, thread)
    }
}

#[test]
fn a_slow_link_is_found_and_every_test_is_a_row() {
    let folder = tempfile::tempdir().unwrap();
    Ports::new(folder.path());
    let settings = settings(&[], &[]);
    let open = |slow| Tester::over(&settings, "h1", Some(folder.path()), simulated(slow)).unwrap();
    let root_port = ["PCIe switch 0", "CPU root port 0"];
    let mut tester = open(Some((root_port, 0.06)));
    let tested = tester.test(false, &|| false).unwrap();
    let diagnosis = tester.diagnose(&tested);
    let abnormal: Vec<_> = diagnosis.inference.abnormal.clone();
    assert_eq!(abnormal.len(), 1);
    assert_eq!(tester.topology.ends(abnormal[0]), (root_port[0], root_port[1]));
    let rows = tester.rows(&tested, &diagnosis);
    assert_eq!(rows.len(), 40);
    let first = &rows[0];
    assert!(
        first.window_ns > 1_000_000_000 && first.base_ns == Some(2_500) && first.size_bytes == Some(1 << 20),
        "{first:?}"
    );
    assert_eq!(first.link_speeds.as_deref(), Some("252.1 > 252.1 > - > -"));
    let mut healthy = open(None);
    let tested = healthy.test(false, &|| false).unwrap();
    assert_eq!(healthy.diagnose(&tested).inference.abnormal, [0; 0]);
}

#[test]
fn tests_stop_when_the_host_becomes_busy() {
    let folder = tempfile::tempdir().unwrap();
    let ports = Ports::new(folder.path());
    let mut tester = Tester::over(&settings(&[], &[]), "h1", Some(folder.path()), paced).unwrap();
    assert_eq!(tester.busy().unwrap(), None);
    let traffic = ports.grow(2, 20.0);
    let tested = tester.test(false, &|| false).unwrap();
    drop(traffic.0);
    traffic.1.join().unwrap();
    assert!(
        matches!(tested.end(), End::Busy(busy) if busy.nic == "mlx5_2"),
        "{}",
        tested.text()
    );
}

#[test]
fn a_busy_host_is_left_alone_unless_forced() {
    let folder = tempfile::tempdir().unwrap();
    let ports = Ports::new(folder.path());
    let settings = settings(&["mlx5_0", "mlx5_1"], &["mem0"]);
    let mut tester = Tester::over(&settings, "h1", Some(folder.path()), paced).unwrap();
    let traffic = ports.grow(1, 60.0);
    // On a busy machine the counters may stand still while they are looked at.
    let busy = (0..1_000).find_map(|_| tester.busy().unwrap());
    assert_eq!(busy.unwrap().nic, "mlx5_1");
    let tested = tester.test(true, &|| false).unwrap();
    drop(traffic.0);
    traffic.1.join().unwrap();
    let rows = tester.rows(&tested, &tester.diagnose(&tested));
    let sent: Vec<(bool, f64)> = rows.iter().map(|row| (row.busy, row.sent_bps.unwrap())).collect();
    assert!(!sent[0].0 && sent[0].1 < 1e9, "{sent:?}");
    assert!(sent[1].0 && sent[1].1 > 2e9, "{sent:?}");
    assert_eq!(rows[1].received_bps, Some(0.0));
}

/// Counters that are not there prove nothing.
#[test]
fn without_counters_nothing_shows_that_the_host_is_idle() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("class/infiniband")).unwrap();
    let mut tester = Tester::over(&settings(&[], &[]), "h1", Some(folder.path()), simulated(None)).unwrap();
    let refusal = tester.busy().unwrap_err().to_string();
    assert!(
        refusal.contains("nothing counts the traffic of mlx5_0") && refusal.contains("--force"),
        "{refusal}"
    );
}
