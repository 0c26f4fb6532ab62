//! The monitor of collectives end to end: a job writes steps, three agents probe their paths, one cable becomes slow.

use crate::control::hub::{CONTROLLER, Hub, MIRROR};
use crate::control::rig::{Rig, end, spawn, until_file_has, write};
use rocescope_model::{EventRow, SmallFlowRow, StepProbeRow, StepRow};
use rocescope_store::{repair, scan};
use rocescope_testkit::binary;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Its round trip is far above what a loaded machine delays an answer, and below the timeout of a probe.
const DELAY: Duration = Duration::from_millis(150);

/// A rank of a ring of three, which writes the trace of NCCL's example profiler.
struct Rank {
    trace: PathBuf,
    rank: u32,
    begun: Instant,
}

impl Rank {
    fn event(&self, name: &str, category: &str, phase: &str, more: &str) {
        let line = format!(
            "{{\"name\": \"{name}\", \"cat\": \"{category}\", \"ph\": \"{phase}\", \"pid\": 7, \"ts\": {}, \"args\": {{{more}}}}},\n",
            self.begun.elapsed().as_micros()
        );
        let mut file = OpenOptions::new().append(true).create(true).open(&self.trace).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }

    fn begin(&self) {
        let collective = format!("\"SeqNum\": 1, \"CommHash\": 99, \"Rank\": {}", self.rank);
        let peer = |rank: u32| format!("\"Channel\": 0, \"Peer\": {}, \"transSize\": 4096", rank % 3);
        self.event("AllReduce", "COLL", "b", &collective);
        self.event("ProgressRecv", "PROXY", "b", &peer(self.rank + 2));
        self.event("ProgressSend", "PROXY", "b", &peer(self.rank + 1));
    }

    fn step_begins(&self) {
        self.event("SendGpuWait", "NET", "b", "");
        self.event("SendWait", "NET", "b", "");
    }

    fn step_ends(&self) {
        self.event("SendWait", "NET", "e", "");
    }
}

