//! Tunnels: a switch at the edge is asked about the inner header, one between tunnel ends about the outer one.

use rocescope_paths::Flow;
use rocescope_paths::discover::{Plan, Settings, Trace, discover, hops};
use rocescope_paths::driver::Driver;
use rocescope_paths::topology::{Topology, read, to_toml};
use rocescope_paths::transport::{Device, Failure, Reply, Session, Transport};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Two leaves with a tunnel between them over one spine; `h3` is connected to both.
const TOPOLOGY: &str = r#"
node = [
    { name = "leaf1", kind = "switch", vtep = "192.0.2.1" },
    { name = "leaf2", kind = "switch", vtep = "192.0.2.2" },
    { name = "leaf3", kind = "switch", vtep = "192.0.2.3" },
    { name = "spine", kind = "switch" },
    { name = "h1", kind = "host", addresses = ["10.0.0.1"] },
    { name = "h2", kind = "host", addresses = ["10.0.0.2"] },
    { name = "h3", kind = "host", addresses = ["10.0.0.3"] },
    { name = "h4", kind = "host", addresses = ["10.0.0.4"] },
]
link = [
    { ends = ["leaf1:Ethernet1", "h1:eth0"] },
    { ends = ["leaf1:Ethernet2", "h4:eth0"] },
    { ends = ["leaf2:Ethernet1", "h2:eth0"] },
    { ends = ["leaf2:Ethernet3", "h3:eth0"] },
    { ends = ["leaf3:Ethernet3", "h3:eth1"] },
    { ends = ["leaf1:Ethernet49", "spine:Ethernet1"] },
    { ends = ["leaf2:Ethernet49", "spine:Ethernet2"] },
    { ends = ["leaf3:Ethernet49", "spine:Ethernet3"] },
]
"#;

const DRIVER: &str = r#"
egress = ["out {egress}"]
tunnel = ["Vxlan*"]
outer_src_port = ["outer port {egress}"]
hash = { complete = true }

[ask]
ipv4 = "flow {src}:{src_port} {dst}:{dst_port} at {ingress}"

[start]
ipv4 = "flow {src}:{src_port} {dst}:{dst_port}"
"#;

