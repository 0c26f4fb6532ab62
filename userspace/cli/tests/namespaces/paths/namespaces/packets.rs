//! Each path equals what tcpdump sees of real packets of that flow on the switches.

use super::super::{discovered, json, text};
use super::{Fabric, Sent, bipartite, refusals, shell, write_list};
use rocescope_testkit::{Running, until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const FLOWS: usize = 256;

/// Egress ports by flow, as tcpdump saw them: `up1-0  Out IP 10.0.0.2.49152 > 10.2.0.2.4791: UDP, length 8`.
pub(super) type Seen = BTreeMap<(String, u16), BTreeSet<(String, String)>>;

/// Starts tcpdump on each switch; its lines go to a file named after it.
fn watch(fabric: &Fabric, filter: &str, folder: &Path) -> Vec<(String, Running)> {
    let start = |switch: &str| {
        let mut command = Command::new("sh");
        let line = format!(
            "exec ip netns exec {} tcpdump --immediate-mode -nlq -i any -Q out -B 8192 '{filter}' > {}",
            fabric.ns(switch),
            folder.join(switch).display()
        );
        let tcpdump = Running::spawn(command.args(["-c", &line]));
        tcpdump.until_said("listening on");
        (switch.to_owned(), tcpdump)
    };
    fabric.switches().map(start).collect()
}

/// Sends a packet of each flow and returns where it left switches: a leaf, a spine and a leaf.
fn seen(fabric: &Fabric, flows: &[Sent]) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let watching = watch(fabric, "udp and dst port 4791", folder.path());
    fabric.send(flows, 1);
    let read = |switch: &str| fs::read_to_string(folder.path().join(switch)).unwrap();
    let lines = || -> usize { fabric.switches().map(|switch| read(switch).lines().count()).sum() };
    until("every packet is seen at three switches", || lines() >= 3 * flows.len());
    let mut seen = Seen::new();
    for (switch, tcpdump) in watching {
        tcpdump.stop("-TERM");
        for line in read(&switch).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(arrow) = words.iter().position(|word| *word == ">") else {
                continue;
            };
            let (address, port) = words[arrow - 1].rsplit_once('.').unwrap();
            let out = words.iter().position(|word| *word == "Out").unwrap();
            let flow = (address.to_owned(), port.parse().unwrap());
            let ports = seen.entry(flow).or_default();
            ports.insert((switch.clone(), words[out - 1].to_owned()));
        }
    }
    seen
}

/// The egress ports of switches of a path.
fn stated(path: &Value) -> BTreeSet<(String, String)> {
    let hops = path["hops"].as_array().unwrap().iter().skip(1);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    hops.map(|hop| (text(&hop[0]), text(&hop[1]))).collect()
}

#[test]
#[ignore = "takes 49 s; `cargo xtask ci --full` runs it"]
fn every_path_is_that_of_real_packets_and_a_dead_link_is_reported() {
    let Some(fabric) = Fabric::up(4) else { return };
    let folder = tempfile::tempdir().unwrap();
    fabric.prepare(folder.path());
    for is_v6 in [false, true] {
        let ports = (0..FLOWS).map(|number| bipartite(number, 49_152 + u16::try_from(number).unwrap() * 37, is_v6));
        let flows: Vec<Sent> = ports.collect();
        let name = format!("flows{}.json", u8::from(is_v6));
        write_list(&folder.path().join(&name), &flows);
        let started = Instant::now();
        let found = discovered(folder.path(), &name, &["--out", "dataset", "--observer", &name]);
        println!(
            "256 flows over SSH: {} s, {:?} in all",
            found["seconds"],
            started.elapsed()
        );
        assert_eq!(found["outcomes"], json!({"complete": FLOWS}), "{:#}", found["devices"]);
        // The report has the links of the run.
        let report = json(&["report", "dataset", "-o", "json"], folder.path());
        assert_eq!(
            (&report["paths"]["flows"], &report["paths"]["problem_counts"]),
            (&json!(FLOWS), &json!({}))
        );
        let seen = seen(&fabric, &flows);
        for path in found["paths"].as_array().unwrap() {
            let flow = &path["flow"];
            let port = u16::try_from(flow["src_port"].as_u64().unwrap()).unwrap();
            let key = (flow["src"].as_str().unwrap().to_owned(), port);
            assert_eq!(seen.get(&key), Some(&stated(path)), "{key:?}");
        }
    }
    dead_link(&fabric, folder.path());
    refusals::each_has_one_reason(folder.path());
}

/// The link from leaf 0 to spine 1 goes down: its flows move, and the comparison names them.
fn dead_link(fabric: &Fabric, folder: &Path) {
    let before = discovered(folder, "flows0.json", &[]);
    fs::write(folder.join("before.json"), before.to_string()).unwrap();
    shell(&format!("ip -n {} link set up1-0 down", fabric.ns("leaf0")));
    let after = discovered(folder, "flows0.json", &[]);
    fs::write(folder.join("after.json"), after.to_string()).unwrap();
    let call = [
        "paths",
        "compare",
        "before.json",
        "after.json",
        "--topology",
        "fabric.toml",
        "-o",
        "json",
    ];
    let compared = json(&call, folder);
    let moved = compared["moved"].as_array().unwrap();
    let over = |path: &Value| path.as_array().unwrap().contains(&json!(["leaf0", "up1-0"]));
    assert!(moved.iter().any(|moved| over(&moved["a"])) && !moved.iter().any(|moved| over(&moved["b"])));
    let links = compared["links"].as_array().unwrap();
    let dead = links.iter().find(|link| link["from"] == "leaf0:up1-0").unwrap();
    assert_eq!(dead["flows_b"], 0);
    // The kernel of the spine keeps its route over a link without carrier: one direction is empty. Of 16 flows, that alone is
    // no proof; that most others of the leaf stayed on their links is.
    let down = compared["down"].as_array().unwrap();
    let dead = down.iter().find(|link| link["from"] == "leaf0:up1-0").unwrap();
    assert_eq!(
        (&dead["to"], dead["expected"].as_f64()),
        (&json!("spine1:down0-0"), Some(4.0))
    );
    let shown = text(&call[..call.len() - 2], folder);
    let line = "leaf0:up1-0 → spine1:down0-0 in B down, or no longer in the routes in this direction alone: ";
    assert!(shown.contains(line), "{shown}");
    let few: Vec<Value> =
        serde_json::from_str::<Vec<Value>>(&fs::read_to_string(folder.join("flows0.json")).unwrap()).unwrap();
    fs::write(folder.join("few.json"), Value::from(few[..8].to_vec()).to_string()).unwrap();
}
