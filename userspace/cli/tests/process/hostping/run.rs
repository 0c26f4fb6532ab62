//! `rocescope hostping run`: plans, simulated and replayed hosts, counters.

use crate::hostping::{json, measured, printed, refused, run, tree};
use rocescope_model::LoopbackRow;
use rocescope_store::scan;
use rocescope_testkit::binary;
use serde_json::json as value;
use std::fs;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn dgx() -> String {
    tree("dgx-a100-4.nccl.xml")
}

#[test]
fn the_plan_of_4_nics_and_10_endpoints_is_under_10_s() {
    let topology = dgx();
    let with = ["hostping", "run", "--topology", &topology, "--plan"];
    let plan = json(&with);
    assert_eq!(plan["pairs"].as_array().unwrap().len(), 40);
    assert!(plan["seconds"].as_f64().unwrap() < 10.0, "{plan}");
    let text = printed(&with);
    assert!(text.ends_with("total      4.2 s, at most 105.0 GB\n"), "{text}");
    let text = printed(&[&with[..], &["--nic", "mlx5_1", "--endpoint", "mem0,GPU1"]].concat());
    assert!(text.starts_with("2 tests: 1 NICs to 2 endpoints"), "{text}");
    let refusal = refused(&[&with[..], &["--nic", "mlx9"]].concat());
    assert!(refusal.contains("mlx9 is no NIC of the topology"), "{refusal}");
}

#[test]
fn a_simulated_host_is_measured_diagnosed_and_stored() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = folder.path().join("d").display().to_string();
    let topology = dgx();
    let with = ["hostping", "run", "--topology", &topology, "--backend", "simulated"];
    let slow = ["--slow", "PCIe switch 0 <-> CPU root port 0=0.06"];
    let output = ["--out", &dataset, "--observer", "h1"];
    let text = printed(&[&with[..], &slow, &output].concat());
    assert!(
        text.starts_with("abnormal   PCIe switch 0 <-> CPU root port 0\n"),
        "{text}"
    );
    let model = text.lines().find(|line| line.starts_with("model")).unwrap();
    assert!(
        model.contains("mlx5_0 to mem0: T_proc + Lat_host 2.500 us, BW_host 12.0 Gbit/s"),
        "{model}"
    );
    let found = json(&["diagnose", "hostping", &dataset]);
    assert_eq!(found["runs"][0]["abnormal_links"][0]["a"], "PCIe switch 0");
    let rows = scan(Path::new(&dataset)).unwrap().rows::<LoopbackRow>().unwrap();
    let first = &rows[0];
    assert!(
        first.window_ns > 1_000_000_000 && first.base_ns == Some(2_500),
        "{first:?}"
    );
    assert_eq!(first.size_bytes, Some(1 << 20));
    let speeds = first.link_speeds.as_deref().unwrap();
    assert_eq!(speeds, "252.1 > 252.1 > - > -", "{}", first.path);
    let healthy = json(&with);
    assert_eq!(healthy["causes"], value!([]));
    let refusal = refused(&[&with[..], &["--slow", "GPU0 <-> GPU1=0.1"]].concat());
    assert!(refusal.contains("no link between GPU0 and GPU1"), "{refusal}");
    let refusal = refused(&[&with[..], &["--slow", "GPU0"]].concat());
    assert!(refusal.contains("expected two nodes and a share"), "{refusal}");
}

#[test]
fn the_replay_of_the_slides_gives_their_diagnosis() {
    let (topology, sick) = (dgx(), measured("slides-root-port.txt"));
    let with = ["hostping", "run", "--topology", &topology, "--backend", "replay"];
    let found = json(&[&with[..], &["--replay", &sick]].concat());
    assert_eq!(found["abnormal_links"].as_array().unwrap().len(), 1);
    assert_eq!(found["abnormal_links"][0]["kind"], "root-port");
    let text = printed(&[&with[..], &["--replay", &sick]].concat());
    assert!(text.contains("mlx5_0   12.928!   12.544!  194.636"), "{text}");
    let refusal = refused(&with);
    assert!(refusal.contains("--backend replay needs --replay FILE"), "{refusal}");
}

/// Ports of four NICs in a made tree of `/sys`.
struct Ports(PathBuf);