#[test]
fn agents_ask_about_the_slow_step_of_a_job_and_pass_on_what_they_do_not_need() {
    let Some(hub) = Hub::new(3, Duration::ZERO, None) else {
        return;
    };
    let rig = Rig::new();
    let at = |name: &str| rig.path(name).display().to_string();
    rig.sign("collector", &[CONTROLLER]);
    for name in ["h1", "h2", "h3", "box", "ops"] {
        rig.sign(name, &[name]);
    }
    let log = |name: &str| rig.path(&format!("{name}.log"));
    // How often to ask is the controller's.
    let fleet = "operators = [\"ops\"]\n[[group]]\nname = \"hosts\"\nmembers = [\"h*\"]\n\
        [group.collective]\ndetections = 2\nburst = 20\n\
        [[group]]\nname = \"boxes\"\nmembers = [\"box\"]\nrole = \"capture\"\n\
        [addresses]\nh1 = [\"10.9.0.1\"]\nh2 = [\"10.9.0.2\"]\nh3 = [\"10.9.0.3\"]\n";
    write(&rig.path("fleet.toml"), fleet);
    let mut command = hub.command("s", binary());
    command.args([
        "collector",
        "run",
        "--listen",
        "0.0.0.0:4792",
        "--out",
        &at("collected"),
    ]);
    command.args(["--cert", &at("collector.pem"), "--key", &at("collector.key")]);
    command.args(["--client-ca", &at("ca.pem"), "--control-dir", &at("control")]);
    let collector = spawn(command.args(["--control", &at("fleet.toml")]), &log("collect"));
    let url = format!("https://{CONTROLLER}:4792");
    let ranks = "# rank agent address\n0 h1 10.9.0.1\n1 h2 10.9.0.2\n2 h3 10.9.0.3\n";
    write(&rig.path("ranks"), ranks);
    let mut agents = Vec::new();
    let mut job = Vec::new();
    for host in 1..=3_u32 {
        let name = format!("h{host}");
        fs::create_dir(rig.path(&format!("job-{name}"))).unwrap();
        let file = format!(
            "observer = \"{name}\"\n[agent]\nwindow = \"1s\"\ncollector = \"{url}\"\ncert = \"{}\"\nkey = \"{}\"\nca = \"{}\"\n\
            spool = \"{}\"\n[probe]\ninterface = [\"rail0\"]\nmax-cpu = 1\nwindow = \"1s\"\n\
            [collective]\nformat = \"nccl-profiler\"\nsteps = [\"{}\"]\nranks = \"{}\"\ninterval = \"20ms\"\n\
            min-delay = \"120ms\"\n",
            at(&format!("{name}.pem")),
            at(&format!("{name}.key")),
            at("ca.pem"),
            at(&format!("spool-{name}")),
            at(&format!("job-{name}")),
            at("ranks"),
        );
        let file = write(&rig.path(&format!("{name}.toml")), &file);
        let mut command = hub.command(&host.to_string(), binary());
        let child = spawn(command.arg("agent").arg("--config").arg(file), &log(&name));
        agents.push((child, log(&name)));
        job.push(Rank {
            trace: rig.path(&format!("job-{name}/trace.txt")),
            rank: host - 1,
            begun: Instant::now(),
        });
    }
    let mut command = hub.command("s", binary());
    command.args(["capture", "-i", MIRROR, "--mode", "af-packet", "--lateness", "200ms"]);
    command.args(["--keep-frames", "10", "--out", &at("captured"), "--observer", "box"]);
    command.args(["--collector", &url, "--cert", &at("box.pem"), "--key", &at("box.key")]);
    command.args(["--ca", &at("ca.pem"), "--control-file", &at("box.toml")]);
    let capture = spawn(command.args(["--spool", &at("spool-box")]), &log("box"));
    for (_, log) in &agents {
        until_file_has(log, "running version 1");
    }
    until_file_has(&log("box"), "controller connected");

    // A first step makes the paths known; probes along them find what they take.
    for rank in &job {
        rank.begin();
        rank.step_begins();
        rank.step_ends();
    }
    sleep(Duration::from_secs(3));
    for rank in &job {
        rank.step_begins();
    }
    sleep(Duration::from_millis(500));
    // The cable of the third host carries the steps of ranks 1 and 2; rank 0 has sent its own, and waits for rank 2.
    hub.delay(DELAY);
    job[0].step_ends();
    sleep(Duration::from_secs(3));
    for rank in &job[1..] {
        rank.step_ends();
    }
    for rank in &job {
        rank.event("ProgressSend", "PROXY", "e", "");
    }
    sleep(Duration::from_secs(3));
    let mut command = hub.command("s", binary());
    command.args(["collector", "status", "--collector", &url, "--cert", &at("ops.pem")]);
    let status = command.args(["--key", &at("ops.key"), "--ca", &at("ca.pem")]).output();
    let status = String::from_utf8(status.unwrap().stdout).unwrap();
    end(capture, &log("box"));
    for (agent, log) in agents {
        end(agent, &log);
    }
    end(collector, &log("collect"));

    let names = ["collect", "h1", "h2", "h3", "box"];
    let logs: Vec<String> = names.map(|name| fs::read_to_string(log(name)).unwrap()).into();
    let logs = logs.join("\n---\n") + &status;
    repair(&rig.path("collected")).unwrap();
    let found = scan(&rig.path("collected")).unwrap();
    let steps = found.rows::<StepRow>().unwrap();
    assert_eq!(steps.len(), 6, "{logs}");
    assert!(steps.iter().all(|row| row.duration_ns.is_some()));
    let rows = found.rows::<StepProbeRow>().unwrap();
    let of = |agent: &str, is_end: bool| {
        let of = rows.iter().filter(|row| &*row.observer == agent && row.step == 2);
        let mut of: Vec<&StepProbeRow> = of.filter(|row| (&*row.event == StepProbeRow::END) == is_end).collect();
        of.sort_by_key(|row| row.time_ns);
        of
    };
    // The path of rank 0 is quick. An agent that the machine stops does not answer: that is overdue, and not slow.
    let is_overdue = |row: &StepProbeRow| &*row.event == "overdue";
    let of_first = of("h1", false);
    assert!(of_first.iter().all(|row| is_overdue(row)), "{rows:#?}");
    assert_eq!(of("h1", true)[0].passed_to.as_deref(), Some("h3"), "{logs}");
    // Two of its own each; rank 2 has those of rank 0 as well.
    let slow = of("h2", false);
    assert!(slow.len() >= 2, "{rows:#?}");
    let first = slow[0];
    assert!(first.asked);
    assert_eq!((&*first.host, &*first.dst_host), ("1", "2"));
    let measured = slow.iter().find(|row| &*row.event == "slow");
    let measured = measured.unwrap_or_else(|| panic!("{rows:#?}"));
    let round_trip = 2 * i64::try_from(DELAY.as_nanos()).unwrap();
    assert!(
        // A probe that was on its way when the cable changed is delayed in one direction only.
        measured.round_trip_ns.unwrap() >= round_trip / 2 && measured.base_round_trip_ns < round_trip / 3,
        "{measured:?}"
    );
    let third = of("h3", true)[0];
    assert_eq!(third.received, 2, "{rows:#?}");
    assert!(third.detections >= 4, "{rows:#?}");
    // What was asked: probes, and a recording.
    let bursts = found.rows::<SmallFlowRow>().unwrap();
    let burst = bursts.iter().find(|row| &*row.capture == "h2").unwrap();
    assert_eq!(burst.window_start_ns, first.time_ns);
    assert_eq!((burst.probes + burst.unsent, &*burst.end), (20, "sender"));
    assert!(burst.mean_round_trip_ns.unwrap() >= round_trip, "{burst:?}");
    let events = found.rows::<EventRow>().unwrap();
    let recorded = events.iter().filter(|row| &*row.kind == EventRow::SLOW_STEP);
    let recorded: Vec<&str> = recorded.map(|row| &*row.detail).collect();
    assert!(
        recorded.contains(&"step 2 of rank 1 in 99:AllReduce:1, asked by h2"),
        "{recorded:?} {logs}"
    );
    assert!(status.contains("recordings of slow steps: "), "{status}");
    let recordings = fs::read_dir(rig.path("captured/_frames")).unwrap();
    let recordings: Vec<PathBuf> = recordings.map(|file| file.unwrap().path()).collect();
    let is_its = |path: &PathBuf| path.to_string_lossy().contains("-box-slow_step-10.9.0.");
    assert!(recordings.iter().any(is_its), "{recordings:?} {logs}");
    // All of it is evidence.
    let mut command = Command::new(binary());
    let output = command
        .args(["diagnose", "collective", &at("collected"), "-o", "json"])
        .output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    let found: serde_json::Value = serde_json::from_str(&output).unwrap();
    let evidence = found["evidence"].as_array().unwrap();
    let slow: Vec<_> = evidence.iter().filter(|one| one["kind"] == "slow_path").collect();
    assert!(
        slow.iter()
            .any(|one| one["observer"] == "h2" && one["slow"]["recorded_by"][0] == "box"),
        "{output}"
    );
    assert_eq!(
        slow.iter().any(|one| one["observer"] == "h1"),
        !of_first.is_empty(),
        "{output}"
    );
}
