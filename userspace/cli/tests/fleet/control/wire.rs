//! A capture box sends the rows that judge hosts to the controller: the losses of a connection beside the counters of its
//! two ends, live.

use crate::control::hub::{CONTROLLER, Hub, MIRROR};
use crate::control::rig::{Rig, end, spawn, write};
use rocescope_collector::control::Operator;
use rocescope_model::{ConnectionRow, EventRow, FlowRow, HostVerdictRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::binary;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A budget that the quiet flows exceed, and those with trouble do not.
const BUDGET: usize = 60;
const QUIET: usize = 60;
const SECONDS: u64 = 12;

/// A copy of `/sys` with a NIC of this address.
struct Host(PathBuf);

impl Host {
    fn new(root: PathBuf, address: u8) -> Self {
        let host = Self(root);
        host.set("device/uevent", "DRIVER=mlx5_core");
        host.set("ports/1/state", "4: ACTIVE");
        host.set(
            "ports/1/gids/0",
            &format!("0000:0000:0000:0000:0000:ffff:0a00:00{address:02x}"),
        );
        host.set("ports/1/gid_attrs/ndevs/0", "eth2");
        for name in ["symbol_error", "link_downed", "port_rcv_errors"] {
            host.set(&format!("ports/1/counters/{name}"), "0");
        }
        host.count(0, 0);
        host
    }

    fn set(&self, path: &str, content: &str) {
        let path = self.0.join("class/infiniband/mlx5_0").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{content}\n")).unwrap();
    }

    /// What its NIC counts as a sender, and as a receiver.
    fn count(&self, naks: u64, out_of_sequence: u64) {
        for (name, value) in [
            ("packet_seq_err", naks),
            ("out_of_sequence", out_of_sequence),
            ("local_ack_timeout_err", 0),
            ("duplicate_request", 0),
            ("rnr_nak_retry_err", 0),
        ] {
            self.set(&format!("ports/1/hw_counters/{name}"), &value.to_string());
        }
    }
}

fn agent(rig: &Rig, name: &str, sysfs: &Path) -> PathBuf {
    let at = |name: &str| rig.path(name).display().to_string();
    let file = format!(
        "observer = \"{name}\"\n[agent]\ncollector = \"https://{CONTROLLER}:4792\"\ncert = \"{}\"\nkey = \"{}\"\n\
        ca = \"{}\"\nspool = \"{}\"\n[counters]\ninterval = \"500ms\"\nsysfs-root = \"{}\"\n",
        at(&format!("{name}.pem")),
        at(&format!("{name}.key")),
        at("ca.pem"),
        at(&format!("spool-{name}")),
        sysfs.display(),
    );
    write(&rig.path(&format!("{name}.toml")), &file)
}

#[test]
fn losses_on_the_wire_meet_the_counters_of_both_ends_while_they_happen() {
    let Some(hub) = Hub::new(2, Duration::ZERO, None) else {
        return;
    };
    let rig = Rig::new();
    let at = |name: &str| rig.path(name).display().to_string();
    let log = |name: &str| rig.path(&format!("{name}.log"));
    rig.sign("collector", &[CONTROLLER, "localhost"]);
    let hosts = [("gpu-1", 1_u8), ("gpu-2", 2)].map(|(name, address)| {
        rig.sign(name, &[name]);
        (name, Host::new(rig.path(&format!("sys-{name}")), address))
    });
    rig.sign("box", &["box"]);
    rig.sign("ops", &["ops"]);
    write(&rig.path("fleet.toml"), "operators = [\"ops\"]\n");
    let mut command = hub.command("s", binary());
    command.args([
        "collector",
        "run",
        "--listen",
        "0.0.0.0:4792",
        "--out",
        &at("collected"),
        "--diagnose",
    ]);
    command.env("COLLECT_TIME_SCALE", "5");
    command.args([
        "--lateness",
        "2s",
        "--client-ca",
        &at("ca.pem"),
        "--cert",
        &at("collector.pem"),
    ]);
    command.args([
        "--key",
        &at("collector.key"),
        "--control-dir",
        &at("control"),
        "--control",
        &at("fleet.toml"),
    ]);
    let collector = spawn(&mut command, &log("collect"));
    let url = format!("https://{CONTROLLER}:4792");
    let mut agents = Vec::new();
    for (name, host) in &hosts {
        let file = agent(&rig, name, &host.0);
        let mut command = hub.command("s", binary());
        agents.push((
            spawn(command.arg("agent").arg("--config").arg(file), &log(name)),
            log(name),
        ));
    }
    let mut command = hub.command("s", binary());
    command.args(["capture", "-i", MIRROR, "--mode", "af-packet", "--lateness", "200ms"]);
    command.args([
        "--observer",
        "box",
        "--collector",
        &url,
        "--cert",
        &at("box.pem"),
        "--key",
        &at("box.key"),
    ]);
    command.args([
        "--ca",
        &at("ca.pem"),
        "--control-file",
        &at("box.toml"),
        "--spool",
        &at("spool-box"),
    ]);
    command.args(["--wire-rows", &BUDGET.to_string()]);
    let capture = spawn(&mut command, &log("box"));
    // Three windows, so that the increase of every counter is known.
    std::thread::sleep(Duration::from_secs(8));
    // A connection that loses packets between the tap and the receiver, and quiet ones beside it.
    let scenario = format!(
        "duration = \"{SECONDS}s\"\n\
        [[flows]]\nsrc = \"10.0.0.1\"\ndst = \"10.0.0.2\"\nqpn = 100\nmessage = 1000\nrate = \"2Mbit/s\"\n\
        loss = [{{ probability = 0.03, where = \"downstream\" }}]\n\
        [[flows]]\ncount = {QUIET}\nsrc = \"10.0.1.1/24\"\ndst = \"10.0.2.1\"\nqpn = 200\nmessage = 1000\nrate = \"40kbit/s\"\n"
    );
    write(&rig.path("traffic.toml"), &scenario);
    let mut command = hub.command("1", binary());
    command.args(["generate", &at("traffic.toml"), "--iface", "rail0"]);
    let traffic = spawn(&mut command, &log("generate"));
    // Both ends count what happens.
    let begun = Instant::now();
    for step in 1.. {
        std::thread::sleep(Duration::from_millis(200));
        hosts[0].1.count(step, 0);
        hosts[1].1.count(0, step);
        if begun.elapsed() > Duration::from_secs(SECONDS) {
            break;
        }
    }
    drop(traffic.wait_with_output());
    // The status on the way: an operator in the namespace of the controller.
    let mut command = hub.command("s", binary());
    command.args([
        "collector",
        "status",
        "--collector",
        &url,
        "--cert",
        &at("ops.pem"),
        "--key",
        &at("ops.key"),
    ]);
    let status = command.args(["--ca", &at("ca.pem")]).output().unwrap();
    end(capture, &log("box"));
    for (agent, log) in agents {
        end(agent, &log);
    }
    std::thread::sleep(Duration::from_secs(1));
    end(collector, &log("collect"));

    let said = |name: &str| std::fs::read_to_string(log(name)).unwrap();
    let collected = said("collect");
    repair(&rig.path("collected")).unwrap();
    let mut afterwards = std::process::Command::new(binary());
    afterwards.args(["diagnose", "hosts", &at("collected"), "--window", "2s"]);
    let afterwards = String::from_utf8(afterwards.output().unwrap().stdout).unwrap();
    assert!(
        collected.contains("  network_loss: 10.0.0.1"),
        "{collected}\n{}\nafterwards: {afterwards}",
        said("box")
    );
    let found = scan(&rig.path("collected")).unwrap();
    let verdicts = found.rows::<HostVerdictRow>().unwrap();
    let first = verdicts.first().unwrap();
    assert!(
        verdicts.iter().all(|verdict| &*verdict.class == "network_loss"),
        "{verdicts:#?}"
    );
    assert_eq!((&*first.state, &*first.observer == "box"), ("began", false));
    // On a busy machine the first window may lack the counters of an end.
    assert!(
        first.confidence.contains(": the tap sees the losses, and "),
        "{first:#?}"
    );
    // The rows of the wire are in the dataset, within the budget; those left out are counted.
    let flows = found.rows::<FlowRow>().unwrap();
    let starts: std::collections::BTreeSet<i64> = flows.iter().map(|row| row.window_start_ns).collect();
    for start in &starts {
        let of_window = flows.iter().filter(|row| row.window_start_ns == *start).count();
        assert!(of_window <= BUDGET, "{of_window} flows of a window");
    }
    assert!(flows.iter().any(|row| row.retransmitted_packets > Some(0)));
    assert!(
        found
            .rows::<EventRow>()
            .unwrap()
            .iter()
            .all(|row| row.src.is_some() && &*row.observer == "box")
    );
    assert!(!found.rows::<ConnectionRow>().unwrap().is_empty());
    let of_box = said("box");
    let end = of_box
        .lines()
        .find(|line| line.contains("rows for the analysis of hosts: "))
        .unwrap();
    assert!(
        end.contains("left out: 0 with trouble and ") && !end.contains("and 0 without"),
        "{end}"
    );
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("rows of capture boxes: "), "{status}");
    // What the collector has suffices for the same verdict afterwards.
    let mut command = std::process::Command::new(binary());
    let again = command
        .args(["diagnose", "hosts", "--window", "2s", &at("collected")])
        .output()
        .unwrap();
    let again = String::from_utf8(again.stdout).unwrap();
    assert!(again.starts_with("network_loss  10.0.0.1"), "{again}");
    for evidence in [
        "certain: the tap sees the losses, and both ends count them",
        "10.0.0.1>10.0.0.2",
        "gpu-1 mlx5_0/1",
        "gpu-2 mlx5_0/1",
        "packet_seq_err",
        "out_of_sequence",
    ] {
        assert!(again.contains(evidence), "{evidence}: {again}");
    }
}

#[test]
fn a_spool_needs_a_collector() {
    let mut command = std::process::Command::new(binary());
    let output = command
        .args(["capture", "-i", "lo", "--spool", "/tmp"])
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("--collector"));
}

/// The operator's library reads the counts too.
#[test]
fn counts_of_capture_boxes_are_part_of_the_status() {
    use crate::control::rig::{Checks, until};
    use rocescope_collector::control::message::{Role, WireCounts};
    let rig = Rig::new();
    let server = rig.controller("operators = [\"ops\"]\n");
    let port = server.address().port();
    let operator: Operator = rig.operator("ops", port);
    let (member, _sender) = rig.member(Role::Capture, "box", port, &Checks::default());
    let counts = WireCounts {
        sent: 5,
        over_budget: 1,
        ..WireCounts::default()
    };
    member.has_sent(counts);
    let status = until(&operator, "the counts arrive", |status| {
        status.members.iter().any(|member| member.state.wire.sent == 5)
    });
    assert_eq!(status.members[0].state.wire, counts);
}