impl Ports {
    fn set(&self, nic: u32, name: &str, value: u64) {
        let folder = self.0.join(format!("class/infiniband/mlx5_{nic}/ports/1/counters"));
        fs::create_dir_all(&folder).unwrap();
        // Without truncating: a reader sees one of two values of ten digits.
        let file = fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(name));
        file.unwrap().write_all(format!("{value}\n").as_bytes()).unwrap();
    }

    fn new(folder: &Path) -> Self {
        let ports = Self(folder.to_owned());
        for nic in 0..4 {
            for name in ["port_xmit_data", "port_rcv_data"] {
                ports.set(nic, name, 1_000_000_000);
            }
        }
        ports
    }

    /// Traffic of a NIC at a rate, until `is_over`.
    fn grow(&self, nic: u32, gbps: f64, is_over: &mut dyn FnMut() -> bool) {
        let begun = Instant::now();
        while !is_over() {
            // The unit of the counter is four bytes.
            let words = begun.elapsed().as_secs_f64() * gbps * 1e9 / 32.0;
            self.set(nic, "port_xmit_data", 1_000_000_000 + words as u64);
            sleep(Duration::from_millis(3));
        }
    }
}

/// One after the other, for a host runs one test at a time: an idle host, one that becomes busy during the tests, a busy
/// one, and one whose tests another process runs.
#[test]
fn tests_respect_the_traffic_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let ports = Ports::new(&folder.path().join("sys"));
    let (topology, root) = (dgx(), ports.0.display().to_string());
    let with = ["hostping", "run", "--topology", &topology, "--backend", "simulated"];
    let with = [&with[..], &["--counters-root", &root]].concat();
    let few = [&with[..], &["--endpoint", "mem0", "--nic", "mlx5_0,mlx5_1"]].concat();
    let output = run(&few);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("s of tests"), "{said}");

    // All tests take 3 s; the application starts before they end. Other processes may keep this one waiting: the best of
    // a few attempts counts.
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let mut child = Command::new(binary())
            .args(&with)
            .args(["-o", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        sleep(Duration::from_millis(1_200));
        let onset = Instant::now();
        ports.grow(2, 20.0, &mut || child.try_wait().unwrap().is_some());
        best = best.min(onset.elapsed());
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("stopped because the host became busy: mlx5_2 carries"),
            "{said}"
        );
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["causes"], value!([]), "what was measured before counts");
        assert!(!found["tests"].as_array().unwrap().is_empty());
        if best < Duration::from_millis(100) {
            break;
        }
    }
    println!("from the first byte of the application to the end of the process: {best:?}");
    assert!(best < Duration::from_millis(100), "{best:?}");

    // A busy host is left alone unless forced; then its NICs are marked.
    let (send, ended) = std::sync::mpsc::channel();
    let growing = Ports(ports.0.clone());
    let thread = std::thread::spawn(move || growing.grow(1, 60.0, &mut || ended.try_recv().is_ok()));
    let refusal = refused(&few);
    assert!(
        refusal.contains("mlx5_1 carries ") && refusal.contains("with --force"),
        "{refusal}"
    );
    let dataset = folder.path().join("d").display().to_string();
    printed(&[&few[..], &["--force", "--out", &dataset, "--observer", "h1"]].concat());
    send.send(()).unwrap();
    thread.join().unwrap();
    let rows = scan(Path::new(&dataset)).unwrap().rows::<LoopbackRow>().unwrap();
    let sent: Vec<(bool, f64)> = rows.iter().map(|row| (row.busy, row.sent_bps.unwrap())).collect();
    assert!(!sent[0].0 && sent[0].1 < 1e9, "{sent:?}");
    assert!(sent[1].0 && (20e9..120e9).contains(&sent[1].1), "{sent:?}");
    assert_eq!(rows[1].received_bps, Some(0.0));

    // With `--every`, a run is due when the host was idle for a while.
    let dataset = folder.path().join("e").display().to_string();
    let waiting = ["--every", "1h", "--idle-for", "1s", "--duration", "4s"];
    printed(&[&few[..], &waiting, &["--out", &dataset, "--observer", "h1"]].concat());
    let rows = scan(Path::new(&dataset)).unwrap().rows::<LoopbackRow>().unwrap();
    assert_eq!(rows.len(), 2, "one run of two tests");

    let name = SocketAddr::from_abstract_name("rocescope-hostping").unwrap();
    let _other = UnixListener::bind_addr(&name).unwrap();
    let refusal = refused(&few);
    assert!(
        refusal.contains("another process of this host runs loopback tests"),
        "{refusal}"
    );
    // Counters that are not there prove nothing.
    let empty = folder.path().join("empty");
    fs::create_dir_all(empty.join("class/infiniband")).unwrap();
    let few = [&few[..few.len() - 6], &["--counters-root", empty.to_str().unwrap()]].concat();
    let refusal = refused(&few);
    assert!(refusal.contains("nothing counts the traffic of mlx5_0"), "{refusal}");
}
