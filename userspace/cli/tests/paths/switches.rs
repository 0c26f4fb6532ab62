//! `paths discover` over a real OpenSSH server whose shell is a switch's command line: EOS, NX-OS and a driver of a TOML
//! file, in the documented formats, with banners, delays, cut connections and wrong answers.

use super::json;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A switch by the name of its node: its driver, what it prints, and the outcome of the flow that crosses it.
const SWITCHES: [(&str, &str, &str, &str); 10] = [
    ("eos", "eos", "echo 'Output Interface: Ethernet2'", "complete"),
    ("eos-slow", "eos", "sleep 1; echo 'Output Interface: Et2'", "complete"),
    (
        "nxos",
        "nxos",
        "echo 'Load-share parameters used for software forwarding:'; echo 'Hash for VRF \"default\"'; \
         echo 'Hashing to path *10.0.0.1 (Eth2)'",
        "complete",
    ),
    (
        "own",
        "own.toml",
        "printf 'use\\r\\n  port   Ethernet2\\r\\n'",
        "complete",
    ),
    (
        "eos-error",
        "eos",
        "echo \"% Invalid input (at token 1: 'load-balance')\"",
        "unreadable_answer",
    ),
    ("eos-no-route", "eos", "echo 'unable to compute'", "dead_end"),
    (
        "eos-elsewhere",
        "eos",
        "echo 'Output Interface: Ethernet9'",
        "contradiction",
    ),
    ("eos-cut", "eos", "kill -9 $PPID", "session_over"),
    ("eos-stuck", "eos", "sleep 60", "time_limit"),
    ("eos-endless", "eos", "yes", "unreadable_answer"),
];

const OWN: &str = "\
egress = [\"port {egress}\"]

[ask]
ipv4 = \"which {src} {dst} {src_port} from {ingress}\"
";

/// Two hosts at each switch.
fn topology() -> String {
    let mut toml = String::new();
    for (number, (name, driver, ..)) in SWITCHES.iter().enumerate() {
        writeln!(
            toml,
            "[[node]]\nname = \"{name}\"\nkind = \"switch\"\nmanagement = \"{name}\"\ndriver = \"{driver}\""
        )
        .unwrap();
        for (host, port) in [("a", 1), ("b", 2)] {
            writeln!(
                toml,
                "[[node]]\nname = \"{name}-{host}\"\nkind = \"host\"\naddresses = [\"10.0.{number}.{port}\"]"
            )
            .unwrap();
            writeln!(
                toml,
                "[[link]]\nends = [\"{name}:Ethernet{port}\", \"{name}-{host}:eth0\"]"
            )
            .unwrap();
        }
    }
    toml
}

/// A server for each switch, which the client starts; `false` where this machine cannot.
fn servers(folder: &Path) -> bool {
    let place = folder.display();
    let key = |name: &str| {
        let file = folder.join(name);
        let mut command = Command::new("ssh-keygen");
        command
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(file)
            .status()
            .is_ok_and(|status| status.success())
    };
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    if !is_root || !Path::new("/usr/sbin/sshd").exists() || !key("host") || !key("user") {
        assert!(std::env::var_os("CI").is_none(), "not root, or no sshd");
        eprintln!("skipped: it takes root and /usr/sbin/sshd");
        return false;
    }
    fs::create_dir_all("/run/sshd").unwrap();
    fs::write(
        folder.join("banner"),
        "*** Authorized access only ***\nOutput Interface: Ethernet9\n",
    )
    .unwrap();
    let mut client = format!(
        "Host *\n  User root\n  IdentityFile {place}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {place}/known\n  \
         ProxyCommand /usr/sbin/sshd -i -f {place}/%h.conf\n"
    );
    client.push('\n');
    fs::write(folder.join("ssh"), client).unwrap();
    let host = fs::read_to_string(folder.join("host.pub")).unwrap();
    let names: Vec<&str> = SWITCHES.iter().map(|switch| switch.0).collect();
    fs::write(folder.join("known"), format!("{} {host}", names.join(","))).unwrap();
    for (name, _, script, _) in SWITCHES {
        let file = folder.join(format!("{name}.sh"));
        fs::write(
            &file,
            format!("#!/bin/sh\necho \"$SSH_ORIGINAL_COMMAND\" >> {place}/{name}.log\n{script}\n"),
        )
        .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        let server = format!(
            "HostKey {place}/host\nAuthorizedKeysFile {place}/user.pub\nPermitRootLogin yes\nStrictModes no\nUsePAM no\n\
             PasswordAuthentication no\nPidFile none\nLogLevel QUIET\nBanner {place}/banner\nForceCommand {}\nSetEnv HOME={place}\n",
            file.display()
        );
        fs::write(folder.join(format!("{name}.conf")), server).unwrap();
    }
    true
}

#[test]
fn switches_over_ssh_give_paths_or_one_reason_each_and_nothing_hangs() {
    let folder = tempfile::tempdir().unwrap();
    if !servers(folder.path()) {
        return;
    }
    fs::write(folder.path().join("fabric.toml"), topology()).unwrap();
    fs::write(folder.path().join("own.toml"), OWN).unwrap();
    let flows = (0..SWITCHES.len()).map(|number| json!(format!("10.0.{number}.1:49152>10.0.{number}.2:4791")));
    fs::write(folder.path().join("flows.json"), Value::from_iter(flows).to_string()).unwrap();
    let started = Instant::now();
    let call = [
        "paths",
        "discover",
        "--topology",
        "fabric.toml",
        "--ssh-config",
        "ssh",
        "--flows",
        "flows.json",
        "-o",
        "json",
    ];
    let found = json(&[&call[..], &["--time-limit", "5s"]].concat(), folder.path());
    // The first command and the one over a new session.
    assert!(started.elapsed() < Duration::from_secs(25), "{:?}", started.elapsed());
    let paths = found["paths"].as_array().unwrap();
    let outcomes: BTreeMap<&str, &str> = SWITCHES
        .iter()
        .zip(paths)
        .map(|((name, ..), path)| (*name, path["outcome"].as_str().unwrap()))
        .collect();
    let expected: BTreeMap<&str, &str> = SWITCHES.iter().map(|(name, _, _, outcome)| (*name, *outcome)).collect();
    assert_eq!(outcomes, expected, "{:#}", found["devices"]);
    let asked = |name: &str| fs::read_to_string(folder.path().join(format!("{name}.log"))).unwrap();
    let expected = "show load-balance destination ip ingress-interface Ethernet1 src-ipv4-address 10.0.0.1 \
                    dst-ipv4-address 10.0.0.2 ip-protocol 17 src-l4-port 49152 dst-l4-port 4791\n";
    assert_eq!(asked("eos"), expected);
    assert_eq!(
        asked("nxos"),
        "show routing hash 10.0.2.1 10.0.2.2 ip-proto 17 49152 4791 in-interface Ethernet1\n"
    );
    assert_eq!(asked("own"), "which 10.0.3.1 10.0.3.2 49152 from Ethernet1\n");
}
