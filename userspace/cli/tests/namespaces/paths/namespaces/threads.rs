//! One question after the other and many at once, over real OpenSSH servers: the same paths, and the time that each takes.

use super::super::discovered;
use super::{Fabric, bipartite, write_list};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The driver of Linux with 50 ms a command, as a switch takes.
const SLOW: &str = "session = \"sh\"\negress = [\"dev {egress}\"]\nhash = { complete = true }\n\n[ask]\n\
                    ipv4 = \"sleep 0.05; ip route get {dst} from {src} iif {ingress} ipproto {protocol} sport {src_port} dport {dst_port}\"\n";

fn prepare(fabric: &Fabric, folder: &Path, count: usize) {
    fabric.prepare(folder);
    fs::write(folder.join("slow.toml"), SLOW).unwrap();
    fs::write(
        folder.join("fabric.toml"),
        fabric.topology("slow.toml", |_| String::new()),
    )
    .unwrap();
    let flows = (0..count).map(|number| bipartite(number, 49_152 + u16::try_from(number).unwrap(), false));
    write_list(&folder.join("flows.json"), &flows.collect::<Vec<_>>());
}

/// Runs it; returns its time in seconds, its sessions, and the paths.
fn timed(folder: &Path, options: &[&str]) -> (f64, u64, Value) {
    let found = discovered(folder, "flows.json", options);
    let flows = &found["flows"];
    assert_eq!(found["outcomes"], json!({"complete": flows}), "{:#}", found["devices"]);
    let devices = found["devices"].as_array().unwrap().iter();
    let sessions = devices.map(|device| device["sessions"].as_u64().unwrap()).sum();
    (found["seconds"].as_f64().unwrap(), sessions, found["paths"].clone())
}

/// Commands wait for one another: `before` an answer and `after` it.
fn waiting(folder: &Path, before: &str, after: &str) {
    let driver = SLOW
        .replace("sleep 0.05;", before)
        .replace("{dst_port}\"", &format!("{{dst_port}}; {after}\""));
    fs::write(
        folder.join("slow.toml"),
        driver.replace("BUSY", &folder.join("busy").display().to_string()),
    )
    .unwrap();
}

#[test]
fn one_by_one_and_in_parallel_the_paths_are_the_same() {
    let Some(fabric) = Fabric::up(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    prepare(&fabric, folder.path(), 16);
    // A command fails if another one runs.
    waiting(folder.path(), "mkdir BUSY || exit 1;", "rmdir BUSY");
    let one = timed(folder.path(), &["--threads", "1", "--sessions", "1"]);
    // A command has no answer before there is another one, of which each leaves a file.
    fs::create_dir(folder.path().join("busy")).unwrap();
    let two = "touch BUSY/$$; while test $(ls BUSY | wc -l) -lt 2; do sleep 0.01; done;";
    waiting(folder.path(), two, "true");
    let parallel = timed(folder.path(), &[]);
    assert!(one.2 == parallel.2);
    // A session for each switch.
    assert!(one.1 <= 8, "{}", one.1);
}

/// The table of docs/bench/paths.md.
#[test]
#[ignore = "measures speed: a minute, alone"]
fn threads_with_128_flows() {
    let Some(fabric) = Fabric::up(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    prepare(&fabric, folder.path(), 128);
    for options in [
        &["--threads", "1", "--sessions", "1"][..],
        &["--threads", "2"],
        &["--threads", "4"],
        &["--threads", "8"],
        &["--threads", "64"],
        &["--threads", "64", "--sessions", "4"],
    ] {
        let (seconds, sessions, _) = timed(folder.path(), options);
        println!("{}: {seconds:.2} s, {sessions} sessions", options.join(" "));
    }
    // The client's default is a key exchange that resists quantum computers, which costs more processor time.
    let client = folder.path().join("ssh");
    let text = fs::read_to_string(&client).unwrap();
    fs::write(&client, format!("KexAlgorithms curve25519-sha256\n{text}")).unwrap();
    let (seconds, sessions, _) = timed(folder.path(), &["--threads", "64"]);
    println!("--threads 64, curve25519-sha256: {seconds:.2} s, {sessions} sessions");
}
