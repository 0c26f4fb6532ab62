//! Processes that are killed at any moment: each has a whole configuration, the old one or the new one.

use crate::control::rig::{Rig, free_port, until, url, write};
use rocescope_collector::control::member::Held;
use rocescope_collector::control::{Operator, Plan};
use rocescope_testkit::binary;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The number of kills: more in the full test. It has no prefix of the program, which would warn of it.
const KILLS: &str = "CONTROL_KILLS";
const FEW: u64 = 24;
const AGENTS: usize = 3;
const BOX: &str = "box";

/// The name of a member.
fn name(n: usize) -> String {
    match n {
        AGENTS => BOX.into(),
        n => format!("h{n}"),
    }
}

fn plan(interval: u64) -> String {
    format!(
        "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n\
        [group.counters]\ninterval = \"{interval}ms\"\nrefresh = \"{interval}s\"\n\
        [[group]]\nname = \"boxes\"\nmembers = [\"box\"]\n\
        [group.capture]\ntop = {interval}\nelephant = \"{interval}M\"\n"
    )
}

struct Fleet {
    rig: Rig,
    port: u16,
    controller: Child,
    /// Then the capture box.
    members: Vec<Child>,
}

impl Fleet {
    fn new() -> Self {
        let rig = Rig::new();
        let port = free_port();
        write(&rig.path("first.toml"), &plan(1000));
        let port_directory = rig.path("sys/class/infiniband/mlx5_0/ports/1");
        fs::create_dir_all(&port_directory).unwrap();
        write(&port_directory.join("state"), "4: ACTIVE\n");
        for n in 0..AGENTS {
            rig.sign(&format!("h{n}"), &[&format!("h{n}")]);
            let at = |name: String| rig.path(&name).display().to_string();
            let text = format!(
                "observer = \"h{n}\"\n[agent]\nwindow = \"200ms\"\nquiet = true\ncollector = \"{}\"\ncert = \"{}\"\nkey = \"{}\"\n\
                ca = \"{}\"\nspool = \"{}\"\n[counters]\nsysfs-root = \"{}\"\n",
                url(port),
                at(format!("h{n}.pem")),
                at(format!("h{n}.key")),
                at("ca.pem".into()),
                at(format!("spool-{n}")),
                at("sys".into()),
            );
            write(&rig.path(&format!("h{n}.toml")), &text);
        }
        let controller = controller(&rig, port);
        rig.sign(BOX, &[BOX]);
        let members = (0..=AGENTS).map(|n| member(&rig, port, n)).collect();
        Self {
            rig,
            port,
            controller,
            members,
        }
    }

