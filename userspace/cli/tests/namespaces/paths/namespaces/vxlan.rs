//! A fabric with VXLAN between its leaves, by the kernel: the leaf of the sender is asked about the inner header, the
//! underlay about the outer one, whose source port only a capture knows.

use super::super::{discover, json};
use super::{Fabric, LEAVES, Sent, bipartite, run, shell, write_list};
use rocescope_testkit::{run_in, until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const FLOWS: usize = 64;

fn vtep(leaf: usize) -> String {
    format!("192.0.2.{}", 11 + leaf)
}

/// Routes between hosts lead through tunnels; switches between them only know the tunnel ends.
fn tunnels(fabric: &Fabric) {
    let mut script = String::new();
    for leaf in 0..LEAVES {
        let ns = fabric.ns(&format!("leaf{leaf}"));
        // With a type of service the kernel looks up the route of each packet; without one it keeps that of the first flow.
        writeln!(
            script,
            "ip -n {ns} address add {0}/32 dev lo\n\
             ip -n {ns} link add vxlan100 type vxlan id 100 local {0} dstport 4789 nolearning tos 32\n\
             ip -n {ns} link set vxlan100 address 02:00:00:00:01:0{leaf} up\n\
             ip -n {ns} address add 198.51.100.{leaf}/32 dev vxlan100",
            vtep(leaf)
        )
        .unwrap();
        for other in (0..LEAVES).filter(|other| *other != leaf) {
            writeln!(
                script,
                "bridge -n {ns} fdb append 02:00:00:00:01:0{other} dev vxlan100 dst {}\n\
                 ip -n {ns} neighbor add 198.51.100.{other} lladdr 02:00:00:00:01:0{other} dev vxlan100\n\
                 ip -n {ns} route add 10.{other}.0.0/16 via 198.51.100.{other} dev vxlan100 onlink",
                vtep(other)
            )
            .unwrap();
        }
        for (_, spine, link) in fabric.uplinks().filter(|place| place.0 == leaf) {
            let [near, _] = Fabric::transfer((leaf, spine, link));
            writeln!(
                script,
                "ip -n {0} route del 10.{leaf}.0.0/16\nip -n {0} route add {1} via {2}",
                fabric.ns(&format!("spine{spine}")),
                vtep(leaf),
                near[0]
            )
            .unwrap();
        }
    }
    shell(&script);
}

/// Captures what leaves each port between switches, into `SWITCH:PORT.pcap`.
fn watch(fabric: &Fabric, folder: &Path) -> Vec<Child> {
    let ports = fabric.uplinks().flat_map(|(leaf, spine, link)| {
        [
            (format!("leaf{leaf}"), format!("up{spine}-{link}")),
            (format!("spine{spine}"), format!("down{leaf}-{link}")),
        ]
    });
    let start = |(switch, port): (String, String)| {
        let file = folder.join(format!("{switch}:{port}.pcap"));
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &fabric.ns(&switch),
            "tcpdump",
            "--immediate-mode",
            "-nUi",
            &port,
        ]);
        command.args([
            "-Q",
            "out",
            "-Z",
            "root",
            "-w",
            file.to_str().unwrap(),
            "udp dst port 4789",
        ]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (mut byte, mut text) = ([0; 1], Vec::new());
        let errors = child.stderr.as_mut().unwrap();
        while !String::from_utf8_lossy(&text).contains("listening on") && errors.read(&mut byte).unwrap() > 0 {
            text.push(byte[0]);
        }
        child
    };
    ports.map(start).collect()
}

/// Ports between switches by inner source and port, as tcpdump decodes the captures.
fn crossed(folder: &Path) -> BTreeMap<(String, u64), BTreeSet<(String, String)>> {
    let mut found: BTreeMap<(String, u64), BTreeSet<(String, String)>> = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_stem().unwrap().to_str().unwrap().to_owned();
        let (switch, port) = name.split_once(':').unwrap();
        let output = Command::new("tcpdump")
            .args(["-nr", entry.to_str().unwrap()])
            .output()
            .unwrap();
        for line in String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .filter(|line| line.contains(".4791:"))
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            let arrow = words.iter().rposition(|word| *word == ">").unwrap();
            let (src, src_port) = words[arrow - 1].rsplit_once('.').unwrap();
            let key = (src.to_owned(), src_port.parse().unwrap());
            found
                .entry(key)
                .or_default()
                .insert((switch.to_owned(), port.to_owned()));
        }
    }
    found
}

/// The packets in all files.
fn captured(folder: &Path) -> usize {
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let count = |bytes: &[u8]| {
        let mut rest = bytes.get(24..).unwrap_or_default();
        let mut packets = 0;
        while let Some(length) = rest.get(8..12) {
            let length = u32::from_ne_bytes(length.try_into().unwrap()) as usize;
            let Some(next) = rest.get(16 + length..) else { break };
            (rest, packets) = (next, packets + 1);
        }
        packets
    };
    files.map(|bytes| count(&bytes)).sum()
}

#[test]
fn the_underlay_is_asked_about_the_outer_header() {
    let Some(fabric) = Fabric::up(1) else { return };
    let folder = tempfile::tempdir().unwrap();
    tunnels(&fabric);
    fabric.prepare(folder.path());
    let more = |name: &str| match name.strip_prefix("leaf") {
        Some(leaf) => format!("vtep = \"{}\"", vtep(leaf.parse().unwrap())),
        None => String::new(),
    };
    fs::write(folder.path().join("fabric.toml"), fabric.topology("linux", more)).unwrap();
    let flows = (0..FLOWS).map(|number| bipartite(number, 49_152 + u16::try_from(number).unwrap() * 53, false));
    let flows: Vec<Sent> = flows.collect();
    write_list(&folder.path().join("flows.json"), &flows);
    // Without a capture the source port of the outer header is unknown, and not guessed.
    let output = run_in(&discover("flows.json", &[]), folder.path());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        found["outcomes"],
        json!({"outer_port_unknown": FLOWS}),
        "{:#}",
        found["devices"]
    );
    assert_eq!(found["paths"][0]["hops"], json!([["h0-0", "eth0"]]));

    let captures = folder.path().join("captures");
    fs::create_dir(&captures).unwrap();
    let watching = watch(&fabric, &captures);
    fabric.send(&flows, 3);
    // Each leaves a leaf and a spine.
    until("every packet is captured twice", || {
        captured(&captures) >= 2 * 3 * FLOWS
    });
    for mut child in watching {
        run("kill", &["-TERM", &child.id().to_string()]);
        child.wait().unwrap();
    }
    let call = "paths discover --topology fabric.toml --ssh-config ssh -r captures -o json";
    let found = json(&call.split(' ').collect::<Vec<&str>>(), folder.path());
    assert_eq!(found["outcomes"], json!({"complete": FLOWS}), "{:#}", found["paths"][0]);
    let crossed = crossed(&captures);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut first = BTreeSet::new();
    for path in found["paths"].as_array().unwrap() {
        let hops = path["hops"].as_array().unwrap();
        assert_eq!(hops.len(), 4, "host, leaf, spine, leaf: {path}");
        let between = hops[1..3].iter().map(|hop| (text(&hop[0]), text(&hop[1])));
        let between: BTreeSet<(String, String)> = between.collect();
        let key = (text(&path["flow"]["src"]), path["flow"]["src_port"].as_u64().unwrap());
        assert_eq!(crossed.get(&key), Some(&between), "{key:?}");
        first.insert(text(&hops[1][1]));
    }
    assert_eq!(first.len(), 4, "flows cross every uplink: {first:?}");
}
