//! `paths discover` over a real OpenSSH server whose shell is a switch's command line: EOS, NX-OS and a driver of a TOML
//! file, in the documented formats, with banners, delays, cut connections and wrong answers.

use super::devices::{Device, Prints, prepare};
use super::{discover, discovered};
use rocescope_testkit::run_in;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// A switch: its name and driver, its script, and the outcome of the flow that crosses it.
const SWITCHES: [(&str, &str, &str, &str); 18] = [
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
    (
        "eos-failed",
        "eos",
        "echo 'Output Interface: Ethernet2'; exit 3",
        "command_failed",
    ),
    (
        "eos-stderr",
        "eos",
        "echo 'Output Interface: Ethernet2' >&2",
        "unreadable_answer",
    ),
    (
        "eos-colors",
        "eos",
        r"printf '\033[32mOutput Interface: \033[1mEthernet2\033[0m\r\n'; echo noise >&2",
        "complete",
    ),
    (
        "eos-channel",
        "eos",
        "echo 'Output Interface: Port-Channel7'",
        "port_channel",
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
    // Those that never answer have a limit that passes soon, and the others one that they do not reach.
    let list: Vec<Value> =
        serde_json::from_str(&fs::read_to_string(folder.path().join("flows.json")).unwrap()).unwrap();
    let is_silent = |number: &usize| SWITCHES[*number].3 == "time_limit";
    let (silent, others): (Vec<usize>, Vec<usize>) = (0..SWITCHES.len()).partition(is_silent);
    assert_eq!(silent.len(), 2);
    let mut paths = vec![Value::Null; SWITCHES.len()];
    let mut devices = Vec::new();
    for (name, numbers, limit) in [("silent.json", silent, "1s"), ("others.json", others, "300s")] {
        let flows = numbers.iter().map(|number| list[*number].clone());
        fs::write(folder.path().join(name), Value::from_iter(flows).to_string()).unwrap();
        // It fails where no flow has a path.
        let output = run_in(&discover(name, &["--time-limit", limit]), folder.path());
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        for (number, path) in numbers.into_iter().zip(found["paths"].as_array().unwrap()) {
            paths[number] = path.clone();
        }
        devices.push(found["devices"].clone());
    }
    let outcomes: BTreeMap<&str, &str> = SWITCHES
        .iter()
        .zip(&paths)
        .map(|((name, ..), path)| (*name, path["outcome"].as_str().unwrap()))
        .collect();
    let expected: BTreeMap<&str, &str> = SWITCHES.iter().map(|(name, _, _, outcome)| (*name, *outcome)).collect();
    assert_eq!(outcomes, expected, "{devices:#?}");
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

/// A shell that stays open gives the errors and the status of each command, and goes on.
#[test]
fn what_a_failed_command_of_a_shell_prints_is_no_answer() {
    const OUTCOMES: [(&str, &str, &str, &str); 4] = [
        ("failed", "failed.toml", "echo port Ethernet2; exit 3", "command_failed"),
        ("stderr", "stderr.toml", "echo port Ethernet2 >&2", "unreadable_answer"),
        (
            "noise",
            "noise.toml",
            "echo noise >&2; printf 'port Ethernet2'",
            "complete",
        ),
        (
            "case",
            "case.toml",
            "case x in (y) exit 1;; (*) echo port Ethernet2;; esac",
            "complete",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let devices = OUTCOMES.map(|(name, driver, ..)| Device::new(name, driver, Prints::Programs(&[])));
    if !prepare(folder, &devices, 2) {
        return;
    }
    for (_, driver, command, _) in OUTCOMES {
        let text = format!(
            "session = \"sh\"\negress = [\"port {{egress}}\"]\nhash = {{ complete = true }}\n[ask]\nipv4 = \"{command}\"\n"
        );
        fs::write(folder.join(driver), text).unwrap();
    }
    let found = discovered(folder, "flows.json", &["--threads", "1", "--sessions", "1"]);
    // Two flows over each device.
    for (pair, (name, _, _, outcome)) in found["paths"].as_array().unwrap().chunks(2).zip(OUTCOMES) {
        for path in pair {
            assert_eq!(path["outcome"], outcome, "{name}: {path:#}");
        }
    }
    let failed = &found["paths"][0]["detail"];
    assert_eq!(failed, "failed: the command failed with exit status 3: port Ethernet2");
    for device in found["devices"].as_array().unwrap() {
        assert_eq!(
            (&device["sessions"], &device["commands"]),
            (&1.into(), &2.into()),
            "{device:#}"
        );
    }
}

#[test]
fn what_a_device_refuses_is_printed_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refuses = Prints::Raw("echo '% Permission denied for the role'");
    let devices = [Device::new("eos", "eos", refuses), Device::new("nxos", "nxos", refuses)];
    if !prepare(folder, &devices, 20) {
        return;
    }
    let output = run_in(&super::discover_text("flows.json", &[]), folder);
    let shown = String::from_utf8(output.stdout).unwrap();
    for name in ["eos", "nxos"] {
        let line = format!("20 flows: hash_fields_unknown: {name}: it does not state what it hashes: ");
        assert_eq!(shown.matches(&line).count(), 1, "{shown}");
    }
    assert_eq!(shown.matches("does not state").count(), 2, "{shown}");
    assert!(
        shown.contains("10.0.0.1:49152>10.0.0.2:4791  hash_fields_unknown  eos-a:eth0 eos\n"),
        "{shown}"
    );
}