    fn held(&self, n: usize) -> PathBuf {
        match n {
            AGENTS => self.rig.path("box.toml"),
            n => self.rig.path(&format!("spool-{n}/controlled.toml")),
        }
    }
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn controller(rig: &Rig, port: u16) -> Child {
    let mut command = Command::new(binary());
    command.args([
        "collector",
        "run",
        "--listen",
        &format!("127.0.0.1:{port}"),
        "--no-sync",
    ]);
    for (option, file) in [
        ("--out", "dataset"),
        ("--cert", "collector.pem"),
        ("--key", "collector.key"),
        ("--client-ca", "ca.pem"),
        ("--control-dir", "control"),
        ("--control", "first.toml"),
    ] {
        command.arg(option).arg(rig.path(file));
    }
    spawn(&mut command)
}

fn agent(rig: &Rig, n: usize) -> Child {
    let mut command = Command::new(binary());
    spawn(
        command
            .arg("agent")
            .arg("--config")
            .arg(rig.path(&format!("h{n}.toml"))),
    )
}

/// An agent, or the capture box.
fn member(rig: &Rig, port: u16, n: usize) -> Child {
    match n {
        AGENTS => spawn(&mut capture(rig, port)),
        n => agent(rig, n),
    }
}

fn capture(rig: &Rig, port: u16) -> Command {
    let mut command = Command::new(binary());
    command.args([
        "capture",
        "-i",
        "lo",
        "--mode",
        "af-packet",
        "--window",
        "200ms",
        "--lateness",
        "100ms",
    ]);
    command.args(["--observer", BOX, "--collector", &url(port)]);
    for (option, file) in [
        ("--cert", "box.pem"),
        ("--key", "box.key"),
        ("--ca", "ca.pem"),
        ("--control-file", "box.toml"),
        ("--spool", "spool-box"),
    ] {
        command.arg(option).arg(rig.path(file));
    }
    command
}

fn kill(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in self.members.iter_mut().chain([&mut self.controller]) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A version that is in force after the controller came back, whatever the outcome of the call.
fn check(operator: &Operator, fleet: &Fleet, applied: u64) {
    let status = until(operator, "the controller answers", |_| true);
    assert!(
        status.version == applied || status.version == applied - 1,
        "{} of {applied}",
        status.version
    );
    for n in 0..=AGENTS {
        // Whole, or it would not be read; and what the controller meant with that version.
        let Some(held) = Held::read(&fleet.held(n)).unwrap() else {
            continue;
        };
        let version = operator.version(Some(held.version)).unwrap();
        assert_eq!(Plan::parse(&version.text).unwrap().text(&name(n)), held.text);
    }
}

/// Agents, a capture box and the controller.
#[test]
fn kills_at_any_moment_leave_each_with_a_whole_configuration() {
    if rocescope_host::packet::Socket::open().is_err() {
        assert!(std::env::var_os("CI").is_none(), "no packet socket");
        eprintln!("skipped: a capture box needs CAP_NET_RAW");
        return;
    }
    let kills = std::env::var(KILLS).map_or(FEW, |kills| kills.parse().unwrap());
    let mut fleet = Fleet::new();
    let operator = fleet.rig.operator("ops", fleet.port);
    let all_run = |version: u64| {
        until(&operator, "all run a version", move |status| {
            let running = status
                .members
                .iter()
                .filter(|m| m.connected && m.state.running == version);
            running.count() == AGENTS + 1
        })
    };
    all_run(1);
    let mut seed = 7u64;
    let mut random = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut version = 1;
    for round in 0..kills {
        let text = plan(1000 + round);
        let victim = random(AGENTS as u64 + 2) as usize;
        // The controller writes a version within milliseconds, an agent at the end of its window.
        let delay = Duration::from_micros(random(if victim == 0 { 20_000 } else { 300_000 }));
        std::thread::scope(|scope| {
            let applied = scope.spawn(|| operator_of(&fleet.rig, fleet.port).apply(text.clone()));
            let victim = match victim {
                0 => &mut fleet.controller,
                n => &mut fleet.members[n - 1],
            };
            std::thread::sleep(delay);
            kill(victim);
            // It may have been killed before, while or after it applied.
            let _ = applied.join().unwrap();
        });
        match victim {
            0 => fleet.controller = controller(&fleet.rig, fleet.port),
            n => fleet.members[n - 1] = member(&fleet.rig, fleet.port, n - 1),
        }
        check(&operator, &fleet, version + 1);
        version = operator.status().unwrap().version;
    }
    let last = operator.apply(plan(77_777)).unwrap().version;
    all_run(last);
    println!("{kills} kills, {last} versions: every file was whole");
    // Without a controller, a restart goes on with it.
    kill(&mut fleet.controller);
    fleet.members.iter_mut().for_each(kill);
    let mut command = Command::new(binary());
    command
        .arg("agent")
        .arg("--config")
        .arg(fleet.rig.path("h0.toml"))
        .args(["--duration", "1s"]);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains(&format!("running version {last} of the controller's configuration")),
        "{said}"
    );
    assert!(said.contains("reading counters every 1m 17s 777ms"), "{said}");
    let output = capture(&fleet.rig, fleet.port)
        .args(["--duration", "1s"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains(&format!("running version {last} of the controller's configuration")),
        "{said}"
    );
}

fn operator_of(rig: &Rig, port: u16) -> Operator {
    let files = rocescope_collector::Files {
        certificate: rig.path("ops.pem"),
        key: rig.path("ops.key"),
        authority: rig.path("ca.pem"),
    };
    Operator::new(&url(port), files).unwrap()
}
