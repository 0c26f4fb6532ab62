//! `paths discover` over a real OpenSSH server whose shell is a switch's command line: EOS, NX-OS and a driver of a TOML
//! file, in the documented formats, with banners, delays, cut connections and wrong answers.

use super::devices::{Device, Prints, prepare};
use super::discovered;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// A switch: its name and driver, its script, and the outcome of the flow that crosses it.
const SWITCHES: [(&str, &str, &str, &str); 14] = [
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
    (
        "eos-two",
        "eos",
        "echo 'Output Interface: Ethernet9'; echo 'Output Interface: Ethernet2'",
        "unreadable_answer",
    ),
    ("eos-cut", "eos", "kill -9 $PPID", "session_over"),
    ("eos-stuck", "eos", "sleep 60", "time_limit"),
    ("eos-endless", "eos", "yes", "unreadable_answer"),
    // Pages where there is a terminal, as `less` and switches do: there is none.
    (
        "eos-pages",
        "eos",
        "test -t 1 && { echo ' --More-- '; read key < /dev/tty; }; echo 'Output Interface: Ethernet2'",
        "complete",
    ),
    // Pages in any case, and waits for a key: input ends at once.
    (
        "eos-more",
        "eos",
        "echo '        --More--        '; read key; echo 'Output Interface: Ethernet2'",
        "complete",
    ),
    // Asks a question and waits for an answer from a terminal that is not there.
    (
        "eos-asks",
        "eos",
        "printf 'Continue? [y/n]: '; while ! read key; do sleep 1; done; echo 'Output Interface: Ethernet2'",
        "time_limit",
    ),
];

const OWN: &str = "\
egress = [\"port {egress}\"]
hash = { complete = true }

[ask]
ipv4 = \"which {src} {dst} {src_port} from {ingress}\"
";

#[test]
fn switches_over_ssh_give_paths_or_one_reason_each_and_nothing_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let devices = SWITCHES.map(|(name, driver, script, _)| Device::new(name, driver, Prints::Script(script)));
    if !prepare(folder.path(), &devices, 1) {
        return;
    }
    fs::write(folder.path().join("own.toml"), OWN).unwrap();
    let started = Instant::now();
    let found = discovered(folder.path(), "flows.json", &["--time-limit", "5s"]);
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
    let detail = |name: &str| {
        let number = SWITCHES.iter().position(|(switch, ..)| *switch == name).unwrap();
        paths[number]["detail"].as_str().unwrap()
    };
    // The words of the device.
    assert_eq!(
        detail("eos-no-route"),
        "eos-no-route has no way to 10.0.5.2: unable to compute"
    );
    assert!(
        detail("eos-error").contains("% Invalid input"),
        "{}",
        detail("eos-error")
    );
    let two = detail("eos-two");
    assert!(two.contains("Ethernet9") && two.contains("Ethernet2"), "{two}");
    let asked = |name: &str| {
        let log = fs::read_to_string(folder.path().join(format!("{name}.log"))).unwrap();
        log.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let expected = "show load-balance destination ip ingress-interface Ethernet1 src-ipv4-address 10.0.0.1 \
                    dst-ipv4-address 10.0.0.2 ip-protocol 17 src-l4-port 49152 dst-l4-port 4791";
    assert_eq!(asked("eos"), ["show load-balance profile", expected]);
    let expected = "show routing hash 10.0.2.1 10.0.2.2 ip-proto 17 49154 4791 in-interface Ethernet1";
    assert_eq!(asked("nxos"), ["show ip load-sharing", expected]);
    assert_eq!(asked("own"), ["which 10.0.3.1 10.0.3.2 49155 from Ethernet1"]);
}
