//! Port channels: the member where the switch states it, otherwise a reason; and answers that are none.

use rocescope_paths::Flow;
use rocescope_paths::discover::{Plan, Run, Settings, discover};
use rocescope_paths::driver::Driver;
use rocescope_paths::topology::{Format, parse};
use rocescope_paths::transport::{Device, Failure, Reply, Session, Transport};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A switch with a host at each of two ports, and a port channel to the second.
const TOPOLOGY: &str = r#"
[[node]]
name = "leaf1"
kind = "switch"
[[node]]
name = "h1"
kind = "host"
addresses = ["10.0.0.1"]
[[node]]
name = "h2"
kind = "host"
addresses = ["10.0.0.2"]
[[link]]
ends = ["h1:eth0", "leaf1:Ethernet1"]
[[link]]
ends = ["h2:eth0", "leaf1:Ethernet2"]
[[link]]
ends = ["h2:eth1", "leaf1:Ethernet3"]
"#;

/// What a switch prints to commands that begin with these words.
type Answers<'a> = &'a [(&'static str, Printed)];

#[derive(Clone, Copy)]
struct Printed(&'static str, &'static str, i32);

const fn good(text: &'static str) -> Printed {
    Printed(text, "", 0)
}

#[derive(Clone)]
struct Switch(Vec<(&'static str, Printed)>, Arc<Mutex<Vec<String>>>);

impl Transport for Switch {
    fn open(&self, _: &Device) -> Result<Box<dyn Session>, Failure> {
        Ok(Box::new(self.clone()))
    }
}

impl Session for Switch {
    fn run(&mut self, command: &str, _: Duration) -> Result<Reply, Failure> {
        self.1.lock().unwrap().push(command.to_owned());
        let found = self.0.iter().find(|(begin, _)| command.starts_with(begin));
        let Printed(output, errors, status) =
            found.map_or(Printed("", "no such command", 127), |(_, printed)| *printed);
        Ok(Reply::new(output, errors, status))
    }
}

fn asked(driver: &str, channels: &str, flows: &[Flow], answers: Answers<'_>) -> (Run, Vec<String>) {
    let text = TOPOLOGY.replace("kind = \"switch\"", &format!("kind = \"switch\"\n{channels}"));
    let topology = parse(&text, Format::Toml, "").unwrap();
    let driver = Driver::find(driver, Path::new(".")).unwrap();
    let device = Device {
        name: "leaf1".into(),
        management: "leaf1".into(),
        session: driver.session,
    };
    let plan = Plan {
        fabric: topology.fabric(),
        devices: vec![Some((device, driver)), None, None],
        vteps: Vec::new(),
    };
    let switch = Switch(answers.to_vec(), Arc::default());
    let run = discover(&plan, flows, &switch, &Settings::default());
    let commands = switch.1.lock().unwrap().clone();
    (run, commands)
}

fn flow(protocol: u8) -> Flow {
    Flow {
        protocol,
        ..Flow::roce([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 49_152)
    }
}

/// The outcome of a flow, and what it is about.
fn outcome(driver: &str, channels: &str, answers: Answers<'_>) -> (&'static str, String) {
    let (run, _) = asked(driver, channels, &[flow(17)], answers);
    let outcome = run.traces[0].outcome.clone();
    (outcome.reason, outcome.detail)
}

const ECMP: Printed = good("Load-share mode : address source-destination port source-destination\n");
const ROUTE: Printed = good("Hashing to path *10.0.0.2 (port-channel2)\n");
const MEMBER: Printed =
    good("Load-balance Algorithm on switch: source-dest-port\ncrc8_hash: 7   Outgoing port id: Ethernet3\n");

#[test]
fn nxos_is_asked_for_the_member_and_what_it_is_chosen_by() {
    const FIELDS: &str = "System config:\n  Non-IP: src-dst mac\n  IP: src-dst ip-l4port rotate 0\n";
    let (run, commands) = asked(
        "nxos",
        "",
        &[flow(17), flow(6)],
        &[
            ("show ip load-sharing", ECMP),
            ("show routing hash", ROUTE),
            ("show port-channel load-balance forwarding-path", MEMBER),
            ("show port-channel load-balance", good(FIELDS)),
        ],
    );
    for trace in &run.traces {
        assert_eq!(
            (trace.outcome.reason, trace.ways.len()),
            ("complete", 2),
            "{:?}",
            trace.outcome
        );
    }
    let member = "show port-channel load-balance forwarding-path interface port-channel2 src-ip 10.0.0.1 dst-ip 10.0.0.2 \
                  l4-src-port 49152 l4-dst-port 4791 protocol 17";
    assert!(commands.iter().any(|command| command == member), "{commands:#?}");
    let fields = commands
        .iter()
        .filter(|command| *command == "show port-channel load-balance");
    assert_eq!(fields.count(), 1);
    assert_eq!(run.devices[&0].channel_hash_fields, ["src-dst ip-l4port rotate 0"]);
}

#[test]
fn a_member_that_is_chosen_by_more_than_the_question_carries_is_not_guessed() {
    for (fields, reason) in [
        (good("IP: src-dst ip-l4port-vlan rotate 0\n"), "hash_beyond_5_tuple"),
        (good("IP: source-dest-ip source-dest-mac\n"), "hash_beyond_5_tuple"),
        (Printed("", "% Invalid command", 16), "hash_fields_unknown"),
    ] {
        let answers = [
            ("show ip load-sharing", ECMP),
            ("show routing hash", ROUTE),
            ("show port-channel load-balance forwarding-path", MEMBER),
            ("show port-channel load-balance", fields),
        ];
        assert_eq!(outcome("nxos", "", &answers).0, reason);
    }
}

#[test]
fn a_port_channel_without_a_question_is_a_reason_and_no_contradiction() {
    const EOS: Answers<'static> = &[
        ("show load-balance profile", good("Source IPv4 Address is ON\n")),
        (
            "show load-balance destination",
            good("Output Interface: Port-Channel2\n"),
        ),
    ];
    const SONIC: Answers<'static> = &[
        ("show switch-hash", good("ecmp-hash SRC_IP\n")),
        (
            "f=$(mktemp)",
            good("No ECMP for given packet\n10.0.0.0/24 via 10.9.0.1 dev PortChannel0002\n"),
        ),
    ];
    const BOND: Answers<'static> = &[
        ("for v in 4 6", good("multipath: ipv4 hash policy 1\n")),
        ("ip route get", good("10.0.0.2 from 10.0.0.1 dev bond0\n")),
        ("b=/sys", good("mode 802.3ad 4\n")),
    ];
    for (driver, answers, name) in [
        ("eos", EOS, "Port-Channel2"),
        ("sonic", SONIC, "PortChannel0002"),
        ("linux", BOND, "bond0"),
    ] {
        let (reason, detail) = outcome(driver, "", answers);
        assert_eq!(reason, "port_channel", "{driver}: {detail}");
        assert!(detail.contains(name) || detail.contains("802.3ad"), "{detail}");
        let listed = format!("channels = {{ \"{name}\" = [\"Ethernet2\", \"Ethernet3\"] }}");
        assert_eq!(outcome(driver, &listed, answers).0, "port_channel", "{driver}");
        // The topology knows the only member.
        let listed = format!("channels = {{ \"{name}\" = [\"Ethernet3\"] }}");
        assert_eq!(outcome(driver, &listed, answers).0, "complete", "{driver}");
    }
    const ACTIVE: Answers<'static> = &[BOND[0], BOND[1], ("b=/sys", good("member Ethernet2\n"))];
    assert_eq!(outcome("linux", "", ACTIVE).0, "complete");
}

#[test]
fn what_a_failed_command_prints_is_no_answer() {
    const FIELDS: (&str, Printed) = ("show load-balance profile", good("Source IPv4 Address is ON\n"));
    for (printed, reason, words) in [
        (
            Printed("Output Interface: Ethernet2\n", "", 1),
            "command_failed",
            "exit status 1: Output Interface",
        ),
        (
            Printed("", "Output Interface: Ethernet2\n", 0),
            "unreadable_answer",
            "no pattern",
        ),
        (
            Printed("Output Interface: Ethernet2\n", "% Internal error\n", 3),
            "command_failed",
            "exit status 3: % Internal",
        ),
        // A device may fail because it has no way.
        (Printed("", "unable to compute\n", 1), "dead_end", "unable to compute"),
        (
            good("\u{1b}[32mOutput Interface: \u{1b}[1mEthernet2\u{1b}[0m\r\n"),
            "complete",
            "",
        ),
    ] {
        let answers = [FIELDS, ("show load-balance destination", printed)];
        let (found, detail) = outcome("eos", "", &answers);
        assert_eq!(found, reason, "{detail}");
        assert!(detail.contains(words), "{detail}");
    }
}

#[test]
fn flows_without_ports_are_not_asked_about_with_ports() {
    const EOS: Answers<'static> = &[(
        "show load-balance",
        good("Source IPv4 Address is ON\nOutput Interface: Ethernet2\n"),
    )];
    let (run, commands) = asked("eos", "", &[flow(1), flow(17)], EOS);
    let reasons: Vec<&str> = run.traces.iter().map(|trace| trace.outcome.reason).collect();
    assert_eq!(reasons, ["no_question", "complete"]);
    assert!(run.traces[0].outcome.detail.contains("IP protocol 1 has none"));
    assert!(
        !commands.iter().any(|command| command.contains("ip-protocol 1 ")),
        "{commands:?}"
    );
}

#[test]
fn no_path_is_guessed_to_an_address_of_two_nodes() {
    let twice = "[[node]]\nname = \"h3\"\nkind = \"host\"\naddresses = [\"10.0.0.2\"]\n[[node]]\nname = \"leaf1\"";
    let text = TOPOLOGY.replace("[[node]]\nname = \"leaf1\"", twice);
    let plan = Plan {
        fabric: parse(&text, Format::Toml, "").unwrap().fabric(),
        devices: vec![None; 4],
        vteps: Vec::new(),
    };
    let run = discover(
        &plan,
        &[flow(17)],
        &Switch(Vec::new(), Arc::default()),
        &Settings::default(),
    );
    let outcome = &run.traces[0].outcome;
    assert_eq!(
        (outcome.reason, &*outcome.detail),
        (
            "address_repeated",
            "several nodes of the topology have the address 10.0.0.2"
        )
    );
}