/// Node, beginning of the destination, answer.
type Answer = (&'static str, &'static str, &'static str);

/// Switches that answer by the first word of a line that ends a question; all questions are kept.
#[derive(Clone)]
struct Answers {
    answers: Vec<Answer>,
    asked: Arc<Mutex<Vec<String>>>,
}

struct At(Answers, String);

impl Transport for Answers {
    fn open(&self, device: &Device) -> Result<Box<dyn Session>, Failure> {
        Ok(Box::new(At(self.clone(), device.name.clone())))
    }
}

impl Session for At {
    fn run(&mut self, command: &str, _: Duration) -> Result<Reply, Failure> {
        self.0.asked.lock().unwrap().push(format!("{}: {command}", self.1));
        let dst = command.split_whitespace().nth(2).unwrap_or("fields");
        let fits = |(node, to, _): &&Answer| *node == self.1 && dst.starts_with(to);
        let answer = self.0.answers.iter().find(fits);
        Ok(Reply::new(answer.map_or("nothing", |(.., answer)| answer), "", 0))
    }
}

/// Traces a flow from h1; returns it with its hops and the questions.
fn traced(flow: Flow, answers: &[Answer]) -> (Trace, Vec<String>, Vec<String>) {
    traced_with(DRIVER, flow, answers)
}

fn traced_with(driver: &str, flow: Flow, answers: &[Answer]) -> (Trace, Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("fabric.toml");
    fs::write(&file, TOPOLOGY).unwrap();
    let topology = read(&file).unwrap().0;
    let again = folder.path().join("again.toml");
    fs::write(&again, to_toml(&topology)).unwrap();
    let vteps = |topology: &Topology| topology.nodes.iter().map(|node| node.vtep).collect::<Vec<_>>();
    assert_eq!(vteps(&read(&again).unwrap().0), vteps(&topology));
    let driver = Driver::parse(driver).unwrap();
    let devices = topology.nodes.iter().map(|node| {
        let device = Device {
            name: node.name.clone(),
            management: node.name.clone(),
            session: driver.session,
        };
        (!node.name.starts_with('h')).then(|| (device, driver.clone()))
    });
    let plan = Plan {
        devices: devices.collect(),
        fabric: topology.fabric(),
        vteps: vteps(&topology),
    };
    let switches = Answers {
        answers: answers.to_vec(),
        asked: Arc::default(),
    };
    let mut run = discover(&plan, &[flow], &switches, &Settings::default());
    let trace = run.traces.remove(0);
    let hops = hops(&plan.fabric, &trace.ways)
        .iter()
        .map(|hop| format!("{}:{}", hop.0, hop.1))
        .collect();
    let asked = switches.asked.lock().unwrap().clone();
    (trace, hops, asked)
}

fn flow(to: u8, outer_src_port: Option<u16>) -> Flow {
    Flow {
        outer_src_port,
        ..Flow::roce([10, 0, 0, 1].into(), [10, 0, 0, to].into(), 49_152)
    }
}

const TO_SPINE: (&str, &str, &str) = ("spine", "192.0.2.2", "out Ethernet2");
const TO_HOST: (&str, &str, &str) = ("leaf2", "10.0.0.2", "out Ethernet1");
const PATH: [&str; 4] = ["h1:eth0", "leaf1:Ethernet49", "spine:Ethernet2", "leaf2:Ethernet1"];

/// A switch that hashes the inner header answers with its uplink.
#[test]
fn an_uplink_is_a_hop_and_the_next_switch_sees_the_outer_header() {
    let answers = &[("leaf1", "10.0.0.2", "out Ethernet49"), TO_SPINE, TO_HOST];
    let (trace, hops, asked) = traced(flow(2, Some(50_001)), answers);
    assert_eq!(
        (trace.outcome.reason, &hops[..]),
        ("complete", &PATH.map(String::from)[..])
    );
    let expected = [
        "leaf1: flow 10.0.0.1:49152 10.0.0.2:4791 at Ethernet1",
        "spine: flow 192.0.2.1:50001 192.0.2.2:4789 at Ethernet1",
        "leaf2: flow 10.0.0.1:49152 10.0.0.2:4791 at Ethernet49",
    ];
    assert_eq!(asked, expected);
    // Unknown: the hop of the edge is known, and nothing behind it is guessed.
    let (trace, hops, asked) = traced(flow(2, None), answers);
    assert_eq!(
        (trace.outcome.reason, hops.len(), asked.len()),
        ("outer_port_unknown", 2, 1)
    );
}

/// One that routes into a tunnel is asked again, about the outer header.
#[test]
fn a_tunnel_is_asked_about_again_and_a_driver_may_name_its_port() {
    let uplink = ("leaf1", "192.0.2.2", "out Ethernet49");
    let (trace, hops, asked) = traced(
        flow(2, Some(50_001)),
        &[("leaf1", "10.0.0.2", "out Vxlan1"), uplink, TO_SPINE, TO_HOST],
    );
    assert_eq!(
        (trace.outcome.reason, &hops[..]),
        ("complete", &PATH.map(String::from)[..])
    );
    assert_eq!(asked[1], "leaf1: flow 192.0.2.1:50001 192.0.2.2:4789");
    let named = &[
        ("leaf1", "10.0.0.2", "out Vxlan1\nouter port 50007"),
        uplink,
        TO_SPINE,
        TO_HOST,
    ];
    let (trace, hops, asked) = traced(flow(2, None), named);
    assert_eq!(
        (trace.outcome.reason, hops.len(), trace.flow.outer_src_port),
        ("complete", 4, Some(50_007))
    );
    assert_eq!(asked[2], "spine: flow 192.0.2.1:50007 192.0.2.2:4789 at Ethernet1");
    let (trace, hops, _) = traced(flow(2, None), &[("leaf1", "10.0.0.2", "out Vxlan1")]);
    assert_eq!((trace.outcome.reason, hops.len()), ("outer_port_unknown", 1));
    assert!(trace.outcome.detail.contains("192.0.2.2"), "{}", trace.outcome.detail);
}

#[test]
fn what_is_on_the_same_switch_or_behind_two_is_no_guess_either() {
    let (trace, hops, _) = traced(flow(4, None), &[("leaf1", "10.0.0.4", "out Ethernet2")]);
    assert_eq!((trace.outcome.reason, hops.len()), ("complete", 2));
    for answer in ["out Ethernet49", "out Vxlan1"] {
        let (trace, ..) = traced(flow(3, Some(50_001)), &[("leaf1", "10.0.0.3", answer)]);
        assert_eq!(trace.outcome.reason, "tunnel_end_unknown", "{answer}");
    }
    let (trace, ..) = traced(flow(4, Some(50_001)), &[("leaf1", "10.0.0.4", "out Vxlan1")]);
    assert_eq!(trace.outcome.reason, "contradiction");
}

/// A field of the packet in the tunnel matters only where the question is about the header around it.
#[test]
fn inner_fields_are_not_carried_between_tunnel_ends() {
    let hash =
        "hash = { commands = [\"fields\"], fields = [\"{field} on\"], carried = [\"ip\"], inner = [\"inner-*\"] }";
    let driver = DRIVER.replace("hash = { complete = true }", hash);
    let fields = |node| (node, "fields", "ip on\ninner-ip on");
    let answers = [
        fields("leaf1"),
        fields("spine"),
        ("leaf1", "10.0.0.2", "out Ethernet49"),
        ("spine", "192.0.2.2", "out Ethernet2"),
    ];
    let (trace, path, _) = traced_with(&driver, flow(2, Some(50_000)), &answers);
    assert_eq!(
        (trace.outcome.reason, &*trace.outcome.detail),
        (
            "hash_beyond_5_tuple",
            "spine: it hashes more than a question carries: inner-ip"
        )
    );
    assert_eq!(path, ["h1:eth0", "leaf1:Ethernet49"]);
}
